//! Reading and writing files at this process's file pointer. MPI 5.0 §14.4.3.

use super::io_access::{self, begin, read, read_all, write, write_all};
use super::kinds::{
    Agreed, Buffer, Committed, ConstBuffer, Count, File, Offset, Out, Raw, StatusOut, agreed_data, data,
};
use crate::error::{Class, Fault};
use crate::file::FileCall;
use crate::framework::fbtl::AccessKind;
use crate::framework::io::Start;
use alloc::format;
use core::ffi::c_int;

rows! {
    /// Reads at this process's file pointer. MPI 5.0 §14.4.3.
    fn File_read(fh: File, buf: Buffer, count: Count, datatype: Committed, status: StatusOut) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is writable by the standard.
        unsafe { read(fh, Start::Pointer, &data) }.deliver(status)
    }

    /// Reads at each process's file pointer, collectively. MPI 5.0 §14.4.3.
    fn File_read_all(
        fh: File, buf: Buffer, count: Agreed<Count>, datatype: Agreed<Committed>, status: StatusOut,
    ) [large] => {
        let data = agreed_data(buf, count, datatype);
        // SAFETY: the buffer is writable by the standard.
        unsafe { read_all(fh, FileCall::ReadAll, Start::Pointer, data) }.deliver(status)
    }

    /// Writes at this process's file pointer. MPI 5.0 §14.4.3.
    fn File_write(
        fh: File, buf: ConstBuffer, count: Count, datatype: Committed, status: StatusOut,
    ) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is readable by the standard.
        unsafe { write(fh, Start::Pointer, &data) }.deliver(status)
    }

    /// Writes at each process's file pointer, collectively. MPI 5.0 §14.4.3.
    fn File_write_all(
        fh: File, buf: ConstBuffer, count: Agreed<Count>, datatype: Agreed<Committed>, status: StatusOut,
    ) [large] => {
        let data = agreed_data(buf, count, datatype);
        // SAFETY: the buffer is readable by the standard.
        unsafe { write_all(fh, FileCall::WriteAll, Start::Pointer, data) }.deliver(status)
    }

    /// Begins to read at this process's file pointer. MPI 5.0 §14.4.3.
    fn File_iread(fh: File, buf: Buffer, count: Count, datatype: Committed, request: Out<usize>) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is writable until the request is complete, by the standard.
        request.set(unsafe { begin(fh, Start::Pointer, &data, AccessKind::Read) }?);
        Ok(())
    }

    /// Begins to read at each process's file pointer, collectively. MPI 5.0 §14.4.3.
    fn File_iread_all(
        fh: File, buf: Buffer, count: Count, datatype: Committed, request: Out<usize>,
    ) [large] => {
        fh.split.none_pending()?;
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is writable until the request is complete, by the standard.
        request.set(unsafe { begin(fh, Start::Pointer, &data, AccessKind::Read) }?);
        Ok(())
    }

    /// Begins to write at this process's file pointer. MPI 5.0 §14.4.3.
    fn File_iwrite(
        fh: File, buf: ConstBuffer, count: Count, datatype: Committed, request: Out<usize>,
    ) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is readable until the request is complete, by the standard.
        request.set(unsafe { begin(fh, Start::Pointer, &data, AccessKind::Write) }?);
        Ok(())
    }

    /// Begins to write at each process's file pointer, collectively. MPI 5.0 §14.4.3.
    fn File_iwrite_all(
        fh: File, buf: ConstBuffer, count: Count, datatype: Committed, request: Out<usize>,
    ) [large] => {
        fh.split.none_pending()?;
        let data = data(buf, count, datatype, "buf")?;
        // SAFETY: the buffer is readable until the request is complete, by the standard.
        request.set(unsafe { begin(fh, Start::Pointer, &data, AccessKind::Write) }?);
        Ok(())
    }

    /// Moves this process's file pointer. MPI 5.0 §14.4.3.
    fn File_seek(fh: File, offset: Raw<Offset>, whence: Raw<c_int>) [] => {
        fh.module.seek(offset, io_access::whence(whence)?)
    }

    /// Where this process's file pointer is. MPI 5.0 §14.4.3.
    fn File_get_position(fh: File, offset: Out<Offset>) [] => {
        offset.set(fh.module.position()?);
        Ok(())
    }

    /// The place in the file of an offset in the view. MPI 5.0 §14.4.3.
    fn File_get_byte_offset(fh: File, offset: Raw<Offset>, disp: Out<Offset>) [] => {
        let offset = u64::try_from(offset).map_err(|_| {
            let why = format!("{offset} is negative; offsets count from the beginning of the view");
            Fault::new(Class::Arg).argument("offset").because(why)
        })?;
        disp.set(fh.module.byte_offset(offset)? as Offset);
        Ok(())
    }
}
