//! Which values of a file a process sees, and where in it a file pointer goes.

use crate::datatype::{Equivalence, shared};
use alloc::format;
use alloc::sync::Arc;
use ompi_core::datatype::{self, Number};
use ompi_core::error::{Class, Fault};
use ompi_core::file::{Representation, View};
use ompi_core::framework::io::Whence;

/// Which values of a file a process sees: `block` of `stride`, after the `first` ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Every {
    /// Values that lie together.
    pub block: u64,
    /// From the first of them to the first of the next ones, in values; at least `block`.
    pub stride: u64,
    /// Values before the first block.
    pub first: u64,
}

impl Every {
    /// All.
    pub const ONE: Every = Every { block: 1, stride: 1, first: 0 };

    /// The view of such values from a byte on.
    pub(super) fn of<T: Equivalence>(self, displacement: u64) -> Result<View, Fault> {
        let Every { block, stride, first } = self;
        if block == 0 || stride < block {
            let why = format!("blocks of {block} values, {stride} apart: a block has a value, and no two share one");
            return Err(Fault::new(Class::Arg).argument("every").because(why));
        }
        let far = || Fault::new(Class::Arg).argument("every").because("no file is as long as that");
        let number = |number: u64| i64::try_from(number).map(Number::Large).map_err(|_| far());
        let one = shared(T::equivalent_datatype());
        let etype = match T::COUNT {
            1 => one,
            count => committed(datatype::contiguous(Number::Large(count as i64), &one)?),
        };
        let bytes = etype.layout.extent() as u64;
        let filetype = match stride == block {
            true => etype.clone(),
            false => {
                let together = committed(datatype::contiguous(number(block)?, &etype)?);
                let extent = stride.checked_mul(bytes).and_then(|extent| i64::try_from(extent).ok()).ok_or_else(far)?;
                committed(datatype::resized(0, extent, true, &together)?)
            }
        };
        let displacement = first.checked_mul(bytes).and_then(|skip| skip.checked_add(displacement)).ok_or_else(far)?;
        Ok(View::new(displacement, etype, filetype, Representation::Native))
    }
}

fn committed(datatype: datatype::Datatype) -> Arc<datatype::Datatype> {
    datatype.commit();
    Arc::new(datatype)
}

/// From where a file pointer is moved, and by how many values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seek {
    /// From the view's beginning.
    Start(u64),
    /// From where it is.
    Current(i64),
    /// From the file's end.
    End(i64),
}

impl Seek {
    pub(super) fn offset(self) -> (i64, Whence) {
        match self {
            Seek::Start(values) => (i64::try_from(values).unwrap_or(i64::MAX), Whence::Set),
            Seek::Current(values) => (values, Whence::Current),
            Seek::End(values) => (values, Whence::End),
        }
    }
}
