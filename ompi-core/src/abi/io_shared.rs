//! Reading and writing files at the shared file pointer. MPI 5.0 §14.4.4.

use super::kinds::{Buffer, Committed, ConstBuffer, File, Offset, Out, Raw, Signed, StatusOut};
use core::ffi::c_int;

rows! {
    /// Reads at the shared file pointer. MPI 5.0 §14.4.4.
    fn File_read_shared(
        fh: File, buf: Buffer, count: Signed, datatype: Committed, status: StatusOut,
    ) [large] => unsupported

    /// Writes at the shared file pointer. MPI 5.0 §14.4.4.
    fn File_write_shared(
        fh: File, buf: ConstBuffer, count: Signed, datatype: Committed, status: StatusOut,
    ) [large] => unsupported

    /// Begins to read at the shared file pointer. MPI 5.0 §14.4.4.
    fn File_iread_shared(
        fh: File, buf: Buffer, count: Signed, datatype: Committed, request: Out<usize>,
    ) [large] => unsupported

    /// Begins to write at the shared file pointer. MPI 5.0 §14.4.4.
    fn File_iwrite_shared(
        fh: File, buf: ConstBuffer, count: Signed, datatype: Committed, request: Out<usize>,
    ) [large] => unsupported

    /// Reads at the shared file pointer in rank order. MPI 5.0 §14.4.4.
    fn File_read_ordered(
        fh: File, buf: Buffer, count: Signed, datatype: Committed, status: StatusOut,
    ) [large] => unsupported

    /// Writes at the shared file pointer in rank order. MPI 5.0 §14.4.4.
    fn File_write_ordered(
        fh: File, buf: ConstBuffer, count: Signed, datatype: Committed, status: StatusOut,
    ) [large] => unsupported

    /// Moves the shared file pointer. MPI 5.0 §14.4.4.
    fn File_seek_shared(fh: File, offset: Raw<Offset>, whence: Raw<c_int>) [] => unsupported

    /// Where the shared file pointer is. MPI 5.0 §14.4.4.
    fn File_get_position_shared(fh: File, offset: Out<Offset>) [] => unsupported
}
