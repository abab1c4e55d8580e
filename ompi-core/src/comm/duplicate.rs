//! Duplicates: MPI_Comm_dup, and MPI_Comm_idup, which the progress engine moves on.

use super::complete::Completion;
use super::create::{self, Draft, Heard};
use super::gather::{Gather, finished};
use super::mail::Kind;
use super::{Communicator, DYNAMIC, Hints};
use crate::error::{Class, Fault, Result};
use crate::group::Group;
use crate::request::{self, Driver, Id, Request};
use crate::status::Status;
use crate::{attr, errhandler};
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::progress;
use opal_core::sync::{AtomicUsize, Guarded, Once, Ordering};

/// MPI_Comm_dup: the same groups and the attributes that their callbacks copy, another context.
///
/// Attributes come last: whatever a callback says here, all processes have taken part in what concerns them all.
pub fn duplicate(handle: usize, parent: &Communicator, hints: Hints) -> Result<usize> {
    let mut duplication = Duplication::new(parent, hints)?;
    finished(|| duplication.poll())?;
    let comm = duplication.comm().ok_or(Class::Intern)?.clone();
    let copy = DYNAMIC.insert(comm).ok_or_else(no_handles)?;
    if let Err(fault) = attr::copy_all(attr::Kind::Comm, handle, copy) {
        // The first fault is the one to report.
        let _second = create::free(copy);
        return Err(fault);
    }
    Ok(copy)
}

/// MPI_Comm_idup: the handle, which is in force when the request is complete. Attributes are those of now.
pub fn begin(handle: usize, parent: &Communicator, hints: Hints) -> Result<(usize, Request)> {
    static CALLED: Once<opal_core::Result<()>> = Once::new();
    (*CALLED.call_once(|| progress::add_callback(poll_all)))?;
    let duplication = Duplication::new(parent, hints)?;
    let copy = DYNAMIC.reserve_handle().ok_or_else(no_handles)?;
    let request = request::create(request::Kind::Generic, &DUPLICATIONS, 0).inspect_err(|_| DYNAMIC.abandon(copy))?;
    let copied = attr::copy_all(attr::Kind::Comm, handle, copy);
    // The others count on this process, whatever its callbacks say.
    let wanted = copied.is_ok();
    let mut running = Running { duplication, handle: copy, request: request.id(), wanted };
    if !running.step() {
        UNDER_WAY.lock().push(running);
        COUNT.fetch_add(1, Ordering::Relaxed);
    }
    progress::flush();
    match copied {
        Ok(()) => Ok((copy, request)),
        Err(fault) => {
            request.wait()?;
            attr::delete_all(attr::Kind::Comm, copy)?;
            Err(fault)
        }
    }
}

fn no_handles() -> Fault {
    Fault::new(Class::NoMem).because("all handles are in use")
}

/// A duplicate in the making.
struct Duplication {
    group: Arc<Group>,
    remote: Option<Arc<Group>>,
    errhandler: usize,
    hints: Hints,
    // Taken when the numbers are known.
    draft: Option<Draft>,
    numbers: Gather,
    completion: Option<Completion>,
}

impl Duplication {
    fn new(parent: &Communicator, hints: Hints) -> Result<Duplication> {
        let draft = Draft::new(&parent.group)?;
        let errhandler = parent.errhandler.load(Ordering::Relaxed);
        let numbers = Gather::about(parent, Kind::Collective, parent.next_turn(), &[draft.number.into()]);
        errhandler::retain(errhandler);
        let (group, remote) = (parent.group.clone(), parent.remote.clone());
        Ok(Duplication { group, remote, errhandler, hints, draft: Some(draft), numbers, completion: None })
    }

    fn poll(&mut self) -> Result<bool> {
        if let Some(completion) = &mut self.completion {
            return completion.poll();
        }
        if !self.numbers.poll()? {
            return Ok(false);
        }
        let words = self.numbers.result::<1>();
        let Heard { local, remote } = Heard::sort(&self.group, self.remote.as_deref(), words);
        let local = create::members(&self.group, &local);
        let remote = self.remote.as_ref().map(|group| create::members(group, &remote));
        let draft = self.draft.take().ok_or(Class::Intern)?;
        let mut completion = draft.begin(local, remote, self.errhandler, core::mem::take(&mut self.hints))?;
        let complete = completion.poll();
        self.completion = Some(completion);
        complete
    }

    fn comm(&self) -> Option<&Arc<Communicator>> {
        self.completion.as_ref().map(Completion::comm)
    }
}

impl Drop for Duplication {
    fn drop(&mut self) {
        errhandler::release(self.errhandler);
    }
}

struct Running {
    duplication: Duplication,
    handle: usize,
    request: Id,
    // A callback of an attribute refused: the handle comes to nothing.
    wanted: bool,
}

impl Running {
    /// Moves it on; true when its request is complete.
    fn step(&mut self) -> bool {
        let status = match self.duplication.poll() {
            Ok(false) => return false,
            Ok(true) => Status::EMPTY,
            Err(fault) => Status::failed(fault.get()),
        };
        match self.duplication.comm().filter(|_| self.wanted && status.error == 0) {
            Some(comm) => DYNAMIC.fill(self.handle, comm.clone()),
            None => DYNAMIC.abandon(self.handle),
        }
        request::complete(self.request, status);
        true
    }
}

static UNDER_WAY: Guarded<Vec<Running>> = Guarded::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Called by every progress pass once a duplicate was begun; by one thread at a time.
fn poll_all() -> usize {
    // Relaxed: what another thread has just begun is seen by the next pass.
    if COUNT.load(Ordering::Relaxed) == 0 {
        return 0;
    }
    // Nothing is locked while they move on, since transports run then.
    let mut running = core::mem::take(&mut *UNDER_WAY.lock());
    let before = running.len();
    running.retain_mut(|one| !one.step());
    let ended = before - running.len();
    COUNT.fetch_sub(ended, Ordering::Relaxed);
    let mut all = UNDER_WAY.lock();
    running.append(&mut all);
    *all = running;
    drop(all);
    progress::flush();
    ended
}

/// Requests of duplicates have nothing to do but to wait.
struct Duplications;

static DUPLICATIONS: Duplications = Duplications;

impl Driver for Duplications {}
