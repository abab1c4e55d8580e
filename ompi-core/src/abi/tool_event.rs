//! The tool interface: events and their sources. MPI 5.0 §15.3.8.
//!
//! There are no sources and no events here, which the standard allows. So each index, registration and instance is a wrong one.

use super::kinds::{Aint, Callback, Hints, LargeCount, Out, OutArray, Raw, Text};
use crate::error::{Class, Fault, Result};
use crate::tool::element;
use alloc::format;
use core::ffi::{c_char, c_int, c_void};

rows! {
    /// Number of sources of events. MPI 5.0 §15.3.8.
    fn T_source_get_num(num_sources: Out<c_int>) [tool] => {
        num_sources.set(0);
        Ok(())
    }

    /// What a source is. MPI 5.0 §15.3.8.
    fn T_source_get_info(
        source_index: Raw<c_int>, name: Raw<*mut c_char>, name_len: Raw<*mut c_int>, desc: Raw<*mut c_char>,
        desc_len: Raw<*mut c_int>, ordering: Raw<*mut c_int>, ticks_per_second: Raw<*mut LargeCount>,
        max_ticks: Raw<*mut LargeCount>, info: Raw<*mut usize>,
    ) [tool] => {
        let _unused = (name, name_len, desc, desc_len, ordering, ticks_per_second, max_ticks, info);
        no_source(source_index)
    }

    /// The time of a source. MPI 5.0 §15.3.8.
    fn T_source_get_timestamp(source_index: Raw<c_int>, timestamp: Out<LargeCount>) [tool] => {
        let _unused = timestamp;
        no_source(source_index)
    }

    /// Number of event types. MPI 5.0 §15.3.8.
    fn T_event_get_num(num_events: Out<c_int>) [tool] => {
        num_events.set(0);
        Ok(())
    }

    /// What an event type is. MPI 5.0 §15.3.8.
    fn T_event_get_info(
        event_index: Raw<c_int>, name: Raw<*mut c_char>, name_len: Raw<*mut c_int>, verbosity: Raw<*mut c_int>,
        array_of_datatypes: OutArray<usize>, array_of_displacements: OutArray<Aint>, num_elements: Raw<*mut c_int>,
        enumtype: Raw<*mut usize>, info: Raw<*mut usize>, desc: Raw<*mut c_char>, desc_len: Raw<*mut c_int>,
        bind: Raw<*mut c_int>,
    ) [tool] => {
        let _unused = (name, name_len, verbosity, array_of_datatypes, array_of_displacements, num_elements);
        let _unused = (enumtype, info, desc, desc_len, bind);
        no_event(event_index)
    }

    /// The index of an event type by name. MPI 5.0 §15.3.8.
    fn T_event_get_index(name: Text, event_index: Out<c_int>) [tool] => {
        let _unused = event_index;
        let why = format!("no event is named {}", name.to_string_lossy());
        Err(Fault::new(Class::ToolInvalidName).argument("name").because(why))
    }

    /// Registers for an event type on an object. MPI 5.0 §15.3.8.
    fn T_event_handle_alloc(
        event_index: Raw<c_int>, obj_handle: Raw<*mut c_void>, info: Hints, event_registration: Out<usize>,
    ) [tool] => {
        let _unused = (obj_handle, info, event_registration);
        no_event(event_index)
    }

    /// Gives a registration hints. MPI 5.0 §15.3.8.
    fn T_event_handle_set_info(event_registration: Raw<usize>, info: Hints) [tool] => {
        let _unused = info;
        no_registration(event_registration)
    }

    /// The hints of a registration. MPI 5.0 §15.3.8.
    fn T_event_handle_get_info(event_registration: Raw<usize>, info_used: Out<usize>) [tool] => {
        let _unused = info_used;
        no_registration(event_registration)
    }

    /// Sets the function that is called for an event. MPI 5.0 §15.3.8.
    fn T_event_register_callback(
        event_registration: Raw<usize>, cb_safety: Raw<c_int>, info: Hints, user_data: Raw<*mut c_void>,
        event_cb_function: Callback,
    ) [tool] => {
        let _unused = (cb_safety, info, user_data, event_cb_function);
        no_registration(event_registration)
    }

    /// Gives a callback hints. MPI 5.0 §15.3.8.
    fn T_event_callback_set_info(
        event_registration: Raw<usize>, cb_safety: Raw<c_int>, info: Hints,
    ) [tool] => {
        let _unused = (cb_safety, info);
        no_registration(event_registration)
    }

    /// The hints of a callback. MPI 5.0 §15.3.8.
    fn T_event_callback_get_info(
        event_registration: Raw<usize>, cb_safety: Raw<c_int>, info_used: Out<usize>,
    ) [tool] => {
        let _unused = (cb_safety, info_used);
        no_registration(event_registration)
    }

    /// Ends a registration. MPI 5.0 §15.3.8.
    fn T_event_handle_free(
        event_registration: Raw<usize>, user_data: Raw<*mut c_void>, free_cb_function: Callback,
    ) [tool] => {
        let _unused = (user_data, free_cb_function);
        no_registration(event_registration)
    }

    /// Sets the function that is called for lost events. MPI 5.0 §15.3.8.
    fn T_event_set_dropped_handler(event_registration: Raw<usize>, dropped_cb_function: Callback) [tool] => {
        let _unused = dropped_cb_function;
        no_registration(event_registration)
    }

    /// One element of an event's data. MPI 5.0 §15.3.8.
    fn T_event_read(
        event_instance: Raw<usize>, element_index: Raw<c_int>, buffer: Raw<*mut c_void>,
    ) [tool] => {
        let _unused = (element_index, buffer);
        no_instance(event_instance)
    }

    /// All of an event's data. MPI 5.0 §15.3.8.
    fn T_event_copy(event_instance: Raw<usize>, buffer: Raw<*mut c_void>) [tool] => {
        let _unused = buffer;
        no_instance(event_instance)
    }

    /// When an event happened. MPI 5.0 §15.3.8.
    fn T_event_get_timestamp(event_instance: Raw<usize>, event_timestamp: Out<LargeCount>) [tool] => {
        let _unused = event_timestamp;
        no_instance(event_instance)
    }

    /// Where an event came from. MPI 5.0 §15.3.8.
    fn T_event_get_source(event_instance: Raw<usize>, source_index: Out<c_int>) [tool] => {
        let _unused = source_index;
        no_instance(event_instance)
    }
}

fn no_source(index: c_int) -> Result<()> {
    element::<()>(&[], index, "sources of events").map(drop).map_err(|fault| fault.argument("source_index"))
}

fn no_event(index: c_int) -> Result<()> {
    element::<()>(&[], index, "events").map(drop).map_err(|fault| fault.argument("event_index"))
}

fn no_registration(handle: usize) -> Result<()> {
    let why = format!("{handle:#x} is no registration for an event: there are no events");
    Err(Fault::new(Class::ToolInvalidHandle).argument("event_registration").because(why))
}

fn no_instance(handle: usize) -> Result<()> {
    let why = format!("{handle:#x} is no event that a callback got: there are no events");
    Err(Fault::new(Class::ToolInvalidHandle).argument("event_instance").because(why))
}
