//! Data of files in external32 is converted on its way. MPI 5.0 §14.5.2.
#![allow(unsafe_code)]

use super::place::{Outcome, Stage};
use crate::data::Data;
use crate::datatype;
use crate::error::{Class, Fault, Result};
use crate::framework::fbtl::AccessKind;
use opal_core::datatype::{pack_external, unpack_external};

/// Has `access` move the bytes of the data in external32. It gets them as a stage with a copy of them; as MPI_BYTE they are as
/// many as in memory.
///
/// # Safety
/// The data is readable (to write it) or writable (to read into it).
pub unsafe fn convert(data: &Data<'_>, direction: AccessKind, access: impl FnOnce(&Data<'_>) -> Outcome) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe { converted(data, direction, access) }.unwrap_or_else(Outcome::from)
}

/// # Safety
/// That of [`convert`].
unsafe fn converted(
    data: &Data<'_>,
    direction: AccessKind,
    access: impl FnOnce(&Data<'_>) -> Outcome,
) -> Result<Outcome> {
    let (layout, each) = (&data.datatype.layout, data.datatype.layout.external_size());
    let stage = Stage::new(data.bytes())?;
    let byte = datatype::get(datatype::BYTE).ok_or_else(|| Fault::new(Class::Type))?;
    if direction == AccessKind::Write {
        // SAFETY: the data is readable by the caller's promise; the stage has as many bytes as external32 needs.
        unsafe { pack_external(layout, data.at, data.count, stage.at(0)) };
    }
    let outcome = access(&Data { at: stage.at(0), count: data.bytes(), datatype: &byte });
    if direction == AccessKind::Read && each > 0 {
        let (whole, rest) = (outcome.bytes as usize / each, outcome.bytes as usize % each);
        // SAFETY: the data is writable by the caller's promise; so many elements of the stage were read.
        unsafe { unpack_external(layout, data.at, whole, stage.at(0)) };
        if rest > 0 {
            // The element in which the file ends keeps what is behind.
            let (element, last) = (data.at.wrapping_offset(layout.extent() * whole as isize), Stage::new(each)?);
            // SAFETY: an element of the data, and its length in external32.
            unsafe { pack_external(layout, element, 1, last.at(0)) };
            // SAFETY: `rest` is less than that length, and so many bytes behind the whole elements were read.
            unsafe { last.at(0).copy_from_nonoverlapping(stage.at(whole * each), rest) };
            // SAFETY: as above.
            unsafe { unpack_external(layout, element, 1, last.at(0)) };
        }
    }
    Ok(outcome)
}
