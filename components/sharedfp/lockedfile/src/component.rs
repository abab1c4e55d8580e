//! Registration, and the name of the file.

use crate::module::LockedFile;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::format;
use core::ffi::CStr;
use ompi_core::comm::Communicator;
use ompi_core::error::{Class, Result};
use ompi_core::file::exchange;
use ompi_core::framework::sharedfp::{self, Module};
use opal_core::mca::{self, Declined};
use opal_core::sys;

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
        let [number] = exchange(comm, [mine])?[0];
        let path = path.to_bytes();
        let (folder, name) = path.split_at(path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1));
        let shown = &name[..name.len().min(LONGEST)];
        let beside = [folder, b".", shown, format!(".{number:016x}.sharedfp").as_bytes()].concat();
        let beside = CString::new(beside).map_err(|_| Class::Intern)?;
        Ok(Some(Box::new(LockedFile::new(beside, comm.rank == 0))))
    }
}

opal_core::component! {
    /// A shared file pointer in a file beside the file.
    pub static COMPONENT: LockedFileComponent = LockedFileComponent;
    in ompi_core::framework::sharedfp, name "lockedfile", params &[]
}

/// Of the file's own name: file systems allow 255 bytes.
const LONGEST: usize = 200;
