//! Reading and writing.
#![allow(unsafe_code)]

use crate::file::{Ompio, State};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::data::no_room;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::file;
use ompi_core::file::gather::{AccessExtent, is_possible};
use ompi_core::file::{
    CallWords, Converted, FileCall, FileHints, FilePlace, HintChoice, Outcome, View, WriteLock, agree_call, exchange,
    failed_at, transfer,
};
use ompi_core::framework::fbtl::{AccessKind, Moved, Piece};
use ompi_core::framework::fcoll;
use ompi_core::framework::io::{Begun, FileAccess, Start};

/// A collective access as one process means it.
struct Plan<'a> {
    access: FileAccess<'a>,
    view: Arc<View>,
    converted: Option<Converted<'a>>,
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
        if let Some(piece) = self.one_piece(access) {
            // SAFETY: all of the data, by the caller's promise.
            let moved = unsafe { self.parts.fbtl.transfer(&self.file, &[piece], access.direction) };
            if moved.failed.is_none() {
                return Outcome { bytes: moved.bytes as u64, ended: Ok(()) };
            }
            return self.failed_piece(&piece, moved, access.direction);
        }
        // SAFETY: the caller's promise.
        let (view, start, converted) = match unsafe { self.placed(access) } {
            Ok(placed) => placed,
            Err(fault) => return fault.into(),
        };
        let target = self.place(&view, start);
        // SAFETY: the caller's promise.
        represented(access, converted, |access| unsafe { self.run(&target, access) })
    }

    /// The data of an access in one piece, if that is all there is to do: one call of the system moves it. Whatever is wrong with
    /// the access is found and said elsewhere.
    fn one_piece(&self, access: &FileAccess<'_>) -> Option<Piece> {
        let Start::At(offset) = access.start else { return None };
        let (data, at) = (access.data, access.data.contiguous()?);
        let state = self.state.lock();
        let view = &state.view;
        let may = match access.direction {
            AccessKind::Read => self.amode.reads(),
            AccessKind::Write => self.amode.writes() && !self.writes_gaps(&state),
        };
        let plain = view.is_placed() && view.is_whole() && view.representation.keeps_all();
        if !may || !plain || self.atomic() || self.amode.is_sequential() {
            return None;
        }
        let (bytes, unit) = (data.count.checked_mul(data.datatype.layout.size())?, view.unit_bytes());
        let offset = u64::try_from(offset).ok()?.checked_mul(unit)?.checked_add(view.displacement)?;
        let whole = unit == 1 || (bytes as u64).is_multiple_of(unit);
        let reaches = offset.checked_add(bytes as u64).is_some_and(|end| i64::try_from(end).is_ok());
        (whole && reaches && bytes > 0).then_some(Piece { offset, at, bytes })
    }

    #[cold]
    fn failed_piece(&self, piece: &Piece, moved: Moved, direction: AccessKind) -> Outcome {
        let bytes = moved.bytes as u64;
        let fault = |errno| failed_at(&self.path, piece.offset + bytes, bytes, errno, direction);
        Outcome { bytes, ended: moved.failed.map_or(Ok(()), |errno| Err(fault(errno))) }
    }

    /// Begins an access of this process's alone.
    ///
    /// # Safety
    /// That of `Module::start`.
    pub unsafe fn alone_begun(&self, access: &FileAccess<'_>) -> Begun {
        // SAFETY: the caller's promise.
        let (view, start, converted) = match unsafe { self.placed(access) } {
            Ok(placed) => placed,
            Err(fault) => return Begun::Done(fault.into()),
        };
        let target = self.place(&view, start);
        if converted.is_none() {
            // SAFETY: the caller's promise.
            if let Some(underway) = unsafe { file::start(&target, access.data, access.direction) } {
                return Begun::Underway(underway);
            }
        }
        // SAFETY: the caller's promise.
        Begun::Done(represented(access, converted, |access| unsafe { self.run(&target, access) }))
    }

    /// An access of all processes; nobody's begins where one has a fault.
    ///
    /// # Safety
    /// That of `Module::access`.
    pub unsafe fn together(&self, call: FileCall, access: Result<FileAccess<'_>>) -> Outcome {
        // SAFETY: the caller's promise.
        let plan = unsafe { self.plan(access) };
        let plan = agree_call(&self.comm, call, plan, |plan| self.announce(plan));
        let (Plan { access, view, converted, etypes, start }, announced) = match plan {
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
            unsafe { fcoll::run(&self.parts.fcoll, &job, &announced) }
        };
        represented(&access, converted, run)
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

    /// The view as an access sees it, how many etypes it moves, and its data as it lies there if that is not as in memory.
    ///
    /// # Safety
    /// That of `Module::access`.
    unsafe fn seen_and_converted<'a>(
        &self,
        access: &FileAccess<'a>,
    ) -> Result<(Arc<View>, i64, Option<Converted<'a>>)> {
        self.may(access)?;
        let view = self.seen_by(access.direction)?;
        let etypes = etypes(access, &view)?;
        // SAFETY: the caller's promise.
        let converted = unsafe { Converted::new(view.representation, access.data, access.direction)? };
        Ok((view, etypes, converted))
    }

    /// Of an access of this process's alone: the view as it sees it, where in it the access begins, and its data as it lies there if that
    /// is not as in memory.
    ///
    /// # Safety
    /// That of `Module::access`.
    unsafe fn placed<'a>(&self, access: &FileAccess<'a>) -> Result<(Arc<View>, i64, Option<Converted<'a>>)> {
        // SAFETY: the caller's promise.
        let (view, etypes, converted) = unsafe { self.seen_and_converted(access)? };
        let start = self.begin(access, &view, etypes)?;
        Ok((view, start, converted))
    }

    /// Where in the view an access of this process's begins, in etypes. A file pointer moves behind it.
    fn begin(&self, access: &FileAccess<'_>, view: &View, etypes: i64) -> Result<i64> {
        let start = match access.start {
            Start::At(offset) => offset,
            Start::Shared | Start::Ordered => self.shared()?.advance(etypes as u64)? as i64,
            Start::Pointer => {
                let mut state = self.state.lock();
                let start = state.pointer;
                state.pointer = behind(start, etypes, view)?;
                start
            }
        };
        behind(start, etypes, view)?;
        Ok(start)
    }

    /// What a collective access of this process's would do; nothing is moved yet.
    ///
    /// # Safety
    /// That of `Module::access`.
    unsafe fn plan<'a>(&self, access: Result<FileAccess<'a>>) -> Result<Plan<'a>> {
        let access = access?;
        // SAFETY: the caller's promise.
        let (view, etypes, converted) = unsafe { self.seen_and_converted(&access)? };
        let start = match access.start {
            Start::At(offset) => offset,
            Start::Pointer => self.state.lock().pointer,
            // Known when all have told their etypes.
            Start::Shared | Start::Ordered => self.shared().map(|_| 0)?,
        };
        let end = behind(start, etypes, &view)?;
        view.check_reach(end as u64 * view.unit_bytes())?;
        Ok(Plan { access, view, converted, etypes, start })
    }

    /// What the others are told of it.
    fn announce(&self, plan: &Plan<'_>) -> CallWords {
        let bytes = plan.etypes as u64 * plan.view.unit_bytes();
        match plan.access.start {
            Start::Ordered => [plan.etypes as u64, 0, 0, 0],
            // In atomic mode each process locks its own part: nobody may wait for the part of another.
            _ if self.atomic() => [0; 4],
            _ => {
                let extent = AccessExtent::new(&self.place(&plan.view, plan.start), bytes, plan.access.direction);
                let data = plan.converted.as_ref().map_or(*plan.access.data, |converted| converted.data());
                let direct = extent.direct || extent.piece > 0 && is_possible(&self.comm, &data);
                AccessExtent { direct, ..extent }.words()
            }
        }
    }

    /// A place in the view, in etypes.
    fn place<'a>(&'a self, view: &'a View, start: i64) -> FilePlace<'a> {
        let position = start as u64 * view.unit_bytes();
        let hints = self.sieving();
        let only = self.amode.is_unique() && self.comm.size() == 1;
        let lock = WriteLock { threads: &self.alone, held: self.atomic(), only };
        FilePlace { file: &self.file, path: &self.path, fbtl: self.parts.fbtl, view, position, hints, lock }
    }

    /// The hints in force for moving data: it is right to write gaps back only where everybody who writes the file locks what he writes.
    fn sieving(&self) -> FileHints {
        let state = self.state.lock();
        match self.writes_gaps(&state) {
            true => state.hints,
            false => FileHints { sieve_write: HintChoice::Disable, ..state.hints },
        }
    }

    /// Whether some process may write gaps back, and so all lock what they write.
    fn writes_gaps(&self, state: &State) -> bool {
        state.gaps.are_seen && state.gaps.can_be_locked && self.wants_gaps(&state.hints)
    }

    /// Whether the program allows it: a file that cannot be read cannot have gaps written back.
    fn wants_gaps(&self, hints: &FileHints) -> bool {
        let may = match hints.sieve_write {
            HintChoice::Enable => true,
            HintChoice::Automatic => self.amode.is_unique(),
            HintChoice::Disable => false,
        };
        may && self.amode.reads() && self.amode.writes()
    }

    /// What this process tells the others of gaps when it gets a view or hints: see [`Gaps::of`].
    pub fn gap_bits(&self, view: &View, hints: &FileHints) -> u64 {
        let unlockable = || self.file.lock(0, 1, true).and_then(|()| self.file.unlock(0, 1)).is_err();
        let refused = self.wants_gaps(hints) && self.comm.size() > 1 && {
            let _alone = self.alone.lock();
            unlockable()
        };
        u64::from(!view.is_whole()) | u64::from(refused) << 1
    }

    /// Storage for the first bytes where the file system has no call for that: each is written once, as posix_fallocate(3) does. What
    /// is there is written back where it may be read; nobody else writes it meanwhile (MPI 5.0 §14.2.5: this is a write to all of it).
    pub fn reserve_by_writing(&self, bytes: u64) -> Result<()> {
        let refused = |errno| self.failed(errno, "cannot be given storage beforehand");
        let length = self.length()?;
        let mut room = Vec::new();
        room.try_reserve_exact(RESERVED_AT_A_TIME).map_err(|_| no_room(RESERVED_AT_A_TIME))?;
        room.resize(RESERVED_AT_A_TIME, 0u8);
        let mut done = if self.amode.reads() { 0 } else { length };
        while done < bytes {
            let some = (RESERVED_AT_A_TIME as u64).min(bytes - done) as usize;
            let piece = Piece { offset: done, at: room.as_mut_ptr(), bytes: some };
            if done < length {
                // SAFETY: this function's memory, as long as the piece.
                let there = unsafe { self.parts.fbtl.transfer(&self.file, &[piece], AccessKind::Read) };
                there.failed.map_or(Ok(()), |errno| Err(refused(errno)))?;
                room[there.bytes..].fill(0);
            } else {
                room.fill(0);
            }
            let piece = Piece { at: room.as_mut_ptr(), ..piece };
            // SAFETY: as above.
            let written = unsafe { self.parts.fbtl.transfer(&self.file, &[piece], AccessKind::Write) };
            written.failed.map_or(Ok(()), |errno| Err(refused(errno)))?;
            done += some as u64;
        }
        Ok(())
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
        let span = target.view.span(target.position, data.bytes());
        let (from, length) = (span.start, span.end - span.start);
        let locked = self.file.lock(from, length, direction == AccessKind::Write);
        if let Err(errno) = locked {
            return self.failed(errno, "cannot be locked, which atomic access needs").into();
        }
        let outcome = run();
        let unlocked = self.file.unlock(from, length);
        let ended = outcome.ended.and(unlocked.map_err(|errno| self.failed(errno, "cannot be unlocked")));
        Outcome { ended, ..outcome }
    }
}

/// Bytes that are written at a time where storage is set aside by that.
const RESERVED_AT_A_TIME: usize = 1 << 20;

/// Has data moved as it lies in the file.
fn represented(
    access: &FileAccess<'_>,
    converted: Option<Converted<'_>>,
    run: impl FnOnce(&FileAccess<'_>) -> Outcome,
) -> Outcome {
    match converted {
        None => run(access),
        Some(converted) => {
            let outcome = run(&FileAccess { data: &converted.data(), ..*access });
            converted.end(outcome)
        }
    }
}

/// How many etypes an access moves.
fn etypes(access: &FileAccess<'_>, view: &View) -> Result<i64> {
    let each = view.representation.bytes(access.data.datatype, access.direction)?;
    let bytes = access.data.count.checked_mul(each).ok_or_else(|| no_room(usize::MAX))? as u64;
    match bytes.is_multiple_of(view.unit_bytes()) {
        true => Ok((bytes / view.unit_bytes()) as i64),
        false => {
            let why = format!("{bytes} bytes are no whole number of etypes, which have {} each", view.unit_bytes());
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
    let end = start.checked_add(etypes).filter(|end| (*end as u64).checked_mul(view.unit_bytes()).is_some());
    end.ok_or_else(|| Fault::new(Class::Arg).argument("offset").because("no file is as long as that"))
}
