//! The processes that this one talks to. An [`endpoint`] is one process, connected once; a [`table`] holds those of one
//! communicator by rank, with the [`sources`] that a receive from MPI_ANY_SOURCE looks at. An endpoint has one transport
//! for all that is matched, whose order is the order of messages, and [`rails`](rail) for fragments. What finds no room in
//! its transport waits in a [`backlog`]. The [`history`] is which protocol the process chose for long messages.

pub mod backlog;
pub mod endpoint;
pub mod history;
pub mod rail;
pub mod sources;
pub mod table;
