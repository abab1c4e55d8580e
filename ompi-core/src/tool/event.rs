//! Events: the begin and the end of each blocking collective operation on a communicator, what happens to the user's messages on
//! one, and which processes transports reach. MPI 5.0 §15.3.8.
//!
//! A collective operation is told of where its row has checked its arguments or is about to return: no lock is held, so that a
//! callback may call whatever it likes, and nothing is lost. What happens to messages and transports happens under locks: it waits
//! in [`pending`] until the process next sends, receives, completes requests or calls a blocking collective operation.
//!
//! **Invariant:** nothing here calls a tool; `abi/tool_event.rs` does.

use crate::comm;
use crate::comm::Communicator;
use crate::error::{Class, Fault, Result};
use crate::handle::HandleTable;
use crate::tool::value::{Datum, ValueType};
use crate::tool::{BOUND_TO_COMM, NO_OBJECT, element};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::{c_int, c_void};
use core::ops::Range;
use opal_core::framework::btl;
use opal_core::mca::image;
use opal_core::sync::{AtomicU64, AtomicUsize, Mutex, Once, Ordering};
use opal_core::sys;

pub mod pending;

/// An event type.
pub struct Event {
    /// Framework and its own name.
    pub name: &'static str,
    /// Who wants it, as a level of a parameter.
    pub level: u8,
    /// What it is.
    pub description: &'static str,
    /// Framework to whose category it belongs.
    pub framework: &'static str,
    /// Datatypes of its elements and where they lie in a copy of all.
    pub elements: &'static [(ValueType, i64)],
    /// The enumeration of which one of its elements is a number, or `NULL`: the description says which.
    pub enumeration: usize,
    /// Index in [`SOURCES`].
    pub source: usize,
}

/// All of them, in the order of their index.
pub static ALL: &[Event] = &[
    Event {
        name: "coll_begin",
        level: 2,
        description: "A blocking collective operation begins. First element: the function; second: its number among those of this \
                      process that were seen, the same at its end.",
        framework: "coll",
        elements: COLLECTIVE,
        enumeration: FUNCTIONS,
        source: 0,
    },
    Event {
        name: "coll_end",
        level: 2,
        description: "A blocking collective operation has ended, well or not. The first elements are those of coll_begin; third: the index \
                      of the performance variable that counts the calls which its component and algorithm served, whose name says which.",
        framework: "coll",
        elements: COLLECTIVE_END,
        enumeration: FUNCTIONS,
        source: 0,
    },
    message("pml_message_posted", "A send of the program's was called. Elements: the other rank; the tag; bytes."),
    message(
        "pml_message_matched",
        "A message of the program's met its receive. Elements: the other rank; the tag; bytes, as many as the receive has room for.",
    ),
    message(
        "pml_unexpected_arrived",
        "A message, or the announcement of a long one, came before its receive. Elements: the other rank; the tag; bytes.",
    ),
    message(
        "pml_unexpected_removed",
        "A message that came before its receive was taken by it, or by a matched probe. Elements: the other rank; the tag; bytes.",
    ),
    message(
        "pml_message_completed",
        "The receive of a message of the program's is complete, well or not. Elements: the other rank; the tag; bytes, as many as the \
         receive has room for.",
    ),
    path(
        "btl_connected",
        "Messages to a process may take a transport from now on. First element: the process's rank in MPI_COMM_WORLD, -1 if it is of \
         another job; second: the transport.",
    ),
    path("btl_lost", "A process cannot be reached any more by a transport; the elements are those of btl_connected."),
];

const fn message(name: &'static str, description: &'static str) -> Event {
    let elements = MESSAGE;
    Event { name, level: 2, description, framework: "pml", elements, enumeration: NULL, source: 1 }
}

const fn path(name: &'static str, description: &'static str) -> Event {
    let enumeration = TRANSPORTS;
    Event { name, level: 2, description, framework: btl::FRAMEWORK.name, elements: PATH, enumeration, source: 1 }
}

/// Indices in [`ALL`].
pub const BEGIN: usize = 0;
/// The other one.
pub const END: usize = 1;
/// The first of those of messages.
pub const MESSAGES: usize = 2;
/// The first of those of transports, which come behind those of messages and are bound to no communicator.
pub const PATHS: usize = 7;

/// MPI_T_ENUM_NULL.
pub const NULL: usize = 0;
/// The enumeration of the collective functions: after those of all control variables.
pub const FUNCTIONS: usize = 0x3fff_ffff;
/// The enumeration of the transports in this library.
pub const TRANSPORTS: usize = 0x3fff_fffe;

const COLLECTIVE: &[(ValueType, i64)] = &[(ValueType::Int, 0), (ValueType::Unsigned, 8)];
const COLLECTIVE_END: &[(ValueType, i64)] = &[(ValueType::Int, 0), (ValueType::Unsigned, 8), (ValueType::Int, 16)];
const MESSAGE: &[(ValueType, i64)] = &[(ValueType::Int, 0), (ValueType::Int, 4), (ValueType::Unsigned, 8)];
const PATH: &[(ValueType, i64)] = &[(ValueType::Int, 0), (ValueType::Int, 4)];

/// Names and descriptions of the sources.
pub const SOURCES: [(&str, &str); 2] = [
    ("clock", "Collective operations, as they happen, by the monotonic clock of this process in nanoseconds."),
    (
        "messages",
        "What happens to messages and transports, by the same clock. It is told when the process next sends, receives, completes requests, \
         or begins or ends a blocking collective operation, and no more than some thousands are kept until then.",
    ),
];
/// Ticks of each source in a second.
pub const TICKS_PER_SECOND: i64 = 1_000_000_000;

static REGISTRATIONS: HandleTable<Registration> = HandleTable::new();
static INSTANCES: HandleTable<Instance> = HandleTable::new();
// Handles of registrations in force, and how many there are, for who only wants to know whether.
static IN_FORCE: Mutex<Vec<usize>> = Mutex::new(Vec::new());
static LISTENERS: AtomicUsize = AtomicUsize::new(0);
// Of the library itself. Changed while `IN_FORCE` is locked.
static OWN: AtomicUsize = AtomicUsize::new(0);
static OPERATIONS: AtomicU64 = AtomicU64::new(0);

/// What a tool wants to hear of.
pub struct Registration {
    event: usize,
    // The communicator's handle; 0 of an event that is bound to none.
    comm: usize,
    // Its number.
    context: u32,
    callbacks: Mutex<[Option<ToolFunction<EventFn>>; SAFETIES.len()]>,
    dropped: Mutex<Option<DroppedFn>>,
    state: Mutex<State>,
}

/// MPI_T_event_cb_function.
pub type EventFn = unsafe extern "C" fn(usize, usize, c_int, *mut c_void);
/// MPI_T_event_dropped_cb_function.
pub type DroppedFn = unsafe extern "C" fn(i64, usize, c_int, c_int, *mut c_void);
/// MPI_T_event_free_cb_function.
pub type FreeFn = unsafe extern "C" fn(usize, c_int, *mut c_void);

/// A function of the tool's, which `abi` calls.
#[derive(Clone, Copy)]
pub struct ToolFunction<F> {
    /// The function.
    pub function: F,
    /// What it is given: an address that means something to the tool alone.
    pub user_data: usize,
}

struct State {
    // Callbacks that run.
    running: usize,
    // Once it is freed: what is to be called when no callback runs any more.
    freed: bool,
    last: Option<ToolFunction<FreeFn>>,
}

/// An event that a callback gets.
pub struct Instance {
    /// Index in [`ALL`].
    pub event: usize,
    /// Its elements.
    pub data: Vec<Datum<'static>>,
    /// When it happened.
    pub timestamp: i64,
}

/// Whether a tool listens to any event.
#[inline(always)]
pub fn is_heard() -> bool {
    // Relaxed: who registers while others communicate hears of what begins a little later.
    LISTENERS.load(Ordering::Relaxed) != 0
}

/// Somebody of the library listens, too, from now on: until as many have called [`leave`].
pub fn listen() {
    let in_force = IN_FORCE.lock();
    let own = OWN.fetch_add(1, Ordering::Relaxed) + 1;
    LISTENERS.store(in_force.len() + own, Ordering::Relaxed);
}

/// Who called [`listen`] listens no more.
pub fn leave() {
    let in_force = IN_FORCE.lock();
    let own = OWN.fetch_sub(1, Ordering::Relaxed) - 1;
    LISTENERS.store(in_force.len() + own, Ordering::Relaxed);
}

/// The number of the next operation.
pub fn next_operation() -> u64 {
    OPERATIONS.fetch_add(1, Ordering::Relaxed)
}

/// The event type with an index that may be anything.
pub fn get(index: i32) -> Result<&'static Event> {
    element(ALL, index, "events").map_err(|fault| fault.argument("event_index"))
}

/// To what the events of an index are bound: MPI_T_BIND_NO_OBJECT or MPI_T_BIND_MPI_COMM.
pub fn bind(index: usize) -> i32 {
    if index >= PATHS { NO_OBJECT } else { BOUND_TO_COMM }
}

/// The index of a name.
pub fn index(name: &str) -> Result<i32> {
    let found = ALL.iter().position(|event| event.name == name).map(|index| index as i32);
    found
        .ok_or_else(|| Fault::new(Class::ToolInvalidName).argument("name").because(format!("no event is named {name}")))
}

/// The number of a transport in their enumeration; -1 for one that is not in it.
pub fn transport(name: &str) -> i32 {
    transports().iter().position(|own| *own == name).map_or(-1, |index| index as i32)
}

/// The transports in this library.
pub fn transports() -> &'static [&'static str] {
    static NAMES: Once<Vec<&'static str>> = Once::new();
    NAMES.call_once(|| {
        let all = image::components().iter().filter(|info| core::ptr::eq(info.framework, &btl::FRAMEWORK));
        all.map(|info| info.name).collect()
    })
}

/// MPI_T_event_handle_alloc, for a communicator in force with its number, or an event that is bound to none.
pub fn register(index: i32, comm: usize, context: u32) -> Result<usize> {
    get(index)?;
    let state = Mutex::new(State { running: 0, freed: false, last: None });
    let registration = Registration {
        event: index as usize,
        comm,
        context,
        callbacks: Mutex::default(),
        dropped: Mutex::new(None),
        state,
    };
    let handle = REGISTRATIONS.insert(Arc::new(registration)).ok_or(Class::ToolOutOfHandles)?;
    let mut in_force = IN_FORCE.lock();
    in_force.push(handle);
    LISTENERS.store(in_force.len() + OWN.load(Ordering::Relaxed), Ordering::Relaxed);
    Ok(handle)
}

/// The registration of a handle that may be anything.
pub fn registration(handle: usize) -> Result<Arc<Registration>> {
    REGISTRATIONS.get(handle).ok_or_else(|| no_registration(handle))
}

/// MPI_T_event_handle_free. Returns the function to call now, if no callback of it runs; else [`Registration::left`] will.
pub fn free(handle: usize, last: Option<ToolFunction<FreeFn>>) -> Result<Option<ToolFunction<FreeFn>>> {
    let freed = REGISTRATIONS.remove(handle).ok_or_else(|| no_registration(handle))?;
    {
        let mut in_force = IN_FORCE.lock();
        in_force.retain(|own| *own != handle);
        LISTENERS.store(in_force.len() + OWN.load(Ordering::Relaxed), Ordering::Relaxed);
    }
    let mut state = freed.state.lock();
    (state.freed, state.last) = (true, last);
    Ok(if state.running == 0 { state.last.take() } else { None })
}

/// The tool interface ends: no registration is in force any more.
pub fn free_all() {
    let handles = core::mem::take(&mut *IN_FORCE.lock());
    LISTENERS.store(OWN.load(Ordering::Relaxed), Ordering::Relaxed);
    for freed in handles.into_iter().filter_map(|handle| REGISTRATIONS.remove(handle)) {
        // Who is about to call its callback does so no more.
        freed.state.lock().freed = true;
    }
}

/// Whether a registration is in force for one of these event types.
pub fn is_registered(events: Range<usize>) -> bool {
    let in_force = IN_FORCE.lock();
    let mut registered = in_force.iter().filter_map(|handle| REGISTRATIONS.get(*handle));
    registered.any(|registration| events.contains(&registration.event))
}

/// The registrations that want to hear of an event, on a communicator if it is bound to one, with their handles.
pub fn listeners(event: usize, on: Option<&Communicator>) -> Vec<(usize, Arc<Registration>)> {
    let handles = IN_FORCE.lock().clone();
    let found = handles.into_iter().filter_map(|handle| Some((handle, REGISTRATIONS.get(handle)?)));
    let is_on =
        |own: &Registration| on.is_none_or(|on| comm::borrow(own.comm).is_some_and(|comm| core::ptr::eq(comm, on)));
    found.filter(|(_, registration)| registration.event == event && is_on(registration)).collect()
}

/// The registrations for an event on a communicator that had this number and is freed.
pub fn left_behind(event: usize, context: u32) -> Vec<(usize, Arc<Registration>)> {
    let handles = IN_FORCE.lock().clone();
    let found = handles.into_iter().filter_map(|handle| Some((handle, REGISTRATIONS.get(handle)?)));
    let is_left = |own: &Registration| own.context == context && comm::borrow(own.comm).is_none();
    found.filter(|(_, registration)| registration.event == event && is_left(registration)).collect()
}

impl Registration {
    /// Index in [`ALL`].
    pub fn event(&self) -> usize {
        self.event
    }

    /// MPI_T_event_set_dropped_handler; `None` takes it back.
    pub fn set_dropped(&self, handler: Option<DroppedFn>) {
        *self.dropped.lock() = handler;
    }

    /// The function for lost events, with what the callback gets that would have been called.
    pub fn dropped(&self) -> Option<ToolFunction<DroppedFn>> {
        let function = (*self.dropped.lock())?;
        let callback = (*self.callbacks.lock()).into_iter().flatten().next();
        Some(ToolFunction { function, user_data: callback.map_or(0, |callback| callback.user_data) })
    }

    /// MPI_T_event_register_callback; `None` takes it back.
    pub fn set_callback(&self, safety: i32, callback: Option<ToolFunction<EventFn>>) -> Result<()> {
        self.callbacks.lock()[place(safety)?] = callback;
        Ok(())
    }

    /// Whether a callback is registered for a level of safety.
    pub fn has_callback(&self, safety: i32) -> Result<bool> {
        Ok(self.callbacks.lock()[place(safety)?].is_some())
    }

    /// The callback for where nothing is forbidden, which all levels of safety allow: that of the lowest. It counts as running
    /// until [`Registration::left`]. `None` also if the registration is freed.
    pub fn enter(&self) -> Option<ToolFunction<EventFn>> {
        let callback = (*self.callbacks.lock()).into_iter().flatten().next()?;
        let mut state = self.state.lock();
        if state.freed {
            return None;
        }
        state.running += 1;
        Some(callback)
    }

    /// The callback has returned. Returns what is to be called after the last one of a freed registration.
    pub fn left(&self) -> Option<ToolFunction<FreeFn>> {
        let mut state = self.state.lock();
        state.running -= 1;
        if state.running == 0 { state.last.take() } else { None }
    }
}

/// An event is made known for as long as its callbacks run.
pub fn begin_instance(event: usize, data: &[Datum<'static>], timestamp: i64) -> Option<usize> {
    INSTANCES.insert(Arc::new(Instance { event, data: data.to_vec(), timestamp }))
}

/// Its callbacks have run.
pub fn end_instance(handle: usize) {
    drop(INSTANCES.remove(handle));
}

/// The event of a handle that may be anything.
pub fn instance(handle: usize) -> Result<Arc<Instance>> {
    INSTANCES.get(handle).ok_or_else(|| {
        let why = format!("{handle:#x} is no event whose callback runs");
        Fault::new(Class::ToolInvalidHandle).argument("event_instance").because(why)
    })
}

/// The time of the source.
pub fn now() -> i64 {
    sys::monotonic_ns() as i64
}

fn place(safety: i32) -> Result<usize> {
    SAFETIES.iter().position(|own| *own == safety).ok_or_else(|| {
        let why = format!("{safety} is no MPI_T_CB_REQUIRE_ level");
        Fault::new(Class::ToolInvalid).argument("cb_safety").because(why)
    })
}

fn no_registration(handle: usize) -> Fault {
    let why = format!("{handle:#x} is no registration for an event in force");
    Fault::new(Class::ToolInvalidHandle).argument("event_registration").because(why)
}

/// MPI_T_CB_REQUIRE_NONE, _MPI_RESTRICTED, _THREAD_SAFE, _ASYNC_SIGNAL_SAFE.
const SAFETIES: [i32; 4] = [0, 3, 15, 63];
