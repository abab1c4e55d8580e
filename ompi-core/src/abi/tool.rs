//! The tool interface: its life, enumerations, control variables. MPI 5.0 §15.3.

use super::kinds::{Buffer, ConstBuffer, Out, Raw, Text};
use super::tell::tell_if_heard;
use super::tool_event;
use super::tool_text::{give, load, put, store};
use crate::error::{Class, Fault};
use crate::init::{self, ThreadLevel};
use crate::tool::{NO_OBJECT, cvar, element, enumeration};
use core::ffi::{c_char, c_int, c_void};

rows! {
    /// Starts the tool interface. MPI 5.0 §15.3.4.
    fn T_init_thread(required: Raw<c_int>, provided: Out<c_int>) [tool, always] => {
        let level = ThreadLevel::from_int(required)
            .ok_or_else(|| Fault::new(Class::ToolInvalid).argument("required").because("it is no MPI_THREAD_ level"))?;
        provided.set(init::open_tool(level)? as c_int);
        Ok(())
    }

    /// Ends the tool interface. MPI 5.0 §15.3.4.
    fn T_finalize() [tool] => {
        // What has happened until now is still for its callbacks.
        tell_if_heard();
        if init::close_tool()? {
            tool_event::end_all();
        }
        Ok(())
    }

    /// Name and size of an enumeration. MPI 5.0 §15.3.5.
    fn T_enum_get_info(
        enumtype: Raw<usize>, num: Raw<*mut c_int>, name: Raw<*mut c_char>, name_len: Raw<*mut c_int>,
    ) [tool] => {
        let (own_name, words) = enumeration::get(enumtype)?;
        // SAFETY: null, or places by the standard.
        unsafe { give(own_name, name, name_len)? };
        // SAFETY: as above.
        unsafe { put(num, words.len() as c_int) };
        Ok(())
    }

    /// One item of an enumeration. MPI 5.0 §15.3.5.
    fn T_enum_get_item(
        enumtype: Raw<usize>, index: Raw<c_int>, value: Raw<*mut c_int>, name: Raw<*mut c_char>,
        name_len: Raw<*mut c_int>,
    ) [tool] => {
        let word = element(enumeration::get(enumtype)?.1, index, "items").map_err(|fault| fault.argument("index"))?;
        // SAFETY: null, or places by the standard.
        unsafe { give(word, name, name_len)? };
        // SAFETY: as above.
        unsafe { put(value, index) };
        Ok(())
    }

    /// Number of control variables. MPI 5.0 §15.3.6.
    fn T_cvar_get_num(num_cvar: Out<c_int>) [tool] => {
        num_cvar.set(cvar::all().len() as c_int);
        Ok(())
    }

    /// What a control variable is. MPI 5.0 §15.3.6.
    fn T_cvar_get_info(
        cvar_index: Raw<c_int>, name: Raw<*mut c_char>, name_len: Raw<*mut c_int>, verbosity: Raw<*mut c_int>,
        datatype: Raw<*mut usize>, enumtype: Raw<*mut usize>, desc: Raw<*mut c_char>, desc_len: Raw<*mut c_int>,
        bind: Raw<*mut c_int>, scope: Raw<*mut c_int>,
    ) [tool] => {
        let found = cvar::get(cvar_index)?;
        // SAFETY: null, or places by the standard; here and below.
        unsafe { give(&found.name, name, name_len)? };
        // SAFETY: see above.
        unsafe { give(&found.description(), desc, desc_len)? };
        // SAFETY: see above.
        unsafe { put(verbosity, crate::tool::verbosity(found.param.level)) };
        // SAFETY: see above.
        unsafe { put(datatype, found.value_type().handle()) };
        // SAFETY: see above.
        unsafe { put(enumtype, enumeration::of_cvar(cvar_index as usize)) };
        // SAFETY: see above.
        unsafe { put(bind, NO_OBJECT) };
        // SAFETY: see above.
        unsafe { put(scope, found.scope()) };
        Ok(())
    }

    /// The index of a control variable by name. MPI 5.0 §15.3.6.
    fn T_cvar_get_index(name: Text, cvar_index: Out<c_int>) [tool] => {
        cvar_index.set(cvar::index(&name.to_string_lossy())?);
        Ok(())
    }

    /// Binds a control variable to an object. MPI 5.0 §15.3.6.
    fn T_cvar_handle_alloc(
        cvar_index: Raw<c_int>, obj_handle: Raw<*mut c_void>, handle: Out<usize>, count: Out<c_int>,
    ) [tool] => {
        // No control variable is bound to an object.
        let _unused = obj_handle;
        let (made, elements) = cvar::allocate(cvar_index)?;
        handle.set(made);
        count.set(elements as c_int);
        Ok(())
    }

    /// Ends the binding. MPI 5.0 §15.3.6.
    fn T_cvar_handle_free(handle: Out<usize>) [tool] => {
        cvar::free(handle.get())?;
        handle.set(cvar::NULL);
        Ok(())
    }

    /// The value of a control variable. MPI 5.0 §15.3.6.
    fn T_cvar_read(handle: Raw<usize>, buf: Buffer) [tool] => {
        let found = cvar::of_handle(handle)?;
        // SAFETY: room for as many elements as MPI_T_cvar_handle_alloc said, by the standard.
        unsafe { store(found.read(), buf, found.count) }
    }

    /// Sets a control variable. MPI 5.0 §15.3.6.
    fn T_cvar_write(handle: Raw<usize>, buf: ConstBuffer) [tool] => {
        let found = cvar::of_handle(handle)?;
        // SAFETY: a value of the variable's datatype by the standard.
        found.write(unsafe { load(found.value_type(), buf, found.count)? })
    }
}
