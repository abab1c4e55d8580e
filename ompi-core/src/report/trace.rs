//! `ompi_trace`: what happened when, as JSON that Perfetto and chrome://tracing open.

pub mod events;
mod json;

use super::params::TRACE;
use super::{gather, listen};
use crate::comm;
use crate::error::Result;
use opal_core::{message, sys};

/// When MPI starts, before there are communicators.
pub fn at_start() {
    if !TRACE.text().is_empty() {
        events::begin();
        listen::begin();
    }
}

/// When this process ends the job: its own events are all that is left.
pub fn at_abort() {
    let path = TRACE.text();
    if path.is_empty() || !events::is_on() {
        return;
    }
    let Some(mine) = events::try_end() else { return };
    let (text, _) = json::of(&[mine.into_bytes()]);
    match sys::write_file(path, text.as_bytes()) {
        Ok(()) => message!(
            "ompi_trace: {path} has the events of this rank alone, because it ended the job before MPI_Finalize"
        ),
        Err(errno) => message!("ompi_trace: {path} cannot be written: {errno}"),
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
    if dropped > 0 {
        message!("ompi_trace: {dropped} events were dropped; ompi_trace_events sets how many a rank keeps");
    }
    if let Err(errno) = sys::write_file(path, text.as_bytes()) {
        message!("ompi_trace: {path} cannot be written: {errno}");
    }
    Ok(())
}
