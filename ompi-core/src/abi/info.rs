//! Info objects. MPI 5.0 §10 and §16.3.

use super::kinds::{Info, Out, Raw, Text};
use core::ffi::{c_char, c_int};

rows! {
    /// Makes an empty info object. MPI 5.0 §10.
    fn Info_create(info: Out<usize>) [always] => unsupported

    /// An info object that says how this process was started. MPI 5.0 §10.
    fn Info_create_env(argc: Raw<c_int>, argv: Raw<*mut *mut c_char>, info: Out<usize>) [always] => unsupported

    /// Sets the value of a key. MPI 5.0 §10.
    fn Info_set(info: Info, key: Text, value: Text) [always] => unsupported

    /// Deletes a key. MPI 5.0 §10.
    fn Info_delete(info: Info, key: Text) [always] => unsupported

    /// The value of a key, cut to a length. MPI 5.0 §10.
    fn Info_get_string(
        info: Info, key: Text, buflen: Out<c_int>, value: Out<c_char>, flag: Out<c_int>,
    ) [always] => unsupported

    /// Number of keys. MPI 5.0 §10.
    fn Info_get_nkeys(info: Info, nkeys: Out<c_int>) [always] => unsupported

    /// The key of a number, in the order of setting. MPI 5.0 §10.
    fn Info_get_nthkey(info: Info, n: Raw<c_int>, key: Out<c_char>) [always] => unsupported

    /// Copies an info object. MPI 5.0 §10.
    fn Info_dup(info: Info, newinfo: Out<usize>) [always] => unsupported

    /// Frees an info object. MPI 5.0 §10.
    fn Info_free(info: Out<usize>) [always] => unsupported

    /// The value of a key. Deprecated. MPI 5.0 §16.3.
    fn Info_get(
        info: Info, key: Text, valuelen: Raw<c_int>, value: Out<c_char>, flag: Out<c_int>,
    ) [always] => unsupported

    /// The length of the value of a key. Deprecated. MPI 5.0 §16.3.
    fn Info_get_valuelen(info: Info, key: Text, valuelen: Out<c_int>, flag: Out<c_int>) [always] => unsupported
}
