//! The tool interface: events and their sources. MPI 5.0 §15.3.8.

use super::kinds::{Aint, Callback, Hints, LargeCount, Out, OutArray, Raw, Text};
use core::ffi::{c_char, c_int, c_void};

rows! {
    /// Number of sources of events. MPI 5.0 §15.3.8.
    fn T_source_get_num(num_sources: Raw<*mut c_int>) [tool] => unsupported

    /// What a source is. MPI 5.0 §15.3.8.
    fn T_source_get_info(
        source_index: Raw<c_int>, name: Raw<*mut c_char>, name_len: Raw<*mut c_int>, desc: Raw<*mut c_char>,
        desc_len: Raw<*mut c_int>, ordering: Raw<*mut c_int>, ticks_per_second: Out<LargeCount>,
        max_ticks: Out<LargeCount>, info: Out<usize>,
    ) [tool] => unsupported

    /// The time of a source. MPI 5.0 §15.3.8.
    fn T_source_get_timestamp(source_index: Raw<c_int>, timestamp: Out<LargeCount>) [tool] => unsupported

    /// Number of event types. MPI 5.0 §15.3.8.
    fn T_event_get_num(num_events: Raw<*mut c_int>) [tool] => unsupported

    /// What an event type is. MPI 5.0 §15.3.8.
    fn T_event_get_info(
        event_index: Raw<c_int>, name: Raw<*mut c_char>, name_len: Raw<*mut c_int>, verbosity: Raw<*mut c_int>,
        array_of_datatypes: OutArray<usize>, array_of_displacements: OutArray<Aint>, num_elements: Raw<*mut c_int>,
        enumtype: Raw<*mut usize>, info: Out<usize>, desc: Raw<*mut c_char>, desc_len: Raw<*mut c_int>,
        bind: Raw<*mut c_int>,
    ) [tool] => unsupported

    /// The index of an event type by name. MPI 5.0 §15.3.8.
    fn T_event_get_index(name: Text, event_index: Raw<*mut c_int>) [tool] => unsupported

    /// Registers for an event type on an object. MPI 5.0 §15.3.8.
    fn T_event_handle_alloc(
        event_index: Raw<c_int>, obj_handle: Raw<*mut c_void>, info: Hints, event_registration: Raw<*mut usize>,
    ) [tool] => unsupported

    /// Gives a registration hints. MPI 5.0 §15.3.8.
    fn T_event_handle_set_info(event_registration: Raw<usize>, info: Hints) [tool] => unsupported

    /// The hints of a registration. MPI 5.0 §15.3.8.
    fn T_event_handle_get_info(event_registration: Raw<usize>, info_used: Out<usize>) [tool] => unsupported

    /// Sets the function that is called for an event. MPI 5.0 §15.3.8.
    fn T_event_register_callback(
        event_registration: Raw<usize>, cb_safety: Raw<c_int>, info: Hints, user_data: Raw<*mut c_void>,
        event_cb_function: Callback,
    ) [tool] => unsupported

    /// Gives a callback hints. MPI 5.0 §15.3.8.
    fn T_event_callback_set_info(
        event_registration: Raw<usize>, cb_safety: Raw<c_int>, info: Hints,
    ) [tool] => unsupported

    /// The hints of a callback. MPI 5.0 §15.3.8.
    fn T_event_callback_get_info(
        event_registration: Raw<usize>, cb_safety: Raw<c_int>, info_used: Out<usize>,
    ) [tool] => unsupported

    /// Ends a registration. MPI 5.0 §15.3.8.
    fn T_event_handle_free(
        event_registration: Raw<usize>, user_data: Raw<*mut c_void>, free_cb_function: Callback,
    ) [tool] => unsupported

    /// Sets the function that is called for lost events. MPI 5.0 §15.3.8.
    fn T_event_set_dropped_handler(event_registration: Raw<usize>, dropped_cb_function: Callback) [tool] => unsupported

    /// One element of an event's data. MPI 5.0 §15.3.8.
    fn T_event_read(
        event_instance: Raw<usize>, element_index: Raw<c_int>, buffer: Raw<*mut c_void>,
    ) [tool] => unsupported

    /// All of an event's data. MPI 5.0 §15.3.8.
    fn T_event_copy(event_instance: Raw<usize>, buffer: Raw<*mut c_void>) [tool] => unsupported

    /// When an event happened. MPI 5.0 §15.3.8.
    fn T_event_get_timestamp(event_instance: Raw<usize>, event_timestamp: Out<LargeCount>) [tool] => unsupported

    /// Where an event came from. MPI 5.0 §15.3.8.
    fn T_event_get_source(event_instance: Raw<usize>, source_index: Raw<*mut c_int>) [tool] => unsupported
}
