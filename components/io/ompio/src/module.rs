//! An open file.
#![allow(unsafe_code)]

use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::format;
use alloc::sync::Arc;
use ompi_core::comm::Communicator;
use ompi_core::data::Data;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::file::{
    Amode, CallWords, FileCall, FileHints, FilePlace, HintChoice, Outcome, Representation, View, WriteLock, agree,
    agree_call, agree_on, as_first, convert, exchange, failure, same, transfer,
};
use ompi_core::framework::fbtl::{self, AccessKind};
use ompi_core::framework::io::{FileAccess, FileArguments, Module, NewView, Start, Whence};
use ompi_core::framework::{fcoll, fs, sharedfp};
use ompi_core::info::Info;
use opal_core::sync::{AtomicBool, ConditionalLock, Ordering};
use opal_core::sys::{Errno, File};

/// Who does what with a file.
#[derive(Clone, Copy)]
pub struct Parts {
    /// With the whole of it.
    pub fs: &'static dyn fs::Module,
    /// With its bytes.
    pub fbtl: &'static dyn fbtl::Module,
    /// When all processes access it.
    pub fcoll: &'static dyn fcoll::Module,
}

/// An open file.
pub struct Ompio {
    comm: Arc<Communicator>,
    path: CString,
    amode: Amode,
    file: File,
    parts: Parts,
    atomic: AtomicBool,
    // Threads that share the file share its locks, too: they exclude each other here.
    alone: ConditionalLock<()>,
    state: ConditionalLock<State>,
    // None if no component serves these processes.
    shared: Option<Box<dyn sharedfp::Module>>,
}

struct State {
    view: Arc<View>,
    // This process's file pointer, in etypes.
    pointer: i64,
    hints: FileHints,
}

/// A collective access as one process means it.
struct Plan<'a> {
    access: FileAccess<'a>,
    view: Arc<View>,
    etypes: i64,
    // In etypes.
    start: i64,
}

impl Ompio {
    /// A file that all processes have open.
    pub fn new(comm: Arc<Communicator>, file: File, arguments: FileArguments<'_>, parts: Parts) -> Result<Ompio> {
        let state = State { view: Arc::new(View::whole()), pointer: 0, hints: arguments.hints };
        let shared = sharedfp::make(&comm, arguments.path)?;
        let opened = Ompio {
            comm,
            path: arguments.path.into(),
            amode: arguments.amode,
            file,
            parts,
            atomic: AtomicBool::new(false),
            alone: ConditionalLock::new(()),
            state: ConditionalLock::new(state),
            shared,
        };
        let end = match opened.amode.appends() {
            true => agree(&opened.comm, opened.size())?,
            false => 0,
        };
        opened.state.lock().pointer = end as i64;
        if let Some(shared) = opened.shared.as_ref().filter(|_| end > 0) {
            as_first(&opened.comm, || shared.set(end))?;
        }
        Ok(opened)
    }

    fn shared(&self) -> Result<&dyn sharedfp::Module> {
        self.shared.as_deref().ok_or_else(sharedfp::missing)
    }

    /// The first etype of the view that does not begin within the file.
    fn end(&self) -> Result<i64> {
        let view = self.view();
        Ok(view.bytes_within(self.size()?).div_ceil(view.unit()) as i64)
    }

    fn failed(&self, errno: Errno, what: &str) -> Fault {
        failure(errno, &self.path, what)
    }

    /// Refuses what the access mode does.
    fn may(&self, access: &FileAccess<'_>) -> Result<()> {
        match access.direction {
            AccessKind::Read if !self.amode.reads() => {
                return Err(Fault::new(Class::Access).because("the file was opened with MPI_MODE_WRONLY"));
            }
            AccessKind::Write => self.may_write()?,
            AccessKind::Read => {}
        }
        match access.start {
            Start::Shared | Start::Ordered => Ok(()),
            Start::At(_) | Start::Pointer => self.not_sequential(),
        }
    }

    fn may_write(&self) -> Result<()> {
        match self.amode.writes() {
            true => Ok(()),
            false => Err(Fault::new(Class::ReadOnly).because("the file was opened with MPI_MODE_RDONLY")),
        }
    }

    fn not_sequential(&self) -> Result<()> {
        match self.amode.is_sequential() {
            false => Ok(()),
            true => {
                let why = "the file was opened with MPI_MODE_SEQUENTIAL: it is read or written from its beginning to its end, at the shared file pointer";
                Err(Fault::new(Class::UnsupportedOperation).because(why))
            }
        }
    }

    /// The view, and where in it an access of this process's begins, in etypes. A file pointer moves behind it.
    fn begin(&self, access: &FileAccess<'_>) -> Result<(Arc<View>, i64)> {
        let view = self.view();
        self.may(access)?;
        let etypes = etypes(access, &view)?;
        let start = match access.start {
            Start::At(offset) => offset,
            Start::Shared | Start::Ordered => self.shared()?.advance(etypes as u64)? as i64,
            Start::Pointer => {
                let mut state = self.state.lock();
                let start = state.pointer;
                state.pointer = behind(start, etypes, &view)?;
                start
            }
        };
        behind(start, etypes, &view)?;
        Ok((view, start))
    }

    /// What a collective access of this process's would do; nothing is moved yet.
    fn plan<'a>(&self, access: Result<FileAccess<'a>>) -> Result<Plan<'a>> {
        let (access, view) = (access?, self.view());
        self.may(&access)?;
        let etypes = etypes(&access, &view)?;
        let start = match access.start {
            Start::At(offset) => offset,
            Start::Pointer => self.state.lock().pointer,
            // Known when all have told their etypes.
            Start::Shared | Start::Ordered => self.shared().map(|_| 0)?,
        };
        let end = behind(start, etypes, &view)?;
        view.check_reach(end as u64 * view.unit())?;
        Ok(Plan { access, view, etypes, start })
    }

    /// What the others are told of it.
    fn announce(&self, plan: &Plan<'_>) -> CallWords {
        let bytes = plan.access.data.bytes() as u64;
        match plan.access.start {
            Start::Ordered => [plan.etypes as u64, 0, 0, 0],
            // In atomic mode each process locks its own part: nobody may wait for the part of another.
            _ if self.is_atomic() => [0; 4],
            _ => self.parts.fcoll.announce(&self.place(&plan.view, plan.start), bytes, plan.access.direction),
        }
    }

    /// A place in the view, in etypes.
    fn place<'a>(&'a self, view: &'a View, start: i64) -> FilePlace<'a> {
        let position = start as u64 * view.unit();
        let hints = self.sieving();
        let lock = WriteLock { threads: &self.alone, held: self.is_atomic() };
        FilePlace { file: &self.file, path: &self.path, fbtl: self.parts.fbtl, view, position, hints, lock }
    }

    /// The hints in force for moving data: a file that cannot be read cannot have gaps written back.
    fn sieving(&self) -> FileHints {
        let hints = self.hints();
        match hints.sieve_write == HintChoice::Enable && !self.amode.reads() {
            true => FileHints { sieve_write: HintChoice::Disable, ..hints },
            false => hints,
        }
    }

    /// Where an ordered access begins when each process moves so many etypes: behind those of all lower ranks.
    fn begin_ordered(&self, all: &[CallWords], view: &View) -> Result<i64> {
        let shared = self.shared()?;
        let sum = |counts: &[CallWords]| counts.iter().fold(0u64, |sum, [count, ..]| sum.wrapping_add(*count));
        let begun = if self.comm.rank == 0 { shared.advance(sum(all)) } else { Ok(0) };
        let failed = u64::from(begun.is_err());
        let [first, first_failed] = exchange(&self.comm, [*begun.as_ref().unwrap_or(&0), failed])?[0];
        begun?;
        if first_failed != 0 {
            return Err(Fault::new(Class::Io).because("rank 0 of the file cannot move the shared file pointer"));
        }
        let start = first.wrapping_add(sum(&all[..self.comm.rank as usize])) as i64;
        behind(start, all[self.comm.rank as usize][0] as i64, view)?;
        Ok(start)
    }

    /// This process alone moves its data.
    ///
    /// # Safety
    /// That of [`Module::access`].
    unsafe fn run(&self, target: &FilePlace<'_>, access: &FileAccess<'_>) -> Outcome {
        let FileAccess { data, direction, .. } = *access;
        // SAFETY: the caller's promise.
        let run = || unsafe { transfer(target, data, direction) };
        let bytes = data.bytes() as u64;
        if !self.is_atomic() || bytes == 0 {
            return run();
        }
        if let Err(fault) = target.view.check_reach(target.position.saturating_add(bytes)) {
            return fault.into();
        }
        let _alone = self.alone.lock();
        let (from, end) = (target.view.place(target.position), target.view.place(target.position + bytes - 1) + 1);
        let locked = self.file.lock(from, end - from, direction == AccessKind::Write);
        if let Err(errno) = locked {
            return self.failed(errno, "cannot be locked, which atomic access needs").into();
        }
        let outcome = run();
        let unlocked = self.file.unlock(from, end - from);
        let ended = outcome.ended.and(unlocked.map_err(|errno| self.failed(errno, "cannot be unlocked")));
        Outcome { ended, ..outcome }
    }
}

impl Module for Ompio {
    fn size(&self) -> Result<u64> {
        self.parts.fs.size(&self.file).map_err(|errno| self.failed(errno, "does not tell its size"))
    }

    fn resize(&self, bytes: Result<u64>) -> Result<()> {
        let bytes = bytes.and_then(|bytes| self.may_write().map(|()| bytes));
        let bytes = agree_on(&self.comm, FileCall::SetSize, bytes, "size", |bytes| *bytes)?;
        let resize = || self.parts.fs.resize(&self.file, bytes);
        as_first(&self.comm, || resize().map_err(|errno| self.failed(errno, "cannot be given another size")))
    }

    fn reserve(&self, bytes: Result<u64>) -> Result<()> {
        let bytes = bytes.and_then(|bytes| self.may_write().map(|()| bytes));
        let bytes = agree_on(&self.comm, FileCall::Preallocate, bytes, "size", |bytes| *bytes)?;
        let reserve = || self.parts.fs.reserve(&self.file, bytes);
        as_first(&self.comm, || reserve().map_err(|errno| self.failed(errno, "cannot be given storage beforehand")))
    }

    fn sync(&self, ready: Result<()>) -> Result<()> {
        agree_call(&self.comm, FileCall::Sync, ready, |()| [0; 4])?;
        let synced = match self.amode.writes() {
            true => self.parts.fs.sync(&self.file).map_err(|errno| self.failed(errno, "cannot be synchronised")),
            false => Ok(()),
        };
        agree(&self.comm, synced)
    }

    fn set_atomic(&self, atomic: Result<bool>) -> Result<()> {
        let atomic = agree_on(&self.comm, FileCall::SetAtomicity, atomic, "flag", |atomic| u64::from(*atomic))?;
        // What a process that comes early writes atomically the others may not yet: nobody goes on before all are here.
        self.atomic.store(atomic, Ordering::Relaxed);
        agree(&self.comm, Ok(()))
    }

    fn is_atomic(&self) -> bool {
        self.atomic.load(Ordering::Relaxed)
    }

    fn set_hints(&self, info: Result<Arc<Info>>) -> Result<()> {
        let hints = info.map(|info| self.hints().updated(&info));
        let hints = agree_on(&self.comm, FileCall::SetInfo, hints, "info", FileHints::fingerprint)?;
        self.state.lock().hints = hints;
        Ok(())
    }

    fn hints(&self) -> FileHints {
        self.state.lock().hints
    }

    fn set_view(&self, new: Result<NewView>) -> Result<()> {
        let checked = new.and_then(|mut new| {
            new.view.check(self.amode.writes())?;
            let hints = new.info.as_ref().map_or_else(|| self.hints(), |info| self.hints().updated(info));
            Ok((new, hints))
        });
        // The extent of the etype must be the same on all processes (MPI 5.0 §14.3), and hints that all need alike.
        let words = |(NewView { view, at_shared, .. }, hints): &(NewView, FileHints)| {
            [view.etype.layout.extent() as u64, hints.fingerprint(), u64::from(*at_shared), 0]
        };
        let ((NewView { mut view, at_shared, .. }, hints), all) =
            agree_call(&self.comm, FileCall::SetView, checked, words)?;
        same(&self.comm, &all, "etype", 0)?;
        same(&self.comm, &all, "info", 1)?;
        same(&self.comm, &all, "disp", 2)?;
        if at_shared {
            // Where the pointer is when nobody uses the old view any more; nobody moves it before all know.
            let old = self.view();
            view.displacement = old.place(self.shared()?.get()? * old.unit());
            agree(&self.comm, Ok(()))?;
        }
        *self.state.lock() = State { view: Arc::new(view), pointer: 0, hints };
        // Nobody uses the old view any more, and none the new one before the shared file pointer is at its beginning.
        match &self.shared {
            Some(shared) => as_first(&self.comm, || shared.set(0)),
            None => Ok(()),
        }
    }

    fn view(&self) -> Arc<View> {
        self.state.lock().view.clone()
    }

    unsafe fn access(&self, access: &FileAccess<'_>) -> Outcome {
        let (view, start) = match self.begin(access) {
            Ok(begun) => begun,
            Err(fault) => return fault.into(),
        };
        let target = self.place(&view, start);
        // SAFETY: the caller's promise.
        let run = |access: &FileAccess<'_>| unsafe { self.run(&target, access) };
        // SAFETY: the caller's promise.
        unsafe { represented(&view, access, run) }
    }

    unsafe fn access_all(&self, call: FileCall, access: Result<FileAccess<'_>>) -> Outcome {
        let plan = agree_call(&self.comm, call, self.plan(access), |plan| self.announce(plan));
        let (Plan { access, view, etypes, start }, announced) = match plan {
            Ok(agreed) => agreed,
            Err(fault) => return fault.into(),
        };
        let start = match access.start {
            Start::Ordered => match self.begin_ordered(&announced, &view) {
                Ok(start) => start,
                Err(fault) => return fault.into(),
            },
            _ => start,
        };
        if access.start == Start::Pointer {
            self.state.lock().pointer = start + etypes;
        }
        let target = self.place(&view, start);
        let run = |access: &FileAccess<'_>| {
            // What is ordered by rank lies apart, and in atomic mode nobody may wait for the part of another.
            if access.start == Start::Ordered || self.is_atomic() {
                // SAFETY: the caller's promise.
                return unsafe { self.run(&target, access) };
            }
            let job = fcoll::Job { comm: &self.comm, target, data: access.data, direction: access.direction };
            // SAFETY: the caller's promise.
            unsafe { self.parts.fcoll.run(&job, &announced) }
        };
        // SAFETY: the caller's promise.
        unsafe { represented(&view, &access, run) }
    }

    fn seek(&self, offset: i64, whence: Whence) -> Result<()> {
        self.not_sequential()?;
        let end = if whence == Whence::End { self.end()? } else { 0 };
        let mut state = self.state.lock();
        let from = match whence {
            Whence::Set => 0,
            Whence::Current => state.pointer,
            Whence::End => end,
        };
        state.pointer = moved(from, offset)?;
        Ok(())
    }

    fn position(&self) -> Result<i64> {
        self.not_sequential()?;
        Ok(self.state.lock().pointer)
    }

    fn seek_shared(&self, offset: i64, whence: Result<Whence>) -> Result<()> {
        let checked = whence.and_then(|whence| {
            self.not_sequential()?;
            Ok((whence, self.shared()?))
        });
        let words = |(whence, _): &(Whence, _)| [*whence as u64, offset as u64, 0, 0];
        let ((whence, shared), all) = agree_call(&self.comm, FileCall::SeekShared, checked, words)?;
        same(&self.comm, &all, "whence", 0)?;
        same(&self.comm, &all, "offset", 1)?;
        as_first(&self.comm, || {
            let from = match whence {
                Whence::Set => 0,
                Whence::Current => shared.get()? as i64,
                Whence::End => self.end()?,
            };
            shared.set(moved(from, offset)? as u64)
        })
    }

    fn position_shared(&self) -> Result<i64> {
        Ok(self.shared()?.get()? as i64)
    }

    fn close(&self) -> Result<()> {
        // Whoever comes to the end knows that all the others have made their accesses.
        agree_call(&self.comm, FileCall::Close, Ok(()), |()| [0; 4])?;
        if let Some(shared) = &self.shared {
            shared.close()?;
        }
        match self.amode.deletes() {
            false => Ok(()),
            true => as_first(&self.comm, || {
                self.parts.fs.delete(&self.path).map_err(|errno| self.failed(errno, "cannot be deleted"))
            }),
        }
    }

    fn abandon(&self) {
        // Nobody is left to be told what goes wrong.
        if let Some(shared) = &self.shared {
            drop(shared.close());
        }
        if self.amode.deletes() && self.comm.rank == 0 {
            let _ = self.parts.fs.delete(&self.path);
        }
    }
}

/// Has data moved as it is represented in the file.
///
/// # Safety
/// That of [`Module::access`].
unsafe fn represented(view: &View, access: &FileAccess<'_>, run: impl FnOnce(&FileAccess<'_>) -> Outcome) -> Outcome {
    if view.representation != Representation::External32 {
        return run(access);
    }
    let run = |data: &Data<'_>| run(&FileAccess { data, ..*access });
    // SAFETY: the caller's promise.
    unsafe { convert(access.data, access.direction, run) }
}

/// How many etypes an access moves.
fn etypes(access: &FileAccess<'_>, view: &View) -> Result<i64> {
    view.representation.check(access.data.datatype)?;
    let bytes = access.data.bytes() as u64;
    match bytes.is_multiple_of(view.unit()) {
        true => Ok((bytes / view.unit()) as i64),
        false => {
            let why = format!("{bytes} bytes are no whole number of etypes, which have {} each", view.unit());
            Err(Fault::new(Class::Io).argument("count").because(why))
        }
    }
}

/// The offset behind so many etypes.
fn behind(start: i64, etypes: i64, view: &View) -> Result<i64> {
    if start < 0 {
        let why = format!("{start} is negative; offsets count from the beginning of the view");
        return Err(Fault::new(Class::Arg).argument("offset").because(why));
    }
    let end = start.checked_add(etypes).filter(|end| (*end as u64).checked_mul(view.unit()).is_some());
    end.ok_or_else(|| Fault::new(Class::Arg).argument("offset").because("no file is as long as that"))
}

/// Where a file pointer is put.
fn moved(from: i64, offset: i64) -> Result<i64> {
    from.checked_add(offset).filter(|to| *to >= 0).ok_or_else(|| {
        let why = format!("{offset} from {from} on is not in the view, which begins at 0");
        Fault::new(Class::Arg).argument("offset").because(why)
    })
}
