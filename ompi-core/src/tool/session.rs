//! Sessions of measurements and their handles: what a tool sees of performance variables. MPI 5.0 §15.3.7.
//!
//! What happens is counted once, from the beginning. A handle remembers where it was started, and what came together while
//! it ran. Of high-water marks there is one for each level, too: who looks gives what it finds to all handles that run.

use crate::comm::Communicator;
use crate::error::{Class, Fault, Result};
use crate::framework::pml::{self, Traffic};
use crate::handle::HandleTable;
use crate::tool::collectives::{CallCount, Counting};
use crate::tool::pvar::{self, Origin, Pvar};
use crate::tool::value::Datum;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::mca::pvar::{Level, Reading};
use opal_core::mca::{self, PvarClass};
use opal_core::sync::Mutex;

/// MPI_T_PVAR_SESSION_NULL and MPI_T_PVAR_HANDLE_NULL.
pub const NULL: usize = 0;
/// MPI_T_PVAR_ALL_HANDLES.
pub const ALL_HANDLES: usize = 1;

static SESSIONS: HandleTable<PvarSession> = HandleTable::new();
static HANDLES: HandleTable<PvarHandle> = HandleTable::new();
// Handles of high-water marks that run. Taken before the state of a handle.
static MARKED: Mutex<Vec<Arc<PvarHandle>>> = Mutex::new(Vec::new());

/// A session.
pub struct PvarSession {
    handles: Mutex<Vec<usize>>,
}

/// A performance variable in a session.
pub struct PvarHandle {
    session: usize,
    /// The variable.
    pub pvar: &'static Pvar,
    source: Source,
    /// Number of elements.
    pub count: usize,
    state: Mutex<State>,
}

enum Source {
    Process(&'static mca::Pvar),
    Peers(Arc<Traffic>, pml::TrafficCount),
    Calls(&'static CallCount, Counting),
    Time(&'static CallCount, Counting),
    Late(&'static CallCount, Counting),
}

struct State {
    runs: bool,
    // What the numbers were when it was started, reset or written.
    from: Vec<u64>,
    // What it had counted by then; of a mark, the mark.
    before: Vec<u64>,
}

/// MPI_T_pvar_session_create.
pub fn create() -> Result<usize> {
    let session = PvarSession { handles: Mutex::new(Vec::new()) };
    SESSIONS.insert(Arc::new(session)).ok_or_else(|| Class::ToolOutOfSessions.into())
}

/// Whether it is a session in force.
pub fn check(session: usize) -> Result<()> {
    SESSIONS.get(session).map(drop).ok_or_else(no_session)
}

/// MPI_T_pvar_session_free, with the handles that are left. How many of them counted messages.
pub fn free(session: usize) -> Result<usize> {
    let found = SESSIONS.remove(session).ok_or_else(no_session)?;
    let handles = core::mem::take(&mut *found.handles.lock());
    let freed = handles.into_iter().filter_map(|handle| HANDLES.remove(handle)).inspect(|handle| handle.unmark());
    Ok(freed.filter(|handle| handle.counts_messages()).count())
}

/// MPI_T_pvar_handle_alloc: handle and count. `comm` is the object that the tool named, where the variable is bound to one.
pub fn allocate(session: usize, index: i32, comm: Option<&Communicator>) -> Result<(usize, usize)> {
    let owner = SESSIONS.get(session).ok_or_else(no_session)?;
    let pvar = pvar::get(index)?;
    let (source, count) = match pvar.origin {
        Origin::Process(process) => {
            if !(process.wanted)() {
                return Err(Class::ToolOutOfHandles.into());
            }
            (Source::Process(process), 1)
        }
        Origin::Calls(count) => (Source::Calls(count, Counting::begin()), 1),
        Origin::Time(count) => (Source::Time(count, Counting::begin()), 1),
        Origin::Late(count) => (Source::Late(count, Counting::begin()), 1),
        Origin::Peers(what) => {
            let comm = comm.ok_or_else(|| Fault::new(Class::ToolInvalid).argument("obj_handle"))?;
            let traffic = pml::selected().count_traffic(comm).ok_or(Class::ToolNotSupported)?;
            let peers = traffic.peers();
            (Source::Peers(traffic, what), peers)
        }
    };
    let handle = PvarHandle { session, pvar, source, count, state: Mutex::new(State::new(count)) };
    // A level is there all the time.
    if pvar.is_level() {
        handle.state.lock().runs = true;
    }
    let handle = HANDLES.insert(Arc::new(handle)).ok_or(Class::ToolOutOfHandles)?;
    owner.handles.lock().push(handle);
    Ok((handle, count))
}

/// MPI_T_pvar_handle_free. Whether it counted messages.
pub fn free_handle(session: usize, handle: usize) -> Result<bool> {
    find(session, handle)?;
    let found = HANDLES.remove(handle).inspect(|found| found.unmark());
    if let Some(owner) = SESSIONS.get(session) {
        owner.handles.lock().retain(|own| *own != handle);
    }
    Ok(found.is_some_and(|found| found.counts_messages()))
}

/// The handle, if it is one of the session.
pub fn find(session: usize, handle: usize) -> Result<Arc<PvarHandle>> {
    check(session)?;
    let found = HANDLES.get(handle).filter(|found| found.session == session);
    found.ok_or_else(|| {
        let why = "it is no handle of a performance variable of this session";
        Fault::new(Class::ToolInvalidHandle).argument("handle").because(why)
    })
}

/// Does something with a handle, or with all of a session that it suits: MPI_T_PVAR_ALL_HANDLES leaves out the others.
pub fn each(session: usize, handle: usize, change: impl Fn(&Arc<PvarHandle>) -> Result<()>) -> Result<()> {
    if handle != ALL_HANDLES {
        return change(&find(session, handle)?);
    }
    let handles = SESSIONS.get(session).ok_or_else(no_session)?.handles.lock().clone();
    let all = handles.into_iter().filter_map(|handle| HANDLES.get(handle));
    all.filter(|handle| !handle.pvar.is_level()).try_for_each(|handle| change(&handle))
}

/// MPI_T_pvar_start; nothing happens to one that runs.
pub fn start(handle: &Arc<PvarHandle>) -> Result<()> {
    if handle.pvar.is_level() {
        return Err(Class::ToolPvarNoStartstop.into());
    }
    handle.fold();
    let mut state = handle.state.lock();
    if state.runs {
        return Ok(());
    }
    handle.now(&mut state.from);
    state.runs = true;
    if let Some(level) = handle.level() {
        let now = level.now();
        state.before[0] = state.before[0].max(now);
        drop(state);
        MARKED.lock().push(handle.clone());
    }
    Ok(())
}

/// MPI_T_pvar_stop; nothing happens to one that does not run.
pub fn stop(handle: &Arc<PvarHandle>) -> Result<()> {
    if handle.pvar.is_level() {
        return Err(Class::ToolPvarNoStartstop.into());
    }
    handle.fold();
    {
        let mut state = handle.state.lock();
        state.before = handle.value(&state);
        state.runs = false;
    }
    handle.unmark();
    Ok(())
}

impl PvarHandle {
    /// MPI_T_pvar_read: an element for each number.
    pub fn read(&self) -> Vec<Datum<'static>> {
        self.fold();
        self.data(&self.value(&self.state.lock()))
    }

    /// MPI_T_pvar_write.
    pub fn write(&self, data: &[Datum<'_>]) -> Result<()> {
        if self.pvar.is_level() {
            return Err(Class::ToolPvarNoWrite.into());
        }
        self.fold();
        let mut state = self.state.lock();
        self.now(&mut state.from);
        state.before = data.iter().map(number).collect();
        Ok(())
    }

    /// MPI_T_pvar_readreset, or MPI_T_pvar_reset of who does not look at the result. What is counted meanwhile is in none of
    /// both: it is in what is read next.
    pub fn read_and_reset(&self) -> Result<Vec<Datum<'static>>> {
        if self.pvar.is_level() {
            return Err(Class::ToolPvarNoWrite.into());
        }
        self.fold();
        let mut state = self.state.lock();
        let before = self.value(&state);
        if state.runs && self.level().is_none() {
            let since = state.from.iter().zip(&before).zip(&state.before);
            state.from =
                since.map(|((from, value), counted)| from.wrapping_add(value.wrapping_sub(*counted))).collect();
        }
        let mark = self.level().filter(|_| state.runs).map_or(0, Level::now);
        state.before.fill(mark);
        Ok(self.data(&before))
    }

    fn data(&self, numbers: &[u64]) -> Vec<Datum<'static>> {
        let seconds = self.pvar.class == PvarClass::Timer;
        let datum = |number: &u64| if seconds { Datum::Double(*number as f64 / NS) } else { Datum::Unsigned(*number) };
        numbers.iter().map(datum).collect()
    }

    fn value(&self, state: &State) -> Vec<u64> {
        if !state.runs || self.level().is_some() {
            return state.before.clone();
        }
        let mut now = Vec::new();
        self.now(&mut now);
        if self.pvar.is_level() {
            return now;
        }
        let since = now.iter().zip(&state.from).zip(&state.before);
        since.map(|((now, from), before)| before.wrapping_add(now.wrapping_sub(*from))).collect()
    }

    fn now(&self, numbers: &mut Vec<u64>) {
        numbers.clear();
        match &self.source {
            Source::Process(mca::Pvar { reading: Reading::Of(read), .. }) => numbers.push(read()),
            Source::Process(mca::Pvar { reading: Reading::Mark(level), .. }) => numbers.push(level.now()),
            Source::Calls(count, _) => numbers.push(count.calls()),
            Source::Time(count, _) => numbers.push(count.ns()),
            Source::Late(count, _) => numbers.push(count.waited_ns()),
            Source::Peers(traffic, count) => numbers.extend(traffic.now(*count)),
        }
    }

    fn counts_messages(&self) -> bool {
        matches!(self.source, Source::Peers(..))
    }

    /// The level of which it is the mark.
    fn level(&self) -> Option<&'static Level> {
        match &self.source {
            Source::Process(mca::Pvar { reading: Reading::Mark(level), .. }) => Some(level),
            _ => None,
        }
    }

    /// Gives what its level was at most to all handles of this mark that run.
    fn fold(&self) {
        let Some(level) = self.level() else { return };
        let marked = MARKED.lock();
        let most = level.take_most();
        for handle in marked.iter().filter(|handle| handle.level().is_some_and(|own| core::ptr::eq(own, level))) {
            let mut state = handle.state.lock();
            state.before[0] = state.before[0].max(most);
        }
    }

    fn unmark(&self) {
        MARKED.lock().retain(|handle| !core::ptr::eq(&**handle, self));
    }
}

impl State {
    fn new(count: usize) -> State {
        State { runs: false, from: alloc::vec![0; count], before: alloc::vec![0; count] }
    }
}

fn number(datum: &Datum<'_>) -> u64 {
    match datum {
        Datum::Unsigned(number) => *number,
        Datum::Double(seconds) => (*seconds * NS) as u64,
        _ => 0,
    }
}

fn no_session() -> Fault {
    Fault::new(Class::ToolInvalidSession).argument("session").because("it is no session in force")
}

const NS: f64 = 1e9;
