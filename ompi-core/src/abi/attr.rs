//! Attributes of communicators, windows and datatypes. MPI 5.0 §7.7, §9.1.2 and §16.1.

use super::kinds::{Callback, CommHandle, Out, OutPtr, Raw, TypeHandle, WinHandle};
use crate::attr::{self, KeyvalKind};
use crate::errhandler;
use crate::error::Result;
use crate::status::{ANY_SOURCE, PROC_NULL};
use crate::win::{self, WinAttribute};
use core::ffi::{c_int, c_void};
use opal_core::sync::{AtomicU32, Ordering};
use orte_core::framework::ess;

rows! {
    /// Makes a key for attributes of communicators. MPI 5.0 §7.7.2.
    fn Comm_create_keyval(
        comm_copy_attr_fn: Callback, comm_delete_attr_fn: Callback, comm_keyval: Out<c_int>,
        extra_state: Raw<*mut c_void>,
    ) [] => {
        comm_keyval.set(attr::create_key(KeyvalKind::Comm, comm_copy_attr_fn, comm_delete_attr_fn, extra_state)?);
        Ok(())
    }

    /// Frees a key of communicators. MPI 5.0 §7.7.2.
    fn Comm_free_keyval(comm_keyval: Out<c_int>) [] => {
        free(KeyvalKind::Comm, comm_keyval, "comm_keyval")
    }

    /// Sets an attribute of a communicator. MPI 5.0 §7.7.2.
    fn Comm_set_attr(comm: CommHandle, comm_keyval: Raw<c_int>, attribute_val: Raw<*mut c_void>) [] => {
        attr::set(KeyvalKind::Comm, comm.0, comm_keyval, attribute_val).map_err(|fault| fault.argument("comm_keyval"))
    }

    /// An attribute of a communicator. MPI 5.0 §7.7.2.
    fn Comm_get_attr(
        comm: CommHandle, comm_keyval: Raw<c_int>, attribute_val: Raw<*mut c_void>, flag: Out<c_int>,
    ) [] => {
        get(KeyvalKind::Comm, comm.0, comm_keyval, attribute_val, flag).map_err(|fault| fault.argument("comm_keyval"))
    }

    /// Deletes an attribute of a communicator. MPI 5.0 §7.7.2.
    fn Comm_delete_attr(comm: CommHandle, comm_keyval: Raw<c_int>) [] => {
        attr::delete(KeyvalKind::Comm, comm.0, comm_keyval).map_err(|fault| fault.argument("comm_keyval"))
    }

    /// Makes a key for attributes of windows. MPI 5.0 §7.7.3.
    fn Win_create_keyval(
        win_copy_attr_fn: Callback, win_delete_attr_fn: Callback, win_keyval: Out<c_int>,
        extra_state: Raw<*mut c_void>,
    ) [] => {
        win_keyval.set(attr::create_key(KeyvalKind::Win, win_copy_attr_fn, win_delete_attr_fn, extra_state)?);
        Ok(())
    }

    /// Frees a key of windows. MPI 5.0 §7.7.3.
    fn Win_free_keyval(win_keyval: Out<c_int>) [] => {
        free(KeyvalKind::Win, win_keyval, "win_keyval")
    }

    /// Sets an attribute of a window. MPI 5.0 §7.7.3.
    fn Win_set_attr(win: WinHandle, win_keyval: Raw<c_int>, attribute_val: Raw<*mut c_void>) [] => {
        attr::set(KeyvalKind::Win, win.0, win_keyval, attribute_val).map_err(|fault| fault.argument("win_keyval"))
    }

    /// An attribute of a window. MPI 5.0 §7.7.3.
    fn Win_get_attr(
        win: WinHandle, win_keyval: Raw<c_int>, attribute_val: Raw<*mut c_void>, flag: Out<c_int>,
    ) [] => {
        get(KeyvalKind::Win, win.0, win_keyval, attribute_val, flag).map_err(|fault| fault.argument("win_keyval"))
    }

    /// Deletes an attribute of a window. MPI 5.0 §7.7.3.
    fn Win_delete_attr(win: WinHandle, win_keyval: Raw<c_int>) [] => {
        attr::delete(KeyvalKind::Win, win.0, win_keyval).map_err(|fault| fault.argument("win_keyval"))
    }

    /// Makes a key for attributes of datatypes. MPI 5.0 §7.7.4.
    fn Type_create_keyval(
        type_copy_attr_fn: Callback, type_delete_attr_fn: Callback, type_keyval: Out<c_int>,
        extra_state: Raw<*mut c_void>,
    ) [] => {
        type_keyval.set(attr::create_key(KeyvalKind::Type, type_copy_attr_fn, type_delete_attr_fn, extra_state)?);
        Ok(())
    }

    /// Frees a key of datatypes. MPI 5.0 §7.7.4.
    fn Type_free_keyval(type_keyval: Out<c_int>) [] => {
        free(KeyvalKind::Type, type_keyval, "type_keyval")
    }

    /// Sets an attribute of a datatype. MPI 5.0 §7.7.4.
    fn Type_set_attr(datatype: TypeHandle, type_keyval: Raw<c_int>, attribute_val: Raw<*mut c_void>) [] => {
        attr::set(KeyvalKind::Type, datatype.0, type_keyval, attribute_val).map_err(|fault| fault.argument("type_keyval"))
    }

    /// An attribute of a datatype. MPI 5.0 §7.7.4.
    fn Type_get_attr(
        datatype: TypeHandle, type_keyval: Raw<c_int>, attribute_val: Raw<*mut c_void>, flag: Out<c_int>,
    ) [] => {
        get(KeyvalKind::Type, datatype.0, type_keyval, attribute_val, flag).map_err(|fault| fault.argument("type_keyval"))
    }

    /// Deletes an attribute of a datatype. MPI 5.0 §7.7.4.
    fn Type_delete_attr(datatype: TypeHandle, type_keyval: Raw<c_int>) [] => {
        attr::delete(KeyvalKind::Type, datatype.0, type_keyval).map_err(|fault| fault.argument("type_keyval"))
    }

    /// As MPI_Comm_create_keyval. Deprecated. MPI 5.0 §16.1.
    fn Keyval_create(
        copy_fn: Callback, delete_fn: Callback, keyval: Out<c_int>, extra_state: Raw<*mut c_void>,
    ) [] => {
        keyval.set(attr::create_key(KeyvalKind::Comm, copy_fn, delete_fn, extra_state)?);
        Ok(())
    }

    /// As MPI_Comm_free_keyval. Deprecated. MPI 5.0 §16.1.
    fn Keyval_free(keyval: Out<c_int>) [] => {
        free(KeyvalKind::Comm, keyval, "keyval")
    }

    /// As MPI_Comm_set_attr. Deprecated. MPI 5.0 §16.1.
    fn Attr_put(comm: CommHandle, keyval: Raw<c_int>, attribute_val: Raw<*mut c_void>) [] => {
        attr::set(KeyvalKind::Comm, comm.0, keyval, attribute_val).map_err(|fault| fault.argument("keyval"))
    }

    /// As MPI_Comm_get_attr. Deprecated. MPI 5.0 §16.1.
    fn Attr_get(comm: CommHandle, keyval: Raw<c_int>, attribute_val: Raw<*mut c_void>, flag: Out<c_int>) [] => {
        get(KeyvalKind::Comm, comm.0, keyval, attribute_val, flag).map_err(|fault| fault.argument("keyval"))
    }

    /// As MPI_Comm_delete_attr. Deprecated. MPI 5.0 §16.1.
    fn Attr_delete(comm: CommHandle, keyval: Raw<c_int>) [] => {
        attr::delete(KeyvalKind::Comm, comm.0, keyval).map_err(|fault| fault.argument("keyval"))
    }
}

/// MPI_KEYVAL_INVALID.
const KEYVAL_INVALID: c_int = 0;

/// Frees a key and forgets it where the user keeps it.
fn free(kind: KeyvalKind, place: OutPtr<c_int>, argument: &'static str) -> Result<()> {
    attr::free_key(kind, place.get()).map_err(|fault| fault.argument(argument))?;
    place.set(KEYVAL_INVALID);
    Ok(())
}

/// Gives the value of an attribute of the user's or, for communicators and windows, of a predefined one.
fn get(kind: KeyvalKind, object: usize, key: c_int, value: *mut c_void, flag: OutPtr<c_int>) -> Result<()> {
    let found = match (kind, key) {
        (KeyvalKind::Comm, TAG_UB..=UNIVERSE_SIZE) => predefined(key),
        (KeyvalKind::Win, WIN_BASE..=WIN_MODEL) => {
            let attribute = WIN_ATTRIBUTES[(key - WIN_BASE) as usize];
            win::borrow(object).map(|window| window.attribute(attribute))
        }
        _ => attr::get(kind, object, key)?,
    };
    let place = OutPtr::new(value.cast::<*mut c_void>()).map_err(|fault| fault.argument("attribute_val"))?;
    flag.set(c_int::from(found.is_some()));
    if let Some(value) = found {
        place.set(value);
    }
    Ok(())
}

const TAG_UB: c_int = 501;
const IO: c_int = 502;
const HOST: c_int = 503;
const WTIME_IS_GLOBAL: c_int = 504;
const APPNUM: c_int = 505;
const LASTUSEDCODE: c_int = 506;
const UNIVERSE_SIZE: c_int = 507;
const WIN_BASE: c_int = 601;
const WIN_MODEL: c_int = 605;
/// From MPI_WIN_BASE to MPI_WIN_MODEL.
const WIN_ATTRIBUTES: [WinAttribute; 5] =
    [WinAttribute::Base, WinAttribute::Unit, WinAttribute::Size, WinAttribute::Flavor, WinAttribute::Model];

/// Where the value of a predefined attribute of communicators lies (MPI 5.0 §9.1.2). MPI_APPNUM and MPI_UNIVERSE_SIZE
/// are the launcher's to know; without one they are not set (MPI 5.0 §11.10.3).
fn predefined(key: c_int) -> Option<*mut c_void> {
    static TAGS: c_int = c_int::MAX;
    static NO_HOST: c_int = PROC_NULL;
    static ANYONE: c_int = ANY_SOURCE;
    static NO: c_int = 0;
    static LAST_USED_CODE: AtomicU32 = AtomicU32::new(0);
    static APP: AtomicU32 = AtomicU32::new(0);
    static UNIVERSE: AtomicU32 = AtomicU32::new(0);
    let at: *const c_int = match key {
        TAG_UB => &raw const TAGS,
        IO => &raw const ANYONE,
        HOST => &raw const NO_HOST,
        WTIME_IS_GLOBAL => &raw const NO,
        LASTUSEDCODE => {
            // The program reads through the pointer later, too: the newest value is what it shall find.
            LAST_USED_CODE.store(errhandler::last_used_code() as u32, Ordering::Relaxed);
            (&raw const LAST_USED_CODE).cast()
        }
        APPNUM => {
            APP.store(ess::selected()?.app_number()?, Ordering::Relaxed);
            (&raw const APP).cast()
        }
        UNIVERSE_SIZE => {
            UNIVERSE.store(ess::selected()?.universe_size()?, Ordering::Relaxed);
            (&raw const UNIVERSE).cast()
        }
        _ => return None,
    };
    Some(at.cast_mut().cast())
}
