//! The tool interface: events and their sources. MPI 5.0 §15.3.8.

use super::fast_path;
use super::kinds::{Aint, Callback, Hints, LargeCount, Out, OutArray, Raw, Text};
use super::tell::{call_last, tell_listeners, tell_pending};
use super::tool_pvar::comm_at;
use super::tool_text::{buffer, give, put, store};
use crate::comm::Communicator;
use crate::error::{Class, Fault, Result};
use crate::executor;
use crate::framework::bml::{self, PathEvent};
use crate::framework::coll::Call;
use crate::framework::pml::{self, Observer};
use crate::info::Info;
use crate::report::listen;
use crate::tool::collectives::Counting;
use crate::tool::event::pending;
use crate::tool::event::{self, DroppedFn, EventFn, FreeFn, ToolFunction};
use crate::tool::value::{Datum, ValueType};
use crate::tool::{NO_OBJECT, element, pvar};
use core::ffi::{c_char, c_int, c_void};
use opal_core::sync::Mutex;

rows! {
    /// Number of sources of events. MPI 5.0 §15.3.8.
    fn T_source_get_num(num_sources: Out<c_int>) [tool] => {
        num_sources.set(event::SOURCES.len() as c_int);
        Ok(())
    }

    /// What a source is. MPI 5.0 §15.3.8.
    fn T_source_get_info(
        source_index: Raw<c_int>, name: Raw<*mut c_char>, name_len: Raw<*mut c_int>, desc: Raw<*mut c_char>,
        desc_len: Raw<*mut c_int>, ordering: Raw<*mut c_int>, ticks_per_second: Raw<*mut LargeCount>,
        max_ticks: Raw<*mut LargeCount>, info: Raw<*mut usize>,
    ) [tool] => {
        let (own_name, description) = source(source_index)?;
        // SAFETY: null, or places by the standard; here and below.
        unsafe { give(own_name, name, name_len)? };
        // SAFETY: see above.
        unsafe { give(description, desc, desc_len)? };
        // SAFETY: see above.
        unsafe { put(ordering, ORDERINGS[source_index as usize]) };
        // SAFETY: see above.
        unsafe { put(ticks_per_second, event::TICKS_PER_SECOND) };
        // SAFETY: see above.
        unsafe { put(max_ticks, i64::MAX) };
        // SAFETY: see above.
        unsafe { put_info(info) }
    }

    /// The time of a source. MPI 5.0 §15.3.8.
    fn T_source_get_timestamp(source_index: Raw<c_int>, timestamp: Out<LargeCount>) [tool] => {
        source(source_index)?;
        timestamp.set(event::now());
        Ok(())
    }

    /// Number of event types. MPI 5.0 §15.3.8.
    fn T_event_get_num(num_events: Out<c_int>) [tool] => {
        num_events.set(event::ALL.len() as c_int);
        Ok(())
    }

    /// What an event type is. MPI 5.0 §15.3.8.
    fn T_event_get_info(
        event_index: Raw<c_int>, name: Raw<*mut c_char>, name_len: Raw<*mut c_int>, verbosity: Raw<*mut c_int>,
        array_of_datatypes: OutArray<usize>, array_of_displacements: OutArray<Aint>, num_elements: Raw<*mut c_int>,
        enumtype: Raw<*mut usize>, info: Raw<*mut usize>, desc: Raw<*mut c_char>, desc_len: Raw<*mut c_int>,
        bind: Raw<*mut c_int>,
    ) [tool] => {
        let found = event::get(event_index)?;
        // SAFETY: null, or places by the standard; here and below.
        unsafe { give(found.name, name, name_len)? };
        // SAFETY: see above.
        unsafe { give(found.description, desc, desc_len)? };
        // SAFETY: see above.
        unsafe { put(verbosity, crate::tool::verbosity(found.level)) };
        // SAFETY: see above.
        unsafe { elements(found.elements, array_of_datatypes, array_of_displacements, num_elements)? };
        // SAFETY: see above.
        unsafe { put(enumtype, found.enumeration) };
        // SAFETY: see above.
        unsafe { put(bind, event::bind(event_index as usize)) };
        // SAFETY: see above.
        unsafe { put_info(info) }
    }

    /// The index of an event type by name. MPI 5.0 §15.3.8.
    fn T_event_get_index(name: Text, event_index: Out<c_int>) [tool] => {
        event_index.set(event::index(&name.to_string_lossy())?);
        Ok(())
    }

    /// Registers for an event type on an object. MPI 5.0 §15.3.8.
    fn T_event_handle_alloc(
        event_index: Raw<c_int>, obj_handle: Raw<*mut c_void>, info: Hints, event_registration: Out<usize>,
    ) [tool] => {
        // No hint is known.
        let _unused = info;
        event::get(event_index)?;
        let index = event_index as usize;
        let (comm, context) = if event::bind(index) == NO_OBJECT {
            // MPI 5.0 §15.3.8: the object is ignored then.
            (0, 0)
        } else {
            // SAFETY: null, or the place of a communicator's handle: that is what all other events are bound to.
            let (comm, found) = unsafe { comm_at(obj_handle)? };
            if index >= event::MESSAGES {
                pml::selected().count_traffic(found).ok_or(Class::ToolNotSupported)?;
            }
            (comm, found.context)
        };
        let mut heard = HEARD.lock();
        event_registration.set(event::register(event_index, comm, context)?);
        observe(&mut heard, index);
        Ok(())
    }

    /// Gives a registration hints, of which none is known. MPI 5.0 §15.3.8.
    fn T_event_handle_set_info(event_registration: Raw<usize>, info: Hints) [tool] => {
        let _unused = info;
        event::registration(event_registration).map(drop)
    }

    /// The hints of a registration: none. MPI 5.0 §15.3.8.
    fn T_event_handle_get_info(event_registration: Raw<usize>, info_used: Out<usize>) [tool] => {
        event::registration(event_registration)?;
        info_used.set(Info::of([]).into_handle()?);
        Ok(())
    }

    /// Sets the function that is called for an event, or with null takes it back. MPI 5.0 §15.3.8.
    fn T_event_register_callback(
        event_registration: Raw<usize>, cb_safety: Raw<c_int>, info: Hints, user_data: Raw<*mut c_void>,
        event_cb_function: Callback,
    ) [tool] => {
        let _unused = info;
        // SAFETY: null, or a function of this type by the standard.
        let function = unsafe { core::mem::transmute::<*const c_void, Option<EventFn>>(event_cb_function) };
        let hook = function.map(|function| ToolFunction { function, user_data: user_data as usize });
        event::registration(event_registration)?.set_callback(cb_safety, hook)
    }

    /// Gives a callback hints, of which none is known. MPI 5.0 §15.3.8.
    fn T_event_callback_set_info(
        event_registration: Raw<usize>, cb_safety: Raw<c_int>, info: Hints,
    ) [tool] => {
        let _unused = info;
        callback(event_registration, cb_safety)
    }

    /// The hints of a callback: none. MPI 5.0 §15.3.8.
    fn T_event_callback_get_info(
        event_registration: Raw<usize>, cb_safety: Raw<c_int>, info_used: Out<usize>,
    ) [tool] => {
        callback(event_registration, cb_safety)?;
        info_used.set(Info::of([]).into_handle()?);
        Ok(())
    }

    /// Ends a registration; when no callback of it runs any more, the function is called. MPI 5.0 §15.3.8.
    fn T_event_handle_free(
        event_registration: Raw<usize>, user_data: Raw<*mut c_void>, free_cb_function: Callback,
    ) [tool] => {
        // SAFETY: null, or a function of this type by the standard.
        let function = unsafe { core::mem::transmute::<*const c_void, Option<FreeFn>>(free_cb_function) };
        let last = function.map(|function| ToolFunction { function, user_data: user_data as usize });
        // What has happened until now is still for it.
        let freed = event::registration(event_registration)?;
        tell_pending();
        let last = {
            let mut heard = HEARD.lock();
            let last = event::free(event_registration, last)?;
            observe(&mut heard, freed.event());
            last
        };
        if let Some(last) = last {
            call_last(last, event_registration);
        }
        Ok(())
    }

    /// Sets the function that is called for lost events, or with null takes it back. MPI 5.0 §15.3.8.
    fn T_event_set_dropped_handler(event_registration: Raw<usize>, dropped_cb_function: Callback) [tool] => {
        // SAFETY: null, or a function of this type by the standard.
        let function = unsafe { core::mem::transmute::<*const c_void, Option<DroppedFn>>(dropped_cb_function) };
        event::registration(event_registration)?.set_dropped(function);
        Ok(())
    }

    /// One element of an event's data. MPI 5.0 §15.3.8.
    fn T_event_read(
        event_instance: Raw<usize>, element_index: Raw<c_int>, buffer: Raw<*mut c_void>,
    ) [tool] => {
        let found = event::instance(event_instance)?;
        let datum = element(&found.data, element_index, "elements").map_err(|fault| fault.argument("element_index"))?;
        // SAFETY: room for the element by the standard.
        unsafe { store(*datum, buffer.cast(), 0) }
    }

    /// All of an event's data. MPI 5.0 §15.3.8.
    fn T_event_copy(event_instance: Raw<usize>, buffer: Raw<*mut c_void>) [tool] => {
        let found = event::instance(event_instance)?;
        self::buffer(buffer.cast())?;
        for (datum, (_, displacement)) in found.data.iter().zip(event::ALL[found.event].elements) {
            // SAFETY: room for all elements at their displacements by the standard.
            unsafe { store(*datum, buffer.cast::<u8>().wrapping_add(*displacement as usize), 0)? };
        }
        Ok(())
    }

    /// When an event happened. MPI 5.0 §15.3.8.
    fn T_event_get_timestamp(event_instance: Raw<usize>, event_timestamp: Out<LargeCount>) [tool] => {
        event_timestamp.set(event::instance(event_instance)?.timestamp);
        Ok(())
    }

    /// Where an event came from. MPI 5.0 §15.3.8.
    fn T_event_get_source(event_instance: Raw<usize>, source_index: Out<c_int>) [tool] => {
        source_index.set(event::ALL[event::instance(event_instance)?.event].source as c_int);
        Ok(())
    }
}

/// Runs a blocking collective operation, and tells tools of its begin and its end.
///
/// # Safety
/// That of [`executor::run`].
#[cold]
#[inline(never)]
pub(super) unsafe fn run_heard(comm: &Communicator, call: &Call<'_>) -> Result<()> {
    let (function, operation) = (call.function(), event::next_operation());
    tell_pending();
    let elements = [Datum::Int(function as i32), Datum::Unsigned(operation)];
    tell_listeners(event::BEGIN, Some(comm), &elements, event::now());
    // SAFETY: the caller's promise.
    let (ended, ran) = listen::collective(comm, function, || unsafe { executor::run(comm, call) });
    tell_pending();
    if event::is_registered(event::END..event::END + 1) {
        let [first, second] = elements;
        let elements = [first, second, Datum::Int(pvar::of_algorithm(function, ran))];
        tell_listeners(event::END, Some(comm), &elements, event::now());
    }
    ended
}

// Held from a change of the registrations until what is observed follows it.
static HEARD: Mutex<Heard> = Mutex::new(Heard { ends: None, messages: false });

/// For whom others count: registrations for the end of collective operations, which names the number of an algorithm, and for messages.
struct Heard {
    ends: Option<Counting>,
    messages: bool,
}

/// The tool interface has ended: no callback runs from now on (MPI 5.0 §15.3.4), and nothing is observed for tools.
pub(super) fn end_all() {
    let mut heard = HEARD.lock();
    event::free_all();
    observe(&mut heard, event::END);
    observe(&mut heard, event::MESSAGES);
}

/// Registrations for an event came or went: from now on what is registered for is noted, and no more.
fn observe(heard: &mut Heard, changed: usize) {
    if changed < event::MESSAGES {
        let is_end = event::is_registered(event::END..event::END + 1);
        heard.ends = is_end.then(|| heard.ends.take().unwrap_or_else(Counting::begin));
        return;
    }
    let messages = event::is_registered(event::MESSAGES..event::PATHS);
    let paths = event::is_registered(event::PATHS..event::ALL.len());
    if messages || paths {
        let wanted = (event::MESSAGES..event::ALL.len()).filter(|one| event::is_registered(*one..*one + 1));
        pending::open(wanted.fold(0, |bits, one| bits | 1 << one));
    } else {
        pending::close();
    }
    match paths {
        true => bml::observe_paths(path_changed),
        false => bml::ignore_paths(),
    }
    match messages {
        true => {
            pml::observe_messages(Observer::Tools, pending::note_message);
        }
        false => pml::ignore_messages(Observer::Tools),
    }
    match (core::mem::replace(&mut heard.messages, messages), messages) {
        (false, true) => fast_path::count(),
        (true, false) => fast_path::uncount(1),
        _ => fast_path::choose(),
    }
}

/// Seldom: messages take their fast paths until the next one has this to tell.
fn path_changed(path: &PathEvent) {
    pending::note_path(path);
    fast_path::choose();
}

fn source(index: c_int) -> Result<&'static (&'static str, &'static str)> {
    element(&event::SOURCES, index, "sources of events").map_err(|fault| fault.argument("source_index"))
}

fn callback(registration: usize, safety: c_int) -> Result<()> {
    match event::registration(registration)?.has_callback(safety)? {
        true => Ok(()),
        false => {
            let why = "no callback is registered for this level of safety";
            Err(Fault::new(Class::ToolInvalid).argument("cb_safety").because(why))
        }
    }
}

/// Writes datatypes and displacements of as many elements as there is room for, and how many there are.
///
/// # Safety
/// `number` is null or the place of the arrays' length; an array is null or has it.
unsafe fn elements(
    all: &[(ValueType, i64)],
    datatypes: *mut usize,
    displacements: *mut Aint,
    number: *mut c_int,
) -> Result<()> {
    if number.is_null() {
        return Ok(());
    }
    // SAFETY: not null.
    let room = unsafe { number.read() };
    let wrong = || Fault::new(Class::ToolInvalid).argument("num_elements").because("it is negative");
    let room = usize::try_from(room).map_err(|_| wrong())?;
    for (at, (of, displacement)) in all.iter().enumerate().take(room) {
        if !datatypes.is_null() {
            // SAFETY: within the array's length.
            unsafe { datatypes.wrapping_add(at).write(of.handle()) };
        }
        if !displacements.is_null() {
            // SAFETY: within the array's length.
            unsafe { displacements.wrapping_add(at).write(*displacement) };
        }
    }
    // SAFETY: not null.
    unsafe { number.write(all.len() as c_int) };
    Ok(())
}

/// Writes a new info object without keys, which the tool frees.
///
/// # Safety
/// Null, or the place of a handle.
unsafe fn put_info(at: *mut usize) -> Result<()> {
    if !at.is_null() {
        // SAFETY: not null.
        unsafe { at.write(Info::of([]).into_handle()?) };
    }
    Ok(())
}

/// MPI_T_SOURCE_UNORDERED, where threads tell of events at the same time, and MPI_T_SOURCE_ORDERED.
const ORDERINGS: [c_int; event::SOURCES.len()] = [2, 1];
