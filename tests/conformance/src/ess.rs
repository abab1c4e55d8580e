//! What every environment promises to a process that is alone in its job: it knows itself, and finds what it published.

use crate::declined::{accepted, opened};
use opal_core::Error;
use orte_core::framework::ess::{Component, Identity};

/// Runs every case; panics at the first broken promise. Jobs of several processes are for the programs of tests/c.
///
/// # Panics
/// With the component's own sentence if it declines.
pub fn suite(component: &'static dyn Component) {
    opened(component);
    let (_, module) = accepted(component.info(), component.query());
    let Identity { rank, size, local_rank, local_size, .. } = module.identity();
    assert!(rank < size && local_rank < local_size && local_size <= size, "{:?}", module.identity());
    assert_eq!(module.identity(), module.identity());
    let on_this_node = (0..size).filter(|other| module.node_of(*other) == module.node_of(rank)).count();
    assert_eq!(on_this_node, local_size as usize, "ranks of this node");
    let published: Vec<u8> = (0..1000).map(|index| (index * 7) as u8).collect();
    assert_eq!(module.publish(&published), Ok(()));
    assert_eq!(module.publish(&published), Err(Error::Exists), "once");
    assert_eq!(module.lookup(rank), Ok(published));
    assert_eq!(module.lookup(size).map(drop), Err(Error::Invalid), "a rank that the job does not have");
    if size == 1 {
        assert_eq!(module.barrier(&mut || {}), Ok(()));
    }
    assert!(module.universe_size().is_none_or(|most| most >= size));
}
