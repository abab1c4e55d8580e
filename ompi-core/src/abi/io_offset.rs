//! Reading and writing files at explicit offsets. MPI 5.0 §14.4.2.

use super::kinds::{Buffer, Committed, ConstBuffer, File, Offset, Out, Raw, Signed, StatusOut};

rows! {
    /// Reads at an offset. MPI 5.0 §14.4.2.
    fn File_read_at(
        fh: File, offset: Raw<Offset>, buf: Buffer, count: Signed, datatype: Committed, status: StatusOut,
    ) [large] => unsupported

    /// Reads at an offset, collectively. MPI 5.0 §14.4.2.
    fn File_read_at_all(
        fh: File, offset: Raw<Offset>, buf: Buffer, count: Signed, datatype: Committed, status: StatusOut,
    ) [large] => unsupported

    /// Writes at an offset. MPI 5.0 §14.4.2.
    fn File_write_at(
        fh: File, offset: Raw<Offset>, buf: ConstBuffer, count: Signed, datatype: Committed, status: StatusOut,
    ) [large] => unsupported

    /// Writes at an offset, collectively. MPI 5.0 §14.4.2.
    fn File_write_at_all(
        fh: File, offset: Raw<Offset>, buf: ConstBuffer, count: Signed, datatype: Committed, status: StatusOut,
    ) [large] => unsupported

    /// Begins to read at an offset. MPI 5.0 §14.4.2.
    fn File_iread_at(
        fh: File, offset: Raw<Offset>, buf: Buffer, count: Signed, datatype: Committed, request: Out<usize>,
    ) [large] => unsupported

    /// Begins to read at an offset, collectively. MPI 5.0 §14.4.2.
    fn File_iread_at_all(
        fh: File, offset: Raw<Offset>, buf: Buffer, count: Signed, datatype: Committed, request: Out<usize>,
    ) [large] => unsupported

    /// Begins to write at an offset. MPI 5.0 §14.4.2.
    fn File_iwrite_at(
        fh: File, offset: Raw<Offset>, buf: ConstBuffer, count: Signed, datatype: Committed, request: Out<usize>,
    ) [large] => unsupported

    /// Begins to write at an offset, collectively. MPI 5.0 §14.4.2.
    fn File_iwrite_at_all(
        fh: File, offset: Raw<Offset>, buf: ConstBuffer, count: Signed, datatype: Committed, request: Out<usize>,
    ) [large] => unsupported
}
