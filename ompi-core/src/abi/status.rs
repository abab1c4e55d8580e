//! What a status says. MPI 5.0 §3.2.5, §3.8.4, §5.1.11 and §13.3.

use super::kinds::{Datatype, InStatus, LargeCount, Out, OutCount, Rank, Raw, Signed, Tag};
use crate::status::Status;
use core::ffi::c_int;

rows! {
    /// Number of elements received. MPI 5.0 §3.2.5.
    fn Get_count(status: InStatus, datatype: Datatype, count: OutCount) [large] => unsupported

    /// Source rank of a status. MPI 5.0 §3.2.5.
    fn Status_get_source(status: InStatus, source: Out<c_int>) [] => unsupported

    /// Tag of a status. MPI 5.0 §3.2.5.
    fn Status_get_tag(status: InStatus, tag: Out<c_int>) [] => unsupported

    /// Error code of a status. MPI 5.0 §3.2.5.
    fn Status_get_error(status: InStatus, error: Out<c_int>) [] => unsupported

    /// Says whether the operation was cancelled. MPI 5.0 §3.8.4.
    fn Test_cancelled(status: InStatus, flag: Out<c_int>) [] => unsupported

    /// Number of basic elements received. MPI 5.0 §5.1.11.
    fn Get_elements(status: InStatus, datatype: Datatype, count: OutCount) [large] => unsupported

    /// Number of basic elements received, as MPI_Count. Deprecated. MPI 5.0 §16.4.
    fn Get_elements_x(status: InStatus, datatype: Datatype, count: Out<LargeCount>) [] => unsupported

    /// Sets the number of elements in a status. MPI 5.0 §13.3.
    fn Status_set_elements(status: Out<Status>, datatype: Datatype, count: Signed) [large] => unsupported

    /// Sets the number of elements in a status from an MPI_Count. Deprecated. MPI 5.0 §16.4.
    fn Status_set_elements_x(status: Out<Status>, datatype: Datatype, count: Raw<LargeCount>) [] => unsupported

    /// Sets whether a status says cancelled. MPI 5.0 §13.3.
    fn Status_set_cancelled(status: Out<Status>, flag: Raw<c_int>) [] => unsupported

    /// Sets the source rank of a status. MPI 5.0 §13.3.
    fn Status_set_source(status: Out<Status>, source: Rank) [] => unsupported

    /// Sets the tag of a status. MPI 5.0 §13.3.
    fn Status_set_tag(status: Out<Status>, tag: Tag) [] => unsupported

    /// Sets the error code of a status. MPI 5.0 §13.3.
    fn Status_set_error(status: Out<Status>, error: Raw<c_int>) [] => unsupported
}
