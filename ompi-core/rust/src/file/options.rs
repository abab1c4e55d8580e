//! How a file is opened.

use super::object::File;
use crate::error::Result;
use crate::info::Info;
use crate::topology::Communicator;
use alloc::ffi::CString;
use ompi_core::error::{Class, Fault};
use ompi_core::file::{self, Amode, FileHints};
use ompi_core::framework::io::FileArguments;

/// What is to be done with a file: as [`std::fs::OpenOptions`], for all processes of a communicator together.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    read: bool,
    write: bool,
    bits: i32,
    hints: FileHints,
}

impl OpenOptions {
    /// Nothing yet: at least one of [`read`](Self::read) and [`write`](Self::write) is needed.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// To be read.
    #[must_use]
    pub fn read(mut self, yes: bool) -> OpenOptions {
        self.read = yes;
        self
    }

    /// To be written.
    #[must_use]
    pub fn write(mut self, yes: bool) -> OpenOptions {
        self.write = yes;
        self
    }

    /// Made if it is not there.
    #[must_use]
    pub fn create(self, yes: bool) -> OpenOptions {
        self.with(CREATE, yes)
    }

    /// Made, and an error if it is there.
    #[must_use]
    pub fn create_new(self, yes: bool) -> OpenOptions {
        self.with(CREATE | EXCL, yes)
    }

    /// All file pointers at its end at first.
    #[must_use]
    pub fn append(self, yes: bool) -> OpenOptions {
        self.with(APPEND, yes)
    }

    /// Deleted when it is closed.
    #[must_use]
    pub fn delete_on_close(self, yes: bool) -> OpenOptions {
        self.with(DELETE_ON_CLOSE, yes)
    }

    /// Hints: those that are not understood are ignored.
    #[must_use]
    pub fn hints(mut self, info: &Info) -> OpenOptions {
        self.hints = self.hints.updated(info.inner());
        self
    }

    /// Opens it; called by all processes of the communicator, with the same options. All have it, or none.
    pub fn open<C: Communicator + ?Sized>(self, comm: &C, path: &str) -> Result<File> {
        let owned = comm.owned();
        let path = text(path);
        let access = match (self.read, self.write) {
            (true, true) => RDWR,
            (false, true) => WRONLY,
            (true, false) => RDONLY,
            (false, false) => 0,
        };
        let arguments = path.as_deref().map_err(Fault::clone).and_then(|path| {
            let amode = Amode::new(self.bits | access)?;
            Ok(FileArguments { path, amode, hints: self.hints })
        });
        let handle =
            file::open(owned.comm(), arguments).map_err(|fault| File::raise_none("OpenOptions::open", fault))?;
        Ok(File::of(handle, owned.life().clone()))
    }

    fn with(mut self, bits: i32, yes: bool) -> OpenOptions {
        self.bits = if yes { self.bits | bits } else { self.bits & !bits };
        self
    }
}

/// Deletes a file.
pub fn delete(path: &str) -> Result<()> {
    let deleted = text(path).and_then(|path| file::delete(&path));
    deleted.map_err(|fault| File::raise_none("file::delete", fault))
}

fn text(path: &str) -> Result<CString, Fault> {
    CString::new(path).map_err(|_| Fault::new(Class::Arg).argument("path").because("a path has no zero byte"))
}

/// MPI_MODE_APPEND.
const APPEND: i32 = 1;
/// MPI_MODE_CREATE.
const CREATE: i32 = 2;
/// MPI_MODE_DELETE_ON_CLOSE.
const DELETE_ON_CLOSE: i32 = 4;
/// MPI_MODE_EXCL.
const EXCL: i32 = 8;
/// MPI_MODE_RDONLY.
const RDONLY: i32 = 16;
/// MPI_MODE_RDWR.
const RDWR: i32 = 32;
/// MPI_MODE_WRONLY.
const WRONLY: i32 = 256;
