//! Reading and writing files at the shared file pointer. MPI 5.0 §14.4.4.

use super::io_access::{self, begin, read, read_all, write, write_all};
use super::kinds::{
    Agreed, Buffer, Committed, ConstBuffer, Count, File, Offset, Out, Raw, StatusOut, agreed_data, data,
};
use crate::file::FileCall;
use crate::framework::fbtl::AccessKind;
use crate::framework::io::Start;
use core::ffi::c_int;

rows! {
    /// Reads at the shared file pointer. MPI 5.0 §14.4.4.
    fn File_read_shared(
        fh: File, buf: Buffer, count: Count, datatype: Committed, status: StatusOut,
    ) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is writable by the standard.
        unsafe { read(fh, Start::Shared, &data) }.deliver(status)
    }

    /// Writes at the shared file pointer. MPI 5.0 §14.4.4.
    fn File_write_shared(
        fh: File, buf: ConstBuffer, count: Count, datatype: Committed, status: StatusOut,
    ) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is readable by the standard.
        unsafe { write(fh, Start::Shared, &data) }.deliver(status)
    }

    /// Begins to read at the shared file pointer. MPI 5.0 §14.4.4.
    fn File_iread_shared(
        fh: File, buf: Buffer, count: Count, datatype: Committed, request: Out<usize>,
    ) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is writable until the request is complete, by the standard.
        request.set(unsafe { begin(fh, Start::Shared, &data, AccessKind::Read) }?);
        Ok(())
    }

    /// Begins to write at the shared file pointer. MPI 5.0 §14.4.4.
    fn File_iwrite_shared(
        fh: File, buf: ConstBuffer, count: Count, datatype: Committed, request: Out<usize>,
    ) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is readable until the request is complete, by the standard.
        request.set(unsafe { begin(fh, Start::Shared, &data, AccessKind::Write) }?);
        Ok(())
    }

    /// Reads at the shared file pointer in rank order. MPI 5.0 §14.4.4.
    fn File_read_ordered(
        fh: File, buf: Buffer, count: Agreed<Count>, datatype: Agreed<Committed>, status: StatusOut,
    ) [large] => {
        let data = agreed_data(buf, count, datatype);
        // SAFETY: the buffer is writable by the standard.
        unsafe { read_all(fh, FileCall::ReadOrdered, Start::Ordered, data) }.deliver(status)
    }

    /// Writes at the shared file pointer in rank order. MPI 5.0 §14.4.4.
    fn File_write_ordered(
        fh: File, buf: ConstBuffer, count: Agreed<Count>, datatype: Agreed<Committed>, status: StatusOut,
    ) [large] => {
        let data = agreed_data(buf, count, datatype);
        // SAFETY: the buffer is readable by the standard.
        unsafe { write_all(fh, FileCall::WriteOrdered, Start::Ordered, data) }.deliver(status)
    }

    /// Moves the shared file pointer. MPI 5.0 §14.4.4.
    fn File_seek_shared(fh: File, offset: Raw<Offset>, whence: Raw<c_int>) [] => {
        fh.module.seek_shared(offset, fh.split.none_pending().and_then(|()| io_access::whence(whence)))
    }

    /// Where the shared file pointer is. MPI 5.0 §14.4.4.
    fn File_get_position_shared(fh: File, offset: Out<Offset>) [] => {
        offset.set(fh.module.position_shared()?);
        Ok(())
    }
}
