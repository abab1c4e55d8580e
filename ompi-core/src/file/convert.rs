//! Data of files that is converted on its way: external32 (MPI 5.0 §14.5.2), and representations of the program's own (§14.5.3).
//!
//! It is converted in memory of the length that it has in the file, before anything is written and after all is read. So a process
//! that cannot convert its part of a collective access says so before the others begin.
#![allow(unsafe_code)]

use super::datarep::Datarep;
use super::place::{Outcome, Stage};
use super::representation::Representation;
use super::scaled::scaled;
use crate::data::{Data, no_room};
use crate::datatype;
use crate::error::Result;
use crate::framework::fbtl::AccessKind;
use alloc::sync::Arc;
use opal_core::datatype::{Layout, pack_external, unpack_external};

/// Data as it lies in a file, beside what it is in memory.
pub struct Converted<'a> {
    user: Data<'a>,
    direction: AccessKind,
    stage: Stage,
    bytes: usize,
    how: How,
}

enum How {
    External,
    // With the element's items: in the file, and in memory.
    Registered { datarep: &'static Datarep, file: Arc<Layout>, memory: Arc<Layout> },
}

impl<'a> Converted<'a> {
    /// For an access; what is to be written is converted at once. `None` where the representation needs no conversion. No lock is
    /// held: functions of the program's run.
    ///
    /// # Safety
    /// The data is readable (to write it) or writable (to read into it) as long as this lives.
    pub unsafe fn new(
        representation: Representation,
        data: &Data<'a>,
        direction: AccessKind,
    ) -> Result<Option<Converted<'a>>> {
        let (how, each) = match representation {
            _ if representation.keeps(direction) => return Ok(None),
            Representation::Registered(datarep) => {
                let file = representation.layout(data.datatype)?;
                let memory = scaled(data.datatype, &mut |basic| Ok(basic.layout.size() as u32))?;
                let each = file.size();
                (How::Registered { datarep, file, memory }, each)
            }
            _ => (How::External, data.datatype.layout.external_size()),
        };
        let bytes = data.count.checked_mul(each).ok_or_else(|| no_room(usize::MAX))?;
        let converted = Converted { user: *data, direction, stage: Stage::new(bytes)?, bytes, how };
        if direction == AccessKind::Write {
            // SAFETY: the caller's promise.
            unsafe { converted.encode()? };
        }
        Ok(Some(converted))
    }

    /// The same as it lies in the file, as bytes.
    pub fn data(&self) -> Data<'static> {
        Data { at: self.stage.at(0), count: self.bytes, datatype: datatype::byte() }
    }

    /// What became of an access to [`Converted::data`] means for the user's data: what was read is converted. Counts bytes of memory.
    pub fn end(self, outcome: Outcome) -> Outcome {
        let there = outcome.bytes as usize;
        let decoded = match self.direction {
            AccessKind::Write => Ok(()),
            // SAFETY: the promise made to `new`; so many bytes of the stage were read.
            AccessKind::Read => unsafe { self.decode(there) },
        };
        match decoded {
            Ok(()) => Outcome { bytes: self.whole_items(there).0 as u64, ended: outcome.ended },
            Err(fault) => fault.into(),
        }
    }

    /// # Safety
    /// The data is readable.
    unsafe fn encode(&self) -> Result<()> {
        let Data { at, count, datatype } = self.user;
        match &self.how {
            How::External => {
                // SAFETY: readable by the caller's promise; the stage has as many bytes as external32 needs.
                unsafe { pack_external(&datatype.layout, at, count, self.stage.at(0)) };
                Ok(())
            }
            How::Registered { file, .. } => {
                // SAFETY: the caller's promise.
                unsafe { self.call(count * file.primitives()) }
            }
        }
    }

    /// # Safety
    /// The data is writable, and the first `there` bytes of the stage were read.
    unsafe fn decode(&self, there: usize) -> Result<()> {
        match &self.how {
            // SAFETY: the caller's promise.
            How::External => unsafe { self.unpack(self.whole_items(there).1) },
            // SAFETY: the caller's promise.
            How::Registered { file, .. } => unsafe { self.call(file.elements_within(there)) },
        }
    }

    /// Has the program's function convert the first items.
    ///
    /// # Safety
    /// The data is readable or writable, and so many items are in the stage or have room there.
    unsafe fn call(&self, items: usize) -> Result<()> {
        let How::Registered { datarep, file, .. } = &self.how else { return Ok(()) };
        let bytes_of = |items| file.bytes_of(items).unwrap_or(0);
        let user = (self.user.at, self.user.datatype);
        // SAFETY: the caller's promise.
        unsafe { datarep.convert(self.direction, user, self.stage.at(0), items, &bytes_of) }
    }

    /// # Safety
    /// That of `decode`, of external32; whole items.
    unsafe fn unpack(&self, there: usize) -> Result<()> {
        let layout = &self.user.datatype.layout;
        let each = layout.external_size();
        let Some(whole) = there.checked_div(each) else { return Ok(()) };
        // SAFETY: the data is writable by the caller's promise; so many elements of the stage were read.
        unsafe { unpack_external(layout, self.user.at, whole, self.stage.at(0)) };
        let rest = there % each;
        if rest > 0 {
            // The items that the file ends before stay as they are.
            let element = self.user.at.wrapping_offset(layout.extent() * whole as isize);
            let last = Stage::new(each)?;
            // SAFETY: an element of the data, and its length in external32.
            unsafe { pack_external(layout, element, 1, last.at(0)) };
            // SAFETY: `rest` is less than that length, and so many bytes behind the whole elements were read.
            unsafe { last.at(0).copy_from_nonoverlapping(self.stage.at(whole * each), rest) };
            // SAFETY: as above.
            unsafe { unpack_external(layout, element, 1, last.at(0)) };
        }
        Ok(())
    }

    /// Bytes of the items that lie wholly in the first bytes of the file: in memory, and there.
    fn whole_items(&self, there: usize) -> (usize, usize) {
        match &self.how {
            How::Registered { file, memory, .. } => {
                let items = file.elements_within(there);
                (memory.bytes_of(items).unwrap_or(0), file.bytes_of(items).unwrap_or(0))
            }
            How::External => self.user.datatype.layout.bytes_of_external(there),
        }
    }
}
