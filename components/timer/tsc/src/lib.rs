//! timer/tsc: the processor's time-stamp counter.
//!
//! Owns nothing. Invariant: only where the counter runs at one rate in every power state (CPUID 8000_0007h, EDX bit
//! 8); it refuses at `open` elsewhere. Counters of different sockets may differ; differences taken on one core never
//! are negative.
#![no_std]

mod component;
mod rate;
mod raw;

pub use component::{COMPONENT, INFO};
