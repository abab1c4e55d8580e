//! Packing and unpacking. MPI 5.0 §5.2 and §5.3.

use super::kinds::{Aint, Buffer, Comm, Committed, ConstBuffer, Count, CountPlace, Out, OutCount, Raw, Text, data};
use crate::error::{Class, Fault, Result};
use alloc::format;

rows! {
    /// Packs data into a buffer. MPI 5.0 §5.2.
    fn Pack(
        inbuf: ConstBuffer, incount: Count, datatype: Committed, outbuf: Buffer, outsize: Count, position: OutCount,
        comm: Comm,
    ) [large] => {
        let data = data(inbuf, incount, datatype, "inbuf")?;
        let at = place(position, outsize, data.bytes(), "outsize")?;
        bytes(outbuf, data.bytes(), "outbuf")?;
        // SAFETY: the input is readable by the standard.
        let mut walk = unsafe { data.convertor() };
        // SAFETY: `outsize` bytes are writable by the standard, and all of the data fits behind `at`.
        let packed = unsafe { walk.pack(outbuf.wrapping_add(at), outsize - at) };
        position.set((at + packed) as i64);
        let _unused = comm;
        Ok(())
    }

    /// Unpacks data from a buffer. MPI 5.0 §5.2.
    fn Unpack(
        inbuf: ConstBuffer, insize: Count, position: OutCount, outbuf: Buffer, outcount: Count, datatype: Committed,
        comm: Comm,
    ) [large] => {
        let data = data(outbuf, outcount, datatype, "outbuf")?;
        let at = place(position, insize, data.bytes(), "insize")?;
        bytes(inbuf, data.bytes(), "inbuf")?;
        // SAFETY: the output is writable by the standard.
        let mut walk = unsafe { data.convertor() };
        // SAFETY: `insize` bytes are readable by the standard, and all of the data lies behind `at`.
        let unpacked = unsafe { walk.unpack(inbuf.wrapping_add(at), data.bytes()) };
        position.set((at + unpacked) as i64);
        let _unused = comm;
        Ok(())
    }

    /// An upper bound of the bytes that packing needs. MPI 5.0 §5.2.
    fn Pack_size(incount: Count, datatype: Committed, comm: Comm, size: OutCount) [large] => {
        let _unused = comm;
        let bytes = incount.checked_mul(datatype.layout.size()).and_then(|bytes| i64::try_from(bytes).ok());
        size.set(bytes.ok_or_else(|| Fault::new(Class::Count).argument("incount").because("the data is too long"))?);
        Ok(())
    }

    /// Packs data in the portable representation. MPI 5.0 §5.3.
    fn Pack_external(
        datarep: Text, inbuf: ConstBuffer, incount: Count, datatype: Committed, outbuf: Buffer, outsize: Raw<Aint>,
        position: Out<Aint>,
    ) [large] => unsupported

    /// Unpacks data from the portable representation. MPI 5.0 §5.3.
    fn Unpack_external(
        datarep: Text, inbuf: ConstBuffer, insize: Raw<Aint>, position: Out<Aint>, outbuf: Buffer, outcount: Count,
        datatype: Committed,
    ) [large] => unsupported

    /// Bytes that the portable representation needs. MPI 5.0 §5.3.
    fn Pack_external_size(datarep: Text, incount: Count, datatype: Committed, size: Out<Aint>) [large] => unsupported
}

/// Where packed data begins, if `bytes` of it lie within the buffer.
fn place(position: CountPlace, size: usize, bytes: usize, argument: &'static str) -> Result<usize> {
    let at = usize::try_from(position.get()).ok().filter(|at| *at <= size).ok_or_else(|| {
        let why = format!("{} is no place in a buffer of {size} bytes", position.get());
        Fault::new(Class::Arg).argument("position").because(why)
    })?;
    if size - at < bytes {
        let why = format!("{bytes} bytes of data do not lie within {size} bytes from position {at} on");
        return Err(Fault::new(Class::Truncate).argument(argument).because(why));
    }
    Ok(at)
}

/// Packed bytes are no MPI_BOTTOM: they lie where the buffer begins.
fn bytes(at: *mut u8, length: usize, argument: &'static str) -> Result<()> {
    match at.is_null() && length > 0 {
        false => Ok(()),
        true => Err(Fault::new(Class::Buffer).argument(argument).because("a null pointer for packed data")),
    }
}
