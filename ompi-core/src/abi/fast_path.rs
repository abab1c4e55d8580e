//! The fast path of MPI_Send, MPI_Isend, MPI_Recv and MPI_Irecv: what nearly every call of them is, from the C symbol to the
//! queue without a call in between.
//!
//! The C symbol jumps to the function in its [`DispatchSlot`](super::dispatch::DispatchSlot): at first the complete one, which its row
//! describes. While MPI is active a PML that has a fast path ([`pml::FastPath`]) puts functions there that are compiled with
//! it. They take a message whose arguments are what they nearly always are: a predefined datatype, a communicator in force, a tag, no null pointer.
//! For anything else, also for every mistake of the program, they jump to the complete function with the arguments as they
//! came; nothing was done until then. MPI_Send of 8 bytes: 183 instructions by the complete function, 99 on the fast path.

use super::pt2pt::{complete_irecv, complete_isend, complete_recv, complete_send};
use super::tell::tell_pending;
use crate::buffer;
use crate::comm::{self, Communicator};
use crate::datatype;
use crate::framework::pml::{self, EntryPoints, FastPath, Taken};
use crate::init;
use crate::request;
use crate::status::{ANY_SOURCE, ANY_TAG, Status};
use crate::tool::event::pending;
use core::ffi::{c_int, c_void};
use opal_core::branch::cold_path;
use opal_core::sync::Mutex;

// Held while one is chosen, so that the last choice is made of what holds then.
static STATE: Mutex<State> = Mutex::new(State { is_open: false, counting: 0 });

struct State {
    // MPI is active.
    is_open: bool,
    // How many want messages counted.
    counting: usize,
}

impl EntryPoints {
    /// The complete functions.
    const COMPLETE: EntryPoints =
        EntryPoints { send: complete_send, isend: complete_isend, recv: complete_recv, irecv: complete_irecv };

    /// Those that tell tools of messages first: whatever happened since the last call.
    const TELLING: EntryPoints = EntryPoints { send: tell_send, isend: tell_isend, recv: tell_recv, irecv: tell_irecv };

    /// Those that are compiled with `S`.
    pub const fn of<S: FastPath>() -> EntryPoints {
        EntryPoints { send: send::<S>, isend: isend::<S>, recv: recv::<S>, irecv: irecv::<S> }
    }

    fn set(&self) {
        super::pt2pt::SEND.set(self.send as *const ());
        super::pt2pt::ISEND.set(self.isend as *const ());
        super::pt2pt::RECV.set(self.recv as *const ());
        super::pt2pt::IRECV.set(self.irecv as *const ());
    }
}

/// MPI is active, and the PML runs: its fast path is open from now on.
pub fn open() {
    let mut state = STATE.lock();
    state.is_open = true;
    state.choose();
}

/// Messages are counted from now on, also on the fast path if the PML can: until [`uncount`].
pub fn count() {
    let mut state = STATE.lock();
    state.counting += 1;
    state.choose();
}

/// So many who called [`count`] want to know no more: with the last one no fast path counts.
pub fn uncount(users: usize) {
    if users > 0 {
        let mut state = STATE.lock();
        state.counting = state.counting.saturating_sub(users);
        state.choose();
    }
}

/// What tools want to hear has changed, or something waits to be told, or nothing any more.
#[cold]
pub fn choose() {
    STATE.lock().choose();
}

/// MPI is active no more.
pub fn close() {
    let mut state = STATE.lock();
    state.is_open = false;
    EntryPoints::COMPLETE.set();
}

/// The same in a child that was forked: a thread that the child does not have may hold the lock for ever.
pub fn close_in_child() {
    EntryPoints::COMPLETE.set();
}

impl State {
    fn choose(&self) {
        // In a child that was forked nobody has closed it.
        if !self.is_open || !init::is_active() {
            return;
        }
        let (pml, is_counted) = (pml::selected(), self.counting > 0);
        pml.set_counting(is_counted);
        let fast = match is_counted {
            _ if pml::is_observed() || pending::waits() => Some(EntryPoints::TELLING),
            true => pml.counting_fast_path(),
            false => pml.fast_path(),
        };
        fast.unwrap_or(EntryPoints::COMPLETE).set();
    }
}

/// A call by [`EntryPoints::TELLING`] begins.
fn tell() {
    tell_pending();
    if !pml::is_observed() {
        choose();
    }
}

/// Bytes and communicator of a call, if buffer, count, datatype and communicator are what they nearly always are. A negative
/// count gives more bytes than a count of an `int` can.
#[inline(always)]
fn plain(at: *const c_void, count: c_int, datatype: usize, comm: usize) -> Option<(usize, &'static Communicator)> {
    let unit = datatype::unit(datatype);
    if rarely(unit == 0) || rarely(at as usize <= buffer::AUTOMATIC) && count != 0 {
        return None;
    }
    Some((count as u32 as usize * unit, comm::borrow(comm)?))
}

/// A condition that nearly never holds: a comparison and a jump of its own, where the compiler would make one jump of two by
/// four instructions.
#[inline(always)]
fn rarely(condition: bool) -> bool {
    if condition {
        cold_path();
    }
    condition
}

unsafe extern "C" fn send<S: FastPath>(
    buf: *const c_void,
    count: c_int,
    datatype: usize,
    dest: c_int,
    tag: c_int,
    comm: usize,
) -> c_int {
    if !rarely(tag < 0)
        && let Some((bytes, found)) = plain(buf, count, datatype, comm)
    {
        // SAFETY: readable by the standard.
        match unsafe { S::send(buf.cast(), bytes, dest, tag, found) } {
            Taken::Yes => return 0,
            // SAFETY: the caller's promise.
            Taken::NotInline => return unsafe { send_eager::<S>(buf, count, datatype, dest, tag, comm) },
            Taken::No => {}
        }
    }
    // SAFETY: the caller's promise.
    unsafe { complete_send(buf, count, datatype, dest, tag, comm) }
}

/// With a copy that is a call: apart, so that [`send`] saves no registers for it.
#[inline(never)]
unsafe extern "C" fn send_eager<S: FastPath>(
    buf: *const c_void,
    count: c_int,
    datatype: usize,
    dest: c_int,
    tag: c_int,
    comm: usize,
) -> c_int {
    if let Some((bytes, found)) = plain(buf, count, datatype, comm)
        // SAFETY: readable by the standard.
        && unsafe { S::send_eager(buf.cast(), bytes, dest, tag, found) }
    {
        return 0;
    }
    // SAFETY: the caller's promise.
    unsafe { complete_send(buf, count, datatype, dest, tag, comm) }
}

unsafe extern "C" fn isend<S: FastPath>(
    buf: *const c_void,
    count: c_int,
    datatype: usize,
    dest: c_int,
    tag: c_int,
    comm: usize,
    request: *mut usize,
) -> c_int {
    if !(rarely(tag < 0) || rarely(request.is_null()))
        && let Some((bytes, found)) = plain(buf, count, datatype, comm)
    {
        // SAFETY: readable by the standard.
        match unsafe { S::isend(buf.cast(), bytes, dest, tag, found) } {
            Taken::Yes => {
                // SAFETY: not null, so the place of a handle.
                unsafe { request.write(request::done().into_handle()) };
                return 0;
            }
            // SAFETY: the caller's promise.
            Taken::NotInline => return unsafe { isend_eager::<S>(buf, count, datatype, dest, tag, comm, request) },
            Taken::No => {}
        }
    }
    // SAFETY: the caller's promise.
    unsafe { complete_isend(buf, count, datatype, dest, tag, comm, request) }
}

/// As [`send_eager`].
#[inline(never)]
unsafe extern "C" fn isend_eager<S: FastPath>(
    buf: *const c_void,
    count: c_int,
    datatype: usize,
    dest: c_int,
    tag: c_int,
    comm: usize,
    request: *mut usize,
) -> c_int {
    if !request.is_null()
        && let Some((bytes, found)) = plain(buf, count, datatype, comm)
        // SAFETY: readable by the standard.
        && unsafe { S::send_eager(buf.cast(), bytes, dest, tag, found) }
    {
        // SAFETY: not null, so the place of a handle.
        unsafe { request.write(request::done().into_handle()) };
        return 0;
    }
    // SAFETY: the caller's promise.
    unsafe { complete_isend(buf, count, datatype, dest, tag, comm, request) }
}

unsafe extern "C" fn recv<S: FastPath>(
    buf: *mut c_void,
    count: c_int,
    datatype: usize,
    source: c_int,
    tag: c_int,
    comm: usize,
    status: *mut Status,
) -> c_int {
    if !(rarely(count < 0) || rarely(tag < 0) && tag != ANY_TAG)
        && let Some((bytes, found)) = plain(buf, count, datatype, comm)
    {
        // SAFETY: null is MPI_STATUS_IGNORE, anything else a status of the caller's.
        let status_out = unsafe { status.as_mut() };
        // SAFETY: writable by the standard.
        if let Some(done) = unsafe { S::recv(buf.cast(), bytes, source, tag, found, status_out) } {
            return done.code();
        }
    }
    if source == ANY_SOURCE {
        // SAFETY: the caller's promise.
        return unsafe { recv_any::<S>(buf, count, datatype, source, tag, comm, status) };
    }
    // SAFETY: the caller's promise.
    unsafe { complete_recv(buf, count, datatype, source, tag, comm, status) }
}

/// From MPI_ANY_SOURCE: apart, as [`send_eager`].
#[inline(never)]
unsafe extern "C" fn recv_any<S: FastPath>(
    buf: *mut c_void,
    count: c_int,
    datatype: usize,
    source: c_int,
    tag: c_int,
    comm: usize,
    status: *mut Status,
) -> c_int {
    // SAFETY: null is MPI_STATUS_IGNORE, anything else a status of the caller's.
    let status_out = unsafe { status.as_mut() };
    if count >= 0
        && (tag >= 0 || tag == ANY_TAG)
        && let Some((room, found)) = plain(buf, count, datatype, comm)
        && !found.hints.names_sources()
        // SAFETY: writable by the standard.
        && unsafe { S::recv_any(buf.cast(), room, tag, found, status_out) }
    {
        return 0;
    }
    // SAFETY: the caller's promise.
    unsafe { complete_recv(buf, count, datatype, source, tag, comm, status) }
}

unsafe extern "C" fn irecv<S: FastPath>(
    buf: *mut c_void,
    count: c_int,
    datatype: usize,
    source: c_int,
    tag: c_int,
    comm: usize,
    request: *mut usize,
) -> c_int {
    if !(rarely(count < 0) || rarely(request.is_null()) || rarely(tag < 0) && tag != ANY_TAG)
        && let Some((bytes, found)) = plain(buf, count, datatype, comm)
        // SAFETY: writable by the standard until the request completes.
        && let Some(begun) = unsafe { S::irecv(buf.cast(), bytes, source, tag, found) }
    {
        // SAFETY: not null, so the place of a handle.
        unsafe { request.write(begun.into_handle()) };
        return 0;
    }
    // SAFETY: the caller's promise.
    unsafe { complete_irecv(buf, count, datatype, source, tag, comm, request) }
}

unsafe extern "C" fn tell_send(
    buf: *const c_void,
    count: c_int,
    datatype: usize,
    dest: c_int,
    tag: c_int,
    comm: usize,
) -> c_int {
    tell();
    // SAFETY: the caller's promise, here and below.
    unsafe { complete_send(buf, count, datatype, dest, tag, comm) }
}

unsafe extern "C" fn tell_isend(
    buf: *const c_void,
    count: c_int,
    datatype: usize,
    dest: c_int,
    tag: c_int,
    comm: usize,
    request: *mut usize,
) -> c_int {
    tell();
    // SAFETY: see above.
    unsafe { complete_isend(buf, count, datatype, dest, tag, comm, request) }
}

unsafe extern "C" fn tell_recv(
    buf: *mut c_void,
    count: c_int,
    datatype: usize,
    source: c_int,
    tag: c_int,
    comm: usize,
    status: *mut Status,
) -> c_int {
    tell();
    // SAFETY: see above.
    unsafe { complete_recv(buf, count, datatype, source, tag, comm, status) }
}

unsafe extern "C" fn tell_irecv(
    buf: *mut c_void,
    count: c_int,
    datatype: usize,
    source: c_int,
    tag: c_int,
    comm: usize,
    request: *mut usize,
) -> c_int {
    tell();
    // SAFETY: see above.
    unsafe { complete_irecv(buf, count, datatype, source, tag, comm, request) }
}
