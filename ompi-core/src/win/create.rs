//! Making windows. One exchange tells the parts and which components would serve them, another one whether all processes have
//! their memory; if not, the next component has its turn.

use super::hints::{GRANULARITY, NONCONTIGUOUS};
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
use opal_core::mca::Declined;
use opal_core::sort;

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
        granularity: hints.number(GRANULARITY),
    };
    let bids = Bids::of(&plan)?;
    let words = [bids.mask(), plan.own.bytes as u64, plan.own.unit as u64, plan.flavor as u64];
    let all = exchange(&comm, words)?;
    let parts: Vec<Part> =
        all.iter().map(|[_, bytes, unit, _]| Part { bytes: *bytes as usize, unit: *unit as i64 }).collect();
    let module = make(&bids.agreed(&all, &plan)?, &plan, &parts)?;
    let window = Arc::new(Window::new(comm, wish.flavor, parts.into_boxed_slice(), hints, module));
    let full = || Fault::new(Class::NoMem).because("four million windows exist; free some with MPI_Win_free");
    DYNAMIC.insert(window).ok_or_else(full)
}

/// The module of the first component that can make its part of the window on all processes.
fn make(candidates: &[&'static dyn osc::Component], plan: &Plan, parts: &[Part]) -> Result<Arc<dyn osc::Module>> {
    let mut first = None;
    for component in candidates {
        let name = component.info().name;
        let made = component.create(plan, parts);
        let failed = exchange(&plan.comm, [u64::from(made.is_err())])?.iter().any(|[failed]| *failed != 0);
        match made {
            Ok(module) if !failed => {
                opal_core::verbose!(osc::FRAMEWORK, 20, "{name} serves a window of {} ranks", parts.len());
                return Ok(module);
            }
            Ok(_) => {
                let why = "another process could not make its part of the window";
                first.get_or_insert(Fault::new(Class::NoMem).because(why));
            }
            Err(fault) => {
                opal_core::verbose!(osc::FRAMEWORK, 20, "{name} cannot serve a window: {}", fault.reason());
                first.get_or_insert(fault);
            }
        }
    }
    Err(first.unwrap_or_else(|| Class::Intern.into()))
}

fn exchange<const N: usize>(comm: &Communicator, words: [u64; N]) -> Result<Vec<[u64; N]>> {
    Allgather::about(comm, Conversation::Collective, comm.next_constructor(), &words).wait::<N>()
}

/// The components that would serve a window, with their place among all and their priority.
struct Bids(Vec<(usize, i32, &'static dyn osc::Component)>);

impl Bids {
    fn of(plan: &Plan) -> Result<Bids> {
        let mut bids = Vec::new();
        for (index, component) in osc::opened()?.iter().enumerate() {
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

    /// Those that all offer, the highest priority first.
    fn agreed(&self, all: &[[u64; 4]], plan: &Plan) -> Result<Vec<&'static dyn osc::Component>> {
        if all.iter().any(|words| words[3] != plan.flavor as u64) {
            return Err(Fault::new(Class::RmaFlavor).because("the processes called different functions"));
        }
        let common = all.iter().fold(u64::MAX, |common, words| common & words[0]);
        let mut offered: Vec<_> = self.0.iter().filter(|(index, ..)| common & 1 << (index % 64) != 0).collect();
        sort::by_key(&mut offered, |(_, priority, _)| core::cmp::Reverse(*priority));
        match (offered.is_empty(), plan.flavor) {
            (false, _) => Ok(offered.iter().map(|(_, _, component)| *component).collect()),
            (true, Flavor::Shared) => {
                Err(Fault::new(Class::RmaShared).argument("comm").because("not all of its processes can share memory"))
            }
            (true, _) => Err(Fault::new(Class::UnsupportedOperation)
                .because("no component of framework osc serves it; see --mca osc_base_verbose 20")),
        }
    }
}
