//! What goes along an edge of the tree.
//!
//! | bytes | what |
//! |---|---|
//! | 1 | [`FORMAT`] |
//! | 1 | kind: 1 addresses, 2 barrier reached, 3 release |
//! | … | addresses: a message of the registry, without its version; else the number of the barrier, 4 bytes, little-endian |
//!
//! A node passes on the sections of others as they came: messages are put together without being read again.

use super::flaw::ModexFlaw;
use super::map::JOB;
use crate::gpr::form::VERSION;
use crate::gpr::key::{PROC_ADDRESSES, Value};
use crate::gpr::registry::Registry;
use crate::gpr::view::{SectionView, View};
use alloc::vec::Vec;

/// Raised when the format of frames changes, or that of the registry's messages.
pub const FORMAT: u8 = 1;

/// A frame, checked as far as one can without knowing the job.
#[derive(Clone, Debug)]
pub enum ModexFrame<'a> {
    /// Addresses of ranks.
    Addresses(Sections<'a>),
    /// Upwards: all ranks below are in the barrier of this number.
    Reached(u32),
    /// Downwards: all ranks of the job were in the barrier of this number.
    Release(u32),
}

/// Sections of a registry's message that hold addresses of ranks and nothing else.
#[derive(Clone, Debug)]
pub struct Sections<'a> {
    bytes: &'a [u8],
    view: View<'a>,
}

impl<'a> ModexFrame<'a> {
    /// Checks a frame of unknown origin.
    pub fn new_checked(bytes: &'a [u8]) -> Result<ModexFrame<'a>, ModexFlaw> {
        let [format, kind, body @ ..] = bytes else { return Err(ModexFlaw::Length(bytes.len())) };
        if *format != FORMAT {
            return Err(ModexFlaw::Format(*format));
        }
        let number = || body.try_into().map(u32::from_le_bytes).map_err(|_| ModexFlaw::Length(bytes.len()));
        match *kind {
            ADDRESSES => Sections::new_checked(body).map(ModexFrame::Addresses),
            REACHED => number().map(ModexFrame::Reached),
            RELEASE => number().map(ModexFrame::Release),
            other => Err(ModexFlaw::Kind(other)),
        }
    }
}

impl<'a> Sections<'a> {
    fn new_checked(bytes: &'a [u8]) -> Result<Sections<'a>, ModexFlaw> {
        let view = View::sections_checked(bytes).map_err(ModexFlaw::Message)?;
        for section in view.sections() {
            let mut columns = section.columns().map(|(key, _)| key);
            if section.segment() != JOB || columns.next() != Some(PROC_ADDRESSES) || columns.next().is_some() {
                return Err(ModexFlaw::Subject);
            }
        }
        Ok(Sections { bytes, view })
    }

    /// As they came.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Checks that they speak of ranks of a job of this size. Before any rank is looked at: a few bytes can claim millions of
    /// ranks without any value.
    pub fn check_ranks(&self, size: u32) -> Result<(), ModexFlaw> {
        let mut last = self.view.sections().iter().map(SectionView::last_container);
        last.find(|rank| *rank >= size).map_or(Ok(()), |rank| Err(ModexFlaw::Rank(rank)))
    }

    /// Ranks with their addresses, in the order of the message.
    pub fn addresses(&self) -> impl Iterator<Item = (u32, &'a [u8])> + '_ {
        self.view.sections().iter().flat_map(|section| {
            section.columns().flat_map(|(_, column)| {
                section.containers().enumerate().filter_map(move |(place, rank)| match column.at(place as u32) {
                    Value::Bytes(bytes) => Some((rank, bytes)),
                    _ => None,
                })
            })
        })
    }
}

/// Sections that say these addresses; none for none. Ranks are those of the job, each once.
pub fn sections(size: u32, addresses: &[(u32, Vec<u8>)]) -> Result<Vec<u8>, ModexFlaw> {
    let all = addresses.iter().map(|(rank, bytes)| (*rank, &bytes[..]));
    let mut message = message(size, all)?;
    message.remove(0);
    Ok(message)
}

/// A whole message of the registry that says these addresses.
pub fn message<'a>(size: u32, addresses: impl Iterator<Item = (u32, &'a [u8])>) -> Result<Vec<u8>, ModexFlaw> {
    let mut registry = Registry::default();
    registry.add_segment(JOB, size).map_err(ModexFlaw::Registry)?;
    for (rank, bytes) in addresses {
        registry.put(JOB, rank, PROC_ADDRESSES, Value::Bytes(bytes)).map_err(ModexFlaw::Registry)?;
    }
    let message = registry.image();
    debug_assert_eq!(message[0], VERSION);
    Ok(message)
}

/// The frame with the sections of several nodes, one after the other.
pub fn addresses<'a>(parts: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut frame = Vec::from([FORMAT, ADDRESSES]);
    parts.for_each(|part| frame.extend_from_slice(part));
    frame
}

/// The frame that says that all ranks below are in a barrier.
pub fn reached(number: u32) -> Vec<u8> {
    numbered(REACHED, number)
}

/// The frame that lets them go on.
pub fn release(number: u32) -> Vec<u8> {
    numbered(RELEASE, number)
}

fn numbered(kind: u8, number: u32) -> Vec<u8> {
    let mut frame = Vec::from([FORMAT, kind]);
    frame.extend_from_slice(&number.to_le_bytes());
    frame
}

const ADDRESSES: u8 = 1;
const REACHED: u8 = 2;
const RELEASE: u8 = 3;
