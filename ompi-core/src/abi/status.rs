//! What a status says. MPI 5.0 §3.2.5, §3.8.4, §5.1.11 and §13.3.

use super::kinds::{Datatype, InStatus, LargeCount, Out, OutCount, Place, Rank, Raw, Signed};
use crate::datatype::Datatype as Type;
use crate::error::{Class, Fault, Result};
use crate::status::{Status, UNDEFINED};
use core::ffi::c_int;

rows! {
    /// Number of elements received. MPI 5.0 §3.2.5.
    fn Get_count(status: InStatus, datatype: Datatype, count: OutCount) [large] => {
        count.set(whole(status.bytes(), datatype.layout.size() as u64).unwrap_or(UNDEFINED as i64));
        Ok(())
    }

    /// Source rank of a status. MPI 5.0 §3.2.5.
    fn Status_get_source(status: InStatus, source: Out<c_int>) [] => {
        source.set(status.source);
        Ok(())
    }

    /// Tag of a status. MPI 5.0 §3.2.5.
    fn Status_get_tag(status: InStatus, tag: Out<c_int>) [] => {
        tag.set(status.tag);
        Ok(())
    }

    /// Error code of a status. MPI 5.0 §3.2.5.
    fn Status_get_error(status: InStatus, error: Out<c_int>) [] => {
        error.set(status.error);
        Ok(())
    }

    /// Says whether the operation was cancelled. MPI 5.0 §3.8.4.
    fn Test_cancelled(status: InStatus, flag: Out<c_int>) [] => {
        flag.set(c_int::from(status.cancelled()));
        Ok(())
    }

    /// Number of basic elements received. MPI 5.0 §5.1.11.
    fn Get_elements(status: InStatus, datatype: Datatype, count: OutCount) [large] => {
        count.set(elements(&status, datatype));
        Ok(())
    }

    /// Number of basic elements received, as MPI_Count. Deprecated. MPI 5.0 §16.4.
    fn Get_elements_x(status: InStatus, datatype: Datatype, count: Out<LargeCount>) [] => {
        count.set(elements(&status, datatype));
        Ok(())
    }

    /// Sets the number of elements in a status. MPI 5.0 §13.3.
    fn Status_set_elements(status: Out<Status>, datatype: Datatype, count: Signed) [large] => {
        set_elements(status, datatype, count)
    }

    /// Sets the number of elements in a status from an MPI_Count. Deprecated. MPI 5.0 §16.4.
    fn Status_set_elements_x(status: Out<Status>, datatype: Datatype, count: Raw<LargeCount>) [] => {
        set_elements(status, datatype, count)
    }

    /// Sets whether a status says cancelled. MPI 5.0 §13.3.
    fn Status_set_cancelled(status: Out<Status>, flag: Raw<c_int>) [] => {
        let mut new = status.get();
        new.set_cancelled(flag != 0);
        status.set(new);
        Ok(())
    }

    /// Sets the source rank of a status. MPI 5.0 §13.3.
    fn Status_set_source(status: Out<Status>, source: Rank) [] => {
        let mut new = status.get();
        new.source = source;
        status.set(new);
        Ok(())
    }

    /// Sets the tag of a status. MPI 5.0 §13.3.
    fn Status_set_tag(status: Out<Status>, tag: Raw<c_int>) [] => {
        let mut new = status.get();
        new.tag = tag;
        status.set(new);
        Ok(())
    }

    /// Sets the error code of a status. MPI 5.0 §13.3.
    fn Status_set_error(status: Out<Status>, error: Raw<c_int>) [] => {
        let mut new = status.get();
        new.error = error;
        status.set(new);
        Ok(())
    }
}

/// How many elements of `size` bytes these are; `None` if they are no whole number.
fn whole(bytes: u64, size: u64) -> Option<i64> {
    match (bytes, size) {
        (0, _) => Some(0),
        (_, 0) => None,
        _ => bytes.is_multiple_of(size).then(|| (bytes / size) as i64),
    }
}

/// Basic elements received. MPI_UNDEFINED where the end of the data is within one, or within an element of a datatype
/// that is made of several basic types.
fn elements(status: &Status, datatype: &Type) -> i64 {
    let layout = &datatype.layout;
    let (bytes, size, inside) = (status.bytes(), layout.size() as u64, layout.primitives() as u64);
    if let Some(count) = whole(bytes, size) {
        return count * inside as i64;
    }
    let basic = layout.primitive().and_then(|_| size.checked_div(inside));
    basic.and_then(|basic| whole(bytes, basic)).unwrap_or(UNDEFINED as i64)
}

/// Says that a status stands for `count` basic elements.
fn set_elements(status: Place<Status>, datatype: &Type, count: i64) -> Result<()> {
    let layout = &datatype.layout;
    let bytes = u64::try_from(count)
        .map_err(|_| Fault::new(Class::Count).argument("count").because("it is negative"))?
        .checked_mul(layout.size() as u64)
        .ok_or(Class::Count)?;
    let mut new = status.get();
    new.set_bytes(bytes.checked_div(layout.primitives() as u64).unwrap_or(0));
    status.set(new);
    Ok(())
}
