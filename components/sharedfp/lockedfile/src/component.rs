//! Registration, and the file that all processes open.

use crate::module::LockedFile;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::format;
use core::ffi::CStr;
use ompi_core::comm::Communicator;
use ompi_core::error::{Class, Result};
use ompi_core::file::{exchange, failure};
use ompi_core::framework::sharedfp::{self, Module};
use opal_core::mca::{self, Declined};
use opal_core::sys::{self, File, OpenFlags};

/// The component.
pub struct LockedFileComponent;

impl mca::Component for LockedFileComponent {
    opal_core::component_info!();
}

impl sharedfp::Component for LockedFileComponent {
    fn query(&self, _comm: &Communicator) -> core::result::Result<i32, Declined> {
        Ok(10)
    }

    fn make(&self, comm: &Communicator, path: &CStr) -> Result<Option<Box<dyn Module>>> {
        let mine = sys::random::<8>().map_or(sys::monotonic_ns(), u64::from_ne_bytes);
        // Rank 0 makes the file before the others hear its name.
        let made = (comm.rank == 0).then(|| beside(path, mine).and_then(|name| opened(&name, true)));
        let [number] = exchange(comm, [mine])?[0];
        let name = beside(path, number)?;
        let file = made.unwrap_or_else(|| opened(&name, false));
        // Nobody opens it after that: its name can go, unless the file system would take the file from the others, too.
        exchange(comm, [0])?;
        let named = match &file {
            Ok(file) if comm.rank == 0 => !file.lives_without_name() || File::delete(&name).is_err(),
            _ => false,
        };
        Ok(Some(Box::new(LockedFile::new(name, file, named))))
    }
}

fn opened(name: &CStr, create: bool) -> Result<File> {
    let how = OpenFlags { read: true, write: true, create, exclusive: create, mode: 0o600 };
    File::open(name, &how).map_err(|errno| failure(errno, name, "cannot hold the shared file pointer"))
}

/// The name of the file that holds the pointer of another file.
fn beside(path: &CStr, number: u64) -> Result<CString> {
    let path = path.to_bytes();
    let (folder, name) = path.split_at(path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1));
    let shown = &name[..name.len().min(LONGEST)];
    let beside = [folder, b".", shown, format!(".{number:016x}.sharedfp").as_bytes()].concat();
    CString::new(beside).map_err(|_| Class::Intern.into())
}

opal_core::component! {
    /// A shared file pointer in a small file beside the file.
    pub static COMPONENT: LockedFileComponent = LockedFileComponent;
    in ompi_core::framework::sharedfp, name "lockedfile", params &[]
}

/// Of the file's own name: file systems allow 255 bytes.
const LONGEST: usize = 200;
