//! Running or beginning a collective whose arguments were checked.
#![allow(unsafe_code)] // hands buffers to the library

use crate::Result;
use crate::datatype::{Buffer, BufferMut};
use crate::raw;
use crate::request::{Loan, Request, Scope};
use crate::topology::Owned;
use ompi_core::data::Data;
use ompi_core::error::Result as Inner;
use ompi_core::executor;
use ompi_core::framework::coll::Call;

/// Runs it.
///
/// # Safety
/// The call's data is borrowed: sources readable, targets writable, and they do not overlap; there is as much of it as
/// [`Module`](ompi_core::framework::coll::Module) says.
#[inline(always)]
pub unsafe fn now(owned: &Owned, function: &'static str, call: Inner<Call<'_>>) -> Result<()> {
    // SAFETY: the caller's promise.
    owned.checked(function, call.and_then(|call| unsafe { executor::run(owned.comm(), &call) }))
}

/// Begins it and gives it to the scope.
///
/// # Safety
/// As [`now`], and the data are the buffers that `away` was made of, lent for `'a`. What an operation of the user captured
/// lives as long.
pub unsafe fn begin<'a, D: Loan, Sc: Scope<'a>>(
    (owned, scope): (&Owned, Sc),
    function: &'static str,
    away: D::Away,
    call: Inner<Call<'_>>,
) -> Result<Request<'a, D, Sc>> {
    // SAFETY: the loans are for 'a, and `Request::new` gives the operation to the scope, which ends it before that.
    let begun = call.and_then(|call| unsafe { raw::begin(owned.handle(), call) });
    Ok(Request::new(scope, owned.checked(function, begun)?, away))
}

/// A buffer to send and one to receive, as an operation that goes on holds them, and as data. The addresses come first:
/// ones taken later would end the claim of those that the library has.
pub fn lend<'a, S, R>(send: &'a S, receive: &'a mut R) -> ((*const S, *mut R), Data<'a>, Data<'a>)
where
    S: Buffer + ?Sized,
    R: BufferMut + ?Sized,
{
    let away = (send, receive).away();
    // SAFETY: just taken; the references end when they have become data.
    let (send, receive) = unsafe { <(&'a S, &'a mut R)>::back(away) };
    (away, raw::source(send), raw::target(receive))
}

/// As [`lend`] for one buffer.
pub fn lend_one<'a, R: BufferMut + ?Sized>(receive: &'a mut R) -> (*mut R, Data<'a>) {
    let away = receive.away();
    // SAFETY: as in `lend`.
    let receive = unsafe { <&'a mut R>::back(away) };
    (away, raw::target(receive))
}
