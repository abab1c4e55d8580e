//! Which allocations lie in shareable memory, and what is done before `main`.

use crate::params::{CHILDREN, KEPT, THRESHOLD};
use opal_core::mca::{Param, Source};
use opal_core::shareable::fork::{self, Children};
use opal_core::shareable::{self, MOST_ALIGNMENT};
use opal_core::sync::{AtomicUsize, Ordering};
use opal_core::sys;

/// Why allocations lie in shareable memory, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum State {
    /// Another `malloc` is called, or the program's constructors have not run.
    NotCalled,
    /// They do.
    Gives,
    /// The user does not want it.
    Off,
    /// The system counts what is granted.
    StrictMemory,
    /// Children could not be given copies.
    NoForks,
}

/// As of now.
pub fn state() -> State {
    const STATES: [State; 5] = [State::NotCalled, State::Gives, State::Off, State::StrictMemory, State::NoForks];
    STATES[STATE.load(Ordering::Relaxed)]
}

/// Before `main`, if the program calls this library's `malloc`.
pub fn begin() {
    [&THRESHOLD, &KEPT, &CHILDREN].into_iter().for_each(read);
    let children = if CHILDREN.text() == "copy" { Children::HaveCopies } else { Children::HaveNothing };
    let state = match THRESHOLD.size() {
        0 => State::Off,
        _ if is_memory_strict() => State::StrictMemory,
        _ if !fork::set(children) => State::NoForks,
        threshold => {
            MOST.store(usize::try_from(sys::physical_memory()).unwrap_or(usize::MAX), Ordering::Relaxed);
            LEAST.store(threshold, Ordering::Relaxed);
            State::Gives
        }
    };
    STATE.store(state as usize, Ordering::Relaxed);
}

/// As the components' parameters are read later, which says what is wrong with a value; here it has no effect.
fn read(param: &Param) {
    const PREFIX: &str = "OMPI_MCA_memory_shheap_";
    let said = sys::environment().into_iter().find(|(name, _)| name.strip_prefix(PREFIX) == Some(param.name));
    if let Some((_, value)) = said {
        let _wrong = param.set(value, Source::Environment);
    }
}

fn is_memory_strict() -> bool {
    sys::read_file("/proc/sys/vm/overcommit_memory").is_some_and(|text| text.trim_ascii() == b"2")
}

/// Whether a block of this length is to be shareable. One that the machine has not is the system's to refuse.
#[inline(always)]
pub fn is_long(bytes: usize) -> bool {
    bytes >= LEAST.load(Ordering::Relaxed) && bytes <= MOST.load(Ordering::Relaxed)
}

/// Memory, if it is a long block and there is some; of zeros if that is wanted.
pub fn allocate(bytes: usize, alignment: usize, zeroed: bool) -> Option<*mut u8> {
    if !is_long(bytes) || alignment > MOST_ALIGNMENT {
        return None;
    }
    let (bytes, alignment) = (whole_pages(bytes), alignment.max(PAGE));
    if zeroed { shareable::allocate_zeroed(bytes, alignment) } else { shareable::allocate(bytes, alignment) }
}

/// What is given for so many bytes.
pub fn whole_pages(bytes: usize) -> usize {
    bytes.next_multiple_of(PAGE)
}

/// How much of what is free may be kept.
pub fn most_kept() -> usize {
    KEPT.size()
}

static STATE: AtomicUsize = AtomicUsize::new(State::NotCalled as usize);
// No length is long until `begin` says so.
static LEAST: AtomicUsize = AtomicUsize::new(usize::MAX);
static MOST: AtomicUsize = AtomicUsize::new(0);
const PAGE: usize = 4096;
