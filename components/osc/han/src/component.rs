//! Registration.

use crate::module::{Han, Held};
use crate::raw::Memory;
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::comm::{self, Communicator};
use ompi_core::error::{Class, Result as MpiResult};
use ompi_core::framework::osc::{self, Flavor, Module, Part, Plan};
use ompi_core::process;
use ompi_core::win::node::{self, Layout, MappedParts, PAGE, Peers};
use opal_core::mca::{self, Declined};
use opal_core::shareable::Owned;

/// The component.
pub struct HanOsc;

impl mca::Component for HanOsc {
    opal_core::component_info!();
}

impl osc::Component for HanOsc {
    fn query(&self, plan: &Plan) -> Result<i32, Declined> {
        if plan.flavor != Flavor::Allocate {
            return Err(Declined("it makes memory for MPI_Win_allocate only"));
        }
        if plan.alignment > PAGE {
            return Err(Declined("it aligns memory to pages at most"));
        }
        if Peers::of(&plan.comm).is_some() {
            return Err(Declined("all processes are on one node"));
        }
        if !shares_nodes(&plan.comm) {
            return Err(Declined("no two processes are on the same node"));
        }
        beyond(plan).map(|_| PRIORITY).ok_or(Declined("no other component serves windows over several nodes"))
    }

    fn create(&self, plan: &Plan, parts: &[Part]) -> MpiResult<Arc<dyn Module>> {
        let here = |rank: &usize| process::get(plan.comm.group.members().at(*rank)).same_node;
        let ranks: Vec<usize> = (0..parts.len()).filter(here).collect();
        // The first rank of a node stands for it.
        let node = comm::split_hidden(&plan.comm, ranks.first().map(|first| *first as u64))?.ok_or(Class::Intern)?;
        let theirs: Vec<Part> = ranks.iter().map(|rank| parts[*rank]).collect();
        // They need not see the same nodes.
        let views = node::exchange(&node, [ranks.len() as u64])?;
        let shared = match views.iter().all(|[view]| *view == node.size() as u64) {
            true => share(plan, &node, &theirs),
            false => Err(node::no_memory()),
        };
        let beyond = beyond(plan);
        // All go on, with the same component, or nobody does.
        let own = [u64::from(shared.is_ok()), beyond.map_or(0, |(index, _)| index as u64 + 1)];
        let all = node::exchange(&plan.comm, own)?;
        let agreed = all.iter().all(|words| *words == [1, all[0][1]]);
        let (Shared { at, held }, (_, beyond)) =
            shared.ok().zip(beyond).filter(|_| agreed).ok_or_else(node::no_memory)?;
        let others = beyond.info().name;
        opal_core::verbose!(osc::FRAMEWORK, 20, "han serves what stays within a node, {others} the rest");
        let mut near = alloc::vec![None; parts.len()];
        for (place, rank) in ranks.iter().enumerate() {
            near[*rank] = Some(Memory { at: at[place], part: parts[*rank] });
        }
        let me = plan.comm.rank as usize;
        let base = near[me].map_or(core::ptr::null_mut(), |own| own.at);
        let made = Plan { comm: plan.comm.clone(), flavor: Flavor::Create, base, ..*plan };
        Ok(Arc::new(Han::new(me, held, near, beyond.create(&made, parts)?)))
    }
}

/// The memory of a node's processes.
struct Shared {
    /// Where this process has each part.
    at: Vec<*mut u8>,
    held: Held,
}

/// Each process's part is shareable memory of its own, so that messages from and to it are copied once; where some process has none, all parts
/// lie in the file of the words.
fn share(plan: &Plan, node: &Communicator, parts: &[Part]) -> MpiResult<Shared> {
    let own = node::own_part(plan.own.bytes, plan.alignment, parts);
    let base = own.as_ref().map_or(core::ptr::null_mut(), Owned::at);
    let (words, mapped) = node::share_parts(node, parts, base)?;
    if let Some(MappedParts { at, others }) = mapped {
        return Ok(Shared { at, held: Held::new(words, others, own) });
    }
    let words = node::share(node, Layout::new(parts, false), [0; node::TOLD])?.words;
    let at = (0..parts.len()).map(|place| words.part(place).0).collect();
    Ok(Shared { at, held: Held::new(words, Vec::new(), None) })
}

/// Whether two processes are on the same node, as far as this process knows: of other jobs it knows its own node only.
fn shares_nodes(comm: &Communicator) -> bool {
    let mut nodes = BTreeSet::new();
    let members = comm.group.members();
    members.iter().map(|member| process::get(member).node()).any(|node| !nodes.insert(node))
}

/// The component that serves what goes to other nodes, with its place among all: that with the highest priority.
fn beyond(plan: &Plan) -> Option<(usize, &'static dyn osc::Component)> {
    let created = Plan { comm: plan.comm.clone(), flavor: Flavor::Create, ..*plan };
    let opened = osc::opened().ok()?.iter().enumerate();
    let offers = opened.filter_map(|(index, component)| Some((component.query(&created).ok()?, index, *component)));
    offers.max_by_key(|(priority, ..)| *priority).map(|(_, index, component)| (index, component))
}

opal_core::component! {
    /// One-sided communication over several nodes.
    pub static COMPONENT: HanOsc = HanOsc;
    in ompi_core::framework::osc, name "han", params &[]
}

/// Above messages.
const PRIORITY: i32 = 30;
