//! Accesses: copies, and combinations under the target's accumulate lock.

use crate::locks::Combining;
use crate::raw::Buffer;
use crate::words::Words;
use ompi_core::accumulate;
use ompi_core::datatype::Datatype;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::op::Operation;

/// What is done with the memory of a target.
pub enum Access<'a> {
    /// Written.
    Put(Buffer<'a>),
    /// Read.
    Get(Buffer<'a>),
    /// Read to the second one, if there is one; then combined with the first one, if there is one.
    Accumulate(Option<Buffer<'a>>, Option<Buffer<'a>>, Operation),
    /// Read to the third one, and replaced by the first one if it was equal to the second one.
    CompareAndSwap(Buffer<'a>, Buffer<'a>, Buffer<'a>),
}

/// Does an access to memory of a rank, at once.
pub fn perform(words: &Words, rank: usize, access: &Access<'_>, target: &Buffer<'_>) -> Result<()> {
    match access {
        Access::Put(origin) => origin.copy_to(target),
        Access::Get(result) => target.copy_to(result),
        Access::Accumulate(origin, result, operation) => {
            let basic = basic(target.datatype())?;
            let _alone = Combining::begin(words, rank);
            if let Some(result) = result {
                target.copy_to(result)?;
            }
            origin.as_ref().map_or(Ok(()), |origin| origin.combine_into(target, *operation, basic))
        }
        Access::CompareAndSwap(origin, compare, result) => {
            let _alone = Combining::begin(words, rank);
            target.copy_to(result)?;
            if target.equals(compare)? { origin.copy_to(target) } else { Ok(()) }
        }
    }
}

fn basic(datatype: &Datatype) -> Result<&'static Datatype> {
    let none = || Fault::new(Class::Type).argument("target_datatype").because("its data is not all of one basic type");
    accumulate::basic(datatype).ok_or_else(none)
}
