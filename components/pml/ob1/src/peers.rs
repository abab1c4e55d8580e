//! The processes that this one talks to.

pub mod backlog;
pub mod endpoint;
pub mod sources;
