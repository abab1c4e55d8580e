//! Collective reading and writing in two steps. MPI 5.0 §14.4.5.

use super::io_access::{read_all, write_all};
use super::kinds::{Agreed, Buffer, Committed, ConstBuffer, Count, File, Offset, Raw, StatusOut, agreed_data};
use crate::file::FileCall;
use crate::framework::io::Start;

rows! {
    /// First half of MPI_File_read_at_all. MPI 5.0 §14.4.5.
    fn File_read_at_all_begin(
        fh: File, offset: Raw<Offset>, buf: Buffer, count: Agreed<Count>, datatype: Agreed<Committed>,
    ) [large] => {
        let data = agreed_data(buf, count, datatype);
        // SAFETY: the buffer is writable by the standard.
        let outcome = unsafe { read_all(fh, FileCall::ReadAtAllBegin, Start::At(offset), data) };
        fh.split.begin(FileCall::ReadAtAllBegin, buf, outcome)
    }

    /// Second half of MPI_File_read_at_all. MPI 5.0 §14.4.5.
    fn File_read_at_all_end(fh: File, buf: Buffer, status: StatusOut) [] => {
        fh.split.end(FileCall::ReadAtAllBegin, buf)?.deliver(status)
    }

    /// First half of MPI_File_write_at_all. MPI 5.0 §14.4.5.
    fn File_write_at_all_begin(
        fh: File, offset: Raw<Offset>, buf: ConstBuffer, count: Agreed<Count>, datatype: Agreed<Committed>,
    ) [large] => {
        let data = agreed_data(buf, count, datatype);
        // SAFETY: the buffer is readable by the standard.
        let outcome = unsafe { write_all(fh, FileCall::WriteAtAllBegin, Start::At(offset), data) };
        fh.split.begin(FileCall::WriteAtAllBegin, buf, outcome)
    }

    /// Second half of MPI_File_write_at_all. MPI 5.0 §14.4.5.
    fn File_write_at_all_end(fh: File, buf: ConstBuffer, status: StatusOut) [] => {
        fh.split.end(FileCall::WriteAtAllBegin, buf)?.deliver(status)
    }

    /// First half of MPI_File_read_all. MPI 5.0 §14.4.5.
    fn File_read_all_begin(fh: File, buf: Buffer, count: Agreed<Count>, datatype: Agreed<Committed>) [large] => {
        let data = agreed_data(buf, count, datatype);
        // SAFETY: the buffer is writable by the standard.
        let outcome = unsafe { read_all(fh, FileCall::ReadAllBegin, Start::Pointer, data) };
        fh.split.begin(FileCall::ReadAllBegin, buf, outcome)
    }

    /// Second half of MPI_File_read_all. MPI 5.0 §14.4.5.
    fn File_read_all_end(fh: File, buf: Buffer, status: StatusOut) [] => {
        fh.split.end(FileCall::ReadAllBegin, buf)?.deliver(status)
    }

    /// First half of MPI_File_write_all. MPI 5.0 §14.4.5.
    fn File_write_all_begin(fh: File, buf: ConstBuffer, count: Agreed<Count>, datatype: Agreed<Committed>) [large] => {
        let data = agreed_data(buf, count, datatype);
        // SAFETY: the buffer is readable by the standard.
        let outcome = unsafe { write_all(fh, FileCall::WriteAllBegin, Start::Pointer, data) };
        fh.split.begin(FileCall::WriteAllBegin, buf, outcome)
    }

    /// Second half of MPI_File_write_all. MPI 5.0 §14.4.5.
    fn File_write_all_end(fh: File, buf: ConstBuffer, status: StatusOut) [] => {
        fh.split.end(FileCall::WriteAllBegin, buf)?.deliver(status)
    }

    /// First half of MPI_File_read_ordered. MPI 5.0 §14.4.5.
    fn File_read_ordered_begin(fh: File, buf: Buffer, count: Agreed<Count>, datatype: Agreed<Committed>) [large] => {
        let data = agreed_data(buf, count, datatype);
        // SAFETY: the buffer is writable by the standard.
        let outcome = unsafe { read_all(fh, FileCall::ReadOrderedBegin, Start::Ordered, data) };
        fh.split.begin(FileCall::ReadOrderedBegin, buf, outcome)
    }

    /// Second half of MPI_File_read_ordered. MPI 5.0 §14.4.5.
    fn File_read_ordered_end(fh: File, buf: Buffer, status: StatusOut) [] => {
        fh.split.end(FileCall::ReadOrderedBegin, buf)?.deliver(status)
    }

    /// First half of MPI_File_write_ordered. MPI 5.0 §14.4.5.
    fn File_write_ordered_begin(fh: File, buf: ConstBuffer, count: Agreed<Count>, datatype: Agreed<Committed>) [large] => {
        let data = agreed_data(buf, count, datatype);
        // SAFETY: the buffer is readable by the standard.
        let outcome = unsafe { write_all(fh, FileCall::WriteOrderedBegin, Start::Ordered, data) };
        fh.split.begin(FileCall::WriteOrderedBegin, buf, outcome)
    }

    /// Second half of MPI_File_write_ordered. MPI 5.0 §14.4.5.
    fn File_write_ordered_end(fh: File, buf: ConstBuffer, status: StatusOut) [] => {
        fh.split.end(FileCall::WriteOrderedBegin, buf)?.deliver(status)
    }
}
