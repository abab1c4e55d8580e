//! The operations over rings: long data cut into pieces, which some write while others read those before.

mod data_movement;
mod reduction;
pub mod ring;
mod v_variants;

pub use data_movement::{allgather, alltoall, bcast, gather, scatter};
pub use reduction::{reduce, reduce_scatter, scan};
pub use v_variants::{allgatherv, exchange};

use crate::direct::data_movement::{combined, run};
use crate::flags::data_movement::{block, packed};
use crate::flags::segment::Peer;
use crate::pipeline::ring::{Flow, Ring, Rings};
use ompi_core::data::Data;
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::framework::coll::Call;

/// The rings and whom to wake.
pub struct Pipeline<'a> {
    /// Of this communicator.
    pub rings: &'a Rings,
    /// By rank.
    pub peers: &'a [Option<Peer>],
}

/// Whether it can be done in a pipeline at all, the same on all ranks: types with gaps would have to be packed first to be
/// combined, and an element must fit in a slot.
pub fn serves(call: &Call<'_>, piece: usize, ranks: usize) -> bool {
    let datatype = match call {
        Call::Reduce(..) | Call::Allreduce(..) => match combined(call) {
            Some(datatype) => datatype,
            None => return false,
        },
        Call::ReduceScatter(_, to, ..) | Call::ReduceScatterBlock(_, to, _) => to.datatype,
        Call::Scan(_, to, _) | Call::Exscan(_, to, _) => to.datatype,
        _ => return stride(piece, ranks) * (ranks - 1) <= piece,
    };
    datatype.layout.is_contiguous() && datatype.layout.size() <= stride(piece, ranks)
}

impl Pipeline<'_> {
    fn flow(&self, ring: Ring, length: (usize, usize), reader: Option<usize>) -> Flow<'_> {
        self.rings.begin(self.peers, ring, length, reader)
    }

    // Bytes of a piece where one writes and the others wait for the first piece: 8 KiB come in 0.54 instead of 0.68 µs.
    fn one_way(&self, bytes: usize) -> usize {
        (bytes / 4).next_multiple_of(LINE).max(LEAST).min(self.rings.piece)
    }

    fn stride(&self) -> usize {
        stride(self.rings.piece, self.peers.len())
    }
}

// The order of as many steps in so many stages (to write, perhaps to combine, to read), which go through them in groups:
// while the others work on a group this rank is at the next one.
struct Stages {
    group: usize,
    steps: usize,
    stages: usize,
    left: usize,
    // What comes next, unless that is the end of its group.
    turn: usize,
    stage: usize,
    step: usize,
    end: usize,
}

fn stages(group: usize, steps: usize, stages: usize) -> Stages {
    Stages { group, steps, stages, left: steps * stages, turn: 0, stage: 0, step: 0, end: steps.min(group) }
}

impl Iterator for Stages {
    type Item = (usize, usize);

    #[inline]
    fn next(&mut self) -> Option<(usize, usize)> {
        if self.left == 0 {
            return None;
        }
        while self.step >= self.end {
            match self.stage < self.turn && self.stage + 1 < self.stages {
                true => self.stage += 1,
                false => (self.turn, self.stage) = (self.turn + 1, 0),
            }
            self.step = (self.turn - self.stage) * self.group;
            self.end = self.steps.min(self.step + self.group);
        }
        self.left -= 1;
        self.step += 1;
        Some((self.stage, self.step - 1))
    }
}

// Bytes of a slot for each of the others.
fn stride(piece: usize, ranks: usize) -> usize {
    let each = piece / (ranks - 1);
    if each < LINE { each.max(1) } else { each / LINE * LINE }
}

// How a run of elements is cut into pieces.
struct Cut {
    all: usize,
    most: usize,
    steps: usize,
}

impl Cut {
    fn of(all: usize, most: usize) -> Cut {
        Cut { all, most, steps: all.div_ceil(most) }
    }

    fn part<'a>(&self, data: &Data<'a>, step: usize) -> Data<'a> {
        let begin = step * self.most;
        data.at_element(begin as isize, self.most.min(self.all - begin))
    }

    // The same of data that may be shorter than what was cut.
    fn within<'a>(&self, data: &Data<'a>, step: usize) -> Data<'a> {
        let begin = (step * self.most).min(data.count);
        data.at_element(begin as isize, self.most.min(data.count - begin))
    }
}

// What a rank has for itself, copied meanwhile: from where, to where.
struct Blocks<'a> {
    bytes: usize,
    apart: Option<(Data<'a>, Data<'a>)>,
}

impl Blocks<'_> {
    // The piece that was just written is in the cache.
    fn copy_own(&self, executor: &mut dyn Executor, cut: &Cut, step: usize) -> Result<()> {
        match self.runs() {
            Some((from, to)) => executor.copy(&cut.part(&from, step), &cut.part(&to, step)),
            None => Ok(()),
        }
    }

    // What is no run is copied at once.
    fn copy_rest(&self, executor: &mut dyn Executor) -> Result<()> {
        match (self.runs(), &self.apart) {
            (None, Some((from, to))) => executor.copy(from, to),
            _ => Ok(()),
        }
    }

    fn runs(&self) -> Option<(Data<'_>, Data<'_>)> {
        let (from, to) = self.apart?;
        Some((packed(from.contiguous()?, self.bytes), packed(to.contiguous()?, self.bytes)))
    }
}

// A buffer with a block per rank, as one run of bytes, which may have to be spread out in the end.
struct Targets<'a> {
    to: Data<'a>,
    run: Data<'a>,
}

impl<'a> Targets<'a> {
    fn of(executor: &mut dyn Executor, to: &Data<'a>) -> Result<Targets<'a>> {
        let size = executor.size();
        Ok(Targets { to: *to, run: run(executor, &Data { count: to.count * size, ..*to })? })
    }

    fn run(&self, rank: usize) -> Data<'a> {
        packed(self.run.at.wrapping_add(rank * self.to.bytes()), self.to.bytes())
    }

    fn finish(&self, executor: &mut dyn Executor, rank: usize) -> Result<()> {
        let size = executor.size();
        if (Data { count: self.to.count * size, ..self.to }).contiguous().is_some() {
            return Ok(());
        }
        others(rank, size).try_for_each(|peer| executor.copy(&self.run(peer), &block(&self.to, peer)))
    }
}

// Everybody else, each rank from another one on.
fn others(rank: usize, size: usize) -> impl Iterator<Item = usize> {
    (rank + 1..size).chain(0..rank)
}

// The elements of a piece that a rank combines.
fn share<'a>(piece: &Data<'a>, rank: usize, size: usize) -> Data<'a> {
    let each = piece.count.div_ceil(size);
    let begin = (rank * each).min(piece.count);
    piece.at_element(begin as isize, each.min(piece.count - begin))
}

// The same elements elsewhere: types without gaps begin where their data does.
fn laid<'a>(data: &Data<'a>, at: *mut u8) -> Data<'a> {
    Data { at, ..*data }
}

/// Shorter pieces cost more than they hide.
const LEAST: usize = 2 << 10;
const LINE: usize = 64;

#[cfg(test)]
mod tests {
    use super::stages;
    use alloc::vec::Vec;

    #[test]
    fn groups_follow_each_other_through_the_stages() {
        for (group, steps, number) in
            [(1, 0, 2), (1, 1, 3), (1, 5, 2), (2, 5, 3), (3, 4, 3), (4, 4, 2), (8, 5, 3), (8, 40, 3)]
        {
            let mut wanted = Vec::new();
            for turn in 0..steps + number {
                for stage in 0..number.min(turn + 1) {
                    let begin = (turn - stage) * group;
                    wanted.extend((begin..steps.min(begin + group)).map(|step| (stage, step)));
                }
            }
            assert_eq!(stages(group, steps, number).collect::<Vec<_>>(), wanted, "{steps} steps in groups of {group}");
        }
    }
}
