//! The PML as `--direct pml/…` calls it: the four calls of the message path by name, so that link-time optimization sees
//! through them; all others through the table as always.

use super::select::SELECTED;
use super::{MatchContext, Mode, Module};
use crate::data::Data;
use crate::error::Result;
use crate::request::Request;
use crate::status::Status;
use core::ops::Deref;

/// The running PML, whose hot calls are direct ones.
#[inline(always)]
pub fn selected() -> Direct {
    Direct
}

/// Stands for the one PML.
#[derive(Clone, Copy)]
pub struct Direct;

// SAFETY: `direct_pml!` defines them with these very signatures, in the component that `--direct` names.
unsafe extern "Rust" {
    fn __ompi_direct_pml_send_v1(
        data: &Data<'_>,
        dest: i32,
        tag: i32,
        mode: Mode,
        context: MatchContext<'_>,
    ) -> Result<()>;
    fn __ompi_direct_pml_isend_v1(
        data: &Data<'_>,
        dest: i32,
        tag: i32,
        mode: Mode,
        context: MatchContext<'_>,
    ) -> Result<Request>;
    fn __ompi_direct_pml_recv_v1(
        data: &Data<'_>,
        source: i32,
        tag: i32,
        context: MatchContext<'_>,
        status: Option<&mut Status>,
    ) -> Result<()>;
    fn __ompi_direct_pml_irecv_v1(data: &Data<'_>, source: i32, tag: i32, context: MatchContext<'_>)
    -> Result<Request>;
}

#[allow(clippy::missing_safety_doc)] // each has the contract of the method of `Module` that it is named after
impl Direct {
    /// [`Module::send`].
    #[inline(always)]
    pub unsafe fn send(
        self,
        data: &Data<'_>,
        dest: i32,
        tag: i32,
        mode: Mode,
        context: MatchContext<'_>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { __ompi_direct_pml_send_v1(data, dest, tag, mode, context) }
    }

    /// [`Module::isend`].
    #[inline(always)]
    pub unsafe fn isend(
        self,
        data: &Data<'_>,
        dest: i32,
        tag: i32,
        mode: Mode,
        context: MatchContext<'_>,
    ) -> Result<Request> {
        // SAFETY: the caller's promise.
        unsafe { __ompi_direct_pml_isend_v1(data, dest, tag, mode, context) }
    }

    /// [`Module::recv`].
    #[inline(always)]
    pub unsafe fn recv(
        self,
        data: &Data<'_>,
        source: i32,
        tag: i32,
        context: MatchContext<'_>,
        status: Option<&mut Status>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { __ompi_direct_pml_recv_v1(data, source, tag, context, status) }
    }

    /// [`Module::irecv`].
    #[inline(always)]
    pub unsafe fn irecv(self, data: &Data<'_>, source: i32, tag: i32, context: MatchContext<'_>) -> Result<Request> {
        // SAFETY: the caller's promise.
        unsafe { __ompi_direct_pml_irecv_v1(data, source, tag, context) }
    }
}

impl Deref for Direct {
    type Target = dyn Module;

    fn deref(&self) -> &(dyn Module + 'static) {
        *SELECTED.get().expect("the PML is chosen during MPI_Init")
    }
}
