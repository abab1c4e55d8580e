//! Collective reading and writing in two steps. MPI 5.0 §14.4.5.

use super::kinds::{Buffer, Committed, ConstBuffer, File, Offset, Raw, Signed, StatusOut};

rows! {
    /// First half of MPI_File_read_at_all. MPI 5.0 §14.4.5.
    fn File_read_at_all_begin(
        fh: File, offset: Raw<Offset>, buf: Buffer, count: Signed, datatype: Committed,
    ) [large] => unsupported

    /// Second half of MPI_File_read_at_all. MPI 5.0 §14.4.5.
    fn File_read_at_all_end(fh: File, buf: Buffer, status: StatusOut) [] => unsupported

    /// First half of MPI_File_write_at_all. MPI 5.0 §14.4.5.
    fn File_write_at_all_begin(
        fh: File, offset: Raw<Offset>, buf: ConstBuffer, count: Signed, datatype: Committed,
    ) [large] => unsupported

    /// Second half of MPI_File_write_at_all. MPI 5.0 §14.4.5.
    fn File_write_at_all_end(fh: File, buf: ConstBuffer, status: StatusOut) [] => unsupported

    /// First half of MPI_File_read_all. MPI 5.0 §14.4.5.
    fn File_read_all_begin(fh: File, buf: Buffer, count: Signed, datatype: Committed) [large] => unsupported

    /// Second half of MPI_File_read_all. MPI 5.0 §14.4.5.
    fn File_read_all_end(fh: File, buf: Buffer, status: StatusOut) [] => unsupported

    /// First half of MPI_File_write_all. MPI 5.0 §14.4.5.
    fn File_write_all_begin(fh: File, buf: ConstBuffer, count: Signed, datatype: Committed) [large] => unsupported

    /// Second half of MPI_File_write_all. MPI 5.0 §14.4.5.
    fn File_write_all_end(fh: File, buf: ConstBuffer, status: StatusOut) [] => unsupported

    /// First half of MPI_File_read_ordered. MPI 5.0 §14.4.5.
    fn File_read_ordered_begin(fh: File, buf: Buffer, count: Signed, datatype: Committed) [large] => unsupported

    /// Second half of MPI_File_read_ordered. MPI 5.0 §14.4.5.
    fn File_read_ordered_end(fh: File, buf: Buffer, status: StatusOut) [] => unsupported

    /// First half of MPI_File_write_ordered. MPI 5.0 §14.4.5.
    fn File_write_ordered_begin(fh: File, buf: ConstBuffer, count: Signed, datatype: Committed) [large] => unsupported

    /// Second half of MPI_File_write_ordered. MPI 5.0 §14.4.5.
    fn File_write_ordered_end(fh: File, buf: ConstBuffer, status: StatusOut) [] => unsupported
}
