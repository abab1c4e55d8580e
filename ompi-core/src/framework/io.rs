//! MPI-IO as a whole: what the functions of MPI 5.0 §14 do with a file that is open.
#![allow(unsafe_code)] // linkme's expansion, and the trait's contract

use super::fbtl::AccessKind;
use crate::comm::Communicator;
use crate::data::Data;
use crate::error::Result;
use crate::file::{Amode, FileCall, FileHints, Outcome, Underway, View};
use crate::info::Info;
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::ffi::CStr;
use opal_core::mca;
use opal_core::sync::Once;

/// A file that is to be opened, as one process names it.
#[derive(Clone)]
pub struct FileArguments<'a> {
    /// Its name.
    pub path: &'a CStr,
    /// How; the same on all processes.
    pub amode: Amode,
    /// What the user hints at; they stay with the file.
    pub hints: FileHints,
}

/// Where an access begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At an offset, in etypes of the view.
    At(i64),
    /// At this process's file pointer, which moves behind it.
    Pointer,
    /// At the shared file pointer, which moves behind it.
    Shared,
    /// At the shared file pointer, behind the data of all lower ranks; collective.
    Ordered,
}

/// A view that is to be put in force.
#[derive(Clone)]
pub struct NewView {
    /// It.
    pub view: View,
    /// Whether it begins where the shared file pointer is (MPI_DISPLACEMENT_CURRENT), instead.
    pub at_shared: bool,
    /// Hints that come with it.
    pub info: Option<Arc<Info>>,
}

/// From where a file pointer is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whence {
    /// The view's beginning.
    Set,
    /// Where it is.
    Current,
    /// The file's end.
    End,
}

/// One access.
#[derive(Clone, Copy, Debug)]
pub struct FileAccess<'a> {
    /// Where in the file.
    pub start: Start,
    /// Where in memory.
    pub data: &'a Data<'a>,
    /// Which way.
    pub direction: AccessKind,
}

/// What came of the beginning of an access.
pub enum Begun {
    /// It was done at once.
    Done(Outcome),
    /// It goes on. Its data stays where it is until it has ended.
    Underway(Underway),
}

/// A file that is open. Offsets are in etypes of the view in force.
///
/// What all processes call gets this process's fault in place of an argument that was wrong, and tells the others: then all
/// fail, and nothing is done. All fail with MPI_ERR_NOT_SAME where they call different functions.
pub trait Module: Send + Sync {
    /// Its length in bytes.
    fn size(&self) -> Result<u64>;

    /// Cuts or extends it; called by all.
    fn resize(&self, bytes: Result<u64>) -> Result<()>;

    /// Has storage set aside for its first bytes; called by all.
    fn reserve(&self, bytes: Result<u64>) -> Result<()>;

    /// Waits until what was written lies on the storage, and sees what others had synchronised before; called by all.
    fn sync(&self, ready: Result<()>) -> Result<()>;

    /// Has accesses be atomic from now on, or no longer; called by all.
    fn set_atomic(&self, atomic: Result<bool>) -> Result<()>;

    /// Whether they are.
    fn is_atomic(&self) -> bool;

    /// Takes over hints; called by all.
    fn set_hints(&self, info: Result<Arc<Info>>) -> Result<()>;

    /// Those in force.
    fn hints(&self) -> FileHints;

    /// Puts a view in force, at whose beginning all file pointers are then, and hints; called by all.
    fn set_view(&self, view: Result<NewView>) -> Result<()>;

    /// The view in force.
    fn view(&self) -> Arc<View>;

    /// Where in the file an offset in the view is, in bytes.
    fn byte_offset(&self, offset: u64) -> Result<u64>;

    /// Reads or writes.
    ///
    /// # Safety
    /// The data is readable (to write it) or writable (to read into it).
    unsafe fn access(&self, access: &FileAccess<'_>) -> Outcome;

    /// Begins to read or write.
    ///
    /// # Safety
    /// That of [`Module::access`], until the access has ended.
    unsafe fn start(&self, access: &FileAccess<'_>) -> Begun {
        // SAFETY: the caller's promise.
        Begun::Done(unsafe { self.access(access) })
    }

    /// Reads or writes; called by all.
    ///
    /// # Safety
    /// That of [`Module::access`].
    unsafe fn access_all(&self, call: FileCall, access: Result<FileAccess<'_>>) -> Outcome;

    /// Moves this process's file pointer.
    fn seek(&self, offset: i64, whence: Whence) -> Result<()>;

    /// Where it is.
    fn position(&self) -> Result<i64>;

    /// Moves the shared file pointer; called by all, with the same arguments.
    fn seek_shared(&self, offset: i64, whence: Result<Whence>) -> Result<()>;

    /// Where that is.
    fn position_shared(&self) -> Result<i64>;

    /// Ends all work on the file; called by all. Nothing else is called afterwards, but after MPI_ERR_NOT_SAME nothing was done.
    fn close(&self) -> Result<()>;

    /// MPI ends, and the program has not closed the file: takes away what closing would have, for this process alone.
    fn abandon(&self);
}

/// An implementation of MPI-IO.
pub trait Component: mca::Component {
    /// Priority, or why not.
    fn query(&self) -> core::result::Result<i32, mca::Declined>;

    /// Opens a file; called by all processes of a communicator, which becomes the file's own. All succeed, or none.
    fn open_file(&self, comm: Arc<Communicator>, arguments: Result<FileArguments<'_>>) -> Result<Box<dyn Module>>;

    /// Deletes a file.
    fn delete_file(&self, path: &CStr) -> Result<()>;
}

opal_core::framework! {
    /// MPI-IO as a whole.
    "io", Ompi, version 1, OneOfMany, OMPI_IOS: dyn Component
}

/// The component that was chosen, the first time anybody asks; `None` if there is none or it was left out.
pub fn selected() -> opal_core::Result<Option<&'static dyn Component>> {
    static SELECTED: Once<opal_core::Result<Option<&'static dyn Component>>> = Once::new();
    *SELECTED.call_once(|| {
        let query = |component: &'static dyn Component| component.query().map(|priority| (priority, ()));
        Ok(mca::select_best(&FRAMEWORK, &OMPI_IOS, query)?.map(|(component, ())| component))
    })
}
