//! Registration.

use crate::arena::{self, PAGE};
use crate::params;
use crate::raw::{Memory, Parts};
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::error::Result as MpiResult;
use ompi_core::framework::osc::{self, Flavor, Module, Part, Plan};
use ompi_core::win::node::{self, Layout, NodeModule, Peers, TOLD};
use opal_core::mca::{self, Declined};
use opal_core::sys::{Mapping, Place, PlacedFile};

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
        if plan.alignment > PAGE {
            return Err(Declined("it aligns memory to pages at most"));
        }
        Peers::of(&plan.comm).ok_or(Declined("not all processes are on this one's node"))?;
        Ok(PRIORITY)
    }

    fn create(&self, plan: &Plan, parts: &[Part]) -> MpiResult<Arc<dyn Module>> {
        let creates = plan.flavor == Flavor::Create;
        let contiguous = plan.flavor == Flavor::Shared && !plan.noncontiguous;
        let layout = if creates { Layout::of_words(parts.len()) } else { Layout::new(parts, contiguous) };
        let found = arena::find(plan.base, plan.own.bytes).filter(|_| creates);
        let mut own = [0; TOLD];
        if let Some((place, offset)) = found {
            own[..Place::WORDS].copy_from_slice(&place.words());
            own[Place::WORDS] = offset;
        }
        let (words, told) = node::share(&plan.comm, layout, own)?;
        let (parts, mappings): (Vec<Memory>, Vec<Option<Mapping>>) = match creates {
            true => others(plan, parts, &told).map_err(|_| node::no_memory())?.into_iter().unzip(),
            false => {
                let part = |(rank, part): (usize, &Part)| (words.part(rank), part.unit);
                parts.iter().enumerate().map(part).map(|((at, bytes), unit)| (Memory { at, bytes, unit }, None)).unzip()
            }
        };
        let parts = Parts::new(parts.into(), mappings.into_iter().flatten().collect());
        Ok(Arc::new(NodeModule::new(plan.comm.clone(), words, parts)?))
    }

    fn allocate(&self, bytes: usize, alignment: usize) -> Option<*mut u8> {
        if params::ALLOC_MEM.flag() { arena::allocate(bytes, alignment) } else { None }
    }

    fn free(&self, at: *mut u8) {
        arena::free(at);
    }
}

/// The memory of each process of a window over the program's, with its mapping if it is another one's. Its owner keeps the descriptor
/// open until the memory is freed.
fn others(plan: &Plan, parts: &[Part], told: &[[u64; TOLD]]) -> opal_core::Result<Vec<(Memory, Option<Mapping>)>> {
    let other = |(rank, (part, told)): (usize, (&Part, &[u64; TOLD]))| {
        let Part { bytes, unit } = *part;
        if rank == plan.comm.rank as usize {
            return Ok((Memory { at: plan.base, bytes, unit }, None));
        }
        if bytes == 0 {
            return Ok((Memory { at: core::ptr::null_mut(), bytes, unit }, None));
        }
        let place = Place::of_words([told[0], told[1], told[2]]).ok_or(opal_core::Error::OutOfResource)?;
        let (mapping, skipped) = PlacedFile::open(&place)?.map_part(told[3], bytes)?;
        Ok((Memory { at: mapping.place(skipped, bytes), bytes, unit }, Some(mapping)))
    };
    parts.iter().zip(told).enumerate().map(other).collect()
}

opal_core::component! {
    /// One-sided communication by loads and stores.
    pub static COMPONENT: SmOsc = SmOsc;
    in ompi_core::framework::osc, name "sm", params &[&params::ALLOC_MEM]
}

/// Above copies by the system.
const PRIORITY: i32 = 40;
