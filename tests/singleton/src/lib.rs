//! A library with the components that one process needs, so that the examples in the documentation of crate `ompi` run.

opal_core::image![
    opal_core::framework::atomics,
    bml_r2,
    btl_self,
    coll_basic,
    coll_self,
    ess_singleton,
    memcpy_portable,
    memory_none,
    op_scalar,
    pml_ob1,
    timer_clock,
    topo_basic,
];

/// MPI, started.
///
/// # Panics
/// If it was started before.
pub fn universe() -> ompi::Universe {
    ompi::initialize().expect("each example is a process of its own")
}
