//! Packing and unpacking. MPI 5.0 §5.2 and §5.3.

use super::kinds::{Aint, Buffer, Comm, Committed, ConstBuffer, Count, Out, OutCount, Raw, Signed, Text};

rows! {
    /// Packs data into a buffer. MPI 5.0 §5.2.
    fn Pack(
        inbuf: ConstBuffer, incount: Count, datatype: Committed, outbuf: Buffer, outsize: Count, position: OutCount,
        comm: Comm,
    ) [large] => unsupported

    /// Unpacks data from a buffer. MPI 5.0 §5.2.
    fn Unpack(
        inbuf: ConstBuffer, insize: Count, position: OutCount, outbuf: Buffer, outcount: Signed, datatype: Committed,
        comm: Comm,
    ) [large] => unsupported

    /// An upper bound of the bytes that packing needs. MPI 5.0 §5.2.
    fn Pack_size(incount: Count, datatype: Committed, comm: Comm, size: OutCount) [large] => unsupported

    /// Packs data in the portable representation. MPI 5.0 §5.3.
    fn Pack_external(
        datarep: Text, inbuf: ConstBuffer, incount: Signed, datatype: Committed, outbuf: Buffer, outsize: Raw<Aint>,
        position: Out<Aint>,
    ) [large] => unsupported

    /// Unpacks data from the portable representation. MPI 5.0 §5.3.
    fn Unpack_external(
        datarep: Text, inbuf: ConstBuffer, insize: Raw<Aint>, position: Out<Aint>, outbuf: Buffer, outcount: Signed,
        datatype: Committed,
    ) [large] => unsupported

    /// Bytes that the portable representation needs. MPI 5.0 §5.3.
    fn Pack_external_size(datarep: Text, incount: Signed, datatype: Committed, size: Out<Aint>) [large] => unsupported
}
