//! Contents of messages: types, buffers of them, and parts of buffers. MPI 5.0 §5.

mod buffer;
mod equivalence;
mod lasting;
mod partition;
mod reference;
mod user;
mod value_index;
mod view;

pub use buffer::{Buffer, BufferMut};
pub use equivalence::Equivalence;
pub(crate) use lasting::shared;
#[doc(hidden)]
pub use lasting::{Field, Lasting, fields, is_dense};
pub(crate) use partition::Places;
pub use partition::{Partition, PartitionMut};
pub use reference::DatatypeRef;
pub use user::UserDatatype;
pub use value_index::ValueIndex;
pub use view::{View, ViewMut};
