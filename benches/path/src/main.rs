//! Latency, rate and bandwidth of the message path between two ranks, at the PML: no C symbol, no argument checks.
//!
//! `mpirun -n 2 bench-path` measures, `bench-path rate` sends 8 bytes for some seconds for a profiler to look at; `mpirun -n 4 bench-path check 1` runs seeded random traffic instead and compares
//! every byte, status and order with what was meant to be sent (any number of ranks, any seed).
#![allow(unsafe_code)] // buffers as MPI sees them
#![allow(clippy::multiple_unsafe_ops_per_block)] // one promise on a buffer holds for the calls that follow on it

mod check;
mod measure;

use ompi_core::init;

opal_core::image![
    opal_core::framework::atomics,
    memcpy_portable,
    memory_none,
    timer_clock,
    ess_env,
    ess_singleton,
    shmem_memfd,
    btl_self,
    btl_sm,
    bml_r2,
    pml_ob1,
    coll_basic,
    coll_self,
    op_scalar
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let threads = std::env::var_os("BENCH_THREADS").is_some();
    let level = if threads { init::ThreadLevel::Multiple } else { init::ThreadLevel::Single };
    init::init(level).expect("MPI starts");
    match arguments.next().as_deref() {
        Some("check") => check::run(arguments.next().and_then(|seed| seed.parse().ok()).unwrap_or(1)),
        Some("rate") => measure::only_rate(8, 100_000),
        _ => measure::run(),
    }
    init::finalize().expect("MPI ends");
}
