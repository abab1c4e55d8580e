//! Which routine a Fortran program has called, for the messages of libmpi_abi about wrong calls. A call that is right pays nothing
//! for it: only when a message is written the stack is walked, by the compilers' own library, if the program has it.

use crate::refusal::told;
use crate::routine::Routine;
use core::arch::asm;
use core::ffi::{c_int, c_void};

/// The address of a symbol that may be missing; null then.
macro_rules! weak {
    ($name:literal) => {{
        let at: *const c_void;
        // SAFETY: loads an address that the linker made.
        unsafe {
            asm!(
                concat!(".weak ", $name),
                concat!("mov {at}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                at = out(reg) at,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        at
    }};
}

/// What libmpi_abi gets; empty texts: there is none.
#[repr(C)]
pub struct Call {
    routine: Text,
    argument: Text,
    reason: Text,
}

/// A text of this library.
#[repr(C)]
struct Text {
    at: *const u8,
    length: usize,
}

/// What is looked for on the stack.
struct Search {
    found: Option<&'static Routine>,
}

/// How the standard writes the routine of this library that called `function` of C, the innermost one on the stack. Nothing if it is
/// the routine of another function, or none: then C called. A routine that calls an error handler itself has argument and reason, too.
///
/// # Safety
/// The name has as many bytes, and `call` is the place of a `Call`.
// SAFETY: of the name nothing but libmpi_abi knows, which asks whether it is there.
#[unsafe(no_mangle)]
unsafe extern "C" fn ompi_fortran_call(function: *const u8, length: usize, call: *mut Call) {
    // SAFETY: the caller's promise.
    let function = unsafe { core::slice::from_raw_parts(function, length) };
    let refused = if function.ends_with(b"_call_errhandler") { told() } else { None };
    let (routine, (argument, reason)) = match (innermost(), refused) {
        (Some(routine), _) if routine.is_of(function) => (routine.binding, ("", "")),
        (Some(routine), Some(refused)) => (routine.binding, refused),
        (_, refused) => ("", refused.unwrap_or(("", ""))),
    };
    // SAFETY: the caller's promise.
    unsafe { call.write(Call { routine: routine.into(), argument: argument.into(), reason: reason.into() }) };
}

impl From<&'static str> for Text {
    fn from(text: &'static str) -> Text {
        Text { at: text.as_ptr(), length: text.len() }
    }
}

fn innermost() -> Option<&'static Routine> {
    let backtrace = weak!("_Unwind_Backtrace");
    if backtrace.is_null() {
        return None;
    }
    // SAFETY: the function of this name in the Itanium C++ ABI, level I §1.6.
    let backtrace = unsafe { core::mem::transmute::<*const c_void, Backtrace>(backtrace) };
    let mut search = Search { found: None };
    // SAFETY: `step` gets what it expects.
    unsafe { backtrace(step, (&raw mut search).cast()) };
    search.found
}

/// A frame of the stack, from the innermost one on.
unsafe extern "C" fn step(context: *mut c_void, search: *mut c_void) -> c_int {
    let (ip_of, start_of) = (weak!("_Unwind_GetIP"), weak!("_Unwind_FindEnclosingFunction"));
    if ip_of.is_null() || start_of.is_null() {
        return STOP;
    }
    // SAFETY: as in `innermost`.
    let ip_of = unsafe { core::mem::transmute::<*const c_void, GetIp>(ip_of) };
    // SAFETY: as in `innermost`.
    let start_of = unsafe { core::mem::transmute::<*const c_void, FindEnclosingFunction>(start_of) };
    // SAFETY: the context is the unwinder's.
    let ip = unsafe { ip_of(context) };
    // SAFETY: any address may be asked for. The call stands before the address to which it returns.
    let start = unsafe { start_of(ip.wrapping_sub(1) as *const c_void) };
    let found = all().find(|routine| core::ptr::addr_eq(routine.at, start));
    if found.is_some() {
        // SAFETY: `innermost` gave its address, and waits.
        unsafe { (*search.cast::<Search>()).found = found };
        return STOP;
    }
    GO_ON
}

fn all() -> impl Iterator<Item = &'static Routine> {
    let by_hand = [crate::detach::ROUTINES, crate::spawn::ROUTINES, crate::startup::ROUTINES, crate::texts::ROUTINES];
    let by_hand =
        by_hand.into_iter().chain([crate::attributes::ROUTINES, crate::callbacks::ROUTINES, crate::removed::ROUTINES]);
    by_hand.chain(crate::generated::ROUTINES.iter().copied()).flatten()
}

type Backtrace = unsafe extern "C" fn(unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int, *mut c_void) -> c_int;
type GetIp = unsafe extern "C" fn(*mut c_void) -> usize;
type FindEnclosingFunction = unsafe extern "C" fn(*const c_void) -> *const c_void;

/// `_URC_NO_REASON`.
const GO_ON: c_int = 0;
/// `_URC_NORMAL_STOP`.
const STOP: c_int = 4;
