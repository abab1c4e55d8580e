//! What every way to move bytes promises: each byte lands at its place, and the end of a file is told.

use crate::declined::accepted;
use crate::scratch;
use ompi_core::framework::fbtl::{AccessKind, Component, Module, Moved, Piece};
use opal_core::sys::{Errno, File, OpenFlags};
use std::ffi::CString;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a suite has run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Plans that were written and read.
    pub plans: usize,
    /// Transfers that the module has begun and that ended later.
    pub started: usize,
}

/// Runs every case; the first broken promise is the error.
pub fn suite(component: &dyn Component) -> Result<Ran, String> {
    let (_, module) = accepted(component.info(), component.query());
    let path = CString::new(scratch::path("fbtl").display().to_string()).map_err(|error| error.to_string())?;
    let how = OpenFlags { read: true, write: true, create: true, exclusive: true, mode: 0o600 };
    let file = Arc::new(File::open(&path, &how).map_err(|errno| errno.to_string())?);
    let reader =
        File::open(&path, &OpenFlags { read: true, ..OpenFlags::default() }).map_err(|errno| errno.to_string())?;
    let _ = File::delete(&path);
    let mut model = Vec::new();
    let mut dice = 0x9e37_79b9;
    let mut ran = Ran::default();
    for pieces in [0, 1, 2, 3, 17, 1024, 1500, 3000] {
        for gap in [0, 1, 40] {
            for most in [1, 13, 5000, 100_000].into_iter().filter(|most| *most <= 5000 || pieces <= 17) {
                let plan = plan(pieces, gap, most, &mut dice);
                // What goes on beside the program has few pieces.
                for starts in [false, true].into_iter().filter(|starts| !starts || pieces <= 17) {
                    let mover = Mover { module, file: &file, starts };
                    let told = |what| format!("{pieces} pieces{}: {what}", if starts { ", started" } else { "" });
                    ran.started += written(mover, &plan, &mut model).map_err(told)?;
                    ran.started += read(mover, &plan, &model).map_err(told)?;
                }
                ran.plans += 1;
            }
        }
    }
    let mut byte = [1u8];
    let piece = Piece { offset: 0, at: byte.as_mut_ptr(), bytes: 1 };
    // SAFETY: the byte is this function's.
    let refused = unsafe { module.transfer(&reader, &[piece], AccessKind::Write) };
    match refused {
        Moved { bytes: 0, failed: Some(Errno(9)) } => Ok(ran),
        other => Err(format!("a file that may only be read is written: {other:?}")),
    }
}

/// Places and lengths: in order, the gap or none between them, somewhere.
fn plan(pieces: usize, gap: u64, most: u64, dice: &mut u64) -> Vec<(u64, usize)> {
    let mut at = next(dice) % 5000;
    let piece = |_| {
        let (offset, bytes) = (at, next(dice) % most + u64::from(most > 1));
        at += bytes + if next(dice).is_multiple_of(3) { gap } else { 0 };
        (offset, bytes as usize)
    };
    (0..pieces).map(piece).collect()
}

/// Moves pieces at once, or has transfers go on beside this thread, if the module does that.
#[derive(Clone, Copy)]
struct Mover<'a> {
    module: &'a dyn Module,
    file: &'a Arc<File>,
    starts: bool,
}

/// How many transfers were started.
fn written(mover: Mover<'_>, plan: &[(u64, usize)], model: &mut Vec<u8>) -> Result<usize, String> {
    let total: usize = plan.iter().map(|(_, bytes)| bytes).sum();
    let mut memory: Vec<u8> = (0..total).map(|byte| (byte * 131 + byte / 251 + model.len()) as u8).collect();
    let mut from = 0;
    for (offset, bytes) in plan.iter().map(|(offset, bytes)| (*offset as usize, *bytes)) {
        if bytes > 0 {
            model.resize(model.len().max(offset + bytes), 0);
            model[offset..offset + bytes].copy_from_slice(&memory[from..from + bytes]);
        }
        from += bytes;
    }
    let pieces = pieces(plan, &mut memory);
    // SAFETY: parts of the memory, which outlives the call.
    match unsafe { mover.moved(&pieces, AccessKind::Write) } {
        (started, moved) if moved == (Moved { bytes: total, failed: None }) => Ok(started),
        (_, other) => Err(format!("{total} bytes were to be written: {other:?}")),
    }
}

/// What was written, and once more with the last piece behind the end of the file. How many transfers were started.
fn read(mover: Mover<'_>, plan: &[(u64, usize)], model: &[u8]) -> Result<usize, String> {
    let (mut plan, mut all) = (plan.to_vec(), 0);
    for beyond in [false, true] {
        if beyond {
            plan.push((model.len() as u64 - model.len().min(3) as u64, 20));
            plan.push((model.len() as u64 + 17, 5));
        }
        let total: usize = plan.iter().map(|(_, bytes)| bytes).sum();
        let mut memory = vec![0xc3u8; total];
        let pieces = pieces(&plan, &mut memory);
        // SAFETY: parts of the memory, which outlives the call.
        let (started, moved) = unsafe { mover.moved(&pieces, AccessKind::Read) };
        all += started;
        let wanted = there(&plan, model);
        if moved != (Moved { bytes: wanted.len(), failed: None }) {
            return Err(format!("{} of {total} bytes are there: {moved:?}", wanted.len()));
        }
        if memory[..wanted.len()] != wanted[..] || memory[wanted.len()..].iter().any(|byte| *byte != 0xc3) {
            return Err(format!("of {} bytes some are not what was written there", wanted.len()));
        }
    }
    Ok(all)
}

/// What a read of these places finds in a file: up to its end.
fn there(plan: &[(u64, usize)], model: &[u8]) -> Vec<u8> {
    let mut found = Vec::new();
    for (offset, bytes) in plan.iter().map(|(offset, bytes)| (*offset as usize, *bytes)) {
        let end = (offset + bytes).min(model.len());
        found.extend_from_slice(model.get(offset..end).unwrap_or_default());
        if end < offset + bytes {
            break;
        }
    }
    found
}

impl Mover<'_> {
    /// How many transfers were started, and what became of it.
    ///
    /// # Safety
    /// That of `Module::transfer`.
    unsafe fn moved(&self, pieces: &[Piece], kind: AccessKind) -> (usize, Moved) {
        // SAFETY: the caller's promise; it is polled until it has ended.
        let started = if self.starts { unsafe { self.module.start(self.file, pieces, kind) } } else { None };
        let Some(mut transfer) = started else {
            // SAFETY: the caller's promise.
            return (0, unsafe { self.module.transfer(self.file, pieces, kind) });
        };
        let begun = Instant::now();
        loop {
            if let Some(moved) = transfer.poll() {
                return (1, moved);
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "a transfer does not end");
            std::thread::yield_now();
        }
    }
}

fn pieces(plan: &[(u64, usize)], memory: &mut [u8]) -> Vec<Piece> {
    let mut at = memory.as_mut_ptr();
    let piece = |(offset, bytes): &(u64, usize)| {
        let piece = Piece { offset: *offset, at, bytes: *bytes };
        at = at.wrapping_add(*bytes);
        piece
    };
    plan.iter().map(piece).collect()
}

fn next(dice: &mut u64) -> u64 {
    *dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *dice >> 33
}
