//! Reading and writing files at explicit offsets. MPI 5.0 §14.4.2.

use super::io_access::{begin, read, read_all, write, write_all};
use super::kinds::{
    Agreed, Buffer, Committed, ConstBuffer, Count, File, Offset, Out, Raw, StatusOut, agreed_data, data,
};
use crate::file::FileCall;
use crate::framework::fbtl::AccessKind;
use crate::framework::io::Start;

rows! {
    /// Reads at an offset. MPI 5.0 §14.4.2.
    fn File_read_at(
        fh: File, offset: Raw<Offset>, buf: Buffer, count: Count, datatype: Committed, status: StatusOut,
    ) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is writable by the standard.
        unsafe { read(fh, Start::At(offset), &data) }.deliver(status)
    }

    /// Reads at an offset, collectively. MPI 5.0 §14.4.2.
    fn File_read_at_all(
        fh: File, offset: Raw<Offset>, buf: Buffer, count: Agreed<Count>, datatype: Agreed<Committed>, status: StatusOut,
    ) [large] => {
        let data = agreed_data(buf, count, datatype);
        // SAFETY: the buffer is writable by the standard.
        unsafe { read_all(fh, FileCall::ReadAtAll, Start::At(offset), data) }.deliver(status)
    }

    /// Writes at an offset. MPI 5.0 §14.4.2.
    fn File_write_at(
        fh: File, offset: Raw<Offset>, buf: ConstBuffer, count: Count, datatype: Committed, status: StatusOut,
    ) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is readable by the standard.
        unsafe { write(fh, Start::At(offset), &data) }.deliver(status)
    }

    /// Writes at an offset, collectively. MPI 5.0 §14.4.2.
    fn File_write_at_all(
        fh: File, offset: Raw<Offset>, buf: ConstBuffer, count: Agreed<Count>, datatype: Agreed<Committed>, status: StatusOut,
    ) [large] => {
        let data = agreed_data(buf, count, datatype);
        // SAFETY: the buffer is readable by the standard.
        unsafe { write_all(fh, FileCall::WriteAtAll, Start::At(offset), data) }.deliver(status)
    }

    /// Begins to read at an offset. MPI 5.0 §14.4.2.
    fn File_iread_at(
        fh: File, offset: Raw<Offset>, buf: Buffer, count: Count, datatype: Committed, request: Out<usize>,
    ) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is writable until the request is complete, by the standard.
        request.set(unsafe { begin(fh, Start::At(offset), &data, AccessKind::Read) }?);
        Ok(())
    }

    /// Begins to read at an offset, collectively. MPI 5.0 §14.4.2.
    fn File_iread_at_all(
        fh: File, offset: Raw<Offset>, buf: Buffer, count: Count, datatype: Committed, request: Out<usize>,
    ) [large] => {
        fh.split.none_pending()?;
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is writable until the request is complete, by the standard.
        request.set(unsafe { begin(fh, Start::At(offset), &data, AccessKind::Read) }?);
        Ok(())
    }

    /// Begins to write at an offset. MPI 5.0 §14.4.2.
    fn File_iwrite_at(
        fh: File, offset: Raw<Offset>, buf: ConstBuffer, count: Count, datatype: Committed, request: Out<usize>,
    ) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is readable until the request is complete, by the standard.
        request.set(unsafe { begin(fh, Start::At(offset), &data, AccessKind::Write) }?);
        Ok(())
    }

    /// Begins to write at an offset, collectively. MPI 5.0 §14.4.2.
    fn File_iwrite_at_all(
        fh: File, offset: Raw<Offset>, buf: ConstBuffer, count: Count, datatype: Committed, request: Out<usize>,
    ) [large] => {
        fh.split.none_pending()?;
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is readable until the request is complete, by the standard.
        request.set(unsafe { begin(fh, Start::At(offset), &data, AccessKind::Write) }?);
        Ok(())
    }
}
