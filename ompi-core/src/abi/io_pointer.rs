//! Reading and writing files at this process's file pointer. MPI 5.0 §14.4.3.

use super::kinds::{Buffer, Committed, ConstBuffer, File, Offset, Out, Raw, Signed, StatusOut};
use core::ffi::c_int;

rows! {
    /// Reads at this process's file pointer. MPI 5.0 §14.4.3.
    fn File_read(fh: File, buf: Buffer, count: Signed, datatype: Committed, status: StatusOut) [large] => unsupported

    /// Reads at each process's file pointer, collectively. MPI 5.0 §14.4.3.
    fn File_read_all(
        fh: File, buf: Buffer, count: Signed, datatype: Committed, status: StatusOut,
    ) [large] => unsupported

    /// Writes at this process's file pointer. MPI 5.0 §14.4.3.
    fn File_write(
        fh: File, buf: ConstBuffer, count: Signed, datatype: Committed, status: StatusOut,
    ) [large] => unsupported

    /// Writes at each process's file pointer, collectively. MPI 5.0 §14.4.3.
    fn File_write_all(
        fh: File, buf: ConstBuffer, count: Signed, datatype: Committed, status: StatusOut,
    ) [large] => unsupported

    /// Begins to read at this process's file pointer. MPI 5.0 §14.4.3.
    fn File_iread(fh: File, buf: Buffer, count: Signed, datatype: Committed, request: Out<usize>) [large] => unsupported

    /// Begins to read at each process's file pointer, collectively. MPI 5.0 §14.4.3.
    fn File_iread_all(
        fh: File, buf: Buffer, count: Signed, datatype: Committed, request: Out<usize>,
    ) [large] => unsupported

    /// Begins to write at this process's file pointer. MPI 5.0 §14.4.3.
    fn File_iwrite(
        fh: File, buf: ConstBuffer, count: Signed, datatype: Committed, request: Out<usize>,
    ) [large] => unsupported

    /// Begins to write at each process's file pointer, collectively. MPI 5.0 §14.4.3.
    fn File_iwrite_all(
        fh: File, buf: ConstBuffer, count: Signed, datatype: Committed, request: Out<usize>,
    ) [large] => unsupported

    /// Moves this process's file pointer. MPI 5.0 §14.4.3.
    fn File_seek(fh: File, offset: Raw<Offset>, whence: Raw<c_int>) [] => unsupported

    /// Where this process's file pointer is. MPI 5.0 §14.4.3.
    fn File_get_position(fh: File, offset: Out<Offset>) [] => unsupported

    /// The place in the file of an offset in the view. MPI 5.0 §14.4.3.
    fn File_get_byte_offset(fh: File, offset: Raw<Offset>, disp: Out<Offset>) [] => unsupported
}
