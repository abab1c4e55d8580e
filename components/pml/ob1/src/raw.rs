//! The boundary of unsafe code: user buffers and the data pointer of a communicator.
#![allow(unsafe_code)]

mod buffer;
#[cfg(test)]
mod tests;

pub use self::buffer::{Fast, Place, Run, send_bytes};

use crate::context::Routes;
use ompi_core::comm::Communicator;

/// How messages leave a communicator.
///
/// # Panics
/// If the communicator was not added: a mistake above this component.
#[inline(always)]
pub fn routes(comm: &Communicator) -> &Routes {
    let routes = comm.pml_data().cast::<Routes>();
    assert!(!routes.is_null(), "a communicator in use was added");
    // SAFETY: not null, so it is the box that `add_comm` stored; it lives until `remove_comm`, which ends all use.
    unsafe { &*routes }
}
