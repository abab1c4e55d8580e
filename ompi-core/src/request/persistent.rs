//! Persistent sends and receives: MPI 5.0 §3.9. Each start makes an ordinary request of the PML and follows it.
//!
//! **Invariant:** nothing here is locked while the PML runs.
#![allow(unsafe_code)]

use super::handles;
use super::{Driver, Id, Kind, Request, complete, create, done};
use crate::buffer;
use crate::comm::Holder;
use crate::data::Data;
use crate::datatype::Datatype;
use crate::error::{Class, Result};
use crate::framework::pml::{self, MatchContext, Mode};
use crate::handle::HandleTable;
use crate::status::Status;
use alloc::sync::Arc;
use core::mem::offset_of;
use opal_core::inspect::Fact;
use opal_core::sync::ConditionalLock;

/// What every start does again.
pub struct Transfer {
    /// The buffer's address.
    pub at: *mut u8,
    /// Elements.
    pub count: usize,
    /// Of this type, which is kept alive.
    pub datatype: Arc<Datatype>,
    /// Destination or source.
    pub peer: i32,
    /// Tag.
    pub tag: i32,
    /// The communicator's handle.
    pub comm: usize,
    /// A send or a receive.
    pub direction: Direction,
}

/// Which call each start repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Direction {
    /// A send that is not buffered.
    Send(Mode),
    /// A send through the buffer that is attached when it starts.
    Buffered,
    /// A receive.
    Receive,
}

/// A persistent request, inactive.
///
/// # Safety
/// Whenever it is started the buffer is readable (a send) or writable (a receive) until that operation completes.
pub unsafe fn prepare(operation: Transfer) -> Result<Request> {
    let comm = Holder::of(operation.comm)?;
    let prepared = Arc::new(Prepared { operation, comm, running: ConditionalLock::new(Running::default()) });
    let token = PREPARED.insert(prepared).ok_or(Class::NoMem)?;
    create(Kind::Persistent, &Prepare, token as u64).inspect_err(|_| drop(PREPARED.remove(token)))
}

struct Prepared {
    operation: Transfer,
    comm: Holder,
    running: ConditionalLock<Running>,
}

#[derive(Default)]
struct Running {
    /// The PML's request, and the one to complete after it; not here while a thread asks the PML about it.
    request: Option<(usize, Id)>,
    /// MPI_Cancel came meanwhile.
    cancel: bool,
}

// SAFETY: the address is the user's, who promises in `prepare` what each start needs.
unsafe impl Send for Prepared {}
// SAFETY: as above; what changes is guarded.
unsafe impl Sync for Prepared {}

impl Prepared {
    fn put_back(&self, handle: usize, id: Id) {
        let mut running = self.running.lock();
        running.request = Some((handle, id));
        let cancel = core::mem::take(&mut running.cancel);
        drop(running);
        if cancel {
            ask_to_cancel(handle);
        }
    }
}

/// A request of the PML that is in force can be asked; whether it is cancelled its status will say.
fn ask_to_cancel(handle: usize) {
    let _asked = handles::cancel(handle);
}

static PREPARED: HandleTable<Prepared> = HandleTable::new();

/// What a debugger needs to know of persistent requests. The direction is a byte: send, buffered, receive.
pub(crate) static FACTS: [Fact; 5] = [
    Fact::address("persistent.table", &raw const PREPARED),
    Fact::number("persistent.peer", offset_of!(Prepared, operation.peer)),
    Fact::number("persistent.tag", offset_of!(Prepared, operation.tag)),
    Fact::number("persistent.comm", offset_of!(Prepared, operation.comm)),
    Fact::number("persistent.direction", offset_of!(Prepared, operation.direction)),
];

struct Prepare;

impl Driver for Prepare {
    fn context(&self, token: u64) -> Option<u32> {
        Some(PREPARED.get(token as usize)?.comm.get().context)
    }

    fn start(&self, token: u64, id: Id) -> Result<()> {
        let prepared = PREPARED.get(token as usize).ok_or(Class::Intern)?;
        let Transfer { at, count, ref datatype, peer, tag, direction, .. } = prepared.operation;
        let comm = prepared.comm.get();
        let context = MatchContext { comm, collective: false };
        let data = Data { at, count, datatype };
        let request = match direction {
            Direction::Buffered => {
                // SAFETY: the promise made to `prepare`.
                unsafe { buffer::send(&data, peer, tag, comm)? };
                done()
            }
            // SAFETY: the promise made to `prepare`.
            Direction::Send(mode) => unsafe { pml::selected().isend(&data, peer, tag, mode, context)? },
            // SAFETY: the promise made to `prepare`.
            Direction::Receive => unsafe { pml::selected().irecv(&data, peer, tag, context)? },
        };
        *prepared.running.lock() = Running { request: Some((request.into_handle(), id)), cancel: false };
        Ok(())
    }

    fn poll(&self, token: u64) {
        let Some(prepared) = PREPARED.get(token as usize) else { return };
        // Taken out, so that of two threads that wait one asks the PML.
        let running = prepared.running.lock().request.take();
        let Some((mut handle, id)) = running else { return };
        match handles::test(&mut handle) {
            Ok(None) => prepared.put_back(handle, id),
            Ok(Some(status)) => complete(id, status),
            Err(fault) => complete(id, Status::failed(fault.get())),
        }
    }

    fn cancel(&self, token: u64, _id: Id) {
        let Some(prepared) = PREPARED.get(token as usize) else { return };
        let mut running = prepared.running.lock();
        let Some((handle, _)) = running.request else {
            // Another thread has it, and cancels it when it puts it back.
            running.cancel = true;
            return;
        };
        drop(running);
        ask_to_cancel(handle);
    }

    fn release(&self, token: u64) {
        PREPARED.remove(token as usize);
    }
}
