//! Where a debugger begins: all that this library says of its objects ([`opal_core::inspect`]).
#![allow(unsafe_code)]

use crate::framework::pml;
use crate::request::{self, persistent};
use crate::{comm, datatype, errhandler, file, group, handle, info, op, session, win};
use opal_core::datatype::Layout;
use opal_core::inspect::{self, Fact};
use opal_core::sync::{AtomicPtr, AtomicUsize, Ordering};

/// Tables of facts: of this layer, and of the component of framework pml from MPI_Init on.
#[repr(C)]
pub struct Inspected {
    format: u64,
    tables: &'static [&'static [Fact]],
    pml: AtomicPtr<&'static [Fact]>,
    pml_length: AtomicUsize,
}

/// A change of a fact's meaning is another number. `ompi-core/gdb/ompi_rs_objects.py` has it, too.
const FORMAT: u64 = u64::from_le_bytes(*b"ompi-rs1");

static LAYOUT: [Fact; 2] = Layout::FACTS;

// SAFETY: no other symbol is called so; the name is the library's own.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)] // as C spells it
static ompi_rs_inspected: Inspected = Inspected {
    format: FORMAT,
    tables: &[
        &inspect::FACTS,
        &LAYOUT,
        &handle::FACTS,
        &comm::FACTS,
        &group::FACTS,
        &request::FACTS,
        &persistent::FACTS,
        &datatype::FACTS,
        &op::FACTS,
        &errhandler::FACTS,
        &info::FACTS,
        &session::FACTS,
        &file::FACTS,
        &win::FACTS,
    ],
    pml: AtomicPtr::new(core::ptr::null_mut()),
    pml_length: AtomicUsize::new(0),
};

/// MPI_Init: messages can be sent from now on. The store also keeps the linker from leaving all of it out.
pub fn open() {
    let facts = pml::selected().facts();
    ompi_rs_inspected.pml_length.store(facts.len(), Ordering::Relaxed);
    // Release: who stops the process in between finds no table rather than half of one.
    ompi_rs_inspected.pml.store(facts.as_ptr().cast_mut(), Ordering::Release);
}
