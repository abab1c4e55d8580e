//! The tool interface: performance variables. MPI 5.0 §15.3.7.

use super::kinds::{Buffer, ConstBuffer, Out, Raw, Text};
use core::ffi::{c_char, c_int, c_void};

rows! {
    /// Number of performance variables. MPI 5.0 §15.3.7.
    fn T_pvar_get_num(num_pvar: Raw<*mut c_int>) [tool] => unsupported

    /// What a performance variable is. MPI 5.0 §15.3.7.
    fn T_pvar_get_info(
        pvar_index: Raw<c_int>, name: Raw<*mut c_char>, name_len: Raw<*mut c_int>, verbosity: Raw<*mut c_int>,
        var_class: Raw<*mut c_int>, datatype: Out<usize>, enumtype: Raw<*mut usize>, desc: Raw<*mut c_char>,
        desc_len: Raw<*mut c_int>, bind: Raw<*mut c_int>, readonly: Raw<*mut c_int>, continuous: Raw<*mut c_int>,
        atomic: Raw<*mut c_int>,
    ) [tool] => unsupported

    /// The index of a performance variable by name and class. MPI 5.0 §15.3.7.
    fn T_pvar_get_index(name: Text, var_class: Raw<c_int>, pvar_index: Raw<*mut c_int>) [tool] => unsupported

    /// Opens a session of measurements. MPI 5.0 §15.3.7.
    fn T_pvar_session_create(session: Raw<*mut usize>) [tool] => unsupported

    /// Ends a session of measurements. MPI 5.0 §15.3.7.
    fn T_pvar_session_free(session: Raw<*mut usize>) [tool] => unsupported

    /// Binds a performance variable to an object. MPI 5.0 §15.3.7.
    fn T_pvar_handle_alloc(
        session: Raw<usize>, pvar_index: Raw<c_int>, obj_handle: Raw<*mut c_void>, handle: Raw<*mut usize>,
        count: Raw<*mut c_int>,
    ) [tool] => unsupported

    /// Ends the binding. MPI 5.0 §15.3.7.
    fn T_pvar_handle_free(session: Raw<usize>, handle: Raw<*mut usize>) [tool] => unsupported

    /// Starts a performance variable. MPI 5.0 §15.3.7.
    fn T_pvar_start(session: Raw<usize>, handle: Raw<usize>) [tool] => unsupported

    /// Stops a performance variable. MPI 5.0 §15.3.7.
    fn T_pvar_stop(session: Raw<usize>, handle: Raw<usize>) [tool] => unsupported

    /// The value of a performance variable. MPI 5.0 §15.3.7.
    fn T_pvar_read(session: Raw<usize>, handle: Raw<usize>, buf: Buffer) [tool] => unsupported

    /// Sets a performance variable. MPI 5.0 §15.3.7.
    fn T_pvar_write(session: Raw<usize>, handle: Raw<usize>, buf: ConstBuffer) [tool] => unsupported

    /// Sets a performance variable to its starting value. MPI 5.0 §15.3.7.
    fn T_pvar_reset(session: Raw<usize>, handle: Raw<usize>) [tool] => unsupported

    /// Reads and resets a performance variable in one step. MPI 5.0 §15.3.7.
    fn T_pvar_readreset(session: Raw<usize>, handle: Raw<usize>, buf: Buffer) [tool] => unsupported
}
