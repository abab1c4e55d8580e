//! One rank of a simulated job: MPI's matching, collectives, the protocols of pml/ob1 with checksums and btl/faulty as they are, over a
//! transport whose wire the simulation has.
//!
//! The test `jobs` loads this library once and keeps its statics for each rank: what a static holds is that of the rank that runs.

pub mod calls;
mod clock;
mod crowd;
mod environment;
mod host;
#[path = "../../src/mpi.rs"]
mod mpi;
mod sum;
mod traffic;
mod wire;

opal_core::image![
    opal_core::framework::atomics,
    bml_r2,
    btl_faulty,
    btl_self,
    clock,
    coll_basic,
    environment,
    memcpy_portable,
    memory_none,
    op_scalar,
    pml_ob1,
    wire,
];
