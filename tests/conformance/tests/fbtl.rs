//! The suite of framework fbtl for every component, and that the suite sees a mistake.

#![allow(unsafe_code)] // the unsafe method of the trait

use ompi_core::framework::fbtl::{AccessKind, Component, Module, Moved, Piece};
use opal_core::mca::Source;
use opal_core::mca::{self, Declined};
use opal_core::sys::File;
use test_conformance::fbtl::{Ran, suite};

opal_core::image![opal_core::framework::atomics, memcpy_portable, fbtl_faulty, fbtl_posix, fbtl_uring];

/// What the suite runs of a module that starts nothing.
const AT_ONCE: Ran = Ran { plans: 87, started: 0 };
/// And of one that starts what has few pieces: a write and two reads, but for those without a byte.
const BESIDE: Ran = Ran { plans: 87, started: 132 };

#[test]
fn posix() {
    assert_eq!(suite(&fbtl_posix::COMPONENT), Ok(AT_ONCE));
}

#[test]
fn uring() {
    use fbtl_uring::COMPONENT;
    // Where the system refuses it, it declines, and that is right.
    if COMPONENT.query().is_ok() {
        opal_core::sync::raise_threads();
        fbtl_uring::MIN_SIZE.set("1", Source::Default).expect("a number of bytes");
        assert_eq!(suite(&COMPONENT), Ok(BESIDE));
    }
}

/// Calls that move less and calls that a signal ends change no answer.
#[test]
fn faulty() {
    opal_core::sync::raise_threads();
    for seed in 0..4 {
        assert_eq!(suite(&Seeded(seed)), Ok(BESIDE));
    }
    assert!(fbtl_faulty::SHORTENED.now() > 1000 && fbtl_faulty::INTERRUPTED.now() > 1000);
}

/// fbtl/faulty from a seed.
struct Seeded(u64);

impl mca::Component for Seeded {
    fn info(&self) -> &'static mca::Info {
        &fbtl_faulty::INFO
    }
}

impl Component for Seeded {
    fn query(&self) -> Result<(i32, &'static dyn Module), Declined> {
        let found = fbtl_faulty::COMPONENT.query()?;
        let chances = fbtl_faulty::Chances { short: 600_000, interrupt: 125_000, ..fbtl_faulty::Chances::default() };
        fbtl_faulty::reseed(self.0, chances);
        Ok(found)
    }
}

/// The last byte of a piece that is longer than 4,000 bytes stays where it is.
struct Wrong;

impl mca::Component for Wrong {
    fn info(&self) -> &'static mca::Info {
        &fbtl_posix::INFO
    }
}

impl Component for Wrong {
    fn query(&self) -> Result<(i32, &'static dyn Module), Declined> {
        Ok((0, &Wrong))
    }
}

impl Module for Wrong {
    unsafe fn transfer(&self, file: &File, pieces: &[Piece], direction: AccessKind) -> Moved {
        let (_, right) = fbtl_posix::COMPONENT.query().expect("it runs");
        let lost = |piece: &Piece| usize::from(direction == AccessKind::Write && piece.bytes > 4000);
        let cut: Vec<Piece> = pieces.iter().map(|piece| Piece { bytes: piece.bytes - lost(piece), ..*piece }).collect();
        // SAFETY: no more than the caller's pieces.
        let moved = unsafe { right.transfer(file, &cut, direction) };
        Moved { bytes: moved.bytes + pieces.iter().map(lost).sum::<usize>(), ..moved }
    }
}

#[test]
fn a_mistake_is_seen() {
    let seen = suite(&Wrong).unwrap_err();
    assert!(seen.contains("are there") || seen.contains("written there"), "{seen}");
}
