//! `cargo bench -p bench-micro [-- NAME]`: the parts of the message path, one by one.
//!
//! Two-sided measurements run two threads on cores 0 and 1. Times are criterion's; to compare two states of the tree, run
//! with `--save-baseline before` and then `--baseline before`.

extern crate alloc;

mod convertor;
#[path = "../../../components/pml/ob1/src/counters.rs"]
#[expect(dead_code, reason = "the component's own file; matching needs a part of it")]
mod counters;
mod fifo;
mod handles;
mod matching;
#[path = "../../../components/pml/ob1/src/matching.rs"]
#[expect(dead_code, reason = "the component's own file, of which posting and arriving are measured")]
mod ob1;
mod ops;
#[path = "../../../components/pml/ob1/src/slab.rs"]
#[expect(dead_code, reason = "the component's own file; matching needs a part of it")]
mod slab;
mod statics;

opal_core::image![
    opal_core::framework::atomics,
    memcpy_portable,
    memory_none,
    timer_clock,
    op_avx2,
    op_avx512,
    op_scalar
];

criterion::criterion_group!(all, fifo::all, matching::all, handles::all, statics::all, convertor::all, ops::all);
criterion::criterion_main!(all);
