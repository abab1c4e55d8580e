//! What framework fs calls.

use crate::{raw, wire};
use core::ffi::CStr;
use ompi_core::file::Striping;
use ompi_core::framework::fs::{FRAMEWORK, Module, OpenedFile, Opening};
use opal_core::sys::{self, Errno};
use opal_core::verbose;

/// Files of a Lustre file system.
pub struct Lustre;

impl Module for Lustre {
    fn serves(&self, path: &CStr) -> bool {
        sys::is_on_lustre(path)
    }

    fn open(&self, path: &CStr, how: &Opening) -> Result<OpenedFile, Errno> {
        if !how.creates || !how.striping.is_wanted() {
            return how.open(path).map(OpenedFile::from);
        }
        match made(path, how) {
            Ok(striping) => Ok(OpenedFile { striping, ..how.again().open(path)?.into() }),
            Err(Errno::EXIST) => {
                verbose!(FRAMEWORK, 10, "lustre: {}: a file that is there keeps its stripes", path.to_string_lossy());
                how.open(path).map(OpenedFile::from)
            }
            Err(errno) => Err(errno),
        }
    }
}

/// Makes a file with stripes as hints say; with those of its folder where that cannot be. The stripes that it was given. `Err(EXIST)` if
/// it is there.
fn made(path: &CStr, how: &Opening) -> Result<Striping, Errno> {
    let said = |why: &dyn core::fmt::Display| {
        let path = path.to_string_lossy();
        verbose!(FRAMEWORK, 1, "lustre: {path}: {:?} is not done: {why}; see `lfs setstripe`", how.striping);
    };
    let stripes = match wire::stripes(&how.striping) {
        Ok(stripes) => stripes,
        Err(why) => {
            said(&why);
            return Opening { exclusive: true, ..*how }.open(path).map(|_| Striping::default());
        }
    };
    let file = raw::make_without_stripes(path, how.permissions)?;
    Ok(match raw::set_stripes(&file, &stripes) {
        Ok(()) => how.striping,
        Err(errno) => {
            said(&errno);
            Striping::default()
        }
    })
}
