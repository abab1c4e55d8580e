//! What debuggers of parallel programs look for in a launcher: the interface MPIR, version 1.1 of the MPI Forum's document (§9).
//!
//! A debugger that attaches reads the table of processes. One that starts mpirun sets `MPIR_being_debugged` and a breakpoint at
//! `MPIR_Breakpoint`, where the table is complete; while mpirun is there the ranks are stopped, wherever they are by then. `build.rs` has the linker keep the
//! symbols.
#![allow(non_upper_case_globals)] // the names of the interface

use std::ffi::{CString, c_char, c_int};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

/// `MPIR_PROCDESC`.
#[repr(C)]
pub struct ProcessDescription {
    host_name: *const c_char,
    executable_name: *const c_char,
    pid: c_int,
}

/// The ranks, in their order.
#[used]
// SAFETY: the name is the interface's, and nothing else in this program has it; so for all of them.
#[unsafe(no_mangle)]
pub static MPIR_proctable: AtomicPtr<ProcessDescription> = AtomicPtr::new(null_mut());

/// How many they are.
#[used]
// SAFETY: as above.
#[unsafe(no_mangle)]
pub static MPIR_proctable_size: AtomicI32 = AtomicI32::new(0);

/// Written by the debugger: not 0 if it started this program.
#[used]
// SAFETY: as above.
#[unsafe(no_mangle)]
pub static MPIR_being_debugged: AtomicI32 = AtomicI32::new(0);

/// Why `MPIR_Breakpoint` is called: [`SPAWNED`].
#[used]
// SAFETY: as above.
#[unsafe(no_mangle)]
pub static MPIR_debug_state: AtomicI32 = AtomicI32::new(0);

/// That it is there says that this program is no rank.
#[used]
// SAFETY: as above.
#[unsafe(no_mangle)]
pub static MPIR_i_am_starter: AtomicI32 = AtomicI32::new(1);

/// That it is there says that ranks go on when this program does, whether a debugger has attached to them or not.
#[used]
// SAFETY: as above.
#[unsafe(no_mangle)]
pub static MPIR_partial_attach_ok: AtomicI32 = AtomicI32::new(1);

/// Where a debugger has its breakpoint.
// SAFETY: as above.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn MPIR_Breakpoint() {
    // Not empty, so that no other empty function has the same address.
    std::hint::black_box(MPIR_debug_state.load(Ordering::SeqCst));
}

/// A rank: host, program, process number.
pub type Rank = (CString, CString, u32);

/// Makes the table, once all ranks run. It stays: debuggers attach at any time.
pub fn publish(ranks: Vec<Rank>) {
    let table: Vec<ProcessDescription> = ranks
        .into_iter()
        .map(|(host, program, pid)| ProcessDescription {
            host_name: host.into_raw(),
            executable_name: program.into_raw(),
            pid: pid as c_int,
        })
        .collect();
    let size = table.len() as i32;
    MPIR_proctable.store(Box::leak(table.into_boxed_slice()).as_mut_ptr(), Ordering::SeqCst);
    MPIR_proctable_size.store(size, Ordering::SeqCst);
    MPIR_debug_state.store(SPAWNED, Ordering::SeqCst);
}

/// Whether a debugger started this program.
pub fn is_debugged() -> bool {
    MPIR_being_debugged.load(Ordering::SeqCst) != 0
}

/// `MPIR_DEBUG_SPAWNED`.
const SPAWNED: i32 = 1;
