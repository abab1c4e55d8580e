//! Windows over shareable memory of each process's own ([`opal_core::shareable`]), so that messages from and to it are copied once, too.

use super::layout::{Layout, PAGE};
use super::share::{SharedWords, TOLD, no_memory, share_with};
use super::words::Words;
use crate::comm::Communicator;
use crate::error::Result;
use crate::framework::osc::Part;
use crate::user_memory;
use alloc::vec::Vec;
use opal_core::shareable::{self, Joint, Mapped, Owned, PeerHeap};
use opal_core::sys::Place;

/// Parts as this process has them mapped, by rank.
pub struct MappedParts {
    /// Where each begins; null where it is empty.
    pub at: Vec<*mut u8>,
    /// What holds those of the others.
    pub others: Vec<Mapped>,
}

/// Memory for a part; `None` if it is empty, or the machine has not left what all these parts want.
pub fn own_part(bytes: usize, alignment: usize, parts: &[Part]) -> Option<Owned> {
    let all = parts.iter().map(|part| part.bytes as u128).sum();
    let wanted = bytes > 0 && user_memory::check_left(all).is_ok();
    wanted.then(|| Owned::new(bytes, alignment.max(PAGE))).flatten()
}

/// Words of a window over such parts, of which that of this process begins at `base`, and the parts; all call it. Without the parts if some
/// process's is not shareable.
pub fn share_parts(comm: &Communicator, parts: &[Part], base: *mut u8) -> Result<(Words, Option<MappedParts>)> {
    let me = comm.rank as usize;
    let SharedWords { words, told, .. } =
        share_with(comm, Layout::of_words(parts.len()), tell(base, parts[me].bytes), true)?;
    // What one process has alone nobody maps: there is only to be some.
    let is_alone = parts.len() == 1 && !base.is_null();
    if !is_alone && parts.iter().zip(&told).any(|(part, told)| part.bytes > 0 && told[0] == 0) {
        return Ok((words, None));
    }
    let mut mapped = MappedParts { at: Vec::new(), others: Vec::new() };
    for (rank, (part, told)) in parts.iter().zip(&told).enumerate() {
        mapped.at.push(match part.bytes {
            _ if rank == me => base,
            0 => core::ptr::null_mut(),
            bytes => {
                let others = reach(told, bytes).map_err(|_| no_memory())?;
                let at = others.at();
                mapped.others.push(others);
                at
            }
        });
    }
    Ok((words, Some(mapped)))
}

/// Words of a window with its parts behind them, one behind the other or each on its own pages; all call it. Messages find the parts by their addresses
/// while the second value lives, if there is one: processes that have no shareable memory at all copy nothing so.
pub fn share_layout(comm: &Communicator, parts: &[Part], contiguous: bool) -> Result<(Words, Option<Joint>)> {
    let me = comm.rank as usize;
    let place = shareable::place().map_or([0; Place::WORDS], |place| place.words());
    let SharedWords { words, told, bases } =
        share_with(comm, Layout::new(parts, contiguous), [place[0], place[1], place[2], 0], true)?;
    let others = told.iter().zip(&bases).enumerate().filter(|(rank, _)| *rank != me);
    let others = others.filter_map(|(_, (told, base))| Some((Place::of_words([told[0], told[1], told[2]])?, *base)));
    let joint = (place[0] != 0).then(|| words.join(others));
    Ok((words, joint))
}

/// What the others need to find memory of this process: its file, and the address. The first word is 0 where there is none.
fn tell(base: *mut u8, bytes: usize) -> [u64; TOLD] {
    let mut told = [0; TOLD];
    if let Some(place) = shareable::place().filter(|_| bytes > 0 && shareable::holds(base, bytes)) {
        told[..Place::WORDS].copy_from_slice(&place.words());
        told[Place::WORDS] = base.addr() as u64;
    }
    told
}

fn reach(told: &[u64; TOLD], bytes: usize) -> opal_core::Result<Mapped> {
    let place = Place::of_words([told[0], told[1], told[2]]).ok_or(opal_core::Error::OutOfResource)?;
    PeerHeap::of(&place)?.reach(told[Place::WORDS], bytes)
}
