//! How a call is served: by parameters, else by values that are equal on all ranks.

use crate::flags::layout as wire;
use crate::params;
use ompi_core::framework::coll::{Algorithms, FUNCTIONS, Function, Functions, set_of};

ompi_core::coll_algorithms! {
    /// Ways.
    Way {
        /// Two ranks: as a message.
        Message = "message",
        /// Through shared lines.
        Lines = "lines",
        /// Straight between the ranks' buffers.
        Direct = "direct",
        /// In pieces through shared rings.
        Pipeline = "pipeline",
        /// Directly or in a pipeline, whichever measures better (`measured.rs`).
        Measured = "measured",
    }
}

/// What the parameters force, by function.
pub struct Choices([Option<Way>; FUNCTIONS]);

impl Choices {
    /// As the parameters are now.
    pub fn by_parameters() -> Choices {
        let mut ways = [None; FUNCTIONS];
        for (function, parameter) in params::ALGORITHMS {
            ways[*function as usize] = Way::by_word(parameter.text());
        }
        Choices(ways)
    }

    #[inline(always)]
    fn parameter(&self, function: Function) -> Option<Way> {
        self.0[function as usize]
    }

    /// The functions that parameters give to this component.
    pub fn forced(&self) -> Functions {
        Function::ALL
            .into_iter()
            .filter(|function| self.forces(*function))
            .fold(0, |all, function| all | set_of(&[function]))
    }

    /// Whether a function is one of them.
    pub fn forces(&self, function: Function) -> bool {
        self.parameter(function).is_some_and(|way| way != Way::Next)
    }

    /// For `bytes` of what one rank contributes to all of them (MPI_Alltoall, MPI_Scatter: to all others; where ranks contribute
    /// different lengths: the longest) among `ranks` ranks. Of MPI_Alltoallv and MPI_Alltoallw nobody knows them before.
    #[inline(always)]
    pub fn way(&self, function: Function, bytes: usize, ranks: usize) -> Way {
        match self.parameter(function) {
            None if message_suits(function, bytes, ranks) => Way::Message,
            None if lines_suit(function, bytes, ranks) => Way::Lines,
            None => long(function, bytes, ranks),
            Some(Way::Message) if ranks == 2 && has_message(function) => Way::Message,
            Some(Way::Lines) if bytes <= wire::area_bytes(ranks) && (ranks > 2 || !needs_more_ranks(function)) => {
                Way::Lines
            }
            Some(way @ (Way::Direct | Way::Pipeline | Way::Measured)) if bytes > 0 || has_own_lengths(function) => way,
            _ => Way::Next,
        }
    }
}

/// Whether each rank knows its own lengths only.
pub fn has_own_lengths(function: Function) -> bool {
    matches!(function, Function::Alltoallv | Function::Alltoallw)
}

/// Whether it combines data, so that equal calls should have equal results (MPI 5.0 §6.9.1).
pub fn combines(function: Function) -> bool {
    use Function::{Allreduce, Exscan, Reduce, ReduceScatter, ReduceScatterBlock, Scan};
    matches!(function, Reduce | Allreduce | ReduceScatter | ReduceScatterBlock | Scan | Exscan)
}

/// Whether it can be done straight between the ranks' buffers.
pub fn has_direct(function: Function) -> bool {
    use Function::{Allgather, Allreduce, Alltoall, Bcast, Reduce};
    matches!(function, Bcast | Allgather | Alltoall | Reduce | Allreduce)
}

/// Whether two ranks can do it by a message or one each way.
fn has_message(function: Function) -> bool {
    !matches!(function, Function::Barrier | Function::Reduce | Function::Allreduce)
}

// Two ranks do it by messages, whatever a parameter says.
fn needs_more_ranks(function: Function) -> bool {
    has_own_lengths(function) || matches!(function, Function::Scan | Function::Exscan)
}

// Whether lines serve two ranks best: an answered flag is no faster than a message.
fn has_lines_of_two(function: Function) -> bool {
    use Function::{Allgather, Allreduce, Alltoall, Barrier, ReduceScatter, ReduceScatterBlock};
    matches!(function, Barrier | Allgather | Alltoall | Allreduce | ReduceScatter | ReduceScatterBlock)
}

// What is done by a single message, or by one each way, needs no decisions below: MPI_Bcast of eight bytes takes 336 instead
// of 675 instructions, and 0.092 instead of 0.122 µs.
#[inline(always)]
fn message_suits(function: Function, bytes: usize, ranks: usize) -> bool {
    if ranks != 2 || !has_message(function) {
        return false;
    }
    match function {
        Function::Alltoallv | Function::Alltoallw => true,
        Function::ReduceScatter | Function::ReduceScatterBlock => bytes > wire::area_bytes(2) && bytes < 16 << 10,
        Function::Allgather | Function::Alltoall => bytes > wire::area_bytes(2) && bytes < pipeline_from(function, 2),
        _ => bytes > 0 && bytes < pipeline_from(function, 2),
    }
}

#[inline(always)]
fn lines_suit(function: Function, bytes: usize, ranks: usize) -> bool {
    match (ranks, function) {
        (2, _) => has_lines_of_two(function) && bytes <= wire::area_bytes(2),
        // Who comes last combines alone.
        (_, Function::Reduce | Function::Allreduce) => bytes <= 1 << 10,
        // All must come by now and then, for a place to be free; a ring has its slots.
        (_, Function::Bcast) => bytes <= wire::BESIDE_BYTES,
        _ => bytes <= wire::area_bytes(ranks),
    }
}

fn long(function: Function, bytes: usize, ranks: usize) -> Way {
    match bytes {
        _ if bytes >= measured_from(function, ranks) => Way::Measured,
        _ if bytes >= pipeline_from(function, ranks) => Way::Pipeline,
        _ => Way::Next,
    }
}

// From where a pipeline is faster than messages, or than what lines serve, on an AMD EPYC: with 2 ranks on 2 cores, and with
// 4 and 8 on these cores.
fn pipeline_from(function: Function, ranks: usize) -> usize {
    match (ranks, function) {
        // MPI_Allgather of 1, 2, 4 and 8 KiB: 0.27, 0.34, 0.55, 0.82 µs by messages, 0.38, 0.46, 0.59, 0.81 in a pipeline.
        (2, Function::Bcast | Function::Reduce | Function::Allgather | Function::Alltoall) => 8 << 10,
        (2, Function::Allgatherv | Function::Scan | Function::Exscan) => 8 << 10,
        // MPI_Gather of 4, 8 and 64 KiB, roots in turn: 0.42, 0.66, 4.3 µs by messages, 0.43, 0.64, 2.9 in a pipeline.
        (2, Function::Gather) => 8 << 10,
        // MPI_Scatter of 8, 16 and 64 KiB: 0.58, 0.96, 3.5 and 0.69, 1.04, 2.9.
        (2, Function::Scatter) => 32 << 10,
        (2, Function::Allreduce) => 1,
        (3.., _) if function != Function::Barrier => 1,
        _ => usize::MAX,
    }
}

// From where copies by the system may be the faster ones, likewise, and on an Intel Xeon. Reductions of more than two ranks are
// not measured, since their two ways have different orders: from here on they are done directly. On the EPYC, directly and in
// a pipeline, MPI_Allreduce of 1 MiB by 4 ranks takes 0.65 to 0.76 and 0.30 to 0.87 ms (as the cores are), by 8 ranks 1.8 to 2.3
// and 1.1 to 2.4; of 4 MiB 4.0 to 5.0 and 2.3 to 3.8, 9.4 to 10.3 and 5.8 to 6.2; from 8 MiB on both are
// even or the pipeline ahead. More ranks were not measured.
fn measured_from(function: Function, ranks: usize) -> usize {
    match (ranks, function) {
        _ if !has_direct(function) => usize::MAX,
        (2, _) => 8 << 10,
        (_, Function::Alltoall) => (16 << 10) * (ranks - 1),
        (_, Function::Bcast | Function::Allgather) => 16 << 10,
        (..=8, Function::Reduce | Function::Allreduce) => 8 << 20,
        _ => 512 << 10,
    }
}

/// Up to here blocks of MPI_Alltoallv that are about equally long go in a pipeline.
pub const EVEN_BLOCKS_MOST: usize = 512 << 10;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// What no test of whole programs is long enough for.
    #[test]
    fn the_longest_reductions_are_direct() {
        let way = |bytes, ranks| long(Function::Allreduce, bytes, ranks);
        assert_eq!(way((8 << 20) - 1, 8), Way::Pipeline);
        assert_eq!(way(8 << 20, 3), Way::Measured);
        assert_eq!(way((512 << 10) - 1, 9), Way::Pipeline);
        assert_eq!(way(512 << 10, 9), Way::Measured);
        assert_eq!(way(8 << 10, 2), Way::Measured);
    }
}
