//! A transfer that the system stops: what was moved, and what is said of the rest.

#![allow(unsafe_code)] // the unsafe method of the trait, and this test's own memory

use ompi_core::data::Data;
use ompi_core::datatype::{self, Number};
use ompi_core::error::Class;
use ompi_core::file::{FileHints, FilePlace, HintChoice, Representation, View, WriteLock, transfer};
use ompi_core::framework::fbtl::{AccessKind, Component as _, Module, Moved, Piece};
use opal_core::sync::{AtomicUsize, ConditionalLock, Ordering};
use opal_core::sys::{Errno, File, OpenFlags};
use std::ffi::CString;
use std::sync::Arc;
use test_conformance::scratch;

opal_core::image![opal_core::framework::atomics, memcpy_portable, fbtl_posix];

/// Moves so many bytes and then says that the device is full.
struct Faulty {
    left: AtomicUsize,
}

impl Module for Faulty {
    unsafe fn transfer(&self, file: &File, pieces: &[Piece], kind: AccessKind) -> Moved {
        let mut left = self.left.load(Ordering::Relaxed);
        let wanted: usize = pieces.iter().map(|piece| piece.bytes).sum();
        let cut = |piece: &Piece| {
            let bytes = piece.bytes.min(left);
            left -= bytes;
            Piece { bytes, ..*piece }
        };
        let cut: Vec<Piece> = pieces.iter().map(cut).collect();
        self.left.store(left, Ordering::Relaxed);
        let (_, posix) = fbtl_posix::COMPONENT.query().expect("it runs");
        // SAFETY: no more than the caller's pieces.
        let moved = unsafe { posix.transfer(file, &cut, kind) };
        Moved { failed: (moved.bytes < wanted).then_some(Errno::NOSPC), ..moved }
    }
}

/// Every third ten bytes of the file from byte 7 on.
fn view() -> View {
    let byte = datatype::get(datatype::BYTE).expect("it is predefined");
    let tens = datatype::contiguous(Number::Int(10), &byte).expect("ten bytes");
    let spread = datatype::resized(0, 30, false, &Arc::new(tens)).expect("with a gap");
    View::new(7, byte, Arc::new(spread), Representation::Native)
}

/// Where the byte at a position lies.
fn place(position: usize) -> usize {
    7 + position / 10 * 30 + position % 10
}

#[test]
fn what_was_written_before_a_failure_is_counted_and_lies_at_its_place() {
    opal_core::sync::raise_threads();
    datatype::open();
    let view = view();
    let byte = datatype::get(datatype::BYTE).expect("it is predefined");
    // In one piece, and every other byte of memory.
    let sparse = datatype::resized(0, 2, false, &byte).expect("a byte and a gap");
    for (datatype, step) in [(&*byte, 1), (&sparse, 2)] {
        for left in [0, 1, 10, 1234, 2990, 3000] {
            let name = CString::new(scratch::path("transfer").display().to_string()).expect("a path");
            let how = OpenFlags { read: true, write: true, create: true, exclusive: true, mode: 0o600 };
            let file = Arc::new(File::open(&name, &how).expect("a new file"));
            let faulty: &'static Faulty = Box::leak(Box::new(Faulty { left: AtomicUsize::new(left) }));
            let alone = ConditionalLock::new(());
            let lock = WriteLock { threads: &alone, held: false, only: false };
            let hints = FileHints { sieve_write: HintChoice::Disable, ..FileHints::default() };
            let target = FilePlace { file: &file, path: &name, fbtl: faulty, view: &view, position: 5, hints, lock };
            let mut memory: Vec<u8> = (0..3000 * step).map(|at| (at / step % 250) as u8 + 1).collect();
            let data = Data { at: memory.as_mut_ptr(), count: 3000, datatype };
            // SAFETY: the memory is as long as that.
            let outcome = unsafe { transfer(&target, &data, AccessKind::Write) };
            let written = std::fs::read(name.to_str().expect("a path")).expect("it is there");
            let _ = File::delete(&name);
            assert_eq!(outcome.bytes, left as u64);
            let mut wanted = vec![0u8; if left == 0 { 0 } else { place(5 + left - 1) + 1 }];
            (0..left).for_each(|at| wanted[place(5 + at)] = (at % 250) as u8 + 1);
            assert!(written == wanted, "after {left} bytes");
            match outcome.ended {
                Ok(()) => assert_eq!(left, 3000),
                Err(fault) => {
                    assert_eq!(fault.get(), Class::NoSpace as i32);
                    let said = format!("at byte {}, after {left} bytes of this call: No space left", place(5 + left));
                    assert!(fault.reason().contains(&said), "{}", fault.reason());
                    assert!(fault.reason().starts_with(name.to_str().expect("a path")));
                }
            }
        }
    }
}
