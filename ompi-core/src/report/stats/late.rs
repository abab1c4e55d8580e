//! Who was late: what one rank waited for is what it knows itself; together the ranks know more.
//!
//! A rank that was waited for may have waited itself meanwhile: then whoever it waited for was late. And of a collective operation a
//! rank often does not know whose part is missing: it was the only one that did not wait at the time, if there is one.

use super::record::{RankRecord, WaitRecord};
use alloc::vec::Vec;
use core::ops::Range;

/// Names in all waits who was late, by the records of all ranks.
pub fn name(ranks: &mut [RankRecord]) {
    let culprits: Vec<Vec<i64>> = ranks
        .iter()
        .map(|rank| rank.longest.iter().map(|wait| culprit(ranks, rank, wait).unwrap_or(wait.process)).collect())
        .collect();
    for (rank, culprits) in ranks.iter_mut().zip(culprits) {
        rank.longest.iter_mut().zip(culprits).for_each(|(wait, process)| wait.process = process);
    }
}

/// `None`: what the wait says of itself is all that is known.
fn culprit(ranks: &[RankRecord], rank: &RankRecord, wait: &WaitRecord) -> Option<i64> {
    let (mut own, mut seen, mut found) = (wait, Vec::from([i64::from(rank.rank)]), None);
    while own.process >= 0 {
        found = Some(own.process);
        // Who waits for one another in a circle was late together.
        if seen.contains(&own.process) {
            return None;
        }
        seen.push(own.process);
        let next = ranks.iter().find(|rank| i64::from(rank.rank) == own.process)?;
        match meanwhile(next, rank, wait) {
            Some(wait) => own = wait,
            None => return found,
        }
    }
    // The last one of the chain does not know for whom it waited.
    if !own.words.contains(COLLECTIVE) {
        return found;
    }
    let mut absent = ranks.iter().filter(|other| other.rank != rank.rank && meanwhile(other, rank, wait).is_none());
    match (absent.next(), absent.next()) {
        (Some(late), None) => Some(i64::from(late.rank)),
        (Some(_), Some(_)) => Some(SEVERAL),
        (None, _) => found,
    }
}

/// The wait in which a rank was for most of the time of another rank's.
fn meanwhile<'a>(of: &'a RankRecord, waiting: &RankRecord, wait: &WaitRecord) -> Option<&'a WaitRecord> {
    // Clocks of two hosts have nothing in common; all ranks begin to count at about the same time.
    let time = |rank: &RankRecord, wait: &WaitRecord| -> Range<u64> {
        let since = if of.host == waiting.host { wait.since_ns } else { wait.since_ns.saturating_sub(rank.from_ns) };
        since..since + wait.ns
    };
    let whole = time(waiting, wait);
    of.longest.iter().find(|other| {
        let own = time(of, other);
        own.end.min(whole.end).saturating_sub(own.start.max(whole.start)) > wait.ns / 2
    })
}

/// In place of a process: there were several.
pub const SEVERAL: i64 = -2;
/// Of the words of waits in collective operations.
const COLLECTIVE: &str = "in a collective operation";

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    /// Ranks of one host with a wait each: since, how long, for whom; in a collective operation if that is not known.
    fn ranks(waits: &[Option<(u64, u64, i64)>]) -> Vec<RankRecord> {
        let wait = |(since_ns, ns, process): (u64, u64, i64)| {
            let words =
                if process < 0 { "other ranks in a collective operation on MPI_COMM_WORLD" } else { "a message" };
            WaitRecord { since_ns, ns, process, words: words.to_string() }
        };
        let rank = |(rank, own): (usize, &Option<_>)| RankRecord {
            rank: rank as u32,
            longest: own.map(wait).into_iter().collect(),
            ..RankRecord::default()
        };
        waits.iter().enumerate().map(rank).collect()
    }

    fn named(mut ranks: Vec<RankRecord>) -> Vec<Option<i64>> {
        name(&mut ranks);
        ranks.iter().map(|rank| rank.longest.first().map(|wait| wait.process)).collect()
    }

    #[test]
    fn the_one_that_did_not_wait_was_late() {
        let all = ranks(&[Some((100, 300, -1)), Some((110, 290, -1)), None, Some((90, 310, -1))]);
        assert_eq!(named(all), [Some(2), Some(2), None, Some(2)]);
        let two = ranks(&[Some((100, 300, -1)), None, None]);
        assert_eq!(named(two), [Some(SEVERAL), None, None]);
        // It waited at another time.
        let before = ranks(&[Some((1000, 300, -1)), Some((0, 900, -1)), Some((1000, 300, -1))]);
        assert_eq!(named(before)[0], Some(1));
    }

    #[test]
    fn who_waited_itself_was_not_the_cause() {
        let chain = ranks(&[Some((100, 300, 1)), Some((100, 290, 2)), None]);
        assert_eq!(named(chain), [Some(2), Some(2), None]);
        let circle = ranks(&[Some((100, 300, 1)), Some((100, 300, 0))]);
        assert_eq!(named(circle), [Some(1), Some(0)]);
        // Rank 1 waits in a collective operation, and rank 2 is not there.
        let both = ranks(&[Some((100, 300, 1)), Some((100, 290, -1)), None]);
        assert_eq!(named(both), [Some(2), Some(2), None]);
        let other_job = ranks(&[Some((100, 300, 7)), None]);
        assert_eq!(named(other_job), [Some(7), None]);
    }

    #[test]
    fn clocks_of_two_hosts_are_compared_from_the_start() {
        let mut all = ranks(&[Some((5_000_100, 300, 1)), Some((100, 300, 2)), None]);
        (all[0].host, all[0].from_ns) = ("a".to_string(), 5_000_000);
        all[1].host = "b".to_string();
        all[2].host = "b".to_string();
        assert_eq!(named(all), [Some(2), Some(2), None]);
    }
}
