//! Short data: flags, counters and data slots in one shared segment per communicator.
//!
//! Each operation is one *epoch*. Both ranks of a pair set a flag in every epoch (`pair`, `pair_words`). More ranks count
//! themselves in at a counter, and the last one to come, or the root, stores the release word that the others poll; or
//! each sets a flag that all others poll (`epoch`, `rank_words`). The operations themselves are in `data_movement`, `reduction` and `v_variants`.
//!
//! An epoch writes where an earlier one did. Why no rank still reads there is one table:
//! docs/architecture/collectives-in-shared-memory.md.

pub mod data_movement;
pub mod epoch;
pub mod layout;
pub mod oversubscription;
pub mod pair;
pub mod pair_words;
pub mod rank_words;
pub mod reduction;
pub mod segment;
pub mod v_variants;
