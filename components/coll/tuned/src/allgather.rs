//! MPI_Allgather in few rounds.

use ompi_core::data::{Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;

fn blocks<'a>(of: &Data<'a>, first: usize, number: usize) -> Data<'a> {
    of.at_element((first * of.count) as isize, number * of.count)
}

/// Partners exchange all that their groups have. For powers of two.
pub fn doubling<E: Executor + ?Sized>(executor: &mut E, from: Source<'_>, to: &Data<'_>) -> Result<()> {
    let (rank, size) = (executor.rank(), executor.size());
    debug_assert!(size.is_power_of_two());
    if let (Source::From(own), 1) = (from, size) {
        return executor.copy(&own, to);
    }
    for bit in (0..size.ilog2()).map(|bit| 1usize << bit) {
        let (first, partner) = (rank & !(bit - 1), rank ^ bit);
        // What lies in the send buffer is read from there: a copy that was just made would have to leave this core's cache.
        let out = match from {
            Source::From(own) if bit == 1 => own,
            _ => blocks(to, first, bit),
        };
        executor.exchange(&out, partner, &blocks(to, first ^ bit, bit), partner)?;
        if let (Source::From(own), 1) = (from, bit) {
            executor.copy(&own, &blocks(to, rank, 1))?;
        }
    }
    Ok(())
}

/// Blocks are gathered by distance from this rank and rotated in the end.
///
/// Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications,
/// <https://doi.org/10.1109/71.642949>.
pub fn bruck<E: Executor + ?Sized>(executor: &mut E, from: Source<'_>, to: &Data<'_>) -> Result<()> {
    let (rank, size) = (executor.rank(), executor.size());
    let scratch = executor.scratch(&Data { count: to.count * size, ..*to })?;
    let scratch = Data { count: to.count, ..scratch };
    let own = match from {
        Source::From(own) => own,
        Source::InPlace => blocks(to, rank, 1),
    };
    executor.copy(&own, &blocks(&scratch, 0, 1))?;
    let mut have = 1;
    while have < size {
        let more = have.min(size - have);
        let (below, above) = ((rank + size - have) % size, (rank + have) % size);
        executor.exchange(&blocks(&scratch, 0, more), below, &blocks(&scratch, have, more), above)?;
        have += more;
    }
    executor.copy(&blocks(&scratch, 0, size - rank), &blocks(to, rank, size - rank))?;
    executor.copy(&blocks(&scratch, size - rank, rank), &blocks(to, 0, rank))
}

/// Neighbours exchange pairs of blocks, to the right and to the left in turns. For even numbers of ranks.
///
/// Chen, Zhang, Zhang, Yuan: Performance evaluation of allgather algorithms on terascale Linux cluster with fast
/// Ethernet, <https://doi.org/10.1109/HPCASIA.2005.75>.
pub fn neighbor<E: Executor + ?Sized>(executor: &mut E, from: Source<'_>, to: &Data<'_>) -> Result<()> {
    let (rank, size) = (executor.rank(), executor.size());
    debug_assert!(size.is_multiple_of(2));
    if let Source::From(own) = from {
        executor.copy(&own, &blocks(to, rank, 1))?;
    }
    let (pairs, pair) = (size / 2, rank / 2);
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let even = rank.is_multiple_of(2);
    // First the other one of the pair.
    let other = if even { right } else { left };
    executor.exchange(&blocks(to, rank, 1), other, &blocks(to, other, 1), other)?;
    // Then pairs of blocks. In two steps a pair learns of one more pair on each side: first the even rank from the left
    // and the odd one from the right, then they tell each other. What was learnt last goes out.
    let mut newest = pair;
    for step in 1..pairs {
        let (peer, incoming) = match (step % 2 == 1, even) {
            // Between pairs: the neighbouring pair's newest.
            (true, true) => (left, pair + 2 * pairs - step.div_ceil(2)),
            (true, false) => (right, pair + step.div_ceil(2)),
            // Within a pair: what the other one has just learnt.
            (false, true) => (right, pair + step / 2),
            (false, false) => (left, pair + 2 * pairs - step / 2),
        };
        let incoming = incoming % pairs;
        executor.exchange(&blocks(to, 2 * newest, 2), peer, &blocks(to, 2 * incoming, 2), peer)?;
        newest = incoming;
    }
    Ok(())
}
