//! Copies to and from memory of the node.
#![allow(unsafe_code)]

use ompi_core::data::Data;
use ompi_core::error::Result;
use ompi_core::framework::osc::{Part, Target};
use ompi_core::win::node::{MappedData, TargetData};

/// The memory of a process of this node.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Where this process has it mapped.
    pub at: *mut u8,
    /// Its length, and the unit of displacements.
    pub part: Part,
}

// SAFETY: an address range; what is done with its bytes is up to the program's synchronisation.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Overwrites a target's data.
    ///
    /// # Safety
    /// The memory is mapped; `from` is readable, and as long as the target's data.
    pub unsafe fn write(&self, target: &Target<'_>, from: &Data<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        let place = unsafe { self.place(target) };
        // SAFETY: as above.
        unsafe { place.write(from) }
    }

    /// Reads a target's data.
    ///
    /// # Safety
    /// The memory is mapped; `to` is writable, and as long as the target's data.
    pub unsafe fn read(&self, target: &Target<'_>, to: &Data<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        let place = unsafe { self.place(target) };
        // SAFETY: as above.
        unsafe { place.read(to) }
    }

    /// # Safety
    /// The memory is mapped.
    unsafe fn place<'a>(&self, target: &Target<'a>) -> MappedData<'a> {
        // What calls the module has checked that it lies in the part.
        let at = self.at.wrapping_offset((target.displacement * self.part.unit) as isize);
        // SAFETY: the caller's promise; the program synchronises accesses.
        unsafe { MappedData::new(Data { at, ..target.data }) }
    }
}
