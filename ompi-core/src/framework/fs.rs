//! File systems: what concerns a file as a whole, as the file system that holds it wants it done.
//!
//! Each call is one process's; who must agree on it does so above.
#![allow(unsafe_code)] // linkme's expansion

use crate::file::{AccessStyle, Striping};
use core::ffi::CStr;
use opal_core::mca;
use opal_core::sync::Once;
use opal_core::sys::{Errno, File};

/// How a file is opened.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// To read it.
    pub reads: bool,
    /// To write it.
    pub writes: bool,
    /// Make it if it is not there.
    pub creates: bool,
    /// With `creates`: it must not be there.
    pub exclusive: bool,
    /// Permissions of a file that is made, before the process's mask.
    pub permissions: u32,
    /// Over how many devices a file that is made is to be laid.
    pub striping: Striping,
}

/// A way to treat files.
pub trait Module: Sync {
    /// Opens a file. `Err(ISDIR)` for a directory, `Err(SPIPE)` for what has no places.
    fn open(&self, path: &CStr, how: &Opening) -> Result<File, Errno>;

    /// Tells the system how the file is going to be accessed. What it cannot use it need not heed.
    fn expect(&self, _file: &File, _style: AccessStyle) {}

    /// Takes a file's name away; it goes when nobody has it open.
    fn delete(&self, path: &CStr) -> Result<(), Errno>;

    /// Bytes of a file.
    fn size(&self, file: &File) -> Result<u64, Errno>;

    /// Cuts or extends a file; what is new reads as zero.
    fn resize(&self, file: &File, bytes: u64) -> Result<(), Errno>;

    /// Has the storage set aside for the first bytes of a file, which is at least as long afterwards.
    fn reserve(&self, file: &File, bytes: u64) -> Result<(), Errno>;

    /// Waits until what this process wrote lies on the storage.
    fn sync(&self, file: &File) -> Result<(), Errno>;
}

/// A way to treat files that may be used.
pub trait Component: mca::Component {
    /// Priority and module.
    fn query(&self) -> core::result::Result<(i32, &'static dyn Module), mca::Declined>;
}

opal_core::framework! {
    /// File systems: opening, deleting and resizing files.
    "fs", Ompi, version 1, OneOfMany, OMPI_FSS: dyn Component
}

/// The module that was chosen, the first time anybody asks; `None` if there is none or it was left out.
pub fn selected() -> opal_core::Result<Option<&'static dyn Module>> {
    static SELECTED: Once<opal_core::Result<Option<&'static dyn Module>>> = Once::new();
    *SELECTED.call_once(|| {
        let best = mca::select_best(&FRAMEWORK, &OMPI_FSS, |component| component.query())?;
        Ok(best.map(|(_, module)| module))
    })
}
