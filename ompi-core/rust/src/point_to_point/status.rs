//! Status of a message.

use super::Tag;
use crate::datatype::Equivalence;
use crate::topology::Rank;
use alloc::format;
use core::fmt;
use ompi_core::error::{Class, Fault};
use ompi_core::status;

/// What is known of a message that was received or found.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{request, traits::*};
///
/// let world = universe.world();
/// let mut into = [0.0; 4];
/// let status = request::scope(|scope| {
///     let receive = world.any_process().immediate_receive_into(scope, &mut into)?;
///     world.this_process().send_with_tag(&[1.5, 2.5], 9)?;
///     receive.wait()
/// })?;
/// assert_eq!((status.source_rank(), status.tag(), status.count::<f64>()), (0, 9, Some(2)));
/// assert_eq!(into, [1.5, 2.5, 0.0, 0.0]);
/// # Ok::<(), ompi::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Status(pub(crate) status::Status);

impl Status {
    /// Who sent it; MPI_PROC_NULL if nobody did.
    pub fn source_rank(&self) -> Rank {
        self.0.source
    }

    /// Its tag.
    pub fn tag(&self) -> Tag {
        self.0.tag
    }

    /// Number of values of type `T` in it; `None` if its bytes are no whole number of them.
    pub fn count<T: Equivalence>(&self) -> Option<usize> {
        let elements = T::equivalent_datatype().0.count_in(&self.0)? as usize;
        match T::COUNT {
            0 => (elements == 0).then_some(0),
            each => elements.is_multiple_of(each).then(|| elements / each),
        }
    }

    /// Bytes in it.
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    /// Whether the operation was cancelled, so that there is no message.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Status")
            .field("source_rank", &self.source_rank())
            .field("tag", &self.tag())
            .field("bytes", &self.bytes())
            .field("is_cancelled", &self.is_cancelled())
            .finish()
    }
}

/// Whether a message was just one value.
#[inline]
pub(crate) fn one<T: Equivalence>(status: &Status) -> Result<(), Fault> {
    if status.count::<T>() == Some(1) { Ok(()) } else { Err(not_whole(status, "one value was wanted")) }
}

/// An error that says how long the message is.
#[cold]
pub(crate) fn not_whole(status: &Status, wanted: &str) -> Fault {
    let why =
        format!("{wanted}, the message has {} bytes; receive_vec or receive_into takes any length", status.bytes());
    Fault::new(Class::Count).because(why)
}
