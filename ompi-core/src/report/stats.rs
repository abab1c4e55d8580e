//! `ompi_stats`: what a job did, gathered when MPI ends. Each rank counts for itself; rank 0 prints it, or writes a file.

pub mod collect;
mod json;
mod record;
mod svg;
mod text;
pub mod told;

use super::params::STATS;
use super::{gather, listen};
use crate::comm;
use crate::error::Result;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::{message, sys};
use record::RankRecord;

/// When MPI starts, before there are communicators: counts from now on if that is wanted.
pub fn at_start() {
    if is_wanted() {
        collect::begin();
        listen::begin();
        told::begin();
    }
}

/// When it ends: all ranks call it, while messages can still be sent.
pub fn at_finalize() -> Result<()> {
    if !is_wanted() {
        return Ok(());
    }
    let mine = collect::end().encode();
    let gathered = gather::at_first(comm::world(), mine.as_bytes())?;
    told::end();
    let Some(all) = gathered else { return Ok(()) };
    let ranks: Vec<RankRecord> = all.iter().map(|text| RankRecord::decode(&String::from_utf8_lossy(text))).collect();
    let place = STATS.text();
    match place {
        "1" | "-" => sys::write_stderr(text::of(&ranks).as_bytes()),
        _ if place.ends_with(".svg") => write(place, &svg::of(&ranks)),
        _ if place.ends_with(".json") => write(place, &json::of(&ranks)),
        _ => write(place, &text::of(&ranks)),
    }
    Ok(())
}

fn is_wanted() -> bool {
    !matches!(STATS.text(), "" | "0")
}

fn write(path: &str, text: &str) {
    if let Err(errno) = sys::write_file(path, text.as_bytes()) {
        message!("ompi_stats: {path} cannot be written: {errno}; here it is\n{text}");
    }
}
