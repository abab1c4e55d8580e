//! Packing and unpacking. MPI 5.0 §5.2 and §5.3.

use super::kinds::{Aint, Buffer, Comm, Committed, ConstBuffer, Count, Out, OutCount, Raw, Text, data};
use crate::error::{Class, Fault, Result};
use alloc::format;
use core::ffi::CStr;
use opal_core::datatype::{Layout, pack_external, unpack_external};

rows! {
    /// Packs data into a buffer. MPI 5.0 §5.2.
    fn Pack(
        inbuf: ConstBuffer, incount: Count, datatype: Committed, outbuf: Buffer, outsize: Count, position: OutCount,
        comm: Comm,
    ) [large] => {
        let data = data(inbuf, incount, datatype, "inbuf")?;
        let at = place(position.get(), outsize, data.bytes(), "outsize")?;
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
        let at = place(position.get(), insize, data.bytes(), "insize")?;
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
    ) [large] => {
        external32(datarep)?;
        let data = data(inbuf, incount, datatype, "inbuf")?;
        let length = external(incount, &datatype.layout, "incount")?;
        let at = place(position.get(), buffer_size(outsize, "outsize")?, length, "outsize")?;
        bytes(outbuf, length, "outbuf")?;
        // SAFETY: the input is readable and `outsize` bytes are writable by the standard; all of it fits behind `at`.
        let packed = unsafe { pack_external(&datatype.layout, data.at, incount, outbuf.wrapping_add(at)) };
        position.set((at + packed) as Aint);
        Ok(())
    }

    /// Unpacks data from the portable representation. MPI 5.0 §5.3.
    fn Unpack_external(
        datarep: Text, inbuf: ConstBuffer, insize: Raw<Aint>, position: Out<Aint>, outbuf: Buffer, outcount: Count,
        datatype: Committed,
    ) [large] => {
        external32(datarep)?;
        let data = data(outbuf, outcount, datatype, "outbuf")?;
        let length = external(outcount, &datatype.layout, "outcount")?;
        let at = place(position.get(), buffer_size(insize, "insize")?, length, "insize")?;
        bytes(inbuf, length, "inbuf")?;
        // SAFETY: the output is writable and `insize` bytes are readable by the standard; all of it lies behind `at`.
        let unpacked = unsafe { unpack_external(&datatype.layout, data.at, outcount, inbuf.wrapping_add(at)) };
        position.set((at + unpacked) as Aint);
        Ok(())
    }

    /// Bytes that the portable representation needs. MPI 5.0 §5.3.
    fn Pack_external_size(datarep: Text, incount: Count, datatype: Committed, size: Out<Aint>) [large] => {
        external32(datarep)?;
        size.set(external(incount, &datatype.layout, "incount")? as Aint);
        Ok(())
    }
}

/// The only representation that packing knows (MPI 5.0 §5.3); those that users register are for files.
fn external32(datarep: &CStr) -> Result<()> {
    match datarep.to_bytes() {
        b"external32" => Ok(()),
        _ => {
            let why = format!(
                "{} is not a representation for packing; the only one is external32",
                datarep.to_string_lossy()
            );
            Err(Fault::new(Class::Arg).argument("datarep").because(why))
        }
    }
}

fn external(count: usize, layout: &Layout, argument: &'static str) -> Result<usize> {
    let bytes = count.checked_mul(layout.external_size()).filter(|bytes| isize::try_from(*bytes).is_ok());
    bytes.ok_or_else(|| Fault::new(Class::Count).argument(argument).because("the data is too long"))
}

fn buffer_size(size: Aint, argument: &'static str) -> Result<usize> {
    let fault = || Fault::new(Class::Arg).argument(argument).because(format!("{size} is not a valid buffer size"));
    usize::try_from(size).map_err(|_| fault())
}

/// Where packed data begins, if `bytes` of it lie within the buffer.
fn place(position: i64, size: usize, bytes: usize, argument: &'static str) -> Result<usize> {
    let at = usize::try_from(position).ok().filter(|at| *at <= size).ok_or_else(|| {
        let why = format!("{position} lies outside the buffer of {size} bytes");
        Fault::new(Class::Arg).argument("position").because(why)
    })?;
    if size - at < bytes {
        let why = format!("{bytes} bytes of data do not fit at position {at} of a buffer of {size} bytes");
        return Err(Fault::new(Class::Truncate).argument(argument).because(why));
    }
    Ok(at)
}

/// Packed bytes are no MPI_BOTTOM: they lie where the buffer begins.
fn bytes(at: *mut u8, length: usize, argument: &'static str) -> Result<()> {
    match at.is_null() && length > 0 {
        false => Ok(()),
        true => {
            Err(Fault::new(Class::Buffer).argument(argument).because("it is a null pointer, but there is packed data"))
        }
    }
}
