//! Times of the collective algorithms on machines of any size: their own schedules, played on a model.
//!
//! `trace` records what an algorithm does on each rank, `machine` says what that costs, `engine` plays all ranks against
//! each other, `study` compares the algorithms of a function. `cargo xtask bench scale` prints and draws the result.
//! A model is no measurement: it shows how algorithms grow, and where two of them cross.

pub mod algorithms;
pub mod case;
pub mod engine;
mod levels;
pub mod machine;
pub mod study;
pub mod trace;

opal_core::image![memcpy_portable, op_scalar, coll_basic, coll_han, coll_tuned];
