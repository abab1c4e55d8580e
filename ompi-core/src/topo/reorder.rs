//! Which process gets which rank: asks the topo component with what is known of the machine.

use super::exchange::{bcast, gather};
use crate::comm::Communicator;
use crate::error::{Class, Result};
use crate::framework::topo::{self, ANYWHERE, Pattern, Place};
use crate::{hardware, process};
use alloc::vec;
use alloc::vec::Vec;

/// For each rank of a new communicator of `size` the rank of `comm` that takes it: itself unless `reorder`.
///
/// The first process decides, so that all agree whatever their parameters say; only it asks for the pattern.
pub fn order(comm: &Communicator, size: usize, reorder: bool, pattern: impl FnOnce() -> Pattern) -> Result<Vec<usize>> {
    if !reorder || size < 2 {
        return Ok((0..size).collect());
    }
    let places: Vec<Place> = gather(comm, here())?;
    let mut words: Vec<u64> = match comm.rank {
        0 => chosen(&pattern(), &places)?.into_iter().map(|rank| rank as u64).collect(),
        _ => vec![0; size],
    };
    bcast(comm, &mut words)?;
    Ok(words.into_iter().map(|rank| rank as usize).collect())
}

/// As [`order`] with what every process knows without asking: on which node each one is.
pub fn local_order(comm: &Communicator, pattern: &Pattern) -> Result<Vec<usize>> {
    let place = |process| {
        let mut place = [ANYWHERE; topo::LEVELS];
        place[0] = u64::from(process::get(process).node());
        place
    };
    let places: Vec<Place> = comm.group.members().iter().map(place).collect();
    chosen(pattern, &places)
}

fn chosen(pattern: &Pattern, places: &[Place]) -> Result<Vec<usize>> {
    let size = pattern.edges.len();
    let Some(component) = topo::selected()? else { return Ok((0..size).collect()) };
    let order = component.order(pattern, places);
    let mut taken = vec![false; places.len()];
    let valid = order.len() == size
        && order.iter().all(|at| taken.get_mut(*at).is_some_and(|taken| !core::mem::replace(taken, true)));
    match valid {
        true => Ok(order),
        false => Err(Class::Intern.into()),
    }
}

fn here() -> Place {
    let mut place = [ANYWHERE; topo::LEVELS];
    place[0] = u64::from(process::me().node());
    place[1..].copy_from_slice(&hardware::place().map(|at| at.unwrap_or(ANYWHERE)));
    place
}
