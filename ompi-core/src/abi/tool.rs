//! The tool interface: its life, enumerations, control variables, categories. MPI 5.0 §15.3.

use super::kinds::{Buffer, ConstBuffer, Out, Raw, Text};
use core::ffi::{c_char, c_int, c_void};

rows! {
    /// Starts the tool interface. MPI 5.0 §15.3.4.
    fn T_init_thread(required: Raw<c_int>, provided: Raw<*mut c_int>) [tool] => unsupported

    /// Ends the tool interface. MPI 5.0 §15.3.4.
    fn T_finalize() [tool] => unsupported

    /// Name and size of an enumeration. MPI 5.0 §15.3.5.
    fn T_enum_get_info(
        enumtype: Raw<usize>, num: Raw<*mut c_int>, name: Raw<*mut c_char>, name_len: Raw<*mut c_int>,
    ) [tool] => unsupported

    /// One item of an enumeration. MPI 5.0 §15.3.5.
    fn T_enum_get_item(
        enumtype: Raw<usize>, index: Raw<c_int>, value: Raw<*mut c_int>, name: Raw<*mut c_char>,
        name_len: Raw<*mut c_int>,
    ) [tool] => unsupported

    /// Number of control variables. MPI 5.0 §15.3.6.
    fn T_cvar_get_num(num_cvar: Raw<*mut c_int>) [tool] => unsupported

    /// What a control variable is. MPI 5.0 §15.3.6.
    fn T_cvar_get_info(
        cvar_index: Raw<c_int>, name: Raw<*mut c_char>, name_len: Raw<*mut c_int>, verbosity: Raw<*mut c_int>,
        datatype: Out<usize>, enumtype: Raw<*mut usize>, desc: Raw<*mut c_char>, desc_len: Raw<*mut c_int>,
        bind: Raw<*mut c_int>, scope: Raw<*mut c_int>,
    ) [tool] => unsupported

    /// The index of a control variable by name. MPI 5.0 §15.3.6.
    fn T_cvar_get_index(name: Text, cvar_index: Raw<*mut c_int>) [tool] => unsupported

    /// Binds a control variable to an object. MPI 5.0 §15.3.6.
    fn T_cvar_handle_alloc(
        cvar_index: Raw<c_int>, obj_handle: Raw<*mut c_void>, handle: Raw<*mut usize>, count: Raw<*mut c_int>,
    ) [tool] => unsupported

    /// Ends the binding. MPI 5.0 §15.3.6.
    fn T_cvar_handle_free(handle: Raw<*mut usize>) [tool] => unsupported

    /// The value of a control variable. MPI 5.0 §15.3.6.
    fn T_cvar_read(handle: Raw<usize>, buf: Buffer) [tool] => unsupported

    /// Sets a control variable. MPI 5.0 §15.3.6.
    fn T_cvar_write(handle: Raw<usize>, buf: ConstBuffer) [tool] => unsupported

    /// Number of categories. MPI 5.0 §15.3.9.
    fn T_category_get_num(num_cat: Raw<*mut c_int>) [tool] => unsupported

    /// What a category is. MPI 5.0 §15.3.9.
    fn T_category_get_info(
        cat_index: Raw<c_int>, name: Raw<*mut c_char>, name_len: Raw<*mut c_int>, desc: Raw<*mut c_char>,
        desc_len: Raw<*mut c_int>, num_cvars: Raw<*mut c_int>, num_pvars: Raw<*mut c_int>,
        num_categories: Raw<*mut c_int>,
    ) [tool] => unsupported

    /// Number of event types in a category. MPI 5.0 §15.3.9.
    fn T_category_get_num_events(cat_index: Raw<c_int>, num_events: Raw<*mut c_int>) [tool] => unsupported

    /// The index of a category by name. MPI 5.0 §15.3.9.
    fn T_category_get_index(name: Text, cat_index: Raw<*mut c_int>) [tool] => unsupported

    /// The control variables of a category. MPI 5.0 §15.3.9.
    fn T_category_get_cvars(cat_index: Raw<c_int>, len: Raw<c_int>, indices: Raw<*mut c_int>) [tool] => unsupported

    /// The performance variables of a category. MPI 5.0 §15.3.9.
    fn T_category_get_pvars(cat_index: Raw<c_int>, len: Raw<c_int>, indices: Raw<*mut c_int>) [tool] => unsupported

    /// The event types of a category. MPI 5.0 §15.3.9.
    fn T_category_get_events(cat_index: Raw<c_int>, len: Raw<c_int>, indices: Raw<*mut c_int>) [tool] => unsupported

    /// The categories within a category. MPI 5.0 §15.3.9.
    fn T_category_get_categories(cat_index: Raw<c_int>, len: Raw<c_int>, indices: Raw<*mut c_int>) [tool] => unsupported

    /// When the categories last changed. MPI 5.0 §15.3.9.
    fn T_category_changed(update_number: Raw<*mut c_int>) [tool] => unsupported
}
