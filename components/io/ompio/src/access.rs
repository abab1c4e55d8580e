//! Reading and writing.
#![allow(unsafe_code)]

use crate::file::Ompio;
use alloc::format;
use alloc::sync::Arc;
use ompi_core::data::Data;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::file::{
    CallWords, FileCall, FileHints, FilePlace, HintChoice, Outcome, Representation, View, WriteLock, agree_call,
    convert, exchange, transfer,
};
use ompi_core::framework::fbtl::AccessKind;
use ompi_core::framework::fcoll;
use ompi_core::framework::io::{FileAccess, Start};

/// A collective access as one process means it.
struct Plan<'a> {
    access: FileAccess<'a>,
    view: Arc<View>,
    etypes: i64,
    // In etypes.
    start: i64,
}

impl Ompio {
    /// An access of this process's alone.
    ///
    /// # Safety
    /// That of `Module::access`.
    pub unsafe fn alone(&self, access: &FileAccess<'_>) -> Outcome {
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

    /// An access of all processes; nobody's begins where one has a fault.
    ///
    /// # Safety
    /// That of `Module::access`.
    pub unsafe fn together(&self, call: FileCall, access: Result<FileAccess<'_>>) -> Outcome {
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
            if access.start == Start::Ordered || self.atomic() {
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

    /// The view, and where in it an access of this process's begins, in etypes. A file pointer moves behind it.
    fn begin(&self, access: &FileAccess<'_>) -> Result<(Arc<View>, i64)> {
        let view = self.seen();
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
        let (access, view) = (access?, self.seen());
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
            _ if self.atomic() => [0; 4],
            _ => self.parts.fcoll.announce(&self.place(&plan.view, plan.start), bytes, plan.access.direction),
        }
    }

    /// A place in the view, in etypes.
    fn place<'a>(&'a self, view: &'a View, start: i64) -> FilePlace<'a> {
        let position = start as u64 * view.unit();
        let hints = self.sieving();
        let lock = WriteLock { threads: &self.alone, held: self.atomic() };
        FilePlace { file: &self.file, path: &self.path, fbtl: self.parts.fbtl, view, position, hints, lock }
    }

    /// The hints in force for moving data: a file that cannot be read cannot have gaps written back.
    fn sieving(&self) -> FileHints {
        let hints = self.state.lock().hints;
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
    /// That of `Module::access`.
    unsafe fn run(&self, target: &FilePlace<'_>, access: &FileAccess<'_>) -> Outcome {
        let FileAccess { data, direction, .. } = *access;
        // SAFETY: the caller's promise.
        let run = || unsafe { transfer(target, data, direction) };
        let bytes = data.bytes() as u64;
        if !self.atomic() || bytes == 0 {
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

/// Has data moved as it is represented in the file.
///
/// # Safety
/// That of `Module::access`.
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
