//! Stands in for the image crate in this crate's own unit tests.

opal_core::image![opal_core::framework::atomics, memcpy_portable, memory_none, timer_clock];
