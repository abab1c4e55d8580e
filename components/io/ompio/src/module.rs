//! An open file.
#![allow(unsafe_code)]

use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::format;
use alloc::sync::Arc;
use ompi_core::comm::Communicator;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::file::{Amode, FilePlace, Outcome, View, agree, agree_on, as_first, exchange, failure, transfer};
use ompi_core::framework::fbtl::{self, AccessKind};
use ompi_core::framework::io::{FileAccess, FileRequest, Module, Start, Whence};
use ompi_core::framework::{fcoll, fs, sharedfp};
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
    atomic_access: ConditionalLock<()>,
    state: ConditionalLock<State>,
    // None if no component serves these processes.
    shared: Option<Box<dyn sharedfp::Module>>,
}

struct State {
    view: Arc<View>,
    // This process's file pointer, in etypes.
    pointer: i64,
}

impl Ompio {
    /// A file that all processes have open.
    pub fn new(file: File, request: FileRequest<'_>, parts: Parts) -> Result<Ompio> {
        let state = State { view: Arc::new(View::whole()), pointer: 0 };
        let shared = sharedfp::make(&request.comm, request.path)?;
        let opened = Ompio {
            comm: request.comm,
            path: request.path.into(),
            amode: request.amode,
            file,
            parts,
            atomic: AtomicBool::new(false),
            atomic_access: ConditionalLock::new(()),
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
                let why = "the file was opened with MPI_MODE_SEQUENTIAL: it has the shared file pointer only";
                Err(Fault::new(Class::UnsupportedOperation).because(why))
            }
        }
    }

    /// The view, and where in it an access begins, in etypes. A file pointer moves behind it.
    fn begin(&self, access: &FileAccess<'_>) -> Result<(Arc<View>, i64)> {
        let view = self.view();
        let etypes = self.may(access).and_then(|()| etypes(access, &view));
        if access.start == Start::Ordered {
            // Whatever is wrong on one process, the others count on it.
            let start = self.begin_ordered(etypes)?;
            behind(start, 0, &view)?;
            return Ok((view, start));
        }
        let etypes = etypes?;
        let start = match access.start {
            Start::At(offset) => offset,
            Start::Shared => self.shared()?.advance(etypes as u64)? as i64,
            Start::Pointer | Start::Ordered => {
                let mut state = self.state.lock();
                let start = state.pointer;
                state.pointer = behind(start, etypes, &view)?;
                start
            }
        };
        behind(start, etypes, &view)?;
        Ok((view, start))
    }

    /// Where an ordered access of so many etypes begins: behind those of all lower ranks.
    fn begin_ordered(&self, etypes: Result<i64>) -> Result<i64> {
        let shared = self.shared()?;
        let all = exchange(&self.comm, [etypes.as_ref().map_or(0, |etypes| *etypes as u64)])?;
        let sum = |counts: &[[u64; 1]]| counts.iter().fold(0u64, |sum, [count]| sum.wrapping_add(*count));
        let begun = if self.comm.rank == 0 { shared.advance(sum(&all)) } else { Ok(0) };
        let failed = u64::from(begun.is_err());
        let [first, first_failed] = exchange(&self.comm, [*begun.as_ref().unwrap_or(&0), failed])?[0];
        begun?;
        if first_failed != 0 {
            return Err(Fault::new(Class::Io).because("rank 0 of the file cannot move the shared file pointer"));
        }
        etypes?;
        Ok(first.wrapping_add(sum(&all[..self.comm.rank as usize])) as i64)
    }

    /// # Safety
    /// That of [`Module::access`].
    unsafe fn run(&self, target: FilePlace<'_>, access: &FileAccess<'_>) -> Outcome {
        let FileAccess { data, direction, collective, .. } = *access;
        // In atomic mode each process has locked its own part: nobody may wait for the part of another.
        let run = || match collective && !self.is_atomic() {
            // SAFETY: the caller's promise.
            true => unsafe { self.parts.fcoll.run(&fcoll::Job { comm: &self.comm, target, data, direction }) },
            // SAFETY: the caller's promise.
            false => unsafe { transfer(&target, data, direction) },
        };
        let bytes = data.bytes() as u64;
        if !self.is_atomic() || bytes == 0 {
            return run();
        }
        if let Err(fault) = target.view.check_reach(target.position.saturating_add(bytes)) {
            return fault.into();
        }
        let _alone = self.atomic_access.lock();
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

    fn resize(&self, bytes: u64) -> Result<()> {
        agree_on(&self.comm, self.may_write(), bytes, "size")?;
        let resize = || self.parts.fs.resize(&self.file, bytes);
        as_first(&self.comm, || resize().map_err(|errno| self.failed(errno, "cannot be given another size")))
    }

    fn reserve(&self, bytes: u64) -> Result<()> {
        agree_on(&self.comm, self.may_write(), bytes, "size")?;
        let reserve = || self.parts.fs.reserve(&self.file, bytes);
        as_first(&self.comm, || reserve().map_err(|errno| self.failed(errno, "cannot be given storage beforehand")))
    }

    fn sync(&self) -> Result<()> {
        let synced = match self.amode.writes() {
            true => self.parts.fs.sync(&self.file).map_err(|errno| self.failed(errno, "cannot be synchronised")),
            false => Ok(()),
        };
        agree(&self.comm, synced)
    }

    fn set_atomic(&self, atomic: bool) -> Result<()> {
        agree_on(&self.comm, Ok(()), u64::from(atomic), "flag")?;
        // What a process that comes early writes atomically the others may not yet: nobody goes on before all are here.
        self.atomic.store(atomic, Ordering::Relaxed);
        agree(&self.comm, Ok(()))
    }

    fn is_atomic(&self) -> bool {
        self.atomic.load(Ordering::Relaxed)
    }

    fn set_view(&self, view: Result<View>) -> Result<()> {
        let view = view.and_then(|view| view.check(self.amode.writes()).map(|()| view));
        // The extent of the etype must be the same on all processes (MPI 5.0 §14.3).
        let extent = view.as_ref().map_or(0, |view| view.etype.layout.extent() as u64);
        let view = agree_on(&self.comm, view, extent, "etype")?;
        *self.state.lock() = State { view: Arc::new(view), pointer: 0 };
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
            Err(fault) => {
                if access.collective && !self.is_atomic() {
                    // What is wrong here is this process's answer, whatever becomes of the others.
                    drop(self.parts.fcoll.withdraw(&self.comm));
                }
                return fault.into();
            }
        };
        let unit = view.unit();
        let position = start as u64 * unit;
        let target = FilePlace { file: &self.file, path: &self.path, fbtl: self.parts.fbtl, view: &view, position };
        // SAFETY: the caller's promise.
        unsafe { self.run(target, access) }
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
        let shared = self.shared()?;
        let code = whence.as_ref().map_or(0, |whence| *whence as u64);
        let whence = agree_on(&self.comm, whence, code, "whence")?;
        agree_on(&self.comm, Ok(()), offset as u64, "offset")?;
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
        agree(&self.comm, Ok(()))?;
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
}

/// How many etypes an access moves.
fn etypes(access: &FileAccess<'_>, view: &View) -> Result<i64> {
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
