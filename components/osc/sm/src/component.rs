//! Registration.

use crate::arena;
use crate::file::{Place, PlacedFile};
use crate::layout::{self, Layout};
use crate::module::Sm;
use crate::params;
use crate::raw::{Mapping, Memory};
use crate::wait::Peers;
use crate::words::Words;
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::comm::Communicator;
use ompi_core::error::{Class, Fault, Result as MpiResult};
use ompi_core::framework::osc::{self, Flavor, Module, Part, Plan};
use ompi_core::oob::Conversation;
use ompi_core::oob::allgather::Allgather;
use ompi_core::user_memory;
use opal_core::mca::{self, Declined};

/// The component.
pub struct SmOsc;

impl mca::Component for SmOsc {
    opal_core::component_info!();
}

impl osc::Component for SmOsc {
    fn query(&self, plan: &Plan) -> Result<i32, Declined> {
        match plan.flavor {
            Flavor::Allocate | Flavor::Shared => {}
            Flavor::Create => {
                let alone = plan.own.bytes == 0 || plan.comm.size() == 1;
                if !alone && arena::find(plan.base, plan.own.bytes).is_none() {
                    return Err(Declined("others cannot map the program's memory; that of MPI_Alloc_mem they can"));
                }
            }
            Flavor::Dynamic => return Err(Declined("memory is attached to the window later")),
        }
        if plan.alignment > layout::PAGE {
            return Err(Declined("it aligns memory to pages at most"));
        }
        Peers::of(&plan.comm).ok_or(Declined("not all processes are on this one's node"))?;
        Ok(PRIORITY)
    }

    fn create(&self, plan: &Plan, parts: &[Part]) -> MpiResult<Arc<dyn Module>> {
        let comm = &plan.comm;
        let creates = plan.flavor == Flavor::Create;
        let words_alone: Vec<Part> = parts.iter().map(|part| Part { bytes: 0, ..*part }).collect();
        let contiguous = plan.flavor == Flavor::Shared && !plan.noncontiguous;
        let layout = Layout::new(if creates { &words_alone } else { parts }, contiguous);
        // The first process makes the file, and tells where it is or that there is none.
        let made = match (comm.rank, &layout) {
            (0, Some(layout)) if user_memory::check_left(layout.bytes() as u128).is_ok() => {
                PlacedFile::create(layout.bytes()).map(Some)
            }
            _ => Ok(None),
        };
        let place =
            made.as_ref().ok().and_then(|file| file.as_ref()).map_or([0; Place::WORDS], |file| file.place().words());
        let found = arena::find(plan.base, plan.own.bytes).filter(|_| creates);
        let (own, offset) = found.map_or(([0; Place::WORDS], 0), |(place, offset)| (place.words(), offset));
        let all = exchange(comm, [place[0], place[1], place[2], own[0], own[1], own[2], offset])?;
        let told = [all[0][0], all[0][1], all[0][2]];
        let mapped = match (Place::of_words(told), &layout, &made) {
            (Some(_), Some(layout), Ok(Some(file))) => file.map(layout.bytes()),
            (Some(place), Some(layout), _) => PlacedFile::open(&place).and_then(|file| file.map(layout.bytes())),
            _ => Err(opal_core::Error::OutOfResource),
        };
        let mapped =
            mapped.and_then(|mapping| Ok((mapping, if creates { others(plan, parts, &all)? } else { Vec::new() })));
        // Until here the first process keeps its descriptor open; afterwards the mappings alone hold the memory.
        exchange(comm, [0])?;
        drop(made);
        let none = || {
            Fault::new(Class::NoMem)
                .because("the machine has not so much memory left, or the window's processes cannot share it")
        };
        let ((mapping, others), layout) = mapped.ok().zip(layout).ok_or_else(none)?;
        let mut words = Words::new(layout, mapping);
        if creates {
            let (parts, mappings): (Vec<Memory>, Vec<Option<Mapping>>) = others.into_iter().unzip();
            words = words.over(parts.into(), mappings.into_iter().flatten().collect());
        }
        let peers = Peers::of(comm).ok_or(Class::Intern)?;
        peers.get_ready();
        Ok(Arc::new(Sm::new(comm.clone(), parts, words, peers)))
    }

    fn allocate(&self, bytes: usize, alignment: usize) -> Option<*mut u8> {
        if params::ALLOC_MEM.flag() { arena::allocate(bytes, alignment) } else { None }
    }

    fn free(&self, at: *mut u8) {
        arena::free(at);
    }
}

/// The memory of each process of a window over the program's, with its mapping if it is another one's.
fn others(plan: &Plan, parts: &[Part], all: &[[u64; 7]]) -> opal_core::Result<Vec<(Memory, Option<Mapping>)>> {
    let other = |(rank, (part, told)): (usize, (&Part, &[u64; 7]))| {
        let bytes = part.bytes;
        if rank == plan.comm.rank as usize {
            return Ok((Memory { at: plan.base, bytes }, None));
        }
        if bytes == 0 {
            return Ok((Memory { at: core::ptr::null_mut(), bytes }, None));
        }
        let place = Place::of_words([told[3], told[4], told[5]]).ok_or(opal_core::Error::OutOfResource)?;
        let (mapping, skipped) = PlacedFile::open(&place)?.map_part(told[6], bytes)?;
        Ok((Memory { at: mapping.place(skipped, bytes), bytes }, Some(mapping)))
    };
    parts.iter().zip(all).enumerate().map(other).collect()
}

fn exchange<const N: usize>(comm: &Communicator, words: [u64; N]) -> MpiResult<alloc::vec::Vec<[u64; N]>> {
    Allgather::about(comm, Conversation::Collective, comm.next_constructor(), &words).wait::<N>()
}

opal_core::component! {
    /// One-sided communication by loads and stores.
    pub static COMPONENT: SmOsc = SmOsc;
    in ompi_core::framework::osc, name "sm", params &[&params::ALLOC_MEM]
}

/// Above messages.
const PRIORITY: i32 = 40;
