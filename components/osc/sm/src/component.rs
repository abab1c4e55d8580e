//! Registration.

use crate::file::{Place, PlacedFile};
use crate::layout::{self, Layout};
use crate::module::Sm;
use crate::wait::Peers;
use alloc::sync::Arc;
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
        if !matches!(plan.flavor, Flavor::Allocate | Flavor::Shared) {
            return Err(Declined("the window has memory of the program's"));
        }
        if plan.alignment > layout::PAGE {
            return Err(Declined("it aligns memory to pages at most"));
        }
        Peers::of(&plan.comm).ok_or(Declined("not all processes are on this one's node"))?;
        Ok(PRIORITY)
    }

    fn create(&self, plan: &Plan, parts: &[Part]) -> MpiResult<Arc<dyn Module>> {
        let comm = &plan.comm;
        let layout = Layout::new(parts, plan.flavor == Flavor::Shared && !plan.noncontiguous);
        // The first process makes the file, and tells where it is or that there is none.
        let made = match (comm.rank, &layout) {
            (0, Some(layout)) if user_memory::check_left(layout.bytes() as u128).is_ok() => {
                PlacedFile::create(layout.bytes()).map(Some)
            }
            _ => Ok(None),
        };
        let place =
            made.as_ref().ok().and_then(|file| file.as_ref()).map_or([0; Place::WORDS], |file| file.place().words());
        let told = exchange(comm, place)?[0];
        let mapped = match (Place::of_words(told), &layout, &made) {
            (Some(_), Some(layout), Ok(Some(file))) => file.map(layout.bytes()),
            (Some(place), Some(layout), _) => PlacedFile::open(&place).and_then(|file| file.map(layout.bytes())),
            _ => Err(opal_core::Error::OutOfResource),
        };
        // Until here the first process keeps its descriptor open; afterwards the mappings alone hold the memory.
        exchange(comm, [0])?;
        drop(made);
        let none = || {
            Fault::new(Class::NoMem)
                .because("the machine has not so much memory left, or the window's processes cannot share it")
        };
        let (mapping, layout) = mapped.ok().zip(layout).ok_or_else(none)?;
        let peers = Peers::of(comm).ok_or(Class::Intern)?;
        peers.get_ready();
        Ok(Arc::new(Sm::new(comm.clone(), parts, layout, mapping, peers)))
    }
}

fn exchange<const N: usize>(comm: &Communicator, words: [u64; N]) -> MpiResult<alloc::vec::Vec<[u64; N]>> {
    Allgather::about(comm, Conversation::Collective, comm.next_constructor(), &words).wait::<N>()
}

opal_core::component! {
    /// One-sided communication by loads and stores.
    pub static COMPONENT: SmOsc = SmOsc;
    in ompi_core::framework::osc, name "sm", params &[]
}

/// Above messages.
const PRIORITY: i32 = 40;
