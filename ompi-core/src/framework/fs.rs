//! File systems: what concerns a file as a whole, as the file system that holds it wants it done. For each file one component is asked.
//!
//! Each call is one process's; who must agree on it does so above.
#![allow(unsafe_code)] // linkme's expansion

use crate::file::{AccessStyle, Striping};
use alloc::vec::Vec;
use core::ffi::CStr;
use opal_core::mca;
use opal_core::sync::Once;
use opal_core::sys::{Errno, File, FileOrder, OpenFlags};

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

impl Opening {
    /// Opens a file that way, as the system does it, without stripes. Errors as [`Module::open`].
    pub fn open(&self, path: &CStr) -> Result<File, Errno> {
        File::open(path, &self.flags())
    }

    /// To open once more what was made.
    #[must_use]
    pub fn again(&self) -> Opening {
        Opening { creates: false, exclusive: false, ..*self }
    }

    fn flags(&self) -> OpenFlags {
        OpenFlags {
            read: self.reads,
            write: self.writes,
            create: self.creates,
            exclusive: self.exclusive,
            mode: self.permissions,
        }
    }
}

/// A file that was opened.
#[derive(Debug)]
pub struct OpenedFile {
    /// The descriptor.
    pub file: File,
    /// The stripes it was made with because they were asked for; none of a file that was there.
    pub striping: Striping,
}

impl From<File> for OpenedFile {
    fn from(file: File) -> OpenedFile {
        OpenedFile { file, striping: Striping::default() }
    }
}

/// A way to treat files. What a file system does not want done otherwise is a call of the system.
pub trait Module: Sync {
    /// Whether it treats a file with this name, which need not be there yet.
    fn serves(&self, _path: &CStr) -> bool {
        true
    }

    /// Opens a file. `Err(ISDIR)` for a directory, `Err(SPIPE)` for what has no places.
    fn open(&self, path: &CStr, how: &Opening) -> Result<OpenedFile, Errno> {
        how.open(path).map(OpenedFile::from)
    }

    /// Tells the system how the file is going to be accessed. What it cannot use it need not heed.
    fn expect(&self, file: &File, style: AccessStyle) {
        file.expect_order(match style {
            style if style.is_sequential() => FileOrder::Sequential,
            style if style.is_random() => FileOrder::Random,
            _ => FileOrder::Normal,
        });
    }

    /// Takes a file's name away; it goes when nobody has it open.
    fn delete(&self, path: &CStr) -> Result<(), Errno> {
        File::delete(path)
    }

    /// Bytes of a file.
    fn size(&self, file: &File) -> Result<u64, Errno> {
        file.size()
    }

    /// Cuts or extends a file; what is new reads as zero.
    fn resize(&self, file: &File, bytes: u64) -> Result<(), Errno> {
        file.resize(bytes)
    }

    /// Has the storage set aside for the first bytes of a file, which is at least as long afterwards.
    fn reserve(&self, file: &File, bytes: u64) -> Result<(), Errno> {
        // The system takes no call for nothing.
        if bytes == 0 { Ok(()) } else { file.reserve(bytes) }
    }

    /// Waits until what this process wrote lies on the storage.
    fn sync(&self, file: &File) -> Result<(), Errno> {
        file.sync()
    }
}

/// A way to treat files that may be used.
pub trait Component: mca::Component {
    /// Priority and module.
    fn query(&self) -> core::result::Result<(i32, &'static dyn Module), mca::Declined>;
}

opal_core::framework! {
    /// File systems: opening, deleting and resizing files.
    "fs", Ompi, version 1, ManyOfMany, OMPI_FSS: dyn Component
}

/// The path in the name that a program gives: without a file system before it, as in `ufs:data` (MPI 5.0 §14.2.1, advice to users).
/// What holds the file is asked of the system, whatever the name says.
pub fn path_of(name: &CStr) -> &CStr {
    let bytes = name.to_bytes_with_nul();
    let prefix = FILE_SYSTEMS.iter().find(|prefix| bytes.starts_with(prefix.as_bytes()));
    let path = prefix.and_then(|prefix| CStr::from_bytes_with_nul(&bytes[prefix.len()..]).ok());
    path.unwrap_or(name)
}

/// Those that ROMIO knows and that are reached by calls of the system. Another name may have a colon in it.
const FILE_SYSTEMS: [&str; 6] = ["ufs:", "nfs:", "xfs:", "lustre:", "gpfs:", "panfs:"];

/// Modules with their priorities, the highest one first.
type Modules = Vec<(i32, &'static dyn Module)>;

/// Of the modules that serve a file with this name the one with the highest priority; `None` if there is none or it was left out.
pub fn selected(path: &CStr) -> opal_core::Result<Option<&'static dyn Module>> {
    static OPENED: Once<opal_core::Result<Modules>> = Once::new();
    let opened = OPENED.call_once(|| {
        let opened = mca::select::open(&FRAMEWORK, &OMPI_FSS)?;
        let mut modules: Modules = opened.iter().filter_map(|component| component.query().ok()).collect();
        modules.sort_by_key(|(priority, _)| core::cmp::Reverse(*priority));
        Ok(modules)
    });
    let opened = opened.as_ref().map_err(|error| *error)?;
    Ok(opened.iter().map(|(_, module)| *module).find(|module| module.serves(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_before_the_path_is_no_part_of_it() {
        assert_eq!(path_of(c"ufs:/tmp/a:b"), c"/tmp/a:b");
        assert_eq!(path_of(c"panfs:ufs:x"), c"ufs:x");
        for name in [c"data", c"C:data", c"testfs:x", c"ufs", c"./ufs:x", c""] {
            assert_eq!(path_of(name), name);
        }
        assert_eq!(path_of(c"nfs:"), c"");
    }
}
