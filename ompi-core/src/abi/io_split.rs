//! Collective reading and writing in two steps. MPI 5.0 §14.4.5.

use super::io_access::{read, write};
use super::kinds::{Buffer, Committed, ConstBuffer, Count, File, Offset, Raw, StatusOut, data};
use crate::file::SplitCall;
use crate::framework::io::Start;

rows! {
    /// First half of MPI_File_read_at_all. MPI 5.0 §14.4.5.
    fn File_read_at_all_begin(
        fh: File, offset: Raw<Offset>, buf: Buffer, count: Count, datatype: Committed,
    ) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is writable by the standard.
        fh.split.begin(SplitCall::ReadAt, buf, || unsafe { read(fh, Start::At(offset), &data, true) })
    }

    /// Second half of MPI_File_read_at_all. MPI 5.0 §14.4.5.
    fn File_read_at_all_end(fh: File, buf: Buffer, status: StatusOut) [] => {
        fh.split.end(SplitCall::ReadAt, buf)?.deliver(status)
    }

    /// First half of MPI_File_write_at_all. MPI 5.0 §14.4.5.
    fn File_write_at_all_begin(
        fh: File, offset: Raw<Offset>, buf: ConstBuffer, count: Count, datatype: Committed,
    ) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is readable by the standard.
        fh.split.begin(SplitCall::WriteAt, buf, || unsafe { write(fh, Start::At(offset), &data, true) })
    }

    /// Second half of MPI_File_write_at_all. MPI 5.0 §14.4.5.
    fn File_write_at_all_end(fh: File, buf: ConstBuffer, status: StatusOut) [] => {
        fh.split.end(SplitCall::WriteAt, buf)?.deliver(status)
    }

    /// First half of MPI_File_read_all. MPI 5.0 §14.4.5.
    fn File_read_all_begin(fh: File, buf: Buffer, count: Count, datatype: Committed) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is writable by the standard.
        fh.split.begin(SplitCall::Read, buf, || unsafe { read(fh, Start::Pointer, &data, true) })
    }

    /// Second half of MPI_File_read_all. MPI 5.0 §14.4.5.
    fn File_read_all_end(fh: File, buf: Buffer, status: StatusOut) [] => {
        fh.split.end(SplitCall::Read, buf)?.deliver(status)
    }

    /// First half of MPI_File_write_all. MPI 5.0 §14.4.5.
    fn File_write_all_begin(fh: File, buf: ConstBuffer, count: Count, datatype: Committed) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is readable by the standard.
        fh.split.begin(SplitCall::Write, buf, || unsafe { write(fh, Start::Pointer, &data, true) })
    }

    /// Second half of MPI_File_write_all. MPI 5.0 §14.4.5.
    fn File_write_all_end(fh: File, buf: ConstBuffer, status: StatusOut) [] => {
        fh.split.end(SplitCall::Write, buf)?.deliver(status)
    }

    /// First half of MPI_File_read_ordered. MPI 5.0 §14.4.5.
    fn File_read_ordered_begin(fh: File, buf: Buffer, count: Count, datatype: Committed) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is writable by the standard.
        fh.split.begin(SplitCall::ReadOrdered, buf, || unsafe { read(fh, Start::Ordered, &data, true) })
    }

    /// Second half of MPI_File_read_ordered. MPI 5.0 §14.4.5.
    fn File_read_ordered_end(fh: File, buf: Buffer, status: StatusOut) [] => {
        fh.split.end(SplitCall::ReadOrdered, buf)?.deliver(status)
    }

    /// First half of MPI_File_write_ordered. MPI 5.0 §14.4.5.
    fn File_write_ordered_begin(fh: File, buf: ConstBuffer, count: Count, datatype: Committed) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is readable by the standard.
        fh.split.begin(SplitCall::WriteOrdered, buf, || unsafe { write(fh, Start::Ordered, &data, true) })
    }

    /// Second half of MPI_File_write_ordered. MPI 5.0 §14.4.5.
    fn File_write_ordered_end(fh: File, buf: ConstBuffer, status: StatusOut) [] => {
        fh.split.end(SplitCall::WriteOrdered, buf)?.deliver(status)
    }
}
