//! The atomics suite for every component.

test_statics::atomics_suite! {
    core: atomics_core;
    asm: atomics_asm;
}
