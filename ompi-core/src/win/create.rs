//! Making windows. One exchange tells the parts and which components would serve them, a second one whether all processes
//! have their memory.

use super::hints::NONCONTIGUOUS;
use super::{DYNAMIC, WinHints, Window};
use crate::comm::{self, Communicator};
use crate::error::{Class, Fault, Result};
use crate::framework::osc::{self, Flavor, Part, Plan};
use crate::info::Info;
use crate::oob::Conversation;
use crate::oob::allgather::Allgather;
use crate::user_memory;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::mca::select::{Verdict, record};
use opal_core::mca::{self, Declined};
use opal_core::sync::Once;

/// What a process asks for.
pub struct Wish<'a> {
    /// Which function was called.
    pub flavor: Flavor,
    /// The program's memory, for [`Flavor::Create`].
    pub base: *mut u8,
    /// Its length, or that of the memory to be made.
    pub bytes: usize,
    /// The displacement unit.
    pub unit: i64,
    /// Hints.
    pub info: Option<&'a Info>,
}

/// A window of the processes of `parent`, which all call it: its handle.
pub fn create(parent: &Communicator, wish: &Wish<'_>) -> Result<usize> {
    if parent.is_inter() {
        return Err(Fault::new(Class::Comm).argument("comm").because("it is an intercommunicator"));
    }
    let hints = WinHints::of(wish.info);
    let comm = comm::split_hidden(parent, Some(0))?.ok_or(Class::Intern)?;
    let alignment = wish.info.and_then(|info| info.get("mpi_minimum_memory_alignment"));
    let plan = Plan {
        comm: comm.clone(),
        flavor: wish.flavor,
        base: wish.base,
        own: Part { bytes: wish.bytes, unit: wish.unit },
        alignment: alignment.and_then(|value| user_memory::alignment(&value)).unwrap_or(1),
        noncontiguous: hints.is_true(NONCONTIGUOUS),
    };
    let bids = Bids::of(&plan)?;
    let words = [bids.mask(), plan.own.bytes as u64, plan.own.unit as u64, plan.flavor as u64];
    let all = exchange(&comm, words)?;
    let component = bids.agreed(&all, &plan)?;
    let parts: Vec<Part> =
        all.iter().map(|[_, bytes, unit, _]| Part { bytes: *bytes as usize, unit: *unit as i64 }).collect();
    let made = component.create(&plan, &parts);
    // Before this every process could fail alone; after it all have the window.
    let failed = exchange(&comm, [u64::from(made.is_err())])?.iter().any(|[failed]| *failed != 0);
    let module = made?;
    if failed {
        return Err(Fault::new(Class::NoMem).because("another process could not make its part of the window"));
    }
    let window = Arc::new(Window::new(comm, wish.flavor, parts.into_boxed_slice(), hints, module));
    let full = || Fault::new(Class::NoMem).because("four million windows exist; free some with MPI_Win_free");
    DYNAMIC.insert(window).ok_or_else(full)
}

fn exchange<const N: usize>(comm: &Communicator, words: [u64; N]) -> Result<Vec<[u64; N]>> {
    Allgather::about(comm, Conversation::Collective, comm.next_constructor(), &words).wait::<N>()
}

/// The components that would serve a window, with their place among all and their priority.
struct Bids(Vec<(usize, i32, &'static dyn osc::Component)>);

impl Bids {
    fn of(plan: &Plan) -> Result<Bids> {
        let mut bids = Vec::new();
        for (index, component) in components()?.iter().enumerate() {
            match component.query(plan) {
                Ok(priority) => bids.push((index, priority, *component)),
                Err(Declined(why)) => {
                    let name = component.info().name;
                    opal_core::verbose!(
                        osc::FRAMEWORK,
                        20,
                        "{name} declines a window of {} ranks: {why}",
                        plan.comm.size()
                    );
                }
            }
        }
        Ok(Bids(bids))
    }

    fn mask(&self) -> u64 {
        self.0.iter().fold(0, |mask, (index, ..)| mask | 1 << (index % 64))
    }

    /// The one with the highest priority of those that all offer.
    fn agreed(&self, all: &[[u64; 4]], plan: &Plan) -> Result<&'static dyn osc::Component> {
        if all.iter().any(|words| words[3] != plan.flavor as u64) {
            return Err(Fault::new(Class::RmaFlavor).because("the processes called different functions"));
        }
        let common = all.iter().fold(u64::MAX, |common, words| common & words[0]);
        let offered = self.0.iter().filter(|(index, ..)| common & 1 << (index % 64) != 0);
        let Some((_, priority, component)) = offered.max_by_key(|(_, priority, _)| *priority) else {
            return Err(match plan.flavor {
                Flavor::Shared => {
                    Fault::new(Class::RmaShared).argument("comm").because("not all of its processes can share memory")
                }
                _ => Fault::new(Class::UnsupportedOperation)
                    .because("no component of framework osc serves it; see --mca osc_base_verbose 20"),
            });
        };
        let name = component.info().name;
        opal_core::verbose!(osc::FRAMEWORK, 20, "{name} with priority {priority} serves a window");
        Ok(*component)
    }
}

/// The osc components that run here, in the one order of all processes of a job (they run the same image).
fn components() -> opal_core::Result<&'static [&'static dyn osc::Component]> {
    static OPENED: Once<opal_core::Result<Vec<&'static dyn osc::Component>>> = Once::new();
    let opened = OPENED.call_once(|| {
        let components = mca::open(&osc::FRAMEWORK, &osc::OMPI_OSCS)?;
        components.iter().for_each(|component| record(component.info(), Verdict::Chosen(None)));
        Ok(components)
    });
    match opened {
        Ok(components) => Ok(components),
        Err(error) => Err(*error),
    }
}
