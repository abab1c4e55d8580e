//! Mapping slices.

use crate::raw;
use opal_core::framework::shmem::{Address, Inherited, Module, Segment, Slice};
use opal_core::sync::Once;
use opal_core::{Error, Result, message};
use rustix::fs::SealFlags;

/// The segment of this job.
#[derive(Debug)]
pub struct Memfd {
    inherited: Inherited,
    /// Device and inode: what the descriptor's number must still mean when something is mapped.
    file: (u64, u64),
    /// This process's own slice, once created.
    own: Once<Slice>,
}

impl Memfd {
    /// Checks that all slices lie in the file and that nobody can cut it off; else half a sentence.
    pub fn new(inherited: Inherited) -> core::result::Result<Memfd, &'static str> {
        let descriptor = raw::inherited(inherited.descriptor).ok_or("the launcher's segment is not open")?;
        let stat = rustix::fs::fstat(descriptor).map_err(|_| "the launcher's segment is not open")?;
        let sealed = rustix::fs::fcntl_get_seals(descriptor).is_ok_and(|seals| seals.contains(SealFlags::SHRINK));
        if !sealed {
            return Err("the launcher's segment is not sealed against shrinking");
        }
        let bytes = u64::try_from(stat.st_size).unwrap_or(0);
        if !inherited.fits(bytes, opal_core::sys::page_size() as u64) {
            return Err("the launcher's segment does not hold a receive segment for each rank");
        }
        Ok(Memfd { inherited, file: (stat.st_dev, stat.st_ino), own: Once::new() })
    }

    fn map(&self, slice: &Slice) -> Result<Segment> {
        let descriptor = self.inherited.descriptor;
        let (offset, bytes) = slice.place(&self.inherited, opal_core::sys::page_size() as u64)?;
        let open = raw::inherited(descriptor);
        let same = open.and_then(|open| rustix::fs::fstat(open).ok()).map(|stat| (stat.st_dev, stat.st_ino));
        let (Some(open), true) = (open, same == Some(self.file)) else {
            message!(
                "the program closed descriptor {descriptor}, the job's shared memory, before all peers were mapped; \
                 leave descriptors alone that the program did not open"
            );
            return Err(Error::System);
        };
        raw::map(open, offset, bytes).map_err(|errno| {
            message!("mapping {bytes} bytes of the job's shared memory failed ({errno})");
            Error::OutOfResource
        })
    }
}

impl Module for Memfd {
    fn create(&self, bytes: usize) -> Result<Segment> {
        if self.own.is_completed() {
            return Err(Error::Exists);
        }
        let slice = Slice::own(&self.inherited, bytes, opal_core::sys::page_size() as u64)?;
        let segment = self.map(&slice)?;
        self.own.call_once(|| slice);
        Ok(segment)
    }

    fn address(&self) -> Address {
        self.own.get().expect("address is asked for after create").encode()
    }

    fn attach(&self, address: &Address) -> Result<Segment> {
        self.map(&Slice::decode(address).ok_or(Error::Malformed)?)
    }

    fn detach(&self, segment: Segment) {
        raw::unmap(segment);
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
