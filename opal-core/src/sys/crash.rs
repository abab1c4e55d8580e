//! What a process says when a signal ends it that tells of a mistake: which signal, at which address, in which calls.
//!
//! Only system calls, and no memory but the stacks of its own: the process may have died while it held any lock.

mod stacks;

use crate::stack::{Name, Process, Registers, SP, Walk};
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Has those signals reported from now on for which the program has no handler of its own; one that it sets later takes
/// their place. `prefix` stands before each line.
///
/// The handlers of Rust's standard library are no program's: they say that a stack overflowed, and leave everything else to the
/// default action. They are called as before, and what they leave to it is reported.
pub fn report_crashes(prefix: &'static &'static str) {
    PREFIX.store(core::ptr::from_ref(prefix).cast_mut(), Ordering::Release);
    let of_std = handler_of_std();
    stacks::prepare();
    for (signal, _) in SIGNALS {
        let Some(mut action) = action(signal) else { continue };
        match action.sa_sigaction {
            libc::SIG_DFL => {
                action.sa_sigaction = report as *const () as usize;
                // Back to the default on entry: what happens in the handler, and the second time after it, ends the process.
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESETHAND;
            }
            handler if Some(handler) == of_std => {
                // Release pairs with the Acquire of `of_std`.
                OF_STD.store(handler, Ordering::Release);
                action.sa_sigaction = report_what_std_leaves as *const () as usize;
            }
            _ => continue,
        }
        // SAFETY: a handler of the type that SA_SIGINFO says; the mask is empty.
        unsafe { libc::sigaction(signal, &action, core::ptr::null_mut()) };
    }
}

/// The handler of Rust's standard library, which is known by its shape: one for both signals, with these flags and no mask. Should
/// it be another one of this shape nothing is lost: it comes first.
fn handler_of_std() -> Option<usize> {
    let (first, second) = (action(libc::SIGSEGV)?, action(libc::SIGBUS)?);
    let handler = first.sa_sigaction;
    let is_its = |action: &libc::sigaction| {
        let flags = action.sa_flags & !SA_RESTORER;
        // SAFETY: a set that sigaction filled.
        let masks_nothing =
            SIGNALS.iter().all(|(signal, _)| unsafe { libc::sigismember(&action.sa_mask, *signal) } == 0);
        action.sa_sigaction == handler && flags == libc::SA_SIGINFO | libc::SA_ONSTACK && masks_nothing
    };
    (![libc::SIG_DFL, libc::SIG_IGN].contains(&handler) && is_its(&first) && is_its(&second)).then_some(handler)
}

fn action(signal: c_int) -> Option<libc::sigaction> {
    // SAFETY: all zeros is a valid sigaction.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    // SAFETY: asks only; `action` is writable.
    (unsafe { libc::sigaction(signal, core::ptr::null(), &mut action) } == 0).then_some(action)
}

/// Calls the standard library's handler, and reports if that put the default action back. A stack that overflowed is reported before:
/// the handler ends the process by abort(), for whose report this thread's stack for signals has no room.
extern "C" fn report_what_std_leaves(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let death = Death { signal, info, context, is_said: Cell::new(false) };
    if death.is_of_stack() {
        stacks::call(say_if_of_std, &death);
    }
    // SAFETY: what stood there as a handler with SA_SIGINFO.
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = unsafe { core::mem::transmute(of_std()) };
    handler(signal, info, context);
    if !death.is_said.get() && action(signal).is_some_and(|action| action.sa_sigaction == libc::SIG_DFL) {
        report(signal, info, context);
    }
}

/// Says it if the handler is the standard library's by its name, too: another one may give the stack more room.
extern "C" fn say_if_of_std(death: &Death) {
    let Some(process) = Process::own() else { return };
    let handler = of_std() as u64;
    let name = process.image(handler).and_then(|image| Name::find(&process, &image, handler));
    if name.is_some_and(|name| name.text().contains("stack_overflow")) {
        say_death(death);
        forget(libc::SIGABRT);
        death.is_said.set(true);
    }
}

fn of_std() -> usize {
    // Acquire pairs with the Release of `report_crashes`.
    OF_STD.load(Ordering::Acquire)
}

/// Takes our handler away.
fn forget(signal: c_int) {
    let Some(mut action) = action(signal).filter(|action| action.sa_sigaction == report as *const () as usize) else {
        return;
    };
    action.sa_sigaction = libc::SIG_DFL;
    // SAFETY: the default action.
    unsafe { libc::sigaction(signal, &action, core::ptr::null_mut()) };
}

extern "C" fn report(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let death = Death { signal, info, context, is_said: Cell::new(false) };
    stacks::call(say_death, &death);
    if !death.is_of_system() {
        // SAFETY: no preconditions; it is delivered when the handler returns, and the default action ends the process.
        unsafe { libc::raise(signal) };
    }
}

/// What a handler with SA_SIGINFO is told.
struct Death {
    signal: c_int,
    info: *const libc::siginfo_t,
    context: *const c_void,
    is_said: Cell<bool>,
}

impl Death {
    fn info(&self) -> &libc::siginfo_t {
        // SAFETY: SA_SIGINFO: the system passes what happened.
        unsafe { &*self.info }
    }

    /// Codes above 0 come from the system itself, others from kill or abort.
    fn is_of_system(&self) -> bool {
        self.info().si_code > 0
    }

    fn address(&self) -> usize {
        // SAFETY: of a signal of the system's; these have an address.
        unsafe { self.info().si_addr() as usize }
    }

    fn registers(&self) -> Registers {
        // SAFETY: SA_SIGINFO: the system passes the registers at that moment.
        let context = unsafe { &*self.context.cast::<libc::ucontext_t>() };
        PLACES.map(|place| context.uc_mcontext.gregs[place] as u64)
    }

    /// Whether it may be a stack that overflowed: memory close to where the stack ends.
    fn is_of_stack(&self) -> bool {
        self.is_of_system() && (self.address() as u64).abs_diff(self.registers()[SP]) < STACK_STEP
    }
}

extern "C" fn say_death(death: &Death) {
    let signal = death.signal;
    let name = SIGNALS.iter().find(|(known, _)| *known == signal).map_or("", |(_, name)| *name);
    match death.is_of_system() {
        true => say(format_args!("signal {signal} ({name}) at address {:#x}, in", death.address())),
        false => say(format_args!("signal {signal} ({name}), in")),
    }
    if let Some(process) = Process::own() {
        say_calls(&process, death.registers());
    }
}

fn say_calls(process: &Process, registers: Registers) {
    for (number, frame) in Walk::new(process, registers).take(MOST_CALLS).enumerate() {
        let inside = frame.address - u64::from(frame.is_return);
        let Some(image) = process.image(inside) else {
            say(format_args!("  #{number} {:#x}, which is not code", frame.address));
            continue;
        };
        let (file, place) = (image.name(), inside - image.bias(process).unwrap_or(0));
        match Name::find(process, &image, inside) {
            Some(name) => say(format_args!("  #{number} {name} + {:#x} ({file} {place:#x})", name.offset)),
            None => say(format_args!("  #{number} {file} {place:#x}")),
        }
    }
}

/// One line of at most 1023 bytes, in one write.
fn say(text: fmt::Arguments<'_>) {
    let mut line = Line { bytes: [0; 1024], length: 0 };
    // SAFETY: null, or the reference that was stored there; Acquire pairs with the Release of `report_crashes`.
    let prefix = unsafe { PREFIX.load(Ordering::Acquire).as_ref() };
    let _ = write!(line, "[{}] {text}", prefix.unwrap_or(&"ompi-rs"));
    line.bytes[line.length] = b'\n';
    super::write_stderr(&line.bytes[..=line.length]);
}

struct Line {
    bytes: [u8; 1024],
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
/// The standard library's handler, where ours took its place.
static OF_STD: AtomicUsize = AtomicUsize::new(0);

const SIGNALS: [(c_int, &str); 5] = [
    (libc::SIGSEGV, "SIGSEGV, invalid memory access"),
    (libc::SIGBUS, "SIGBUS, access beyond memory that exists"),
    (libc::SIGFPE, "SIGFPE, arithmetic error"),
    (libc::SIGILL, "SIGILL, illegal instruction"),
    (libc::SIGABRT, "SIGABRT, abort"),
];
/// The flag of the C library's own.
const SA_RESTORER: c_int = 0x0400_0000;
/// How far from its end a stack is touched first: some frames are larger than a page.
const STACK_STEP: u64 = 64 << 10;
const MOST_CALLS: usize = 32;
/// Where the registers stand that the AMD64 ABI numbers 0 to 16: sys/ucontext.h.
const PLACES: [usize; 17] = [13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16];
