//! Nonblocking and persistent collectives as requests: MPI 5.0 §6.12 and §6.13. Each is a recorded schedule that every
//! pass of progress moves on.
//!
//! **Invariant:** nothing here is locked while the PML or an operation of the user runs.
#![allow(unsafe_code)]

use super::{Driver, Id, Kind, Request, complete, create, done};
use crate::comm::{Communicator, Holder};
use crate::data::Data;
use crate::error::{Class, Result};
use crate::framework::coll::Call;
use crate::framework::pml::{self, MatchContext, Mode};
use crate::handle::HandleTable;
use crate::info::Info;
use crate::schedule::{Port, Recorder, Run, Schedule};
use crate::status::Status;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::progress;
use opal_core::sync::{AtomicBool, ConditionalLock, Once, Ordering};
use opal_core::wait::Subject;

/// Begins a nonblocking collective on the communicator with this handle.
///
/// # Safety
/// Until the request completes, the call's data is readable (sources) or writable (targets), and sources overlap no
/// target.
pub unsafe fn begin(handle: usize, call: Call<'_>) -> Result<Request> {
    let comm = Holder::of(handle)?;
    // SAFETY: the caller's promise.
    let schedule = unsafe { record(&comm, call)? };
    let tag = comm.get().coll().tags().begin();
    let (operation, request) = register(
        Kind::Collective,
        Operation { schedule, comm, tag, run: ConditionalLock::new(None), active: AtomicBool::new(false) },
    )?;
    operation.start(request.id());
    Ok(request)
}

/// Makes a persistent collective, inactive. None of the hints changes anything: tags are made so that starts need no
/// order (`mpi_assert_strict_persistent_collective_ordering` would promise one).
///
/// # Safety
/// As [`begin`], from every start until that operation completes.
pub unsafe fn prepare(handle: usize, _hints: Option<Arc<Info>>, call: Call<'_>) -> Result<Request> {
    let comm = Holder::of(handle)?;
    // SAFETY: the caller's promise.
    let schedule = unsafe { record(&comm, call)? };
    let tag = comm.get().coll().tags().prepare()?;
    let kind = Kind::PersistentCollective;
    register(kind, Operation { schedule, comm, tag, run: ConditionalLock::new(None), active: AtomicBool::new(false) })
        .map(|(_, request)| request)
}

/// # Safety
/// That of [`begin`] or [`prepare`].
unsafe fn record(comm: &Holder, call: Call<'_>) -> Result<Schedule> {
    let comm = comm.get();
    let merged = comm.merged();
    // SAFETY: the caller's promise; the C layer's datatypes all have handles.
    let mut recorder = unsafe { Recorder::new(merged.rank as usize, merged.size()) };
    let module = comm.coll().recordable(call.function())?;
    // SAFETY: the caller's promise.
    unsafe { module.call(&call, &mut recorder)? };
    Ok(recorder.into_schedule())
}

fn register(kind: Kind, operation: Operation) -> Result<(Arc<Operation>, Request)> {
    static PROGRESS: Once<opal_core::Result<()>> = Once::new();
    (*PROGRESS.call_once(|| progress::add_callback(pass)))?;
    let operation = Arc::new(operation);
    let token = OPERATIONS.insert(operation.clone()).ok_or(Class::NoMem)?;
    let request = create(kind, &Collectives, token as u64).inspect_err(|_| drop(OPERATIONS.remove(token)))?;
    Ok((operation, request))
}

/// Whether a nonblocking or a started persistent collective on the communicator has not ended.
pub fn is_in_progress(comm: &Communicator) -> bool {
    let here = |operation: &Operation| core::ptr::eq(operation.comm.get(), comm);
    OPERATIONS.search(|operation| here(operation) && operation.active.load(Ordering::Relaxed)).is_some()
}

struct Operation {
    schedule: Schedule,
    comm: Holder,
    tag: i32,
    active: AtomicBool,
    // While it is under way and nobody moves it on.
    run: ConditionalLock<Option<(Run<Request>, Id)>>,
}

static OPERATIONS: HandleTable<Operation> = HandleTable::new();
/// Those under way, in the order of their beginning.
static IN_PROGRESS: ConditionalLock<Vec<Arc<Operation>>> = ConditionalLock::new(Vec::new());

impl Operation {
    fn start(self: &Arc<Self>, id: Id) {
        self.active.store(true, Ordering::Relaxed);
        if !self.advance(Run::new(), id) {
            IN_PROGRESS.lock().push(self.clone());
        }
        progress::flush();
    }

    /// Whether it has ended.
    fn advance(&self, mut run: Run<Request>, id: Id) -> bool {
        // SAFETY: the promise made to `begin` or `prepare`; the thread that advances a run has taken it out, so there
        // is one.
        let Some(ended) = (unsafe { run.advance(&self.schedule, self) }) else {
            *self.run.lock() = Some((run, id));
            return false;
        };
        let mut status = Status::EMPTY;
        if let Err(fault) = ended {
            status.fail(fault.get(), self.comm.get().context);
        }
        self.active.store(false, Ordering::Relaxed);
        complete(id, status);
        true
    }
}

impl Port for Operation {
    type Message = Request;

    unsafe fn send(&self, data: &Data<'_>, to: usize) -> Result<Option<Request>> {
        let context = MatchContext { comm: self.comm.get().merged(), collective: true };
        // SAFETY: the caller's promise.
        let request = unsafe { pml::selected().isend(data, to as i32, self.tag, Mode::Standard, context)? };
        Ok((request != done()).then_some(request))
    }

    unsafe fn recv(&self, data: &Data<'_>, from: usize) -> Result<Option<Request>> {
        let context = MatchContext { comm: self.comm.get().merged(), collective: true };
        // SAFETY: the caller's promise.
        unsafe { pml::selected().irecv(data, from as i32, self.tag, context) }.map(Some)
    }

    fn has_ended(&self, message: &Request) -> bool {
        message.is_complete()
    }

    fn end(&self, message: Request) -> Result<()> {
        message.wait().map(drop)
    }
}

/// Moves on all that are under way; only one thread at a time is in here (`progress::pass`).
fn pass() -> usize {
    let mut all = core::mem::take(&mut *IN_PROGRESS.lock());
    if all.is_empty() {
        return 0;
    }
    let mut moved = 0;
    all.retain(|operation| {
        let taken = operation.run.lock().take();
        let Some((run, id)) = taken else { return true };
        let before = run.position();
        let ended = operation.advance(run, id);
        let still = operation.run.lock().as_ref().map(|(run, _)| run.position());
        moved += usize::from(ended || still != Some(before));
        !ended
    });
    // What an operation of the user or another thread began meanwhile comes after the older ones.
    let mut list = IN_PROGRESS.lock();
    all.append(&mut list);
    *list = all;
    drop(list);
    if moved > 0 {
        progress::flush();
    }
    moved
}

struct Collectives;

impl Driver for Collectives {
    fn subject(&self, token: u64, _id: Id) -> Subject {
        let Some(operation) = OPERATIONS.get(token as usize) else { return Subject::UNKNOWN };
        let run = operation.run.lock();
        run.as_ref().and_then(|(run, _)| run.awaited()).map_or(Subject::UNKNOWN, Request::subject)
    }

    fn context(&self, token: u64) -> Option<u32> {
        Some(OPERATIONS.get(token as usize)?.comm.get().context)
    }

    fn start(&self, token: u64, id: Id) -> Result<()> {
        OPERATIONS.get(token as usize).ok_or(Class::Intern)?.start(id);
        Ok(())
    }

    fn release(&self, token: u64) {
        OPERATIONS.remove(token as usize);
    }
}
