//! What framework fs calls.

use crate::{raw, wire};
use core::ffi::CStr;
use ompi_core::framework::fs::{FRAMEWORK, Module, Opening};
use opal_core::sys::{self, Errno, File};
use opal_core::verbose;

/// Files of a Lustre file system.
pub struct Lustre;

impl Module for Lustre {
    fn serves(&self, path: &CStr) -> bool {
        sys::is_on_lustre(path)
    }

    fn lays_stripes(&self) -> bool {
        true
    }

    fn open(&self, path: &CStr, how: &Opening) -> Result<File, Errno> {
        if !how.creates || !how.striping.is_wanted() {
            return how.open(path);
        }
        match made(path, how) {
            Ok(()) => how.again().open(path),
            Err(Errno::EXIST) => {
                verbose!(FRAMEWORK, 10, "lustre: {}: a file that is there keeps its stripes", path.to_string_lossy());
                how.open(path)
            }
            Err(errno) => Err(errno),
        }
    }
}

/// Makes a file with stripes as hints say; with those of its folder where that cannot be. `Err(EXIST)` if it is there.
fn made(path: &CStr, how: &Opening) -> Result<(), Errno> {
    let said = |why: &dyn core::fmt::Display| {
        let path = path.to_string_lossy();
        verbose!(FRAMEWORK, 1, "lustre: {path}: {:?} is not done: {why}; see `lfs setstripe`", how.striping);
    };
    let stripes = match wire::stripes(&how.striping) {
        Ok(stripes) => stripes,
        Err(why) => {
            said(&why);
            return Opening { exclusive: true, ..*how }.open(path).map(drop);
        }
    };
    let file = raw::make_without_stripes(path, how.permissions)?;
    if let Err(errno) = raw::set_stripes(&file, &stripes) {
        said(&errno);
    }
    Ok(())
}
