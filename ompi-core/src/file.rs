//! Files: the object and its handle. The files of `file/` say what every implementation of MPI-IO needs. MPI 5.0 §14.

use crate::comm::{self, Communicator};
use crate::errhandler::{self, DEFAULT_FILE, FILE_NULL};
use crate::error::{Class, Fault, Result};
use crate::framework::io;
use crate::group::Group;
use crate::handle::HandleTable;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::sync::Arc;
use core::ffi::CStr;
use core::mem::offset_of;
use opal_core::inspect::Fact;
use opal_core::sync::{AtomicUsize, Ordering};

mod agree;
mod amode;
#[cfg(not(ompi_bare))]
mod at_once;
mod call;
mod convert;
mod datarep;
mod failure;
pub mod gather;
mod hints;
mod pending;
mod place;
mod representation;
mod scaled;
mod sieve;
mod split;
mod transfer;
mod view;

pub use agree::{CallWords, agree, agree_call, agree_on, as_first, exchange, same};
pub use amode::Amode;
#[cfg(not(ompi_bare))]
pub use at_once::{TransferCursor, system_call, transfer_at_once, transfer_by};
pub use call::FileCall;
pub use convert::Converted;
pub use datarep::{Conversion, ConversionFunction, Datarep, DatarepFunctions, ExtentFunction, LargeConversionFunction};
pub use failure::failure;
pub use hints::{AccessStyle, FileHints, HintChoice, HintName, Striping};
pub use pending::{keep, late_reason};
pub use place::{FilePlace, Outcome, Stage, WriteLock, failed, failed_at};
pub use representation::{Representation, register_datarep};
pub use split::SplitAccess;
pub use transfer::{Underway, start, transfer};
pub use view::View;

/// MPI_FILE_NULL.
pub const NULL: usize = FILE_NULL;

static DYNAMIC: HandleTable<File> = HandleTable::new();

/// What a debugger needs to know of files.
pub(crate) static FACTS: [Fact; 4] = [
    Fact::address("file.table", &raw const DYNAMIC),
    Fact::number("file.group", offset_of!(File, group)),
    Fact::number("file.path", offset_of!(File, path)),
    Fact::number("file.amode", offset_of!(File, amode)),
];

/// A file that is open.
pub struct File {
    /// The processes that opened it.
    pub group: Arc<Group>,
    /// Its name as this process gave it.
    pub path: CString,
    /// How it was opened.
    pub amode: Amode,
    /// The handle of the error handler in force.
    pub errhandler: AtomicUsize,
    /// The split collective access under way.
    pub split: SplitAccess,
    /// The context number of its own communicator, by which a failure after the call finds it.
    pub context: u32,
    /// Who does the work.
    pub module: Box<dyn io::Module>,
}

impl Drop for File {
    fn drop(&mut self) {
        errhandler::release(self.errhandler.load(Ordering::Relaxed));
    }
}

/// The file behind a handle.
#[inline(always)]
pub fn borrow(handle: usize) -> Option<&'static File> {
    DYNAMIC.borrow(handle)
}

/// The file whose communicator has this context number, and its handle; for errors of requests.
#[cold]
pub fn of_context(context: u32) -> Option<(usize, &'static File)> {
    DYNAMIC.search(|file| file.context == context)
}

/// MPI_File_open: a handle, on all processes of the communicator or on none. `arguments` is this process's fault where they
/// were wrong.
pub fn open(comm: &Communicator, arguments: Result<io::FileArguments<'_>>) -> Result<usize> {
    let io = component()?;
    // Whatever is wrong on one process, all get here: from now on they tell each other.
    let own = comm::split_hidden(comm, Some(0))?.ok_or(Class::Intern)?;
    let (group, context) = (own.group.clone(), own.context);
    let module = io.open_file(own, arguments.clone())?;
    let io::FileArguments { path, amode, .. } = arguments?;
    let errhandler = DEFAULT_FILE.load(Ordering::Relaxed);
    errhandler::retain(errhandler);
    let errhandler = AtomicUsize::new(errhandler);
    let file = File { group, path: path.into(), amode, errhandler, split: SplitAccess::none(), context, module };
    let full = || Fault::new(Class::NoMem).because("all handles of files are in use; close some with MPI_File_close");
    DYNAMIC.insert(Arc::new(file)).ok_or_else(full)
}

/// MPI_File_close: the handle ends whatever goes wrong, unless another process has called another function: then nothing is
/// done.
pub fn close(handle: usize) -> Result<()> {
    let closed = borrow(handle).ok_or(Class::File)?.module.close();
    if !closed.as_ref().is_err_and(|fault| fault.get() == Class::NotSame as i32) {
        drop(DYNAMIC.remove(handle));
    }
    closed
}

/// The last user of MPI leaves: files that nobody has closed leave nothing behind that closing would have taken away.
pub fn abandon_all() {
    pending::await_all();
    let mut next = None;
    // Each handle once: whatever a file's module does, the walk ends.
    while let Some((handle, file)) = DYNAMIC.search_after(next) {
        file.module.abandon();
        next = Some(handle);
    }
}

/// MPI_File_delete.
pub fn delete(path: &CStr) -> Result<()> {
    component()?.delete_file(path)
}

fn component() -> Result<&'static dyn io::Component> {
    io::selected()?.ok_or_else(|| {
        let why = "no component of framework io is in this library and wanted; io/ompio needs an operating system";
        Fault::new(Class::UnsupportedOperation).because(why)
    })
}
