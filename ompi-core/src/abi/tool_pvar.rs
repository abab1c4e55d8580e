//! The tool interface: performance variables. MPI 5.0 §15.3.7.

use super::fast_path;
use super::kinds::{Buffer, ConstBuffer, Out, Raw, Text};
use super::tool_text::{buffer, give, load, put, store};
use crate::comm::{self, Communicator};
use crate::error::{Class, Fault, Result};
use crate::init;
use crate::tool::pvar::{self, Pvar};
use crate::tool::session;
use crate::tool::value::Datum;
use crate::tool::{NO_OBJECT, enumeration};
use alloc::vec::Vec;
use core::ffi::{c_char, c_int, c_void};

rows! {
    /// Number of performance variables. MPI 5.0 §15.3.7.
    fn T_pvar_get_num(num_pvar: Out<c_int>) [tool] => {
        num_pvar.set(pvar::count() as c_int);
        Ok(())
    }

    /// What a performance variable is. MPI 5.0 §15.3.7.
    fn T_pvar_get_info(
        pvar_index: Raw<c_int>, name: Raw<*mut c_char>, name_len: Raw<*mut c_int>, verbosity: Raw<*mut c_int>,
        var_class: Raw<*mut c_int>, datatype: Raw<*mut usize>, enumtype: Raw<*mut usize>, desc: Raw<*mut c_char>,
        desc_len: Raw<*mut c_int>, bind: Raw<*mut c_int>, readonly: Raw<*mut c_int>, continuous: Raw<*mut c_int>,
        atomic: Raw<*mut c_int>,
    ) [tool] => {
        let found = pvar::get(pvar_index)?;
        // SAFETY: null, or places by the standard; here and below.
        unsafe { give(&found.name, name, name_len)? };
        // SAFETY: see above.
        unsafe { give(&found.description, desc, desc_len)? };
        let numbers = [
            (verbosity, crate::tool::verbosity(found.level)),
            (var_class, found.class_number()),
            (bind, found.bind()),
            (readonly, c_int::from(found.is_level())),
            (continuous, c_int::from(found.is_level())),
            (atomic, c_int::from(!found.is_level())),
        ];
        for (place, number) in numbers {
            // SAFETY: see above.
            unsafe { put(place, number) };
        }
        // SAFETY: see above.
        unsafe { put(datatype, found.value_type().handle()) };
        // SAFETY: see above.
        unsafe { put(enumtype, enumeration::NULL) };
        Ok(())
    }

    /// The index of a performance variable by name and class. MPI 5.0 §15.3.7.
    fn T_pvar_get_index(name: Text, var_class: Raw<c_int>, pvar_index: Out<c_int>) [tool] => {
        pvar_index.set(pvar::index(&name.to_string_lossy(), var_class)?);
        Ok(())
    }

    /// Opens a session of measurements. MPI 5.0 §15.3.7.
    fn T_pvar_session_create(session: Out<usize>) [tool] => {
        session.set(session::create()?);
        Ok(())
    }

    /// Ends a session of measurements. MPI 5.0 §15.3.7.
    fn T_pvar_session_free(session: Out<usize>) [tool] => {
        fast_path::uncount(session::free(session.get())?);
        session.set(session::NULL);
        Ok(())
    }

    /// Binds a performance variable to an object. MPI 5.0 §15.3.7.
    fn T_pvar_handle_alloc(
        session: Raw<usize>, pvar_index: Raw<c_int>, obj_handle: Raw<*mut c_void>, handle: Out<usize>, count: Out<c_int>,
    ) [tool] => {
        session::check(session)?;
        // SAFETY: null, or the place of a handle of what the variable is bound to.
        let comm = unsafe { object(pvar::get(pvar_index)?, obj_handle)? };
        let (made, elements) = session::allocate(session, pvar_index, comm)?;
        if comm.is_some() {
            fast_path::count();
        }
        handle.set(made);
        count.set(elements as c_int);
        Ok(())
    }

    /// Ends the binding. MPI 5.0 §15.3.7.
    fn T_pvar_handle_free(session: Raw<usize>, handle: Out<usize>) [tool] => {
        fast_path::uncount(usize::from(session::free_handle(session, handle.get())?));
        handle.set(session::NULL);
        Ok(())
    }

    /// Starts a performance variable. MPI 5.0 §15.3.7.
    fn T_pvar_start(session: Raw<usize>, handle: Raw<usize>) [tool] => {
        session::each(session, handle, session::start)
    }

    /// Stops a performance variable. MPI 5.0 §15.3.7.
    fn T_pvar_stop(session: Raw<usize>, handle: Raw<usize>) [tool] => {
        session::each(session, handle, session::stop)
    }

    /// The value of a performance variable. MPI 5.0 §15.3.7.
    fn T_pvar_read(session: Raw<usize>, handle: Raw<usize>, buf: Buffer) [tool] => {
        let found = session::find(session, handle)?;
        buffer(buf)?;
        // SAFETY: room for as many elements as MPI_T_pvar_handle_alloc said, by the standard.
        unsafe { store_all(&found.read(), buf) }
    }

    /// Sets a performance variable. MPI 5.0 §15.3.7.
    fn T_pvar_write(session: Raw<usize>, handle: Raw<usize>, buf: ConstBuffer) [tool] => {
        let found = session::find(session, handle)?;
        let all = (0..found.count).map(|at| {
            buffer(buf)?;
            // SAFETY: as many elements of the variable's datatype by the standard; each has eight bytes.
            unsafe { load(found.pvar.value_type(), buf.wrapping_add(at * BYTES), 0) }
        });
        found.write(&all.collect::<Result<Vec<Datum<'_>>>>()?)
    }

    /// Sets a performance variable to its starting value. MPI 5.0 §15.3.7.
    fn T_pvar_reset(session: Raw<usize>, handle: Raw<usize>) [tool] => {
        session::each(session, handle, |handle| handle.read_and_reset().map(drop))
    }

    /// Reads and resets a performance variable in one step. MPI 5.0 §15.3.7.
    fn T_pvar_readreset(session: Raw<usize>, handle: Raw<usize>, buf: Buffer) [tool] => {
        let found = session::find(session, handle)?;
        if found.pvar.is_level() {
            return Err(Class::ToolPvarNoAtomic.into());
        }
        buffer(buf)?;
        // SAFETY: room for as many elements as MPI_T_pvar_handle_alloc said, by the standard.
        unsafe { store_all(&found.read_and_reset()?, buf) }
    }
}

/// The communicator that a variable is bound to; `None` if it is bound to nothing.
///
/// # Safety
/// `at` is null or the place of a communicator's handle, if the variable is bound to one.
unsafe fn object(pvar: &Pvar, at: *const c_void) -> Result<Option<&'static Communicator>> {
    match pvar.bind() {
        NO_OBJECT => Ok(None),
        // SAFETY: the caller's promise.
        _ => unsafe { comm_at(at) }.map(|(_, comm)| Some(comm)),
    }
}

/// The communicator that a tool binds something to, with its handle.
///
/// # Safety
/// `at` is null or the place of a communicator's handle.
pub(super) unsafe fn comm_at(at: *const c_void) -> Result<(usize, &'static Communicator)> {
    let wrong = |why| Fault::new(Class::ToolInvalid).argument("obj_handle").because(why);
    if at.is_null() {
        return Err(wrong("it is bound to a communicator"));
    }
    if !init::is_active() {
        return Err(Class::ToolNotAccessible.into());
    }
    // SAFETY: not null; the caller's promise.
    let handle = unsafe { at.cast::<usize>().read() };
    let comm = comm::borrow(handle).ok_or_else(|| wrong("it is no communicator in force"))?;
    Ok((handle, comm))
}

/// # Safety
/// `at` has room for as many values.
unsafe fn store_all(all: &[Datum<'_>], at: *mut u8) -> Result<()> {
    // SAFETY: the caller's promise; each has eight bytes.
    all.iter().enumerate().try_for_each(|(index, datum)| unsafe { store(*datum, at.wrapping_add(index * BYTES), 0) })
}

/// Of an element of any performance variable: MPI_UNSIGNED_LONG_LONG or MPI_DOUBLE.
const BYTES: usize = 8;
