//! What a process says when a signal ends it that tells of a mistake: which signal, at which address, in which calls.
//!
//! Only system calls, and no memory but the handler's own stack: the process may have died while it held any lock.

use crate::stack::{Name, Process, Registers, Walk};
use core::ffi::{c_int, c_void};
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicPtr, Ordering};

/// Has those signals reported from now on for which the program has no handler of its own; one that it sets later takes
/// their place. `prefix` stands before each line.
pub fn report_crashes(prefix: &'static &'static str) {
    PREFIX.store(core::ptr::from_ref(prefix).cast_mut(), Ordering::Release);
    use_own_stack();
    for (signal, _) in SIGNALS {
        // SAFETY: all zeros is a valid sigaction.
        let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
        // SAFETY: asks only; `action` is writable.
        let asked = unsafe { libc::sigaction(signal, core::ptr::null(), &mut action) };
        if asked != 0 || action.sa_sigaction != libc::SIG_DFL {
            continue;
        }
        action.sa_sigaction = report as *const () as usize;
        // Back to the default on entry: what happens in the handler, and the second time after it, ends the process.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESETHAND;
        // SAFETY: a handler of the type that SA_SIGINFO says; the mask is empty.
        unsafe { libc::sigaction(signal, &action, core::ptr::null_mut()) };
    }
}

/// A stack for the handler, unless this thread has one: its own may be what overflowed.
fn use_own_stack() {
    // SAFETY: all zeros is a valid stack_t.
    let mut stack: libc::stack_t = unsafe { core::mem::zeroed() };
    // SAFETY: asks only; `stack` is writable.
    if unsafe { libc::sigaltstack(core::ptr::null(), &mut stack) } != 0 || stack.ss_flags & libc::SS_DISABLE == 0 {
        return;
    }
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let room =
        unsafe { libc::mmap(core::ptr::null_mut(), STACK_BYTES, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if room != libc::MAP_FAILED {
        stack = libc::stack_t { ss_sp: room, ss_flags: 0, ss_size: STACK_BYTES };
        // SAFETY: memory of that length, which is never given back.
        unsafe { libc::sigaltstack(&stack, core::ptr::null_mut()) };
    }
}

extern "C" fn report(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: SA_SIGINFO: the system passes what happened.
    let info = unsafe { &*info };
    // SAFETY: and the registers at that moment.
    let context = unsafe { &*context.cast::<libc::ucontext_t>() };
    let name = SIGNALS.iter().find(|(known, _)| *known == signal).map_or("", |(_, name)| *name);
    // Codes above 0 come from the system itself, others from kill or abort.
    if info.si_code > 0 {
        // SAFETY: these signals have an address.
        let address = unsafe { info.si_addr() } as usize;
        say(format_args!("signal {signal} ({name}) at address {address:#x}, in"));
    } else {
        say(format_args!("signal {signal} ({name}), in"));
    }
    if let Some(process) = Process::own() {
        let mut registers: Registers = [0; 17];
        for (value, place) in registers.iter_mut().zip(PLACES) {
            *value = context.uc_mcontext.gregs[place] as u64;
        }
        say_calls(&process, registers);
    }
    if info.si_code <= 0 {
        // SAFETY: no preconditions; it is delivered when the handler returns, and the default action ends the process.
        unsafe { libc::raise(signal) };
    }
}

fn say_calls(process: &Process, registers: Registers) {
    for (number, frame) in Walk::new(process, registers).take(MOST_CALLS).enumerate() {
        let inside = frame.address - u64::from(frame.is_return);
        let Some(image) = process.image(inside) else {
            say(format_args!("  #{number} {:#x}, which is no code", frame.address));
            continue;
        };
        let (file, place) = (image.name(), inside - image.bias(process).unwrap_or(0));
        match Name::find(process, &image, inside) {
            Some(name) => say(format_args!("  #{number} {} + {:#x} ({file} {place:#x})", name.text(), name.offset)),
            None => say(format_args!("  #{number} {file} {place:#x}")),
        }
    }
}

/// One line of at most 511 bytes, in one write.
fn say(text: fmt::Arguments<'_>) {
    let mut line = Line { bytes: [0; 512], length: 0 };
    // SAFETY: null, or the reference that was stored there; Acquire pairs with the Release of `report_crashes`.
    let prefix = unsafe { PREFIX.load(Ordering::Acquire).as_ref() };
    let _ = write!(line, "[{}] {text}", prefix.unwrap_or(&"ompi-rs"));
    line.bytes[line.length] = b'\n';
    super::write_stderr(&line.bytes[..=line.length]);
}

struct Line {
    bytes: [u8; 512],
    length: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.len() - 1 - self.length;
        let taken = &text.as_bytes()[..text.len().min(room)];
        self.bytes[self.length..self.length + taken.len()].copy_from_slice(taken);
        self.length += taken.len();
        Ok(())
    }
}

static PREFIX: AtomicPtr<&'static str> = AtomicPtr::new(core::ptr::null_mut());

const SIGNALS: [(c_int, &str); 5] = [
    (libc::SIGSEGV, "SIGSEGV, invalid memory access"),
    (libc::SIGBUS, "SIGBUS, access beyond memory that exists"),
    (libc::SIGFPE, "SIGFPE, arithmetic error"),
    (libc::SIGILL, "SIGILL, illegal instruction"),
    (libc::SIGABRT, "SIGABRT, abort"),
];
const STACK_BYTES: usize = 64 << 10;
const MOST_CALLS: usize = 32;
/// Where the registers stand that the AMD64 ABI numbers 0 to 16: sys/ucontext.h.
const PLACES: [usize; 17] = [13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16];
