//! What a status says. MPI 5.0 §3.2.5, §3.8.4, §5.1.11 and §13.3.

use super::kinds::{Datatype, InStatus, LargeCount, Out, OutCount, OutPtr, Rank, Raw, Signed};
use crate::datatype::Datatype as Type;
use crate::error::Result;
use crate::status::{Status, UNDEFINED};
use core::ffi::c_int;

rows! {
    /// Number of elements received. MPI 5.0 §3.2.5.
    fn Get_count(status: InStatus, datatype: Datatype, count: OutCount) [large] => {
        count.set(datatype.count_in(&status).unwrap_or(UNDEFINED.into()));
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
        count.set(datatype.elements_in(&status).unwrap_or(UNDEFINED.into()));
        Ok(())
    }

    /// Number of basic elements received, as MPI_Count. Deprecated. MPI 5.0 §16.4.
    fn Get_elements_x(status: InStatus, datatype: Datatype, count: Out<LargeCount>) [] => {
        count.set(datatype.elements_in(&status).unwrap_or(UNDEFINED.into()));
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

/// MPI_Status_set_elements and its relatives.
fn set_elements(status: OutPtr<Status>, datatype: &Type, count: i64) -> Result<()> {
    let mut new = status.get();
    datatype.set_elements(&mut new, count)?;
    status.set(new);
    Ok(())
}
