//! Attributes of communicators, windows and datatypes. MPI 5.0 §7.7, §9.1.2 and §16.1.

use super::kinds::{Callback, Comm, Datatype, Out, Place, Raw, Win};
use crate::errhandler;
use crate::error::{Class, Fault, Result};
use crate::status::{ANY_SOURCE, PROC_NULL};
use alloc::format;
use core::ffi::{c_int, c_void};
use opal_core::sync::{AtomicU32, Ordering};

rows! {
    /// Makes a key for attributes of communicators. MPI 5.0 §7.7.2.
    fn Comm_create_keyval(
        comm_copy_attr_fn: Callback, comm_delete_attr_fn: Callback, comm_keyval: Out<c_int>,
        extra_state: Raw<*mut c_void>,
    ) [] => unsupported

    /// Frees a key of communicators. MPI 5.0 §7.7.2.
    fn Comm_free_keyval(comm_keyval: Out<c_int>) [] => unsupported

    /// Sets an attribute of a communicator. MPI 5.0 §7.7.2.
    fn Comm_set_attr(comm: Comm, comm_keyval: Raw<c_int>, attribute_val: Raw<*mut c_void>) [] => unsupported

    /// An attribute of a communicator. MPI 5.0 §7.7.2.
    fn Comm_get_attr(comm: Comm, comm_keyval: Raw<c_int>, attribute_val: Raw<*mut c_void>, flag: Out<c_int>) [] => {
        let _unused = comm;
        let found = attribute(comm_keyval)?;
        flag.set(c_int::from(found.is_some()));
        let place = Place::new(attribute_val.cast::<*const c_int>())?;
        if let Some(value) = found {
            place.set(value);
        }
        Ok(())
    }

    /// Deletes an attribute of a communicator. MPI 5.0 §7.7.2.
    fn Comm_delete_attr(comm: Comm, comm_keyval: Raw<c_int>) [] => unsupported

    /// Makes a key for attributes of windows. MPI 5.0 §7.7.3.
    fn Win_create_keyval(
        win_copy_attr_fn: Callback, win_delete_attr_fn: Callback, win_keyval: Out<c_int>,
        extra_state: Raw<*mut c_void>,
    ) [] => unsupported

    /// Frees a key of windows. MPI 5.0 §7.7.3.
    fn Win_free_keyval(win_keyval: Out<c_int>) [] => unsupported

    /// Sets an attribute of a window. MPI 5.0 §7.7.3.
    fn Win_set_attr(win: Win, win_keyval: Raw<c_int>, attribute_val: Raw<*mut c_void>) [] => unsupported

    /// An attribute of a window. MPI 5.0 §7.7.3.
    fn Win_get_attr(
        win: Win, win_keyval: Raw<c_int>, attribute_val: Raw<*mut c_void>, flag: Out<c_int>,
    ) [] => unsupported

    /// Deletes an attribute of a window. MPI 5.0 §7.7.3.
    fn Win_delete_attr(win: Win, win_keyval: Raw<c_int>) [] => unsupported

    /// Makes a key for attributes of datatypes. MPI 5.0 §7.7.4.
    fn Type_create_keyval(
        type_copy_attr_fn: Callback, type_delete_attr_fn: Callback, type_keyval: Out<c_int>,
        extra_state: Raw<*mut c_void>,
    ) [] => unsupported

    /// Frees a key of datatypes. MPI 5.0 §7.7.4.
    fn Type_free_keyval(type_keyval: Out<c_int>) [] => unsupported

    /// Sets an attribute of a datatype. MPI 5.0 §7.7.4.
    fn Type_set_attr(datatype: Datatype, type_keyval: Raw<c_int>, attribute_val: Raw<*mut c_void>) [] => unsupported

    /// An attribute of a datatype. MPI 5.0 §7.7.4.
    fn Type_get_attr(
        datatype: Datatype, type_keyval: Raw<c_int>, attribute_val: Raw<*mut c_void>, flag: Out<c_int>,
    ) [] => unsupported

    /// Deletes an attribute of a datatype. MPI 5.0 §7.7.4.
    fn Type_delete_attr(datatype: Datatype, type_keyval: Raw<c_int>) [] => unsupported

    /// As MPI_Comm_create_keyval. Deprecated. MPI 5.0 §16.1.
    fn Keyval_create(
        copy_fn: Callback, delete_fn: Callback, keyval: Out<c_int>, extra_state: Raw<*mut c_void>,
    ) [] => unsupported

    /// As MPI_Comm_free_keyval. Deprecated. MPI 5.0 §16.1.
    fn Keyval_free(keyval: Out<c_int>) [] => unsupported

    /// As MPI_Comm_set_attr. Deprecated. MPI 5.0 §16.1.
    fn Attr_put(comm: Comm, keyval: Raw<c_int>, attribute_val: Raw<*mut c_void>) [] => unsupported

    /// As MPI_Comm_get_attr. Deprecated. MPI 5.0 §16.1.
    fn Attr_get(comm: Comm, keyval: Raw<c_int>, attribute_val: Raw<*mut c_void>, flag: Out<c_int>) [] => {
        let _unused = comm;
        let found = attribute(keyval)?;
        flag.set(c_int::from(found.is_some()));
        let place = Place::new(attribute_val.cast::<*const c_int>())?;
        if let Some(value) = found {
            place.set(value);
        }
        Ok(())
    }

    /// As MPI_Comm_delete_attr. Deprecated. MPI 5.0 §16.1.
    fn Attr_delete(comm: Comm, keyval: Raw<c_int>) [] => unsupported
}

/// Where the value of a predefined attribute of communicators lies (MPI 5.0 §9.1.2); none for those that this library
/// does not set: MPI_APPNUM and MPI_UNIVERSE_SIZE are the launcher's to know.
fn attribute(key: c_int) -> Result<Option<*const c_int>> {
    static TAG_UB: c_int = c_int::MAX;
    static HOST: c_int = PROC_NULL;
    static IO: c_int = ANY_SOURCE;
    static WTIME_IS_GLOBAL: c_int = 0;
    static LAST_USED_CODE: AtomicU32 = AtomicU32::new(0);
    match key {
        501 => Ok(Some(&raw const TAG_UB)),
        502 => Ok(Some(&raw const IO)),
        503 => Ok(Some(&raw const HOST)),
        504 => Ok(Some(&raw const WTIME_IS_GLOBAL)),
        505 | 507 => Ok(None),
        506 => {
            // The program reads through the pointer later, too: the newest value is what it shall find.
            LAST_USED_CODE.store(errhandler::last_used_code() as u32, Ordering::Relaxed);
            Ok(Some((&raw const LAST_USED_CODE).cast()))
        }
        0 => Err(Fault::new(Class::Keyval).argument("comm_keyval").because("it is MPI_KEYVAL_INVALID")),
        _ => {
            Err(Fault::new(Class::Keyval).argument("comm_keyval").because(format!("{key} is no key of communicators")))
        }
    }
}
