//! `ompi_stats`: what a job did, gathered when MPI ends. Each rank counts for itself; rank 0 prints it, or writes a file.

pub mod collect;
mod json;
mod late;
mod record;
mod svg;
mod text;
pub mod told;

use super::params::STATS;
use super::{file_of_rank, gather, listen};
use crate::comm;
use crate::error::Result;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::{message, sys};
use record::RankRecord;

/// When MPI starts, before there are communicators: counts from now on if that is wanted.
pub fn at_start() {
    if is_wanted() {
        if !matches!(STATS.text(), "1" | "-") {
            super::check_file("--stats (ompi_stats)", STATS.text());
        }
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
    let mut ranks: Vec<RankRecord> =
        all.iter().map(|text| RankRecord::decode(&String::from_utf8_lossy(text))).collect();
    late::name(&mut ranks);
    let place = STATS.text();
    match place {
        "1" => sys::write_stderr(text::of(&ranks).as_bytes()),
        "-" => sys::write_stdout(text::of(&ranks).as_bytes()),
        _ if place.ends_with(".svg") => write(place, &svg::of(&ranks)),
        _ if place.ends_with(".json") => write(place, &json::of(&ranks)),
        _ => write(place, &text::of(&ranks)),
    }
    Ok(())
}

/// When the last session ends of a process that never called MPI_Init: it has no MPI_Finalize where all ranks could be gathered, and
/// says what it has itself.
pub fn at_leave() {
    if !is_wanted() || gather::has_begun() {
        return;
    }
    let own = [collect::so_far()];
    told::pause();
    let rank = own[0].rank;
    match STATS.text() {
        "1" => sys::write_stderr(text::of_one(&own).as_bytes()),
        "-" => sys::write_stdout(text::of_one(&own).as_bytes()),
        place if place.ends_with(".svg") => write(&file_of_rank(place, rank), &svg::of(&own)),
        place if place.ends_with(".json") => write(&file_of_rank(place, rank), &json::of(&own)),
        place => write(&file_of_rank(place, rank), &text::of_one(&own)),
    }
}

fn is_wanted() -> bool {
    !matches!(STATS.text(), "" | "0")
}

fn write(path: &str, text: &str) {
    if let Err(errno) = sys::write_file(path, text.as_bytes()) {
        message!("ompi_stats: {path} cannot be written: {errno}; here it is\n{text}");
    }
}
