//! Placement: which process gets which rank of a new communicator with a topology, where the user allows `reorder`.
//!
//! The model that components are measured by: every edge of the [`Pattern`] costs its weight times the [`distance`] of
//! the two processes that hold its ends ([`cost`]).
#![allow(unsafe_code)] // linkme's expansion

use alloc::vec::Vec;
use opal_core::mca;
use opal_core::sync::Once;

/// Who talks to whom, by rank of the new communicator: target and weight of each outgoing edge.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// The edges of each rank.
    pub edges: Vec<Vec<(usize, u64)>>,
}

/// Number of levels of a [`Place`].
pub const LEVELS: usize = 5;

/// Where a process runs: which node, package, shared cache, core and hardware thread, the largest first. Equal numbers
/// at a level mean the same one only if all levels before it are equal, too.
pub type Place = [u64; LEVELS];

/// What stands at a level that a process is not bound to, or of which nothing is known.
pub const ANYWHERE: u64 = u64::MAX;

/// What a message costs between processes whose places first differ at this level.
const DISTANCES: [u64; LEVELS] = [64, 16, 8, 4, 2];

/// How far two processes are from each other; 0 for one place.
pub fn distance(one: &Place, two: &Place) -> u64 {
    (0..LEVELS).find(|level| one[*level] != two[*level]).map_or(0, |level| DISTANCES[level])
}

/// What the pattern costs when rank `r` is the process at `places[order[r]]`.
pub fn cost(pattern: &Pattern, places: &[Place], order: &[usize]) -> u64 {
    let of = |from: usize, (to, weight): (usize, u64)| {
        weight.saturating_mul(distance(&places[order[from]], &places[order[to]]))
    };
    let rank = |(from, edges): (usize, &Vec<(usize, u64)>)| edges.iter().map(|edge| of(from, *edge)).sum::<u64>();
    pattern.edges.iter().enumerate().map(rank).sum()
}

/// A way to place ranks.
pub trait Component: mca::Component {
    /// Priority, or why not.
    fn query(&self) -> core::result::Result<i32, mca::Declined>;

    /// For each rank of the pattern an index into `places`, none of them twice. There are at least as many places as
    /// ranks. Equal arguments give equal results, in every process, and what they [`cost`] is no more than if every rank stayed
    /// where it is.
    fn order(&self, pattern: &Pattern, places: &[Place]) -> Vec<usize>;
}

opal_core::framework! {
    /// Placement of ranks on processes for topologies.
    "topo", Ompi, version 1, OneOfMany, OMPI_TOPOS: dyn Component
}

/// The component that was chosen, the first time anybody asks; `None` if there is none or it was left out.
pub fn selected() -> opal_core::Result<Option<&'static dyn Component>> {
    static SELECTED: Once<opal_core::Result<Option<&'static dyn Component>>> = Once::new();
    let select = || {
        let query = |component: &'static dyn Component| component.query().map(|priority| (priority, ()));
        Ok(mca::select_best(&FRAMEWORK, &OMPI_TOPOS, query)?.map(|(component, ())| component))
    };
    *SELECTED.call_once(select)
}
