//! Without an operating system nobody starts processes, and there are no other jobs.

use crate::comm::{self, Communicator};
use crate::error::{Class, Fault, Result};
use crate::info::Info;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::framework::btl::ProcessName;

/// One of the programs to start.
pub struct Program {
    /// What to execute.
    pub command: Vec<u8>,
    /// Its arguments, without its name.
    pub arguments: Vec<Vec<u8>>,
    /// How many processes.
    pub maxprocs: i32,
    /// Hints.
    pub info: Option<Arc<Info>>,
}

/// There is nobody to meet.
pub fn open(_parent: Option<String>) -> opal_core::Result<()> {
    Ok(())
}

/// There is nobody to part from.
pub fn parted(_left: &[ProcessName]) {}

/// MPI_COMM_NULL.
pub fn parent() -> usize {
    comm::NULL
}

/// Refused.
pub fn end(_members: &[u32], _status: i32, _message: &str) -> Result<()> {
    Err(refusal())
}

/// Refused.
pub fn open_port() -> Result<String> {
    Err(refusal())
}

/// Refused.
pub fn close_port(_text: &str) -> Result<()> {
    Err(refusal())
}

/// Refused.
pub fn accept(_comm: &Communicator, _root: usize, _port: impl FnOnce() -> Result<String>) -> Result<usize> {
    Err(refusal())
}

/// Refused.
pub fn connect(
    _comm: &Communicator,
    _root: usize,
    _port: impl FnOnce() -> Result<(String, Option<u64>)>,
) -> Result<usize> {
    Err(refusal())
}

/// Refused.
pub fn publish(_service: &str, _port: &str) -> Result<()> {
    Err(refusal())
}

/// Refused.
pub fn unpublish(_service: &str) -> Result<()> {
    Err(refusal())
}

/// Refused.
pub fn lookup(_service: &str) -> Result<String> {
    Err(refusal())
}

/// Refused.
pub fn join(_descriptor: i32) -> Result<usize> {
    Err(refusal())
}

/// Refused.
pub fn spawn(
    _comm: &Communicator,
    _root: usize,
    _programs: impl FnOnce() -> Result<Vec<Program>>,
) -> (Result<usize>, Vec<i32>) {
    (Err(refusal()), Vec::new())
}

fn refusal() -> Fault {
    Fault::new(Class::UnsupportedOperation).because("there are no other jobs without an operating system")
}
