//! Notices of memory that the program unmaps: static. A transport that registers memory with a device must know when a
//! mapping ends. memory/hook learns of it by hooks in the C library; memory/none gives no notices, nor does memory/shheap, which gives
//! the program's long allocations from memory that peers can map.
#![allow(unsafe_code)] // linkme's expansion and the component's symbol

use crate::mca;
use crate::sync::{AtomicPtr, Mutex, Ordering};
use crate::{Error, Result};

/// A way to watch. Whether unmapping is seen, and of what, say the symbols that [`provide_memory!`](crate::provide_memory) defines.
pub trait Component: mca::Component {}

crate::framework! {
    /// Watches the program's memory mappings.
    "memory", Opal, version 1, Static, OMPI_MEMORIES: dyn Component
}

#[cfg(not(test))]
mod component {
    // SAFETY: `provide_memory!` defines it with this very signature.
    unsafe extern "Rust" {
        #[link_name = "__opal_memory_watches_v1"]
        pub safe fn watches() -> bool;
        #[link_name = "__opal_memory_sees_v1"]
        pub safe fn sees(address: usize, bytes: usize) -> bool;
    }
}
#[cfg(test)]
use crate::test_image::memory as component;

/// Whether every unmapping of the program's data in this process is seen, so that a registration may be kept beyond one
/// operation. The component says what it cannot see (stacks of ended threads).
pub fn watches() -> bool {
    component::watches()
}

/// Whether the end of these very bytes will be told: of memory that the component knows to be given back by calls that it sees. What is
/// mapped and unmapped behind its back (stacks of threads, data of libraries) is not.
pub fn sees(address: usize, bytes: usize) -> bool {
    component::sees(address, bytes)
}

/// Called with the first address and the length of a range that is about to go away.
///
/// It may run in any thread, inside any of the C library's functions and within other callbacks: it must not allocate
/// memory, release any, or wait for a lock that somebody may hold while doing either. The range may be larger than
/// what really goes, and may stay.
pub type Release = fn(address: usize, bytes: usize);

/// Registers a callback for the life of the process. `Err(Unsupported)` if nobody [`watches`], `Err(OutOfResource)` if
/// there are too many.
pub fn on_release(callback: Release) -> Result<()> {
    if !watches() {
        return Err(Error::Unsupported);
    }
    let callback = callback as *mut ();
    for slot in &CALLBACKS {
        // Release pairs with the Acquire in `released`: what was set up before is there when the callback runs.
        let set = slot.compare_exchange(core::ptr::null_mut(), callback, Ordering::Release, Ordering::Relaxed);
        if set.is_ok() || set == Err(callback) {
            return Ok(());
        }
    }
    Err(Error::OutOfResource)
}

/// For the component, and for what in this library gives pages back by itself: this range is about to go away. No locks, no allocation.
pub fn released(address: usize, bytes: usize) {
    for slot in &CALLBACKS {
        // Acquire pairs with the Release in `on_release`.
        let callback = slot.load(Ordering::Acquire);
        if callback.is_null() {
            return;
        }
        // SAFETY: not null, so `on_release` stored a `Release` there; slots never change again.
        let callback: Release = unsafe { core::mem::transmute(callback) };
        callback(address, bytes);
    }
}

static CALLBACKS: [AtomicPtr<()>; 8] = [const { AtomicPtr::new(core::ptr::null_mut()) }; 8];

/// For the component, when it is opened: what users should know of how it runs here, as a sentence. One process of a job says it.
pub fn note(text: &'static str) {
    *NOTE.lock() = Some(text);
}

/// What was noted.
pub fn noted() -> Option<&'static str> {
    *NOTE.lock()
}

static NOTE: Mutex<Option<&'static str>> = Mutex::new(None);

/// Defines the framework's symbols: `provide_memory!(watches, sees)` with `fn watches() -> bool` and
/// `fn sees(address: usize, bytes: usize) -> bool`; without the second one no memory is seen.
#[macro_export]
macro_rules! provide_memory {
    ($($watches:ident)::+) => {
        const _: () = {
            fn sees(_address: usize, _bytes: usize) -> bool {
                false
            }
            $crate::provide_memory!($($watches)::+, sees);
        };
    };
    ($($watches:ident)::+, $($sees:ident)::+) => {
        #[allow(unsafe_code)]
        const _: () = {
            #[unsafe(export_name = "__opal_memory_watches_v1")]
            fn provided_watches() -> bool {
                $($watches)::+()
            }
            #[unsafe(export_name = "__opal_memory_sees_v1")]
            fn provided_sees(address: usize, bytes: usize) -> bool {
                $($sees)::+(address, bytes)
            }
        };
    };
}
