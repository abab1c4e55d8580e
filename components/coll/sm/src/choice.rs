//! How a call is served: by parameters, else by values that are equal on all ranks.

use crate::{params, wire};
use ompi_core::framework::coll::Function;
use opal_core::mca::Param;

/// Ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As the component with the next lower priority does.
    Next,
    /// Through shared lines.
    Lines,
    /// Straight between the ranks' buffers.
    Direct,
}

impl Way {
    /// What a parameter accepts.
    pub const WORDS: &'static [&'static str] = &["auto", "next", "lines", "direct"];

    fn forced_by(param: &Param) -> Option<Way> {
        match param.text() {
            "next" => Some(Way::Next),
            "lines" => Some(Way::Lines),
            "direct" => Some(Way::Direct),
            _ => None,
        }
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
            bcast: Way::forced_by(&params::BCAST_ALGORITHM),
            allgather: Way::forced_by(&params::ALLGATHER_ALGORITHM),
            alltoall: Way::forced_by(&params::ALLTOALL_ALGORITHM),
            reduce: Way::forced_by(&params::REDUCE_ALGORITHM),
            allreduce: Way::forced_by(&params::ALLREDUCE_ALGORITHM),
        }
    }

    /// For `bytes` of what one rank contributes to all of them (MPI_Alltoall: to all others) among `ranks` ranks.
    #[inline(always)]
    pub fn way(&self, function: Function, bytes: usize, ranks: usize) -> Way {
        let forced = match function {
            Function::Bcast => self.bcast,
            Function::Allgather => self.allgather,
            Function::Alltoall => self.alltoall,
            Function::Reduce => self.reduce,
            Function::Allreduce => self.allreduce,
            _ => None,
        };
        match forced {
            None if lines_suit(function, bytes, ranks) => Way::Lines,
            None if bytes >= direct_from(function, ranks) => Way::Direct,
            Some(Way::Lines) if bytes <= wire::area_bytes(ranks) => Way::Lines,
            Some(Way::Direct) if bytes > 0 => Way::Direct,
            _ => Way::Next,
        }
    }
}

/// Whether there is a direct way of doing it.
pub fn has_direct(function: Function) -> bool {
    direct_from(function, 2) != usize::MAX
}

#[inline(always)]
fn lines_suit(function: Function, bytes: usize, ranks: usize) -> bool {
    match (ranks, function) {
        (2, Function::Barrier | Function::Alltoall | Function::Allreduce) => bytes <= wire::area_bytes(2),
        // Messages are faster than an answered flag, and than lines for what both only pass on.
        (2, _) => false,
        // Who comes last combines alone.
        (_, Function::Reduce | Function::Allreduce) => bytes <= 1 << 10,
        _ => bytes <= wire::area_bytes(ranks),
    }
}

// Measured with 2 ranks on 2 cores, where single messages of 8 KiB are about as fast (reductions: faster) and longer ones
// slower, up to three times; and with 4 ranks on these cores.
#[inline(always)]
fn direct_from(function: Function, ranks: usize) -> usize {
    match (ranks, function) {
        (2, Function::Bcast | Function::Allgather | Function::Alltoall) => 8 << 10,
        (2, Function::Reduce | Function::Allreduce) => (8 << 10) + 1,
        (_, Function::Alltoall) => (16 << 10) * (ranks - 1),
        (_, Function::Bcast | Function::Allgather | Function::Reduce | Function::Allreduce) => 16 << 10,
        _ => usize::MAX,
    }
}
