//! Whether it runs at all. What framework osc promises is checked by the programs `tests/c/rma_*.c`, each under
//! `mpirun --mca osc NAME`: they need an MPI that runs.

opal_core::image![opal_core::framework::atomics, memcpy_portable, memory_none, osc_template, timer_clock];

#[test]
fn conformance() {
    test_conformance::declined::opened(&osc_template::COMPONENT);
}
