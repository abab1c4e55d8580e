//! What framework io calls.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::file::{Gaps, Ompio, State};
use alloc::format;
use alloc::sync::Arc;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::file::{FileCall, FileHints, Outcome, View, agree, agree_call, agree_on, as_first, same};
use ompi_core::framework::io::{Begun, FileAccess, Module, NewView, Whence};
use ompi_core::info::Info;
use opal_core::sync::Ordering;
use opal_core::sys::Errno;

impl Module for Ompio {
    fn size(&self) -> Result<u64> {
        self.length()
    }

    fn resize(&self, bytes: Result<u64>) -> Result<()> {
        let bytes = bytes.and_then(|bytes| self.may_resize().map(|()| bytes));
        let bytes = agree_on(&self.comm, FileCall::SetSize, bytes, "size", |bytes| *bytes)?;
        let resize = || self.parts.fs.resize(&self.file, bytes);
        as_first(&self.comm, || resize().map_err(|errno| self.failed(errno, "cannot be given another size")))
    }

    fn reserve(&self, bytes: Result<u64>) -> Result<()> {
        let bytes = bytes.and_then(|bytes| self.may_resize().map(|()| bytes));
        let bytes = agree_on(&self.comm, FileCall::Preallocate, bytes, "size", |bytes| *bytes)?;
        as_first(&self.comm, || match self.parts.fs.reserve(&self.file, bytes) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.reserve_by_writing(bytes),
            other => other.map_err(|errno| self.failed(errno, "cannot be given storage beforehand")),
        })
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
        self.atomic()
    }

    fn set_hints(&self, info: Result<Arc<Info>>) -> Result<()> {
        let hints = info.map(|info| self.updated(&info));
        let words = |hints: &FileHints| [hints.fingerprint(), self.gap_bits(&self.view_set(), hints), 0, 0];
        let (hints, all) = agree_call(&self.comm, FileCall::SetInfo, hints, words)?;
        same(&self.comm, &all, "info", 0)?;
        let before = {
            let mut state = self.state.lock();
            state.gaps = Gaps::of(all.iter().map(|[_, bits, ..]| *bits));
            core::mem::replace(&mut state.hints, hints)
        };
        self.tell_style(&before);
        Ok(())
    }

    fn hints(&self) -> FileHints {
        self.state.lock().hints
    }

    fn set_view(&self, new: Result<NewView>) -> Result<()> {
        let checked = new.and_then(|mut new| {
            new.view.check(self.amode.writes())?;
            let hints = new.info.as_ref().map_or_else(|| self.hints(), |info| self.updated(info));
            Ok((new, hints))
        });
        // The extent of the etype must be the same on all processes (MPI 5.0 §14.3), and hints that all need alike.
        let words = |(NewView { view, at_shared, .. }, hints): &(NewView, FileHints)| {
            let extent = view.unit.extent() as u64;
            let place = u64::from(*at_shared) | self.gap_bits(view, hints) << 1;
            [extent, hints.fingerprint(), place, view.representation.fingerprint()]
        };
        let ((NewView { mut view, at_shared, .. }, hints), mut all) =
            agree_call(&self.comm, FileCall::SetView, checked, words)?;
        let gaps = Gaps::of(all.iter().map(|[_, _, place, _]| place >> 1));
        all.iter_mut().for_each(|[_, _, place, _]| *place &= 1);
        same(&self.comm, &all, "etype", 0)?;
        same(&self.comm, &all, "info", 1)?;
        same(&self.comm, &all, "disp", 2)?;
        same(&self.comm, &all, "datarep", 3)?;
        if at_shared {
            // Where the pointer is when nobody uses the old view any more; nobody moves it before all know.
            let place = || {
                let old = self.seen()?;
                Ok(old.place(self.shared()?.get()? * old.unit_bytes()))
            };
            view.displacement = agree(&self.comm, place())?;
        }
        let before =
            core::mem::replace(&mut *self.state.lock(), State { view: Arc::new(view), pointer: 0, hints, gaps });
        self.tell_style(&before.hints);
        // Nobody uses the old view any more, and none the new one before the shared file pointer is at its beginning.
        match &self.shared {
            Some(shared) => as_first(&self.comm, || shared.begin(0)),
            None => Ok(()),
        }
    }

    fn view(&self) -> Arc<View> {
        self.view_set()
    }

    fn byte_offset(&self, offset: u64) -> Result<u64> {
        let view = self.seen()?;
        let position = offset.checked_mul(view.unit_bytes()).ok_or_else(beyond)?;
        view.check_reach(position)?;
        Ok(view.place(position))
    }

    unsafe fn access(&self, access: &FileAccess<'_>) -> Outcome {
        // SAFETY: the caller's promise.
        unsafe { self.alone(access) }
    }

    unsafe fn start(&self, access: &FileAccess<'_>) -> Begun {
        // SAFETY: the caller's promise.
        unsafe { self.alone_begun(access) }
    }

    unsafe fn access_all(&self, call: FileCall, access: Result<FileAccess<'_>>) -> Outcome {
        // SAFETY: the caller's promise.
        unsafe { self.together(call, access) }
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
        self.not_sequential()?;
        Ok(self.shared()?.get()? as i64)
    }

    fn close(&self) -> Result<()> {
        // Whoever comes to the end knows that all the others have made their accesses.
        agree_call(&self.comm, FileCall::Close, Ok(()), |()| [0; 4])?;
        let closed = self.shared.as_ref().map_or(Ok(()), |shared| shared.close());
        match self.amode.deletes() {
            false => closed,
            // Only the first one's pointer can have a name to take away.
            true => as_first(&self.comm, || {
                let deleted = self.parts.fs.delete(&self.path);
                closed.and(deleted.map_err(|errno| self.failed(errno, "cannot be deleted")))
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

fn beyond() -> Fault {
    Fault::new(Class::Arg).argument("offset").because("no file is as long as that")
}

/// Where a file pointer is put.
fn moved(from: i64, offset: i64) -> Result<i64> {
    from.checked_add(offset).filter(|to| *to >= 0).ok_or_else(|| {
        let why = format!("{offset} from {from} on is not in the view, which begins at 0");
        Fault::new(Class::Arg).argument("offset").because(why)
    })
}
