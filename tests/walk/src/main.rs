//! Blocking sends of eight bytes from rank 0 to rank 1, which already waits for them: the walk of docs/architecture/walk.md. Two,
//! because the first one also makes the sender known to the receiver.
//!
//! `cargo xtask test walk` runs it under callgrind and compares callers and callees with the page. The program
//! calls the C functions, as C would.
#![allow(unsafe_code)] // calls the C functions

use core::ffi::c_int;
use ompi_core::abi::env::{PMPI_Finalize, PMPI_Init};
use ompi_core::abi::pt2pt::{PMPI_Recv, PMPI_Send};
use ompi_core::comm;

opal_core::image![
    opal_core::framework::atomics,
    bml_r2,
    btl_self,
    btl_sm,
    coll_basic,
    ess_env,
    memcpy_portable,
    memory_none,
    op_scalar,
    pml_ob1,
    shmem_memfd,
    timer_clock,
];

/// MPI_DOUBLE.
const DOUBLE: usize = 532;
const GO: c_int = 1;
const VALUE: c_int = 2;

fn main() {
    // SAFETY: null pointers are what the standard allows here.
    must("MPI_Init", unsafe { PMPI_Init(core::ptr::null_mut(), core::ptr::null_mut()) });
    match comm::world().rank {
        0 => {
            for value in [41.0, 42.0] {
                receive(1, GO);
                send(1, VALUE, value);
            }
        }
        1 => {
            for value in [41.0, 42.0] {
                send(0, GO, 0.0);
                assert_eq!(receive(0, VALUE), value);
            }
        }
        _ => {}
    }
    // SAFETY: MPI is initialised.
    must("MPI_Finalize", unsafe { PMPI_Finalize() });
}

fn send(to: c_int, tag: c_int, value: f64) {
    // SAFETY: one double is readable.
    let code = unsafe { PMPI_Send((&raw const value).cast(), 1, DOUBLE, to, tag, comm::WORLD_HANDLE) };
    must("MPI_Send", code);
}

fn receive(from: c_int, tag: c_int) -> f64 {
    let mut value = 0.0f64;
    let ignore = core::ptr::null_mut();
    // SAFETY: one double is writable; null is MPI_STATUS_IGNORE.
    let code = unsafe { PMPI_Recv((&raw mut value).cast(), 1, DOUBLE, from, tag, comm::WORLD_HANDLE, ignore) };
    must("MPI_Recv", code);
    value
}

fn must(what: &str, code: c_int) {
    assert_eq!(code, 0, "{what}");
}
