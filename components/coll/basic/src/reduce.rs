//! MPI_Reduce by a binomial tree.

use crate::gather::in_place_elsewhere;
use ompi_core::data::{Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::op::Op;

/// `to` at the root; with `InPlace` (root only) the root's contribution lies in `to`.
///
/// The tree's shape depends on size and root only, so equal arguments give equal bits. An operation that commutes has
/// the root on top. Otherwise rank 0 is on top, every node's subtree holds the ranks that follow it, and operands meet
/// in rank order (MPI 5.0 §6.9.1); rank 0 passes the result on.
pub fn reduce<E: Executor + ?Sized>(
    executor: &mut E,
    from: Source<'_>,
    to: Option<&Data<'_>>,
    op: &Op,
    root: usize,
) -> Result<()> {
    let at_root = executor.rank() == root;
    let own = match (from, to) {
        (Source::From(own), _) => own,
        (Source::InPlace, Some(to)) if at_root => *to,
        (Source::InPlace, _) => return Err(in_place_elsewhere("sendbuf")),
    };
    op.check(own.datatype)?;
    if own.count == 0 {
        return Ok(());
    }
    let top = if op.is_commutative() { root } else { 0 };
    let into = match (from, to) {
        (Source::From(_), Some(to)) if at_root && top == root => Some(*to),
        _ => None,
    };
    let result = climb(executor, &own, into, op, top)?;
    match (result, to) {
        (Some(result), _) if !at_root => executor.send(&result, root),
        (Some(result), Some(to)) if result.at != to.at => executor.copy(&result, to),
        (None, Some(to)) if at_root => executor.recv(to, top),
        _ => Ok(()),
    }
}

/// Combines the subtree of this rank and passes it to the parent. At the top returns where the result lies, which is
/// `into` if that is given and there is more than one rank.
fn climb<'a, E: Executor + ?Sized>(
    executor: &mut E,
    own: &Data<'a>,
    into: Option<Data<'a>>,
    op: &Op,
    top: usize,
) -> Result<Option<Data<'a>>> {
    let size = executor.size();
    let relative = (executor.rank() + size - top) % size;
    let absolute = |relative: usize| (relative + top) % size;
    let parent_bit = if relative == 0 { size.next_power_of_two() } else { 1 << relative.trailing_zeros() };
    let bits = || (0..usize::BITS).map(|bit| 1usize << bit).take_while(|bit| *bit < parent_bit);
    let children = bits().filter(|bit| relative + bit < size).count();
    // The two places take turns: what has come in becomes the sum, the sum's place is free for the next. The last
    // turn is `into`'s.
    let mut places = [into, None];
    let mut turn = if into.is_some() { (children + 1) % 2 } else { 0 };
    let mut sum = *own;
    for bit in bits().filter(|bit| relative + bit < size) {
        let place = match places[turn] {
            Some(place) => place,
            None => *places[turn].insert(executor.scratch(own)?),
        };
        executor.recv(&place, absolute(relative + bit))?;
        executor.reduce(op, &sum, &place)?;
        (sum, turn) = (place, 1 - turn);
    }
    if relative == 0 {
        return Ok(Some(sum));
    }
    executor.send(&sum, absolute(relative - parent_bit))?;
    Ok(None)
}
