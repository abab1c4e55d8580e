//! The C functions that the simulation calls, over buffers that it owns.
#![allow(unsafe_code)] // calls the C functions

use core::ffi::c_int;
use ompi_core::abi::env::PMPI_Init;
use ompi_core::abi::pt2pt::{PMPI_Irecv, PMPI_Isend, PMPI_Issend};
use ompi_core::abi::request::PMPI_Test;
use ompi_core::status::Status;

/// MPI_BYTE.
pub const BYTE: usize = 0x247;

/// Starts MPI.
pub fn init() {
    // SAFETY: null pointers are what the standard allows here.
    must("MPI_Init", unsafe { PMPI_Init(core::ptr::null_mut(), core::ptr::null_mut()) });
}

/// A send or a receive under way, with its buffer.
pub struct Transfer {
    /// What MPI knows it by.
    pub request: usize,
    /// The buffer; a receive's is written until it is over.
    pub buffer: Vec<u8>,
}

impl Transfer {
    /// Begins to send all of a buffer to a rank.
    pub fn send(buffer: Vec<u8>, datatype: usize, (to, tag): (i32, i32), comm: usize, synchronous: bool) -> Transfer {
        let count = count(&buffer, datatype);
        let mut request = 0;
        let at = buffer.as_ptr().cast_mut().cast();
        let function = if synchronous { PMPI_Issend } else { PMPI_Isend };
        // SAFETY: the buffer is as long as that, and lives on the heap until the request is over.
        must("MPI_Isend", unsafe { function(at, count, datatype, to, tag, comm, &mut request) });
        Transfer { request, buffer }
    }

    /// Begins to receive.
    pub fn receive(mut buffer: Vec<u8>, datatype: usize, tag: i32, comm: usize, source: i32) -> Transfer {
        let count = count(&buffer, datatype);
        let mut request = 0;
        let at = buffer.as_mut_ptr().cast();
        // SAFETY: as above.
        must("MPI_Irecv", unsafe { PMPI_Irecv(at, count, datatype, source, tag, comm, &mut request) });
        Transfer { request, buffer }
    }

    /// The status, once it is over.
    pub fn test(&mut self) -> Option<Status> {
        let (mut flag, mut status) = (0, Status::EMPTY);
        // SAFETY: all three are writable.
        must("MPI_Test", unsafe { PMPI_Test(&mut self.request, &mut flag, (&raw mut status).cast()) });
        (flag != 0).then_some(status)
    }
}

fn count(buffer: &[u8], datatype: usize) -> c_int {
    let extent = if datatype == BYTE { 1 } else { 8 };
    assert_eq!(buffer.len() % extent, 0);
    (buffer.len() / extent) as c_int
}

/// An error code that is none.
pub fn must(what: &str, code: c_int) {
    assert_eq!(code, 0, "{what}");
}
