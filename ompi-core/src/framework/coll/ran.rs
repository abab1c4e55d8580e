//! Which algorithm serves a call, for people who asked: `coll_base_verbose` 40, or statistics.

use super::function::Function;
use core::fmt::Display;
use opal_core::message;
use opal_core::sync::{AtomicBool, AtomicUsize, Mutex, Ordering};

/// A component's name and its algorithm.
pub type Ran = (&'static str, &'static str);

static IS_WANTED: AtomicBool = AtomicBool::new(false);
static KEEPERS: AtomicUsize = AtomicUsize::new(0);
static LAST: Mutex<Option<Ran>> = Mutex::new(None);

/// A component serves a call: of so many bytes, as it counts them, among so many ranks. `why` goes on after that.
#[inline(always)]
pub fn ran(component: &'static str, call: (Function, usize, usize), why: impl Display, algorithm: &'static str) {
    // Relaxed: a wish of the user's.
    if IS_WANTED.load(Ordering::Relaxed) {
        tell(component, call, &why, algorithm);
    }
}

#[cold]
#[inline(never)]
fn tell(component: &'static str, call: (Function, usize, usize), why: &dyn Display, algorithm: &'static str) {
    let (function, bytes, ranks) = call;
    if super::FRAMEWORK.verbosity() >= VERBOSITY {
        message!("coll: {component}: {function:?} of {bytes} bytes among {ranks} ranks{why}: {algorithm}");
    }
    if KEEPERS.load(Ordering::Relaxed) != 0 {
        *LAST.lock() = Some((component, algorithm));
    }
}

/// From now on the last one is kept, until as many have said [`leave_last`].
pub fn keep_last() {
    KEEPERS.fetch_add(1, Ordering::Relaxed);
    look_at_verbosity();
}

/// Who said [`keep_last`] wants to know it no more.
pub fn leave_last() {
    KEEPERS.fetch_sub(1, Ordering::Relaxed);
    look_at_verbosity();
}

/// Takes the last one.
pub fn take_last() -> Option<Ran> {
    LAST.lock().take()
}

/// `coll_base_verbose` may have changed: asked when a communicator is made, and when a tool has changed a parameter.
pub fn look_at_verbosity() {
    let is_wanted = KEEPERS.load(Ordering::Relaxed) != 0 || super::FRAMEWORK.verbosity() >= VERBOSITY;
    IS_WANTED.store(is_wanted, Ordering::Relaxed);
}

const VERBOSITY: i64 = 40;
