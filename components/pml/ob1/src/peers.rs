//! The processes that this one talks to. An [`endpoint`] is one process, connected once; a [`table`] holds those of one
//! communicator by rank, with the [`sources`] that a receive from MPI_ANY_SOURCE looks at. An endpoint has one transport
//! for all matched messages, so that they stay in order, and [`rails`](rail) for fragments. Messages that find no
//! room in their transport wait in a [`backlog`]. The [`history`] says which protocols the process chose for long messages.

pub mod backlog;
pub mod endpoint;
pub mod history;
pub mod progress;
pub mod rail;
pub mod sources;
pub mod table;
