//! libpmix: opened by the system's loader, and called.
#![allow(unsafe_code)]

use crate::structures::{
    Abort, Commit, ErrorString, FenceNb, Finalize, GLOBAL, Get, GetVersion, Info, Init, Proc, Put, SUCCEEDED, SUCCESS,
    Status, TIMEOUT, Value, kind,
};
use crate::traces::ADVICE;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::ffi::{CStr, c_char, c_void};
use core::mem::transmute;
use core::ptr::{null, null_mut};
use opal_core::sync::{AtomicU32, Ordering};
use opal_core::sys::{self, NotOpened, SharedLibrary, text_of};

/// The functions of an opened libpmix. It is never closed: it has a thread of its own.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    init: Init,
    finalize: Finalize,
    put: Put,
    commit: Commit,
    get: Get,
    fence: FenceNb,
    abort: Abort,
    error_string: ErrorString,
    get_version: GetVersion,
}

/// What somebody stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// A text.
    Text(String),
    /// A number that is not negative.
    Number(u64),
    /// Something of another type.
    Other(u16),
}

impl Library {
    /// Opens it under this name; `theirs` is the manager's version. `Err` with a sentence.
    pub fn open(name: &str, theirs: &str) -> Result<Library, String> {
        let absent = |why: &str| {
            format!(
                "the process manager speaks PMIx ({theirs}), and this host has no {name} for it ({why}); install libpmix \
                 (Debian: libpmix2), or name it by --mca ess_pmix_library or OMPI_MCA_ess_pmix_library; or {ADVICE}"
            )
        };
        let library = SharedLibrary::open(name).map_err(|why| match why {
            NotOpened::StaticProgram => format!(
                "the process manager speaks PMIx ({theirs}), for which a program opens {name}; one that was linked with -static \
                 cannot: link it without -static; or {ADVICE}"
            ),
            NotOpened::Absent(why) => absent(&why),
        })?;
        let find = |function: &CStr| {
            let lacks = || absent(&format!("what was found lacks {}", function.to_string_lossy()));
            library.find(function, None).ok_or_else(lacks)
        };
        // SAFETY: `header.c` compares each type with the declaration of the function of that name; for all below.
        let init = unsafe { transmute::<*mut c_void, Init>(find(c"PMIx_Init")?) };
        // SAFETY: see `init`.
        let finalize = unsafe { transmute::<*mut c_void, Finalize>(find(c"PMIx_Finalize")?) };
        // SAFETY: see `init`.
        let put = unsafe { transmute::<*mut c_void, Put>(find(c"PMIx_Put")?) };
        // SAFETY: see `init`.
        let commit = unsafe { transmute::<*mut c_void, Commit>(find(c"PMIx_Commit")?) };
        // SAFETY: see `init`.
        let get = unsafe { transmute::<*mut c_void, Get>(find(c"PMIx_Get")?) };
        // SAFETY: see `init`.
        let fence = unsafe { transmute::<*mut c_void, FenceNb>(find(c"PMIx_Fence_nb")?) };
        // SAFETY: see `init`.
        let abort = unsafe { transmute::<*mut c_void, Abort>(find(c"PMIx_Abort")?) };
        // SAFETY: see `init`.
        let error_string = unsafe { transmute::<*mut c_void, ErrorString>(find(c"PMIx_Error_string")?) };
        // SAFETY: see `init`.
        let get_version = unsafe { transmute::<*mut c_void, GetVersion>(find(c"PMIx_Get_version")?) };
        Ok(Library { init, finalize, put, commit, get, fence, abort, error_string, get_version })
    }

    /// What libpmix calls itself.
    pub fn version(&self) -> String {
        // SAFETY: the function takes nothing, before `init` as well.
        let text = unsafe { (self.get_version)() };
        // SAFETY: a text of libpmix's own, which stays.
        unsafe { text_of(text) }
    }

    /// What libpmix calls a status.
    pub fn words(&self, status: Status) -> String {
        // SAFETY: any number may be asked for.
        let text = unsafe { (self.error_string)(status) };
        // SAFETY: as for `version`.
        unsafe { text_of(text) }
    }

    /// Connects with the manager, and hears who this process is.
    pub fn init(&self) -> Result<Proc, Status> {
        let mut own = Proc::NONE;
        // SAFETY: room for one process, and no options.
        let status = unsafe { (self.init)(&mut own, null_mut(), 0) };
        done(status).map(|()| own)
    }

    /// Tells the manager that this process needs it no more.
    pub fn finalize(&self) -> Result<(), Status> {
        // SAFETY: no options.
        done(unsafe { (self.finalize)(null(), 0) })
    }

    /// Stores a text; the server has it after `commit`.
    pub fn put(&self, key: &CStr, text: &CStr) -> Result<(), Status> {
        let mut value = Value { kind: kind::STRING, data: [text.as_ptr() as u64, 0, 0] };
        // SAFETY: both texts end with a zero; libpmix copies them before it returns.
        done(unsafe { (self.put)(GLOBAL, key.as_ptr(), &mut value) })
    }

    /// Hands what was stored to the server.
    pub fn commit(&self) -> Result<(), Status> {
        // SAFETY: takes nothing.
        done(unsafe { (self.commit)() })
    }

    /// What a process stored, or what the manager says of it.
    pub fn get(&self, process: &Proc, key: &CStr, options: &[Info]) -> Result<Stored, Status> {
        let mut value: *mut Value = null_mut();
        // SAFETY: a process, a text with a zero at its end, so many options, and room for one address.
        done(unsafe { (self.get)(process, key.as_ptr(), options.as_ptr(), options.len(), &mut value) })?;
        if value.is_null() {
            return Ok(Stored::Other(0));
        }
        // SAFETY: with success libpmix leaves the address of a value that is this process's from now on.
        let held = unsafe { *value };
        let stored = match (held.kind, held.number()) {
            (kind::STRING, _) => {
                let text = held.data[0] as *mut c_char;
                // SAFETY: a value of this kind has the address of a text, or null, and is this process's alone.
                let copy = unsafe { text_of(text) };
                // SAFETY: a text of a value is memory of its own, from malloc(3), or null.
                unsafe { libc::free(text.cast()) };
                Stored::Text(copy)
            }
            (_, Some(number)) => Stored::Number(number),
            (other, None) => Stored::Other(other),
        };
        // SAFETY: the value came from malloc(3) and is not used any more.
        unsafe { libc::free(value.cast()) };
        Ok(stored)
    }

    /// Waits for all ranks of the job until `deadline_ns` of the monotonic clock.
    pub fn fence(&self, options: &[Info], deadline_ns: u64) -> Result<(), Status> {
        // It stays for ever, eight bytes: libpmix's thread still wakes who has gone on already, or gave up.
        let fence: &'static Fence = Box::leak(Box::new(Fence { done: AtomicU32::new(0), status: AtomicU32::new(0) }));
        let address: *const Fence = fence;
        // SAFETY: `fenced` takes the address that is passed with it; no list of processes means all of the job.
        let status = unsafe {
            (self.fence)(null(), 0, options.as_ptr(), options.len(), fenced, address.cast_mut().cast::<c_void>())
        };
        match status {
            SUCCESS => fence.wait(deadline_ns),
            SUCCEEDED => Ok(()),
            status => Err(status),
        }
    }

    /// Asks the manager to end the job.
    pub fn abort(&self, status: i32, message: &CStr) {
        // SAFETY: a text with a zero at its end; no list of processes means all of the job.
        let _ = unsafe { (self.abort)(status, message.as_ptr(), null_mut(), 0) };
    }
}

/// A fence that goes on.
struct Fence {
    /// 1: it has ended, and `status` says how. A futex.
    done: AtomicU32,
    status: AtomicU32,
}

impl Fence {
    fn wait(&self, deadline_ns: u64) -> Result<(), Status> {
        // Acquire pairs with the Release in `fenced`.
        while self.done.load(Ordering::Acquire) == 0 {
            let left_us = deadline_ns.saturating_sub(sys::monotonic_ns()) / 1000;
            if left_us == 0 {
                return Err(TIMEOUT);
            }
            sys::futex_wait(&self.done, 0, left_us.min(1_000_000));
        }
        done(self.status.load(Ordering::Relaxed) as Status)
    }
}

/// Runs in a thread of libpmix.
unsafe extern "C" fn fenced(status: Status, fence: *mut c_void) {
    // SAFETY: `Library::fence` passes the address of one that stays for ever; only atomics are in it.
    let fence = unsafe { &*fence.cast::<Fence>() };
    fence.status.store(status as u32, Ordering::Relaxed);
    // Release pairs with the Acquire in `wait`.
    fence.done.store(1, Ordering::Release);
    sys::futex_wake(&fence.done);
}

fn done(status: Status) -> Result<(), Status> {
    if status == SUCCESS { Ok(()) } else { Err(status) }
}
