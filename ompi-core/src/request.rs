//! Requests: operations under way. Slots of one cache line in chunks that never move; a handle is index and generation.
//!
//! Three kinds of code use them:
//! * The owner of an operation (the PML, a schedule of collectives, MPI_Grequest_start) makes a request with [`create`],
//!   keeps its [`Id`] and calls [`complete`] once. What else it must do for the request is its [`Driver`].
//! * Code of the library that waits for what it started itself holds a [`Request`] and calls [`Request::wait`],
//!   [`Request::test`] or [`wait_all`].
//! * The C rows hold handles and call [`handles`]: `wait`, `test`, `wait_all`, `wait_any`, `wait_some`, `test_all`,
//!   `test_any`, `test_some`, `get_status`, `free`, `cancel`, `start`. A handle that was completed is set to
//!   MPI_REQUEST_NULL there (to nothing for persistent ones). They return `Ok(status)` for an operation that ended, with
//!   the operation's own error code in `status.error`; [`Status::deliver`] turns it into what a row returns. `Err` is a
//!   fault of the call itself (an invalid handle, a peer that died while waiting).
//!
//! **Invariant:** a slot is written by the operation's owner until it is complete, and by the waiter afterwards.

use self::slot::*;
use self::slots::*;
use crate::error::Result;
use crate::status::Status;
use opal_core::sync::Ordering;
use opal_core::wait;

pub mod collective;
mod driver;
pub mod exchange;
pub mod generalized;
pub mod handles;
mod marks;
pub mod persistent;
mod slot;
mod slots;

pub(crate) use self::slots::FACTS;
pub use driver::{Driver, Id};
pub use marks::{forget_marks, keep_marks};

/// MPI_REQUEST_NULL.
pub const NULL: usize = 0x180;

/// Where a request lies, so that the owner of its operation completes it without looking its [`Id`] up: ten
/// instructions. The default is that of no request.
#[derive(Clone, Copy, Default)]
pub struct SlotPtr(Option<&'static Slot>);

/// The right to complete one operation. Its number is the C handle.
#[derive(Debug, PartialEq, Eq)]
pub struct Request(pub u32);

/// What kind of operation a request stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A send: cannot be cancelled any more (MPI 5.0 §3.8.4 deprecates it), completes normally.
    Send,
    /// A receive: can be cancelled while it is not matched.
    Recv,
    /// A collective, a generalized request; `query` and `release` of its driver are called.
    Generic,
    /// As `Generic`, and a thread that waits calls the driver's `poll`.
    Polled,
    /// Can be started again after it has completed; made inactive. `query` and `release` are called,
    /// and `poll` by a thread that waits.
    Persistent,
    /// As `Generic`; can be neither freed by the user nor cancelled (MPI 5.0 §6.12).
    Collective,
    /// As `Generic`; can be neither freed by the user nor cancelled while it is under way (MPI 5.0 §12.3.5).
    OneSided,
    /// As `Persistent`, not polled; can be freed while it is inactive only, and not be cancelled (MPI 5.0 §6.13).
    PersistentCollective,
    /// As `Persistent`, not polled; can be freed while it is not under way only, and not be cancelled (MPI 5.0 §4.2.1). [`partitioned`]
    /// finds it.
    Partitioned,
}

impl Request {
    /// Waits for it and frees it. `MPI_ERR_*` of the operation as `Err`.
    pub fn wait(self) -> Result<Status> {
        opal_core::progress::flush();
        let slot = slot_of(self.0);
        if let Err(fault) = slot.wait() {
            self.abandon();
            return Err(fault);
        }
        checked(slot.take(self.0))
    }

    /// Nobody asks for it any more: a receive that nothing has met leaves its buffer alone, the rest ends in silence.
    #[cold]
    fn abandon(self) {
        let slot = slot_of(self.0);
        slot.drive(|driver, token| driver.cancel(token, Id(self.0)));
        // What others take part in stays with its owner.
        if never_alone(slot.word.load(Ordering::Relaxed)).is_none() {
            // Of a send or a receive there is no error to tell.
            let _ = slot.detach(self.0);
        }
    }

    /// Completes and frees it if it is done; gives it back otherwise. Makes progress once.
    pub fn test(self) -> Result<core::result::Result<Status, Request>> {
        opal_core::progress::flush();
        let slot = slot_of(self.0);
        if !slot.is_complete() {
            slot.poll();
            opal_core::wait::polled_progress();
            if !slot.is_complete() {
                return Ok(Err(self));
            }
        }
        checked(slot.take(self.0)).map(Ok)
    }

    /// The C handle.
    pub fn into_handle(self) -> usize {
        self.0 as usize
    }

    /// The request behind a C handle that is in force.
    pub fn from_handle(handle: usize) -> Option<Request> {
        find(handle).map(|_| Request(handle as u32))
    }

    /// Whether its operation is done. Makes no progress.
    pub fn is_complete(&self) -> bool {
        slot_of(self.0).is_complete()
    }

    /// What a thread that waits for it waits for.
    pub fn subject(&self) -> wait::Subject {
        slot_of(self.0).subject()
    }

    /// Its name for [`complete`].
    pub fn id(&self) -> Id {
        Id(self.0)
    }

    /// Its place for [`complete_alone`].
    pub fn slot_ptr(&self) -> SlotPtr {
        SlotPtr(Some(slot_of(self.0)))
    }
}

/// Waits for all; the first failure is returned after all have completed.
pub fn wait_all(requests: impl IntoIterator<Item = Request>) -> Result<()> {
    let mut first = Ok(());
    for request in requests {
        let ended = request.wait();
        if let (Ok(()), Err(fault)) = (&first, ended) {
            first = Err(fault);
        }
    }
    first
}

/// A request for an operation that is under way (a persistent one: inactive at first).
#[inline(always)]
pub fn create(kind: Kind, driver: &'static dyn Driver, token: u64) -> Result<Request> {
    let Some(slot) = reserve() else {
        return Err(no_slot());
    };
    let flags = match kind {
        Kind::Send | Kind::Recv => ACTIVE,
        Kind::Generic => ACTIVE | QUERIED,
        Kind::Polled => ACTIVE | QUERIED | POLLED,
        Kind::Persistent => INACTIVE | QUERIED | PERSISTENT | POLLED,
        Kind::Collective => ACTIVE | QUERIED | COLLECTIVE,
        Kind::OneSided => ACTIVE | QUERIED | ONE_SIDED,
        Kind::PersistentCollective => INACTIVE | QUERIED | PERSISTENT | COLLECTIVE,
        Kind::Partitioned => INACTIVE | QUERIED | PERSISTENT | PARTITIONED,
    };
    Ok(Request(slot.begin(driver, token, flags)))
}

/// As [`create`] for a plain send or receive, with nothing but a few loads and stores: `None` if another thread is at it or
/// no slot is at hand, and then `create` is to be asked.
#[inline(always)]
pub fn create_fast(driver: &'static dyn Driver, token: u64) -> Option<(Request, SlotPtr)> {
    let slot = LIST.try_lock()?.take()?;
    Some((Request(slot.begin(driver, token, ACTIVE)), SlotPtr(Some(slot))))
}

/// Replaces the token that [`create`] was given, before the handle is known to others.
#[inline(always)]
pub fn set_token(id: Id, token: u64) {
    slot_of(id.0).token.store(token, Ordering::Relaxed);
}

/// Requests in use: under way, complete and not yet waited for, or persistent. Looks at all that there ever were at once.
pub fn in_use() -> usize {
    taken()
}

/// A request that is complete, with the empty status: for a send that was done at once. Costs nothing.
#[inline(always)]
pub fn done() -> Request {
    Request(DONE)
}

/// The token of a request in force, or of one that the user freed while its operation was under way.
pub fn token(handle: usize) -> Option<u64> {
    find_even_freed(handle).map(|(slot, _)| slot.token.load(Ordering::Relaxed))
}

/// The number of the communicator, or of that of the window or the file, to which a request in force belongs, as far as its owner says.
#[cold]
pub fn context(handle: usize) -> Option<u32> {
    find(handle)?.context()
}

/// What stands behind the handle of a partitioned request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partitioned {
    /// As given to [`create`].
    pub token: u64,
    /// It was started, and its completion not yet taken.
    pub is_started: bool,
}

/// The partitioned request with this handle.
#[inline(always)]
pub fn partitioned(handle: usize) -> Option<Partitioned> {
    let slot = find(handle)?;
    // Acquire pairs with the Release in `complete`: who finds it ended sees the data.
    let word = slot.word.load(Ordering::Acquire);
    let found = Partitioned { token: slot.token.load(Ordering::Relaxed), is_started: word & STATE != INACTIVE };
    (word & PARTITIONED != 0).then_some(found)
}

/// MPI_Pready where it is what it nearly always is. `false`: nothing was done.
#[inline(always)]
pub fn pready(handle: usize, partition: usize) -> bool {
    marks::mark(handle, partition)
}

/// Ends an operation. Once per request (per start of a persistent one), by its owner; `status.error` is its error code.
// Inlined so that the status is made in its slot: made elsewhere and copied, the copy would wait for its own stores.
#[inline(always)]
pub fn complete(id: Id, status: Status) {
    let slot = slot_of(id.0);
    let before = slot.end(status);
    if before & (DETACHED | AWAITED) != 0 {
        tell_of(slot, before);
    }
}

/// As [`complete`], for a caller that has just found that there is one thread only: six instructions less.
///
/// # Panics
/// If nobody has that slot pointer: a mistake of the caller.
#[inline(always)]
pub fn complete_alone(slot_ptr: SlotPtr, status: Status) {
    let slot = slot_ptr.0.expect("an operation under way has a request");
    let before = slot.end_alone(status);
    if before & (DETACHED | AWAITED) != 0 {
        tell_of(slot, before);
    }
}

/// The user freed the request while its operation was under way, or a thread may sleep until it is complete.
#[cold]
#[inline(never)]
fn tell_of(slot: &'static Slot, before: u32) {
    if before & DETACHED != 0 {
        slot.take(slot.index.load(Ordering::Relaxed));
    } else {
        wait::wake_threads();
    }
}

/// For models: no request was made yet. Words of the last order are forgotten, so that its list leads nowhere.
#[cfg(loom)]
pub fn forget_all() {
    *LIST.lock() = List::NEW;
}

fn checked(status: Status) -> Result<Status> {
    if status.error == 0 { Ok(status) } else { Err(status.fault()) }
}

#[cfg(test)]
#[path = "request/tests.rs"]
mod tests;

#[cfg(all(test, loom))]
#[path = "request/models.rs"]
mod models;
