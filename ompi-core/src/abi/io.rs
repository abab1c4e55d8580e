//! Opening files, their properties and views. MPI 5.0 §14.2, §14.3, §14.5 and §14.6.

use super::kinds::{Aint, Callback, Comm, Datatype, File, Hints, Offset, Out, Raw, Text};
use core::ffi::{c_char, c_int, c_void};

rows! {
    /// Opens a file. MPI 5.0 §14.2.1.
    fn File_open(comm: Comm, filename: Text, amode: Raw<c_int>, info: Hints, fh: Out<usize>) [] => unsupported

    /// Closes a file. MPI 5.0 §14.2.2.
    fn File_close(fh: Out<usize>) [] => unsupported

    /// Deletes a file. MPI 5.0 §14.2.3.
    fn File_delete(filename: Text, info: Hints) [] => unsupported

    /// Cuts or extends a file. MPI 5.0 §14.2.4.
    fn File_set_size(fh: File, size: Raw<Offset>) [] => unsupported

    /// Reserves space for a file. MPI 5.0 §14.2.5.
    fn File_preallocate(fh: File, size: Raw<Offset>) [] => unsupported

    /// The size of a file. MPI 5.0 §14.2.6.
    fn File_get_size(fh: File, size: Out<Offset>) [] => unsupported

    /// The group that opened a file. MPI 5.0 §14.2.7.
    fn File_get_group(fh: File, group: Out<usize>) [] => unsupported

    /// The access mode of a file. MPI 5.0 §14.2.7.
    fn File_get_amode(fh: File, amode: Out<c_int>) [] => unsupported

    /// Gives a file hints. MPI 5.0 §14.2.8.
    fn File_set_info(fh: File, info: Hints) [] => unsupported

    /// The hints in use. MPI 5.0 §14.2.8.
    fn File_get_info(fh: File, info_used: Out<usize>) [] => unsupported

    /// Sets what this process sees of a file. MPI 5.0 §14.3.
    fn File_set_view(
        fh: File, disp: Raw<Offset>, etype: Datatype, filetype: Datatype, datarep: Text, info: Hints,
    ) [] => unsupported

    /// What this process sees of a file. MPI 5.0 §14.3.
    fn File_get_view(
        fh: File, disp: Out<Offset>, etype: Out<usize>, filetype: Out<usize>, datarep: Out<c_char>,
    ) [] => unsupported

    /// The extent of a datatype in a file. MPI 5.0 §14.5.1.
    fn File_get_type_extent(fh: File, datatype: Datatype, extent: Out<Aint>) [large] => unsupported

    /// Adds a data representation. MPI 5.0 §14.5.3.
    fn Register_datarep(
        datarep: Text, read_conversion_fn: Callback, write_conversion_fn: Callback, dtype_file_extent_fn: Callback,
        extra_state: Raw<*mut c_void>,
    ) [] => unsupported

    /// As MPI_Register_datarep for functions that take large counts. MPI 5.0 §14.5.3.
    fn Register_datarep_c(
        datarep: Text, read_conversion_fn: Callback, write_conversion_fn: Callback, dtype_file_extent_fn: Callback,
        extra_state: Raw<*mut c_void>,
    ) [] => unsupported

    /// Sets whether accesses are atomic. MPI 5.0 §14.6.1.
    fn File_set_atomicity(fh: File, flag: Raw<c_int>) [] => unsupported

    /// Whether accesses are atomic. MPI 5.0 §14.6.1.
    fn File_get_atomicity(fh: File, flag: Out<c_int>) [] => unsupported

    /// Writes data through to the storage. MPI 5.0 §14.6.1.
    fn File_sync(fh: File) [] => unsupported
}
