//! MPI_Session_init and MPI_Session_finalize.

use super::{DYNAMIC, Session, THREAD_LEVEL};
use crate::buffer::{self, Owner};
use crate::errhandler;
use crate::error::{Class, Fault, Result};
use crate::info::{Info, MEMORY_KINDS, granted_kinds};
use crate::init::{self, ThreadLevel};
use alloc::format;
use alloc::sync::Arc;
use opal_core::sync::AtomicUsize;

/// MPI_Session_init.
pub fn open(info: Option<&Info>, errhandler: usize) -> Result<usize> {
    let level = match info.and_then(|info| info.get(THREAD_LEVEL)) {
        None => ThreadLevel::Single,
        Some(name) => ThreadLevel::from_symbol(&name).ok_or_else(|| {
            let why = format!("{THREAD_LEVEL} is `{name}`, which is not an MPI_THREAD_ level");
            Fault::new(Class::InfoValue).argument("info").because(why)
        })?,
    };
    errhandler::check(errhandler, errhandler::HandlerKind::Session)?;
    init::enter(level).map_err(|error| {
        Fault::new(Class::Other).because(format!("MPI cannot start ({error:?}); the lines above say why"))
    })?;
    errhandler::retain(errhandler);
    let asked = info.and_then(|info| info.get(MEMORY_KINDS.0)).unwrap_or_default();
    let session = Session { memory_kinds: granted_kinds(&asked), errhandler: AtomicUsize::new(errhandler) };
    let none = || Fault::new(Class::NoMem).because("all session handles are in use");
    DYNAMIC.insert(Arc::new(session)).ok_or_else(none).inspect_err(|_| init::leave())
}

/// MPI_Session_finalize: what was sent leaves. Objects made with the session's help are the user's to free.
pub fn close(handle: usize) -> Result<()> {
    let session = DYNAMIC.get(handle).ok_or_else(|| Fault::new(Class::Session).argument("session"))?;
    buffer::drop_owner(Owner::Session(handle))?;
    init::drain()?;
    if DYNAMIC.remove(handle).is_none() {
        let why = "another thread finalises it at the same time";
        return Err(Fault::new(Class::Session).argument("session").because(why));
    }
    drop(session);
    init::leave();
    Ok(())
}
