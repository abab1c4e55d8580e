//! `ompi_trace`: what happened when, as JSON that Perfetto and chrome://tracing open.

pub mod events;
mod json;

use super::params::TRACE;
use super::{file_of_rank, gather, listen};
use crate::error::Result;
use crate::{comm, process};
use opal_core::{message, sys};

/// When MPI starts, before there are communicators.
pub fn at_start() {
    if !TRACE.text().is_empty() {
        super::check_file("--trace (ompi_trace)", TRACE.text());
        events::begin();
        listen::begin();
    }
}

/// When this process ends itself, and mostly the job with it: its own events are all that is left, in a file of its own, since several may
/// end at once.
pub fn at_abort() {
    let path = TRACE.text();
    if path.is_empty() || !events::is_on() {
        return;
    }
    let Some(mine) = events::try_end() else { return };
    let (text, _) = json::of(&[mine.into_bytes()]);
    let path = file_of_rank(path, process::me().index);
    match sys::write_file(&path, text.as_bytes()) {
        Ok(()) => message!("ompi_trace: {path} has the events of this rank alone, which ended before MPI_Finalize"),
        Err(errno) => message!("ompi_trace: {path} cannot be written: {errno}"),
    }
}

/// When the last session ends of a process that never called MPI_Init.
pub fn at_leave() {
    let path = TRACE.text();
    if path.is_empty() || !events::is_on() || gather::has_begun() {
        return;
    }
    let (text, dropped) = json::of(&[events::so_far().into_bytes()]);
    let path = file_of_rank(path, process::me().index);
    tell_dropped(dropped);
    if let Err(errno) = sys::write_file(&path, text.as_bytes()) {
        message!("ompi_trace: {path} cannot be written: {errno}");
    }
}

fn tell_dropped(dropped: u64) {
    if dropped > 0 {
        message!(
            "ompi_trace: the first {dropped} events were dropped, which each rank shows as one; ompi_trace_events sets how many it keeps"
        );
    }
}

/// When it ends: all ranks call it, while messages can still be sent.
pub fn at_finalize() -> Result<()> {
    let path = TRACE.text();
    if path.is_empty() {
        return Ok(());
    }
    let mine = events::end();
    let Some(all) = gather::at_first(comm::world(), mine.as_bytes())? else { return Ok(()) };
    let (text, dropped) = json::of(&all);
    tell_dropped(dropped);
    if let Err(errno) = sys::write_file(path, text.as_bytes()) {
        message!("ompi_trace: {path} cannot be written: {errno}");
    }
    Ok(())
}
