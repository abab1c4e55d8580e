//! The algorithms of coll/sm.
//!
//! An algorithm for one more function, or a new one, has these places, each with its test:
//!
//! 1. its name here; the parameters accept it at once, and `params` says when it serves;
//! 2. its row in `select::SERVED` (the functions, their parameters and algorithms), and in `select` the sizes for which it is
//!    chosen;
//! 3. its code, in `p2p`, `flags`, `direct` or `pipeline`, and its arm in `small` or `large`;
//! 4. if memory is written again: its row in docs/architecture/collectives-in-shared-memory.md, and a loom model in `models`;
//! 5. `ompi_info --coll` describes it (`component`); `xtask/src/test/coll/choices.rs` forces it against MPI_Send and MPI_Recv,
//!    and `tests/coll/mutants.txt` plants its mistakes.

ompi_core::coll_algorithms! {
    /// An algorithm of coll/sm.
    Algorithm {
        /// Two ranks: as a message.
        Message = "message",
        /// Through the flags and slots of a shared segment.
        Flags = "flags",
        /// Straight between the ranks' buffers.
        Direct = "direct",
        /// In pieces through shared rings.
        Pipeline = "pipeline",
        /// Direct or pipeline, whichever measures better (`autotune`).
        Autotuned = "measured",
    }
}
