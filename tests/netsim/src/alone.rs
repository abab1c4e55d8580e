//! What only a process alone does.
#![allow(unsafe_code)] // calls the C functions

use crate::mpi::must;
use ompi_core::abi::env::PMPI_Finalize;

/// MPI_SHORT_INT: 6 of 8 bytes are data, so that what is sent must be packed.
pub const SHORT_INT: usize = 0x22c;

/// Ends MPI.
pub fn finalize() {
    // SAFETY: MPI is initialised.
    must("MPI_Finalize", unsafe { PMPI_Finalize() });
}
