//! A file that is open.

use super::pattern::Seek;
use crate::datatype::Equivalence;
use crate::error::{Error, ErrorHandler, Result, end, raise};
use crate::life::{Life, OneThread};
use crate::panics;
use crate::raw;
use alloc::sync::Arc;
use core::marker::PhantomData;
use ompi_core::abi::Scope;
use ompi_core::errhandler;
use ompi_core::error::Fault;
use ompi_core::file;
use ompi_core::framework::io::{NewView, Start};

/// A file that all processes of a communicator have open. Closed when it is dropped, which all processes do together.
///
/// Errors are returned, as the standard wants it of files; [`set_error_handler`](File::set_error_handler) changes that.
#[derive(Debug)]
pub struct File {
    handle: usize,
    // MPI is in use as long as the file.
    _life: Arc<Life>,
    one_thread: OneThread,
}

impl File {
    pub(super) fn of(handle: usize, life: Arc<Life>) -> File {
        File { handle, _life: life, one_thread: PhantomData }
    }

    /// Bytes of the file.
    pub fn size(&self) -> Result<u64> {
        self.checked("File::size", self.object().module.size())
    }

    /// Cuts or extends it; called by all processes.
    pub fn set_size(&mut self, bytes: u64) -> Result<()> {
        self.checked("File::set_size", self.object().module.resize(Ok(bytes)))
    }

    /// Waits until what was written lies on the storage, and sees what others had synchronised before; called by all processes.
    pub fn sync(&mut self) -> Result<()> {
        self.checked("File::sync", self.object().module.sync(Ok(())))
    }

    /// Has accesses be atomic from now on, or no longer; called by all processes.
    pub fn set_atomic(&mut self, atomic: bool) -> Result<()> {
        self.checked("File::set_atomic", self.object().module.set_atomic(Ok(atomic)))
    }

    /// Puts a view in force, or tells the others what is wrong with it.
    pub(super) fn set_view(&mut self, view: Result<NewView, Fault>) -> Result<()> {
        self.checked("File::view", self.object().module.set_view(view))
    }

    /// Puts an error handler in force.
    pub fn set_error_handler(&self, handler: ErrorHandler) {
        errhandler::set(&self.object().errhandler, errhandler::HandlerKind::File, handler.handle())
            .expect("predefined error handlers are for all objects");
    }

    /// Reads values; returns how many there were.
    pub(super) fn read<T: Equivalence>(
        &self,
        function: &'static str,
        how: raw::FileCalls,
        start: Start,
        values: &mut [T],
    ) -> Result<usize> {
        let outcome = raw::read_file(self.object(), how, start, values);
        let whole = outcome.bytes as usize / value_bytes::<T>().max(1);
        self.checked(function, outcome.ended.map(|()| whole))
    }

    /// Writes values.
    pub(super) fn write<T: Equivalence>(
        &self,
        function: &'static str,
        how: raw::FileCalls,
        start: Start,
        values: &[T],
    ) -> Result<()> {
        self.checked(function, raw::write_file(self.object(), how, start, values).ended)
    }

    /// Moves this process's file pointer.
    pub(super) fn seek(&self, to: Seek) -> Result<()> {
        let (offset, whence) = to.offset();
        self.checked("FileView::seek", self.object().module.seek(offset, whence))
    }

    /// Where that is.
    pub(super) fn position(&self) -> Result<u64> {
        self.checked("FileView::position", self.object().module.position()).map(|position| position as u64)
    }

    /// A failure before there is a file.
    pub(super) fn raise_none(function: &'static str, fault: Fault) -> Error {
        raise(Scope::File(file::NULL), function, fault)
    }

    fn object(&self) -> &file::File {
        file::borrow(self.handle).expect("a file is in force until it is dropped")
    }

    /// The result for the caller; a failure runs the error handler first.
    fn checked<R>(&self, function: &'static str, result: Result<R, Fault>) -> Result<R> {
        result.map_err(|fault| raise(Scope::File(self.handle), function, fault))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // The other ranks know nothing of a panic: waiting for them could take for ever.
        if panics::unwinding() {
            panics::end_job();
        }
        if let Err(fault) = file::close(self.handle) {
            end("closing a file", &fault.into());
        }
    }
}

/// Bytes of data in one value.
pub(super) fn value_bytes<T: Equivalence>() -> usize {
    T::COUNT * T::equivalent_datatype().0.layout.size()
}
