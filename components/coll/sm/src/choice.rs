//! How a call is served: by parameters, else by values that are equal on all ranks.

use crate::{params, wire};
use ompi_core::framework::coll::{Function, Functions, Ways, set_of};

ompi_core::coll_ways! {
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

/// What the parameters force.
pub struct Choices {
    bcast: Option<Way>,
    allgather: Option<Way>,
    alltoall: Option<Way>,
    reduce: Option<Way>,
    allreduce: Option<Way>,
}

impl Choices {
    /// As the parameters are now.
    pub fn by_parameters() -> Choices {
        Choices {
            bcast: Way::by_word(params::BCAST_ALGORITHM.text()),
            allgather: Way::by_word(params::ALLGATHER_ALGORITHM.text()),
            alltoall: Way::by_word(params::ALLTOALL_ALGORITHM.text()),
            reduce: Way::by_word(params::REDUCE_ALGORITHM.text()),
            allreduce: Way::by_word(params::ALLREDUCE_ALGORITHM.text()),
        }
    }

    #[inline(always)]
    fn parameter(&self, function: Function) -> Option<Way> {
        match function {
            Function::Bcast => self.bcast,
            Function::Allgather => self.allgather,
            Function::Alltoall => self.alltoall,
            Function::Reduce => self.reduce,
            Function::Allreduce => self.allreduce,
            _ => None,
        }
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

    /// For `bytes` of what one rank contributes to all of them (MPI_Alltoall: to all others) among `ranks` ranks.
    #[inline(always)]
    pub fn way(&self, function: Function, bytes: usize, ranks: usize) -> Way {
        match self.parameter(function) {
            None if message_suits(function, bytes, ranks) => Way::Message,
            None if lines_suit(function, bytes, ranks) => Way::Lines,
            None => long(function, bytes, ranks),
            Some(Way::Message) if ranks == 2 && has_message(function) => Way::Message,
            Some(Way::Lines) if bytes <= wire::area_bytes(ranks) => Way::Lines,
            Some(way @ (Way::Direct | Way::Pipeline | Way::Measured)) if bytes > 0 => way,
            _ => Way::Next,
        }
    }
}

/// Whether there are ways of doing it for long data.
pub fn has_long(function: Function) -> bool {
    use Function::{Allgather, Allreduce, Alltoall, Bcast, Reduce};
    matches!(function, Bcast | Allgather | Alltoall | Reduce | Allreduce)
}

/// Whether two ranks can do it by a message.
fn has_message(function: Function) -> bool {
    matches!(function, Function::Bcast | Function::Allgather | Function::Alltoall)
}

// What is done by a single message, or by one each way, needs no decisions below: MPI_Bcast of eight bytes takes 336 instead
// of 675 instructions, and 0.092 instead of 0.122 µs.
#[inline(always)]
fn message_suits(function: Function, bytes: usize, ranks: usize) -> bool {
    match (ranks, function) {
        (2, Function::Bcast) => bytes > 0 && bytes < pipeline_from(function, 2),
        (2, Function::Allgather | Function::Alltoall) => {
            bytes > wire::area_bytes(2) && bytes < pipeline_from(function, 2)
        }
        _ => false,
    }
}

#[inline(always)]
fn lines_suit(function: Function, bytes: usize, ranks: usize) -> bool {
    match (ranks, function) {
        (2, Function::Barrier | Function::Allgather | Function::Alltoall | Function::Allreduce) => {
            bytes <= wire::area_bytes(2)
        }
        // An answered flag is no faster than a message.
        (2, _) => false,
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
        (2, Function::Allreduce) => 1,
        _ if has_long(function) => 1,
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
        (2, _) if has_long(function) => 8 << 10,
        (_, Function::Alltoall) => (16 << 10) * (ranks - 1),
        (_, Function::Bcast | Function::Allgather) => 16 << 10,
        (..=8, Function::Reduce | Function::Allreduce) => 8 << 20,
        (_, Function::Reduce | Function::Allreduce) => 512 << 10,
        _ => usize::MAX,
    }
}

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
