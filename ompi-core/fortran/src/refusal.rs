//! Errors that the shims find themselves, in sections with gaps. The handler of the object that the call names decides what happens
//! (MPI 5.0 §9.3), and the message has routine, argument and reason: libmpi_abi asks `caller` for them while the handler is called.

use crate::arguments::{In, Int, NO_MEM};
use core::arch::asm;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

unsafe extern "C" {
    safe fn PMPI_Comm_call_errhandler(comm: usize, code: Int) -> Int;
    safe fn PMPI_Win_call_errhandler(win: usize, code: Int) -> Int;
    safe fn PMPI_File_call_errhandler(file: usize, code: Int) -> Int;
}

/// Why a section cannot serve.
#[derive(Clone, Copy)]
pub enum Refusal {
    /// C has found the error, and its handler was called.
    Raised(Int),
    /// The call reaches behind the section.
    TooShort,
    /// The call reaches before the section, where a copy has nothing.
    Before,
    /// Only a whole array will do.
    Gaps,
    /// More than an INTEGER of the removed routines holds.
    TooWide,
    /// For the copy.
    NoMemory,
}

/// The object whose handler is called.
#[derive(Clone, Copy)]
pub enum On {
    /// A communicator.
    Comm(In<Int>),
    /// A window.
    Win(In<Int>),
    /// A file.
    File(In<Int>),
    /// None: MPI_COMM_SELF's is.
    Nothing,
}

impl Refusal {
    /// Calls the handler, and returns the code for the program. `argument` is the section's name in the standard.
    #[cold]
    pub fn raise(self, on: On, argument: &'static str) -> Int {
        let (code, reason) = match self {
            Refusal::Raised(code) => return code,
            Refusal::TooShort => (ERR_COUNT, "the array section is shorter than what counts and datatypes reach"),
            Refusal::Before => {
                (ERR_TYPE, "a datatype or displacement reaches before the array section, whose elements are copied")
            }
            Refusal::Gaps => (
                ERR_BUFFER,
                "an array section with gaps needs a datatype of which its elements hold a whole number here",
            ),
            Refusal::TooWide => {
                (ERR_ARG, "the value does not fit in an INTEGER; the routine that replaced this one has larger ones")
            }
            Refusal::NoMemory => (NO_MEM, "no memory for a copy of the array section"),
        };
        let told = Told::tell(argument, reason);
        match on {
            On::Comm(comm) => PMPI_Comm_call_errhandler(comm.handle(), code),
            On::Win(win) => PMPI_Win_call_errhandler(win.handle(), code),
            On::File(file) => PMPI_File_call_errhandler(file.handle(), code),
            On::Nothing => PMPI_Comm_call_errhandler(COMM_SELF, code),
        };
        drop(told);
        code
    }
}

/// What the thread in `THREAD` has refused, while it calls a handler. Another thread that refuses something meanwhile goes without.
static THREAD: AtomicUsize = AtomicUsize::new(0);
static ARGUMENT: Text = Text::none();
static REASON: Text = Text::none();

struct Told;

impl Told {
    fn tell(argument: &'static str, reason: &'static str) -> Option<Told> {
        // Only the thread itself reads what it stores.
        THREAD.compare_exchange(0, thread(), Ordering::Relaxed, Ordering::Relaxed).ok()?;
        ARGUMENT.set(argument);
        REASON.set(reason);
        Some(Told)
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        THREAD.store(0, Ordering::Relaxed);
    }
}

/// Argument and reason of what this thread refuses just now.
pub fn told() -> Option<(&'static str, &'static str)> {
    (THREAD.load(Ordering::Relaxed) == thread()).then(|| (ARGUMENT.get(), REASON.get()))
}

struct Text {
    at: AtomicPtr<u8>,
    length: AtomicUsize,
}

impl Text {
    const fn none() -> Text {
        Text { at: AtomicPtr::new(null_mut()), length: AtomicUsize::new(0) }
    }

    fn set(&self, text: &'static str) {
        self.at.store(text.as_ptr().cast_mut(), Ordering::Relaxed);
        self.length.store(text.len(), Ordering::Relaxed);
    }

    fn get(&self) -> &'static str {
        let (at, length) = (self.at.load(Ordering::Relaxed), self.length.load(Ordering::Relaxed));
        // SAFETY: `set` took them from a text that stays; this thread called it.
        let bytes = unsafe { core::slice::from_raw_parts(at, length) };
        core::str::from_utf8(bytes).unwrap_or("")
    }
}

/// Which thread this is: the address of its control block, which stands first in it (ELF handling for thread-local storage, §3.4.6).
fn thread() -> usize {
    let block: usize;
    // SAFETY: reads a word that each thread has.
    unsafe { asm!("mov {}, qword ptr fs:[0]", out(reg) block, options(pure, readonly, nostack, preserves_flags)) };
    block
}

const COMM_SELF: usize = 258;
const ERR_BUFFER: Int = 1;
const ERR_COUNT: Int = 2;
const ERR_TYPE: Int = 3;
const ERR_ARG: Int = 13;
