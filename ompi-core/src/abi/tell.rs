//! Calls of a tool's functions for events. MPI 5.0 §15.3.8.

use crate::comm;
use crate::comm::Communicator;
use crate::framework::bml::PathEvent;
use crate::framework::pml::MessageEvent;
use crate::process;
use crate::tool::event::pending::{self, Dropped, Pending, What};
use crate::tool::event::{self, FreeFn, ToolFunction};
use crate::tool::value::Datum;
use core::ffi::{c_int, c_void};

/// As [`tell_pending`], where nearly always nobody listens.
#[inline(always)]
pub(super) fn tell_if_heard() {
    if pending::is_open() {
        tell_pending();
    }
}

/// Tells of what happened to messages and transports since the last time. No lock is held: a row begins or ends.
pub(super) fn tell_pending() {
    let Some((_teller, waiting, mut dropped)) = pending::begin() else { return };
    for Pending { event, timestamp, what } in waiting {
        match what {
            What::Message(message) => match comm::of_context(message.context) {
                Some((_, comm)) => tell_message(event, comm, &message, timestamp),
                // The program has freed it meanwhile.
                None => pending::count_dropped(&mut dropped, event, Some(message.context)),
            },
            What::Path(path) => tell_path(event, &path, timestamp),
        }
    }
    for Dropped { event, context, count } in dropped {
        let listeners = match context.map(|context| (context, comm::of_context(context))) {
            None => event::listeners(event, None),
            Some((_, Some((_, comm)))) => event::listeners(event, Some(comm)),
            Some((context, None)) => event::left_behind(event, context),
        };
        for (handle, registration) in listeners {
            if let Some(hook) = registration.dropped() {
                let source = event::ALL[event].source as c_int;
                // SAFETY: the function that the tool gave to MPI_T_event_set_dropped_handler. No lock is held.
                unsafe { (hook.function)(count, handle, source, REQUIRE_NONE, hook.user_data as *mut c_void) };
            }
        }
    }
}

fn tell_message(event: usize, comm: &Communicator, message: &MessageEvent, timestamp: i64) {
    let rank = comm.peers().rank_of(message.process);
    let rank = rank.map_or(-1, |rank| rank as i32);
    let data = [Datum::Int(rank), Datum::Int(message.tag), Datum::Unsigned(message.bytes)];
    tell_listeners(event, Some(comm), &data, timestamp);
}

fn tell_path(event: usize, path: &PathEvent, timestamp: i64) {
    let rank = if (path.process as usize) < process::count() { path.process as i32 } else { -1 };
    tell_listeners(event, None, &[Datum::Int(rank), Datum::Int(event::transport(path.transport))], timestamp);
}

/// Tells of an event, on a communicator if it is bound to one.
pub(super) fn tell_listeners(event: usize, comm: Option<&Communicator>, data: &[Datum<'static>], timestamp: i64) {
    for (handle, registration) in event::listeners(event, comm) {
        let Some(hook) = registration.enter() else { continue };
        if let Some(instance) = event::begin_instance(event, data, timestamp) {
            // SAFETY: the function that the tool registered, called as MPI 5.0 §15.3.8 says. No lock is held.
            unsafe { (hook.function)(instance, handle, REQUIRE_NONE, hook.user_data as *mut c_void) };
            event::end_instance(instance);
        }
        if let Some(last) = registration.left() {
            call_last(last, handle);
        }
    }
}

/// A registration is gone, and no callback of it runs.
pub(super) fn call_last(last: ToolFunction<FreeFn>, registration: usize) {
    // SAFETY: the function that the tool gave to MPI_T_event_handle_free. No lock is held.
    unsafe { (last.function)(registration, REQUIRE_NONE, last.user_data as *mut c_void) };
}

/// MPI_T_CB_REQUIRE_NONE.
const REQUIRE_NONE: c_int = 0;
