//! Duplicates: MPI_Comm_dup, and MPI_Comm_idup, which the progress engine moves on.

use super::activate::Activation;
use super::cid::{Received, Reservation, members};
use super::create;
use super::{Communicator, DYNAMIC, Hints, insert};
use crate::attr;
use crate::error::Result;
use crate::oob::Conversation;
use crate::oob::allgather::{Allgather, finish};
use crate::request::{self, Driver, Id, Request};
use crate::status::Status;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::progress;
use opal_core::sync::{AtomicUsize, ConditionalLock, Once, Ordering};
use opal_core::wait::Subject;

/// MPI_Comm_dup: the same groups and the attributes that their callbacks copy, another context.
///
/// Attributes come last: whatever a callback says here, all processes have taken part in what concerns them all.
pub fn duplicate(handle: usize, parent: &Communicator, hints: Hints) -> Result<usize> {
    let mut duplication = Duplication::new(handle, parent, &hints)?;
    finish(&mut duplication, Duplication::poll, Duplication::subject)?;
    let copy = insert(duplication.comm)?;
    if let Err(fault) = attr::copy_all(attr::KeyvalKind::Comm, handle, copy) {
        // The first fault is the one to report.
        let _second = create::free(copy);
        return Err(fault);
    }
    Ok(copy)
}

/// MPI_Comm_idup: the handle, of which messages and collectives are there when the request is complete; all else, its
/// error handler say, may be set at once. Attributes are those of now.
pub fn begin(handle: usize, parent: &Communicator, hints: Hints) -> Result<(usize, Request)> {
    static CALLED: Once<opal_core::Result<()>> = Once::new();
    (*CALLED.call_once(|| progress::add_callback(poll_all)))?;
    let duplication = Duplication::new(handle, parent, &hints)?;
    let copy = insert(duplication.comm.clone())?;
    let request =
        request::create(request::Kind::Generic, &DUPLICATIONS, 0).inspect_err(|_| drop(DYNAMIC.remove(copy)))?;
    let copied = attr::copy_all(attr::KeyvalKind::Comm, handle, copy);
    let mut running = Running { duplication, request: request.id() };
    if !running.step() {
        IN_PROGRESS.lock().push(running);
        COUNT.fetch_add(1, Ordering::Relaxed);
    }
    progress::flush();
    match copied {
        Ok(()) => Ok((copy, request)),
        Err(fault) => {
            // The others count on this process, whatever its callbacks say.
            request.wait()?;
            // The first fault is the one to report.
            let _second = create::free(copy);
            Err(fault)
        }
    }
}

/// A duplicate in the making.
struct Duplication {
    comm: Arc<Communicator>,
    /// The communicator of the user's that `numbers` is about: its context number must not be given back before, or messages
    /// of the others are thrown away.
    parent: Option<Arc<Communicator>>,
    numbers: Allgather,
    activation: Option<Activation>,
}

impl Duplication {
    fn new(handle: usize, parent: &Communicator, hints: &Hints) -> Result<Duplication> {
        let reservation = Reservation::new(&parent.group)?;
        let numbers =
            Allgather::about(parent, Conversation::Collective, parent.next_constructor(), &[reservation.number.into()]);
        let errhandler = parent.errhandler.load(Ordering::Relaxed);
        let comm = reservation.pending(parent.group.clone(), parent.remote.clone(), errhandler);
        comm.hints.take_known(hints);
        comm.inherit_topology(parent);
        Ok(Duplication { comm: Arc::new(comm), parent: super::get(handle), numbers, activation: None })
    }

    fn poll(&mut self) -> Result<bool> {
        if let Some(activation) = &mut self.activation {
            return activation.poll();
        }
        if !self.numbers.poll()? {
            return Ok(false);
        }
        let (group, remote) = (&self.comm.group, self.comm.remote.as_deref());
        self.parent = None;
        let received = Received::sort(group, remote, self.numbers.result::<1>());
        let local = members(group, &received.local);
        let remote = remote.map(|group| members(group, &received.remote));
        let mut activation = Activation::begin(self.comm.clone(), &local, remote.as_deref())?;
        let active = activation.poll();
        self.activation = Some(activation);
        active
    }

    fn subject(&self) -> Subject {
        self.activation.as_ref().map_or_else(|| self.numbers.subject(), Activation::subject)
    }
}

struct Running {
    duplication: Duplication,
    request: Id,
}

impl Running {
    /// Moves it on; true when its request is complete.
    fn step(&mut self) -> bool {
        let status = match self.duplication.poll() {
            Ok(false) => return false,
            Ok(true) => Status::EMPTY,
            Err(fault) => Status::failed(fault.get()),
        };
        request::complete(self.request, status);
        true
    }
}

static IN_PROGRESS: ConditionalLock<Vec<Running>> = ConditionalLock::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Called by every progress pass once a duplicate was begun; by one thread at a time.
fn poll_all() -> usize {
    // Relaxed: what another thread has just begun is seen by the next pass.
    if COUNT.load(Ordering::Relaxed) == 0 {
        return 0;
    }
    // Nothing is locked while they move on, since transports run then.
    let mut running = core::mem::take(&mut *IN_PROGRESS.lock());
    let before = running.len();
    running.retain_mut(|one| !one.step());
    let ended = before - running.len();
    COUNT.fetch_sub(ended, Ordering::Relaxed);
    let mut all = IN_PROGRESS.lock();
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
