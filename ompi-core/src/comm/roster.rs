//! What two groups tell each other when they meet: for each process its name, the context number that it has reserved, where it runs,
//! and its addresses.
//!
//! | bytes | of a process |
//! |---|---|
//! | 8 | its job |
//! | 4 | its rank there |
//! | 4 | its context number |
//! | 8 | `orte_core::port::here` there |
//! | 4 | bytes of its addresses, which follow |
//!
//! Numbers are little-endian. A *card* is what a process says of itself to its own root: words, of which all have as many.

use super::Member;
use crate::error::{Class, Fault, Result};
use crate::framework::bml;
use crate::process::{self, Meeting, Met};
use alloc::format;
use alloc::vec::Vec;
use opal_core::framework::btl::ProcessName;
#[cfg(not(ompi_bare))]
use orte_core::port;

/// Words of a card.
pub const CARD_WORDS: usize = 4 + ADDRESS_WORDS;
const ADDRESS_WORDS: usize = 128;

/// This process's card, for the communicator of which it has reserved a context number. One that cannot be made says so to all
/// ([`checked`]): who gave up alone would leave the others waiting.
pub fn card(context: u32) -> [u64; CARD_WORDS] {
    let ProcessName { job, rank } = process::name(process::me().index);
    let mut addresses = bml::selected().map_or(Vec::new(), |bml| bml.addresses_beyond_job(ProcessName { job, rank }));
    process::publish_cores(&mut addresses);
    card_of(ProcessName { job, rank }, context, &addresses)
}

fn card_of(ProcessName { job, rank }: ProcessName, context: u32, addresses: &[u8]) -> [u64; CARD_WORDS] {
    let mut words = [0; CARD_WORDS];
    words[0] = job;
    words[1] = u64::from(rank) | u64::from(context) << 32;
    words[2] = here();
    words[3] = addresses.len() as u64;
    // Of those that are too long only the length counts.
    for (word, bytes) in words[4..].iter_mut().zip(addresses.chunks(8)) {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(padded);
    }
    words
}

/// The cards, if all of them have room for the addresses of their process.
pub fn checked(cards: Vec<[u64; CARD_WORDS]>) -> Result<Vec<[u64; CARD_WORDS]>> {
    let room = ADDRESS_WORDS * 8;
    match cards.iter().find(|card| card[3] > room as u64) {
        None => Ok(cards),
        Some([job, who, _, length, ..]) => {
            let rank = *who as u32;
            let why = format!(
                "the addresses of rank {rank} in MPI_COMM_WORLD of job {job:x} take {length} bytes, and there is room for {room}; \
                 name fewer interfaces by btl_tcp_if_include"
            );
            Err(Fault::new(Class::Intern).because(why))
        }
    }
}

/// The roster of these cards.
pub fn of_cards(cards: &[[u64; CARD_WORDS]]) -> Vec<u8> {
    let mut roster = Vec::new();
    for [job, who, node, length, addresses @ ..] in cards {
        let bytes: Vec<u8> = addresses.iter().flat_map(|word| word.to_le_bytes()).take(*length as usize).collect();
        roster.extend(job.to_le_bytes());
        roster.extend((*who as u32).to_le_bytes());
        roster.extend(((who >> 32) as u32).to_le_bytes());
        roster.extend(node.to_le_bytes());
        roster.extend((bytes.len() as u32).to_le_bytes());
        roster.extend(bytes);
    }
    roster
}

/// Bytes as words: how many, then all of them, eight in each.
pub fn to_words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let padded = |chunk: &[u8]| {
        let mut padded = [0; 8];
        padded[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(padded)
    };
    core::iter::once(bytes.len() as u64).chain(bytes.chunks(8).map(padded))
}

/// The bytes of [`to_words`].
pub fn from_words(words: &[u64]) -> Option<Vec<u8>> {
    let (length, rest) = words.split_first()?;
    let mut bytes: Vec<u8> = rest.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(usize::try_from(*length).ok()?);
    Some(bytes)
}

/// The members of the other group, which are met. The bytes come from another process: they are checked.
pub fn members(roster: &[u8], meeting: &mut Meeting) -> Result<Vec<Member>> {
    let here = here();
    let mut members = Vec::new();
    for (name, context, node, addresses) in parse(roster).ok_or_else(malformed)? {
        let met = Met { name, same_node: node == here, addresses };
        let process = meeting.meet(&met).ok_or_else(malformed)?;
        members.push(Member { process, context });
    }
    Ok(members)
}

/// Equal for processes that can share memory. Machines without an operating system have one job.
fn here() -> u64 {
    #[cfg(not(ompi_bare))]
    return port::here();
    #[cfg(ompi_bare)]
    0
}

type Entry = (ProcessName, u32, u64, Vec<u8>);

fn parse(mut rest: &[u8]) -> Option<Vec<Entry>> {
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let (job, after) = rest.split_first_chunk()?;
        let (rank, after) = after.split_first_chunk()?;
        let (context, after) = after.split_first_chunk()?;
        let (node, after) = after.split_first_chunk()?;
        let (length, after) = after.split_first_chunk()?;
        let (addresses, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let name = ProcessName { job: u64::from_le_bytes(*job), rank: u32::from_le_bytes(*rank) };
        entries.push((name, u32::from_le_bytes(*context), u64::from_le_bytes(*node), addresses.to_vec()));
        rest = after;
    }
    (!entries.is_empty()).then_some(entries)
}

fn malformed() -> Fault {
    Fault::new(Class::Intern)
        .because("the other group's list of processes cannot be understood; do both use the same library?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_without_room_is_an_error_of_all() {
        let name = ProcessName { job: 10, rank: 3 };
        let room = ADDRESS_WORDS * 8;
        let [good, bad] = [room, room + 1].map(|bytes| card_of(name, 5, &alloc::vec![1; bytes]));
        assert!(checked(Vec::from([good])).is_ok());
        let fault = checked(Vec::from([good, bad])).unwrap_err();
        assert!(fault.reason().contains("rank 3 in MPI_COMM_WORLD of job a take 1025 bytes"), "{}", fault.reason());
    }

    #[test]
    fn cards_become_a_roster_and_nothing_else_does() {
        let mut cards = [[0; CARD_WORDS]; 2];
        for (index, card) in (1..).zip(&mut cards) {
            card[0] = index;
            card[1] = 7 | index << 32;
            card[2] = 99;
            card[3] = 10;
            card[4] = 0x0807_0605_0403_0201;
            card[5] = 0x0a09;
        }
        let roster = of_cards(&cards);
        let entries = parse(&roster).unwrap();
        let addresses: Vec<u8> = (1..=10).collect();
        assert_eq!(entries[1], (ProcessName { job: 2, rank: 7 }, 2, 99, addresses));
        assert_eq!(entries.len(), 2);
        for end in 0..roster.len() {
            assert!(end == roster.len() / 2 || parse(&roster[..end]).is_none(), "{end}");
        }
    }
}
