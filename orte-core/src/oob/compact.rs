//! The nodes of ranks and the names of nodes in few bytes: every daemon is told all of them.
//!
//! | list | entry |
//! |---|---|
//! | nodes of ranks | first node, number of nodes, ranks on each: these ranks follow each other |
//! | names of nodes | a name, and how many follow it, each with the next number: `h08`, `h09`, `h10` |

use super::OobFlaw;
use super::bytes::{Reader, Writer};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Most ranks and most nodes of a job.
pub const JOB_MAX: u32 = 1 << 20;

/// Writes the node of each rank.
pub fn write_nodes(to: &mut Writer, nodes: &[u32]) {
    to.list(&blocks(nodes), |to, block| {
        to.u32(block.first);
        to.u32(block.count);
        to.u32(block.each);
    });
}

/// Reads the node of each rank: at most [`JOB_MAX`].
pub fn read_nodes(from: &mut Reader<'_>) -> Result<Vec<u32>, OobFlaw> {
    let blocks = from.list(|from| Ok(Block { first: from.u32()?, count: from.u32()?, each: from.u32()? }))?;
    let wrong = OobFlaw::Field("map of ranks");
    let total = blocks.iter().try_fold(0u64, |sum, block| {
        let last = u64::from(block.first) + u64::from(block.count);
        let fits = block.count > 0 && block.each > 0 && last <= u64::from(JOB_MAX);
        fits.then(|| sum.saturating_add(u64::from(block.count) * u64::from(block.each)))
    });
    if total.is_none_or(|total| total > u64::from(JOB_MAX)) {
        return Err(wrong);
    }
    let each = |block: &Block| {
        let (first, each) = (block.first, block.each as usize);
        (first..first + block.count).flat_map(move |node| core::iter::repeat_n(node, each))
    };
    Ok(blocks.iter().flat_map(each).collect())
}

/// Writes the name of each node.
pub fn write_names(to: &mut Writer, names: &[String]) {
    let mut runs: Vec<(&String, u32)> = Vec::new();
    for name in names {
        match runs.last_mut() {
            Some((first, more)) if numbered(first, *more + 1).is_some_and(|next| next == *name) => *more += 1,
            _ => runs.push((name, 0)),
        }
    }
    to.list(&runs, |to, (name, more)| {
        to.bytes(name.as_bytes());
        to.u32(*more);
    });
}

/// Reads the name of each node: at most [`JOB_MAX`].
pub fn read_names(from: &mut Reader<'_>) -> Result<Vec<String>, OobFlaw> {
    let runs = from.list(|from| Ok((from.text("name of a host")?, from.u32()?)))?;
    let total = runs.iter().fold(0u64, |sum, (_, more)| sum.saturating_add(u64::from(*more) + 1));
    let is_long = |(name, more): &(String, u32)| *more > 0 && name.len() > LONGEST_NUMBERED;
    if total > u64::from(JOB_MAX) || runs.iter().any(is_long) {
        return Err(OobFlaw::Field("names of hosts"));
    }
    let mut names = Vec::new();
    for (name, more) in runs {
        let first = names.len();
        names.push(name);
        for next in 1..=more {
            let next = numbered(&names[first], next);
            names.push(next.ok_or(OobFlaw::Field("names of hosts"))?);
        }
    }
    Ok(names)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    first: u32,
    count: u32,
    each: u32,
}

fn blocks(nodes: &[u32]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for run in nodes.chunk_by(|one, other| one == other) {
        let (node, each) = (run[0], run.len() as u32);
        match blocks.last_mut() {
            Some(block) if block.each == each && block.first + block.count == node => block.count += 1,
            _ => blocks.push(Block { first: node, count: 1, each }),
        }
    }
    blocks
}

/// The name whose number is `more` greater, with at least as many digits: the last number before the first dot, or of a name without
/// letters, such as an address, the number at its end. `None` if there is none.
fn numbered(name: &str, more: u32) -> Option<String> {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let label = match name.trim_end_matches(|letter| is_digit(letter) || letter == '.') {
        "" => name,
        _ => name.split('.').next().unwrap_or(name),
    };
    let front = label.trim_end_matches(|letter| !is_digit(letter));
    let stem = front.trim_end_matches(is_digit);
    let (digits, tail) = (&front[stem.len()..], &name[front.len()..]);
    let number = digits.parse::<u64>().ok()?.checked_add(u64::from(more))?;
    let width = digits.len();
    Some(format!("{stem}{number:0width$}{tail}"))
}

/// A name of a host has at most 255 bytes; one that is repeated must not be a trick to fill memory.
const LONGEST_NUMBERED: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use std::vec;

    fn nodes_of(nodes: &[u32]) -> (usize, Result<Vec<u32>, OobFlaw>) {
        let mut to = Writer::default();
        write_nodes(&mut to, nodes);
        let mut from = Reader(&to.0);
        let read = read_nodes(&mut from);
        assert!(from.end().is_ok());
        (to.0.len(), read)
    }

    fn names_of(names: &[String]) -> (usize, Result<Vec<String>, OobFlaw>) {
        let mut to = Writer::default();
        write_names(&mut to, names);
        let mut from = Reader(&to.0);
        let read = read_names(&mut from);
        assert!(from.end().is_ok());
        (to.0.len(), read)
    }

    #[test]
    fn maps_take_few_bytes() {
        let by_slot: Vec<u32> = (0..4096 * 128).map(|rank| rank / 128 + 1).collect();
        let by_node: Vec<u32> = (0..4096 * 128).map(|rank| rank % 4096).collect();
        for (map, bytes) in [(by_slot, 16), (by_node, 4 + 128 * 12), (vec![3, 3, 1, 0, 0, 2], 4 + 4 * 12), (vec![], 4)]
        {
            assert_eq!(nodes_of(&map), (bytes, Ok(map)));
        }
    }

    #[test]
    fn names_take_few_bytes() {
        let names = |all: &[&str]| all.iter().map(|name| name.to_string()).collect::<Vec<String>>();
        let many: Vec<String> = (1..=4096).map(|number| format!("node{number:04}")).collect();
        for (list, bytes) in [
            (many, 4 + 4 + 8 + 4),
            (names(&["head", "h8", "h9", "h10", "h12"]), 4 + (8 + 4) + (8 + 2) + (8 + 3)),
            (names(&["a.b", "a.b", "x99", "x100", "9", "10"]), 4 + 2 * (8 + 3) + (8 + 3) + (8 + 1)),
            (
                names(&["n09.lan7", "n10.lan7", "r1n1-ib.x", "r1n2-ib.x", "10.0.0.9", "10.0.0.10"]),
                4 + (8 + 8) + (8 + 9) + (8 + 8),
            ),
            (names(&["h09", "h10", "h8", "99999999999999999999", "ü1", "ü2"]), 4 + 11 + 10 + 28 + 11),
            (names(&[]), 4),
        ] {
            assert_eq!(names_of(&list), (bytes, Ok(list)));
        }
    }

    #[test]
    fn few_bytes_that_claim_much_are_refused() {
        for blocks in
            [&[(0, 1, JOB_MAX + 1)][..], &[(0, JOB_MAX, 1), (0, 1, 1)], &[(u32::MAX, 1, 1)], &[(0, 0, 1)], &[(0, 1, 0)]]
        {
            let mut to = Writer::default();
            to.list(blocks, |to, (first, count, each)| [first, count, each].into_iter().for_each(|word| to.u32(*word)));
            assert_eq!(read_nodes(&mut Reader(&to.0)), Err(OobFlaw::Field("map of ranks")), "{blocks:?}");
        }
        for (name, more) in [("h1", JOB_MAX), ("h", 1), (&*"1".repeat(300), 1), ("18446744073709551615", 1)] {
            let mut to = Writer::default();
            to.list(&[(name, more)], |to, (name, more)| {
                to.bytes(name.as_bytes());
                to.u32(*more);
            });
            assert_eq!(read_names(&mut Reader(&to.0)), Err(OobFlaw::Field("names of hosts")), "{name}");
        }
    }
}
