//! Which algorithm serves a call: the one that a parameter forces, else by values that are equal on all ranks.

use crate::algorithm::Algorithm;
use crate::flags::layout;
use crate::params;
use ompi_core::framework::coll::{Algorithms, FUNCTIONS, Function, Functions, set_of};
use opal_core::mca::Param;
use opal_core::sync::{AtomicBool, Ordering};

/// A function that coll/sm serves.
#[derive(Clone, Copy)]
pub struct Served {
    /// The function.
    pub function: Function,
    /// The parameter that forces an algorithm.
    pub parameter: Option<&'static Param>,
    /// The names of its algorithms.
    pub algorithms: &'static [&'static str],
}

const fn served(function: Function, parameter: Option<&'static Param>, algorithms: &'static [&'static str]) -> Served {
    Served { function, parameter, algorithms }
}

/// All of them.
pub static SERVED: [Served; 15] = [
    served(Function::Barrier, None, &["flags"]),
    served(Function::Bcast, Some(&params::BCAST_ALGORITHM), ALL),
    served(Function::Gather, Some(&params::GATHER_ALGORITHM), NOT_DIRECT),
    served(Function::Scatter, Some(&params::SCATTER_ALGORITHM), NOT_DIRECT),
    served(Function::Allgather, Some(&params::ALLGATHER_ALGORITHM), ALL),
    served(Function::Allgatherv, Some(&params::ALLGATHERV_ALGORITHM), NOT_DIRECT),
    served(Function::Alltoall, Some(&params::ALLTOALL_ALGORITHM), ALL),
    served(Function::Alltoallv, Some(&params::ALLTOALLV_ALGORITHM), NOT_DIRECT),
    served(Function::Alltoallw, Some(&params::ALLTOALLW_ALGORITHM), NOT_DIRECT),
    served(Function::Reduce, Some(&params::REDUCE_ALGORITHM), ALL),
    served(Function::Allreduce, Some(&params::ALLREDUCE_ALGORITHM), ALL),
    served(Function::ReduceScatter, Some(&params::REDUCE_SCATTER_ALGORITHM), NOT_DIRECT),
    served(Function::ReduceScatterBlock, Some(&params::REDUCE_SCATTER_BLOCK_ALGORITHM), NOT_DIRECT),
    served(Function::Scan, Some(&params::SCAN_ALGORITHM), NOT_DIRECT),
    served(Function::Exscan, Some(&params::EXSCAN_ALGORITHM), NOT_DIRECT),
];

const ALL: &[&str] = Algorithm::WORDS.split_at(2).1;
const NOT_DIRECT: &[&str] = &["message", "flags", "pipeline"];

/// What choices depend on beside a call: the algorithms that parameters force, by function, and the cores of the ranks.
pub struct Choices {
    algorithms: [Option<Algorithm>; FUNCTIONS],
    // Whether each rank has a core of its own.
    own_cores: AtomicBool,
    // Whether ranks set flags of their own, if a parameter says so.
    by_flags: Option<bool>,
}

impl Choices {
    /// As the parameters are now.
    pub fn by_parameters() -> Choices {
        let mut algorithms = [None; FUNCTIONS];
        for Served { function, parameter, .. } in SERVED {
            algorithms[function as usize] = parameter.and_then(|parameter| Algorithm::by_word(parameter.text()));
        }
        let by_flags = match params::ARRIVAL.text() {
            "flags" => Some(true),
            "counter" => Some(false),
            _ => None,
        };
        Choices { algorithms, own_cores: AtomicBool::new(false), by_flags }
    }

    /// Whether each rank of the communicator has a core of its own, as all of them know.
    pub fn set_own_cores(&self, own_cores: bool) {
        // Relaxed: the communicator is handed on afterwards.
        self.own_cores.store(own_cores, Ordering::Relaxed);
    }

    #[inline(always)]
    fn own_cores(&self) -> bool {
        self.own_cores.load(Ordering::Relaxed)
    }

    /// Whether a rank for which others wait sets a flag of its own, rather than that all count themselves in.
    pub fn by_flags(&self) -> bool {
        self.by_flags.unwrap_or_else(|| self.own_cores())
    }

    /// Longest blocks of MPI_Alltoallv that go in a pipeline, if they are about equally long.
    pub fn even_blocks_most(&self) -> usize {
        if self.own_cores() { 2 << 10 } else { 512 << 10 }
    }

    #[inline(always)]
    fn parameter(&self, function: Function) -> Option<Algorithm> {
        self.algorithms[function as usize]
    }

    /// The functions for which a parameter names an algorithm of this component.
    pub fn forced(&self) -> Functions {
        Function::ALL
            .into_iter()
            .filter(|function| self.forces(*function))
            .fold(0, |all, function| all | set_of(&[function]))
    }

    /// Whether a function is one of them.
    pub fn forces(&self, function: Function) -> bool {
        self.parameter(function).is_some_and(|algorithm| algorithm != Algorithm::Fallback)
    }

    /// For `bytes` that one rank contributes to all of them (MPI_Alltoall, MPI_Scatter: to all others; of different lengths
    /// the longest) among `ranks` ranks. Those of MPI_Alltoallv and MPI_Alltoallw are not known before, and 0 here.
    #[inline(always)]
    pub fn algorithm(&self, function: Function, bytes: usize, ranks: usize) -> Algorithm {
        match self.parameter(function) {
            None if message_suits(function, bytes, ranks) => Algorithm::Message,
            None if ranks > 2 && self.own_cores() => with_own_cores(function, bytes, ranks),
            None if flags_suit(function, bytes, ranks) => Algorithm::Flags,
            None => large(function, bytes, ranks),
            Some(Algorithm::Message) if ranks == 2 && has_message(function) => Algorithm::Message,
            Some(Algorithm::Flags)
                if bytes <= layout::slot_bytes(ranks) && (ranks > 2 || !needs_more_ranks(function)) =>
            {
                Algorithm::Flags
            }
            Some(algorithm @ (Algorithm::Direct | Algorithm::Pipeline | Algorithm::Autotuned))
                if bytes > 0 || has_own_lengths(function) =>
            {
                algorithm
            }
            _ => Algorithm::Fallback,
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

/// Whether it has the direct algorithm.
fn has_direct(function: Function) -> bool {
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

// Whether flags serve two ranks best: an acknowledged flag is no faster than a message.
fn suits_pair(function: Function) -> bool {
    use Function::{Allgather, Allreduce, Alltoall, Barrier, ReduceScatter, ReduceScatterBlock};
    matches!(function, Barrier | Allgather | Alltoall | Allreduce | ReduceScatter | ReduceScatterBlock)
}

// One message, or one each way, needs no decisions below: MPI_Bcast of eight bytes takes 336 instead
// of 675 instructions, and 0.092 instead of 0.122 µs.
#[inline(always)]
fn message_suits(function: Function, bytes: usize, ranks: usize) -> bool {
    if ranks != 2 || !has_message(function) {
        return false;
    }
    match function {
        Function::Alltoallv | Function::Alltoallw => true,
        Function::ReduceScatter | Function::ReduceScatterBlock => bytes > layout::slot_bytes(2) && bytes < 16 << 10,
        Function::Allgather | Function::Alltoall => bytes > layout::slot_bytes(2) && bytes < pipeline_from(function, 2),
        _ => bytes > 0 && bytes < pipeline_from(function, 2),
    }
}

#[inline(always)]
fn flags_suit(function: Function, bytes: usize, ranks: usize) -> bool {
    match (ranks, function) {
        (2, _) => suits_pair(function) && bytes <= layout::slot_bytes(2),
        // The last rank to come combines alone.
        (_, Function::Reduce | Function::Allreduce) => bytes <= 1 << 10,
        // Now and then a barrier must free the slots; a ring frees its own.
        (_, Function::Bcast) => bytes <= layout::FLAG_INLINE_BYTES,
        _ => bytes <= layout::slot_bytes(ranks),
    }
}

// Where nobody has to give a core away, in µs on 16 cores of an Intel Xeon (Sapphire Rapids):
//
// | | 4 ranks | 8 ranks | 16 ranks |
// |---|---|---|---|
// | MPI_Allreduce of 256 bytes, 1 and 4 KiB by flags | 0.75, 1.38, 2.86 | 1.16, 2.46, 3.76 | 2.02, 4.04, 5.37 |
// | by messages | 0.89, 1.65, 3.65 | 1.24, 2.40, 5.21 | 1.59, 3.09, 7.50 |
// | in a pipeline | 1.54, 1.84, 3.19 | 2.44, 2.93, 4.41 | 6.09, 6.68, 10.3 |
// | of 256 KiB and 1 MiB in a pipeline | 53, 243 | 69, 323 | 132, 531 |
// | directly | 45, 212 | 72, 245 | 108, 335 |
// | MPI_Reduce of 256 KiB and 1 MiB in a pipeline | 42, 221 | 60, 283 | 97, 481 |
// | directly | 28, 123 | 49, 149 | 68, 202 |
// | MPI_Allgather of 8 and 256 bytes by flags | 0.42, 0.75 | 0.52, 1.06 | 0.77, 2.01 |
// | by messages | 0.52, 0.74 | 0.78, 1.46 | 1.48, 3.00 |
// | MPI_Gather of 8 and 56 bytes by flags | 0.33, 0.38 | 0.41, 0.48 | 0.54, 0.70 |
// | by messages | 0.34, 0.35 | 0.39, 0.39 | 0.50, 0.51 |
//
// Of longer blocks of MPI_Gather, MPI_Scatter and MPI_Alltoallv a root, or everybody, moves too much alone:
//
// | by flags or in a pipeline, and by messages | 4 ranks | 16 ranks |
// |---|---|---|
// | MPI_Gather of 1 and 16 KiB | 1.13, 5.3 and 0.78, 3.5 | 2.4, 18.7 and 0.89, 4.3 |
// | MPI_Scatter of 512 bytes, 1 and 16 KiB | 0.91, 1.27, 6.6 and 0.53, 0.96, 3.9 | 1.85, 5.6, 43.6 and 1.78, 3.0, 11.8 |
// | MPI_Alltoallv of 4 and 16 KiB | 4.5, 11.1 and 4.0, 9.2 | 28, 105 and 22, 79 |
//
// By flags and in a pipeline: MPI_Scan of 256 bytes 0.54 and 0.54, 1.47 and 0.83; MPI_Bcast of 1 KiB 0.91 and 1.04, 1.21 and 1.52.
#[inline(always)]
fn with_own_cores(function: Function, bytes: usize, ranks: usize) -> Algorithm {
    match function {
        Function::Gather => Algorithm::Fallback,
        Function::Scatter if bytes > (if ranks > 8 { 256 } else { 128 }) * (ranks - 1) => Algorithm::Fallback,
        Function::Allreduce if ranks > 8 && bytes > 128 && bytes <= 1 << 10 => Algorithm::Fallback,
        Function::Reduce | Function::Allreduce if bytes <= layout::slot_bytes(ranks) => Algorithm::Flags,
        Function::Reduce | Function::Allreduce if bytes >= 256 << 10 => Algorithm::Autotuned,
        Function::Allgather if bytes > 256 => large(function, bytes, ranks),
        Function::Scan | Function::Exscan if bytes > layout::FLAG_INLINE_BYTES => large(function, bytes, ranks),
        Function::Bcast if bytes <= 2 << 10 => Algorithm::Flags,
        _ if flags_suit(function, bytes, ranks) => Algorithm::Flags,
        _ => large(function, bytes, ranks),
    }
}

fn large(function: Function, bytes: usize, ranks: usize) -> Algorithm {
    match bytes {
        _ if bytes >= autotuned_from(function, ranks) => Algorithm::Autotuned,
        _ if bytes >= pipeline_from(function, ranks) => Algorithm::Pipeline,
        _ => Algorithm::Fallback,
    }
}

// From where a pipeline is faster than messages, or than flags, on an AMD EPYC: with 2 ranks on 2 cores, and with
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

// From where direct copies may be faster, likewise, and on an Intel Xeon. Reductions of more than two ranks are
// not autotuned, since the two algorithms combine in different orders: from here on they are direct. On the EPYC, direct and in
// a pipeline, MPI_Allreduce of 1 MiB by 4 ranks takes 0.65 to 0.76 and 0.30 to 0.87 ms (as the cores are), by 8 ranks 1.8 to 2.3
// and 1.1 to 2.4; of 4 MiB 4.0 to 5.0 and 2.3 to 3.8, 9.4 to 10.3 and 5.8 to 6.2; from 8 MiB on both are
// even or the pipeline is ahead. More ranks were not measured.
fn autotuned_from(function: Function, ranks: usize) -> usize {
    match (ranks, function) {
        _ if !has_direct(function) => usize::MAX,
        (2, _) => 8 << 10,
        (_, Function::Alltoall) => (16 << 10) * (ranks - 1),
        (_, Function::Bcast | Function::Allgather) => 16 << 10,
        (..=8, Function::Reduce | Function::Allreduce) => 8 << 20,
        _ => 512 << 10,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// No test of whole programs is long enough for these.
    #[test]
    fn the_longest_reductions_are_direct() {
        let algorithm = |bytes, ranks| large(Function::Allreduce, bytes, ranks);
        assert_eq!(algorithm((8 << 20) - 1, 8), Algorithm::Pipeline);
        assert_eq!(algorithm(8 << 20, 3), Algorithm::Autotuned);
        assert_eq!(algorithm((512 << 10) - 1, 9), Algorithm::Pipeline);
        assert_eq!(algorithm(512 << 10, 9), Algorithm::Autotuned);
        assert_eq!(algorithm(8 << 10, 2), Algorithm::Autotuned);
    }

    #[test]
    fn ranks_with_cores_of_their_own_choose_otherwise() {
        let choices = Choices::by_parameters();
        let algorithms = || {
            [(Function::Gather, 3), (Function::Allreduce, 16), (Function::Allreduce, 8), (Function::Allreduce, 2)]
                .map(|(function, ranks)| choices.algorithm(function, if ranks > 2 { 1 << 10 } else { 8 }, ranks))
        };
        assert_eq!(algorithms(), [Algorithm::Flags; 4]);
        assert!(!choices.by_flags());
        choices.set_own_cores(true);
        assert!(choices.by_flags());
        assert_eq!(algorithms(), [Algorithm::Fallback, Algorithm::Fallback, Algorithm::Flags, Algorithm::Flags]);
        assert_eq!(choices.algorithm(Function::Allreduce, 4 << 10, 16), Algorithm::Flags);
        assert_eq!(choices.algorithm(Function::Reduce, 256 << 10, 4), Algorithm::Autotuned);
        assert_eq!(choices.algorithm(Function::Scatter, 3 * 128, 4), Algorithm::Flags);
        assert_eq!(choices.algorithm(Function::Scatter, 3 * 129, 4), Algorithm::Fallback);
        assert_eq!(choices.algorithm(Function::Barrier, 0, 16), Algorithm::Flags);
        assert_eq!(choices.algorithm(Function::Alltoall, 1 << 10, 16), Algorithm::Flags);
    }
}
