//! The module: turns the framework's unsafe calls into calls of the algorithms, and their copies.
#![allow(unsafe_code)]

use crate::flags::data_movement::packed;
use crate::module::Sm;
use ompi_core::data::Data;
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{Call, Functions, Module, Table};
use opal_core::framework::smsc;
use opal_core::{message, progress};

/// Reads a run of a peer's memory.
pub fn read(way: &smsc::Endpoint, remote: u64, to: &Data<'_>) -> opal_core::Result<()> {
    in_steps(way, to, |at, done, bytes| {
        // SAFETY: part of a target among the module's arguments or of the executor's room; one run, says the caller.
        unsafe { way.module.copy_from(way.peer, remote.wrapping_add(done as u64), at, bytes) }
    })
}

/// Writes a run to a peer's memory.
pub fn write(way: &smsc::Endpoint, remote: u64, from: &Data<'_>) -> opal_core::Result<()> {
    in_steps(way, from, |at, done, bytes| {
        // SAFETY: as above, of a source or of what was written before.
        unsafe { way.module.copy_to(way.peer, remote.wrapping_add(done as u64), at, bytes) }
    })
}

fn in_steps(
    way: &smsc::Endpoint,
    run: &Data<'_>,
    mut copy: impl FnMut(*mut u8, usize, usize) -> opal_core::Result<()>,
) -> opal_core::Result<()> {
    let (all, most) = (run.bytes(), way.module.caps().max_bytes);
    for done in (0..all).step_by(most) {
        if done > 0 {
            progress::pass();
        }
        copy(run.at.wrapping_add(done), done, most.min(all - done))?;
    }
    Ok(())
}

/// Copies an argument to a place in the lines for so many bytes, a word in one go. `Err(Truncate)` if there are more.
#[inline(always)]
pub fn store(executor: &mut dyn Executor, from: &Data<'_>, at: *mut u8, room: usize) -> Result<()> {
    let bytes = from.bytes();
    match from.contiguous().filter(|_| bytes <= room) {
        // SAFETY: an argument of the module's methods, and this rank's place in the lines, which has room.
        Some(from) if unsafe { is_moved(bytes, from, at) } => Ok(()),
        _ => executor.copy(from, &packed(at, room)),
    }
}

/// Copies from the lines into an argument, likewise.
#[inline(always)]
pub fn load(executor: &mut dyn Executor, at: *mut u8, to: &Data<'_>) -> Result<()> {
    let bytes = to.bytes();
    match to.contiguous() {
        Some(to) => load_run(executor, at, to, bytes),
        None => executor.copy(&packed(at, bytes), to),
    }
}

/// Copies so many bytes from the lines into a run of an argument, likewise.
#[inline(always)]
pub fn load_run(executor: &mut dyn Executor, at: *mut u8, to: *mut u8, bytes: usize) -> Result<()> {
    // SAFETY: what a rank has contributed, for which the caller has waited; the methods' contract makes targets writable.
    match unsafe { is_moved(bytes, at, to) } {
        true => Ok(()),
        false => executor.copy(&packed(at, bytes), &packed(to, bytes)),
    }
}

/// Copies between two arguments, likewise.
#[inline(always)]
pub fn copy(executor: &mut dyn Executor, from: &Data<'_>, to: &Data<'_>) -> Result<()> {
    let bytes = from.bytes();
    match (from.contiguous(), to.contiguous().filter(|_| bytes <= to.bytes())) {
        // SAFETY: arguments of the module's methods; the target is long enough.
        (Some(from), Some(to)) if unsafe { is_moved(bytes, from, to) } => Ok(()),
        _ => executor.copy(from, to),
    }
}

/// Moves four or eight bytes; whether it was so many.
///
/// # Safety
/// `from` is readable and `to` writable for `bytes`; they do not overlap.
#[inline(always)]
unsafe fn is_moved(bytes: usize, from: *const u8, to: *mut u8) -> bool {
    match bytes {
        // SAFETY: the caller's promise.
        8 => unsafe { from.copy_to_nonoverlapping(to, 8) },
        // SAFETY: likewise.
        4 => unsafe { from.copy_to_nonoverlapping(to, 4) },
        _ => return false,
    }
    true
}

impl Module for Sm {
    fn functions(&self) -> Functions {
        self.next.functions()
    }

    fn recordable(&self) -> Functions {
        0
    }

    fn forced(&self) -> Functions {
        self.choices.forced()
    }

    fn fingerprint(&self) -> u64 {
        self.long.sizes.print()
    }

    fn disagreed(&self) {
        message!(
            "coll_sm_pipeline_piece or coll_sm_pipeline_ring is not the same on all ranks of a communicator, which sends no \
             data through pipelines; set them alike everywhere"
        );
        self.long.do_without_pipelines();
    }

    fn set_fallback(&self, others: &Table) {
        self.next.keep(others, Table::entry);
    }

    unsafe fn call(&self, call: Call<'_>, on: &mut dyn Executor) -> Result<()> {
        // SAFETY: this method has the same contract.
        if self.perform(&call, on)? { Ok(()) } else { unsafe { self.next.call(call, on) } }
    }
}
