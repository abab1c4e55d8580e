//! Messages from one process to another. MPI 5.0 §3.

mod destination;
mod exchange;
mod message;
mod source;
mod status;

pub use destination::Destination;
pub use exchange::{
    send_receive, send_receive_into, send_receive_into_with_tags, send_receive_replace_into,
    send_receive_replace_into_with_tags, send_receive_with_tags,
};
pub use message::Message;
pub use source::Source;
pub use status::Status;
pub(crate) use status::one;

/// What tells messages between two processes apart: 0 to 2^31-1.
pub type Tag = i32;

/// Matches every tag, for receives and probes.
pub const ANY_TAG: Tag = ompi_core::status::ANY_TAG;
