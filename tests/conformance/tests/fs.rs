//! The suite of framework fs for every component, and that the suite sees a mistake.

use ompi_core::framework::fs::{Component, Module, OpenedFile, Opening};
use opal_core::mca::{self, Declined};
use opal_core::sys::{Errno, File};
use std::ffi::CStr;
use test_conformance::fs::suite;

opal_core::image![opal_core::framework::atomics, memcpy_portable, fs_lustre, fs_ufs];

#[test]
fn ufs() {
    assert_eq!(suite(&fs_ufs::COMPONENT), Ok(()));
}

/// On a file system that is not Lustre it serves no file, and what it does with one is the system's.
#[test]
fn lustre() {
    assert_eq!(suite(&fs_lustre::COMPONENT), Ok(()));
    let (_, module) = fs_lustre::COMPONENT.query().expect("it runs");
    assert!(!module.serves(c"/proc/version") && !module.serves(c"not_there") && !module.serves(c"/not/there/"));
}

/// Cuts where it should only reserve.
struct Wrong;

fn right() -> &'static dyn Module {
    fs_ufs::COMPONENT.query().expect("it runs").1
}

impl mca::Component for Wrong {
    fn info(&self) -> &'static mca::Info {
        &fs_ufs::INFO
    }
}

impl Component for Wrong {
    fn query(&self) -> Result<(i32, &'static dyn Module), Declined> {
        Ok((0, &Wrong))
    }
}

impl Module for Wrong {
    fn open(&self, path: &CStr, how: &Opening) -> Result<OpenedFile, Errno> {
        right().open(path, how)
    }

    fn delete(&self, path: &CStr) -> Result<(), Errno> {
        right().delete(path)
    }

    fn size(&self, file: &File) -> Result<u64, Errno> {
        right().size(file)
    }

    fn resize(&self, file: &File, bytes: u64) -> Result<(), Errno> {
        right().resize(file, bytes)
    }

    fn reserve(&self, file: &File, bytes: u64) -> Result<(), Errno> {
        right().resize(file, bytes)
    }

    fn sync(&self, file: &File) -> Result<(), Errno> {
        right().sync(file)
    }
}

#[test]
fn a_mistake_is_seen() {
    assert!(suite(&Wrong).unwrap_err().starts_with("reserve less"));
}
