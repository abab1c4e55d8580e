//! Tells the launcher what this process waits for, before it sleeps.

use super::{OF_JOB, listen, rank_of};
use crate::comm;
use crate::framework::bml;
use crate::framework::pml::subject::{self, COLLECTIVE, NO_CONTEXT};
use crate::process;
use crate::status::{ANY_SOURCE, ANY_TAG};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use opal_core::framework::btl::BrokenPath;
use opal_core::sync::{AtomicBool, AtomicU64, Ordering};
use opal_core::wait::{Awaited, Subject};
use orte_core::framework::ess::{self, Needed};
use orte_core::segment::record::AWAITED_TEXT_BYTES;

/// Since when a wait has been in vain, the time now, both in ns, and what it is for.
pub fn tell(since_ns: u64, now_ns: u64, awaited: &dyn Awaited) {
    // Once for each wait. Relaxed: a number only; where several threads wait, each may tell again.
    static TOLD: AtomicU64 = AtomicU64::new(0);
    static TOLD_BROKEN: AtomicBool = AtomicBool::new(false);
    let Some(environment) = ess::selected() else { return };
    let broken = broken_paths();
    let is_new = TOLD.swap(since_ns, Ordering::Relaxed) != since_ns;
    // And as long as a path is broken, once more when it is not.
    let was_broken = TOLD_BROKEN.swap(!broken.is_empty(), Ordering::Relaxed);
    if is_new || was_broken || !broken.is_empty() {
        let subject = awaited.subject();
        let (mut needed, mut words) = (needed(&subject), words(&subject));
        if is_new {
            let rank = if let Needed::Rank(rank) = needed { Some(rank) } else { None };
            listen::awaits(since_ns, rank, &words);
        }
        if let Some(broken) = broken_words(&subject, &words, &broken, now_ns) {
            (needed, words) = (Needed::Path, broken);
        }
        environment.awaits(&ess::Awaited { needed, words: &cut(words) });
    }
    environment.sleeps(since_ns, now_ns);
}

/// The same of a wait for a process of another job, or for the launcher, over a connection of its own: `words` say what goes on after
/// `waits for`, once.
pub fn tell_beyond_job(since_ns: u64, now_ns: u64, needed: Needed, words: Option<&str>) {
    let Some(environment) = ess::selected() else { return };
    if let Some(words) = words {
        environment.awaits(&ess::Awaited { needed, words: &cut(words.into()) });
    }
    environment.sleeps(since_ns, now_ns);
}

fn broken_paths() -> Vec<BrokenPath> {
    bml::selected().map_or_else(Vec::new, |bml| bml.modules().iter().flat_map(|module| module.broken_paths()).collect())
}

/// What a wait is for that a broken path may hold up; `None` if none does.
fn broken_words(subject: &Subject, words: &str, broken: &[BrokenPath], now_ns: u64) -> Option<String> {
    let is_of = |path: &&BrokenPath| subject.process == Subject::NO_PROCESS || subject.process == path.peer;
    let path = broken.iter().find(is_of)?;
    let seconds = now_ns.saturating_sub(path.since_ns) / 1_000_000_000;
    let story = format!("broke {seconds} s ago and is made again: {}", path.tried);
    Some(match subject.process {
        // What it is for has no room beside that.
        Subject::NO_PROCESS if words.is_empty() => format!("the connection to rank {}, which {story}", path.peer),
        Subject::NO_PROCESS => format!("{words}; the connection to rank {} {story}", path.peer),
        process => format!("rank {process}: the connection to it {story}"),
    })
}

/// Without whom the wait does not end. Where that is not one process, those of the communicator may end it; where that is not known
/// either, all that this one has met.
fn needed(subject: &Subject) -> Needed {
    if subject.process != Subject::NO_PROCESS {
        return match (rank_of(subject.process), process::find_by_index(subject.process)) {
            (Some(rank), _) => Needed::Rank(rank),
            (None, Some(process)) => Needed::OfOtherJob(process.name()),
            (None, None) => Needed::SomeOfOtherJobs,
        };
    }
    if !process::knows_other_jobs() {
        return Needed::SomeOfJob;
    }
    let comm = (subject.context != NO_CONTEXT).then(|| comm::of_context(subject.context)).flatten();
    let is_beyond_job = comm.is_none_or(|(_, comm)| {
        let mut members =
            comm.group.members().iter().chain(comm.remote.iter().flat_map(|remote| remote.members().iter()));
        members.any(|member| rank_of(member).is_none())
    });
    if is_beyond_job { Needed::SomeOfOtherJobs } else { Needed::SomeOfJob }
}

/// As much of it as the launcher has room for. What stands at its end is the name of a communicator.
fn cut(mut words: String) -> String {
    if words.len() > AWAITED_TEXT_BYTES {
        words.truncate(words.floor_char_boundary(AWAITED_TEXT_BYTES - ELLIPSIS.len_utf8()));
        words.push(ELLIPSIS);
    }
    words
}

const ELLIPSIS: char = '…';

/// What goes on after `waits for`; empty if nobody knows.
pub fn words(subject: &Subject) -> String {
    let name = comm::of_context(subject.context).filter(|_| subject.context != NO_CONTEXT);
    let on = name.map_or(String::new(), |(_, comm)| format!(" on {}", comm.described()));
    let own = match name {
        Some((_, comm)) if comm.is_inter() && comm.context != subject.context => rank_in_group(comm, subject.rank),
        _ => subject.rank,
    };
    let in_world = match subject.process {
        Subject::NO_PROCESS => String::new(),
        process if rank_of(process).is_none() => of_another_job(process, own),
        process if own == process as i32 => String::new(),
        process => format!(" (rank {process} of the job)"),
    };
    let rank = match own {
        ANY_SOURCE => "any rank".to_string(),
        rank => format!("rank {rank}"),
    };
    let tag = match subject.tag {
        ANY_TAG => "any tag".to_string(),
        tag => format!("tag {tag}"),
    };
    let kind = subject.kind % COLLECTIVE;
    if kind == subject::RANKS {
        return format!("other ranks in a collective operation{on}");
    }
    if subject.kind >= COLLECTIVE {
        return format!("{rank}{in_world} in a collective operation{on}");
    }
    match kind {
        subject::MESSAGE => format!("a message from {rank}{in_world} with {tag}{on}"),
        subject::REST => format!("the rest of a message from {rank}{in_world} with {tag}{on}"),
        subject::RECEIVE => format!("{rank}{in_world} to receive a message with {tag}{on}"),
        subject::ROOM => format!("room for a message to {rank}{in_world} with {tag}{on}"),
        subject::PARTITIONS => format!("partitions of a message from {rank}{in_world} with {tag}{on}"),
        subject::TAKEN => format!("{rank}{in_world} to receive partitions of a message with {tag}{on}"),
        subject::MARKS => format!("this rank to call MPI_Pready for a message to {rank}{in_world} with {tag}{on}"),
        subject::LOCK if subject.rank == ANY_SOURCE => {
            format!("the lock of rank {} of a window, which others hold", subject.tag)
        }
        subject::LOCK => format!("the lock of rank {} of a window, which {rank}{in_world} holds", subject.tag),
        subject::POST => format!("{rank}{in_world} to call MPI_Win_post"),
        subject::COMPLETE => format!("{rank}{in_world} to call MPI_Win_complete"),
        subject::WINDOW => format!("{rank}{in_world} to do what was asked of it for a window: it must call MPI"),
        subject::ANY_OF => format!("any of {} operations", subject.tag),
        _ => String::new(),
    }
}

/// Collective operations between two groups number the ranks of both; people know those of each.
fn rank_in_group(comm: &comm::Communicator, rank: i32) -> i32 {
    let of = |ranks: &core::ops::Range<usize>| {
        Some(rank as usize).filter(|rank| ranks.contains(rank)).map(|rank| rank - ranks.start)
    };
    comm.merged_ranks().iter().find_map(of).map_or(rank, |rank| rank as i32)
}

fn of_another_job(process: u32, rank: i32) -> String {
    let Some(process) = process::find_by_index(process) else { return String::new() };
    let (name, job) = (process.name(), process::job_number(process.name().job));
    match name.rank as i32 == rank {
        true => format!(" ({OF_JOB} {job})"),
        false => format!(" (rank {} {OF_JOB} {job})", name.rank),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_and_nothing_else() {
        let long = format!("a message from rank 1 (rank 5 of the job) with tag 7 on {}", "é".repeat(60));
        let short = cut(long.clone());
        assert!(short.len() <= AWAITED_TEXT_BYTES && short.ends_with("é…"), "{short}");
        assert!(long.starts_with(short.trim_end_matches('…')));
        assert_eq!(cut("a message".into()), "a message");
    }

    #[test]
    fn a_broken_path_is_what_is_waited_for() {
        let broken =
            [BrokenPath { peer: 1, since_ns: 2_000_000_000, tried: "10.0.0.1 to 10.0.0.2, 7 attempts".into() }];
        let to = |process| broken_words(&Subject { process, ..Subject::UNKNOWN }, "a message", &broken, 14_900_000_000);
        assert_eq!(
            to(1).as_deref(),
            Some("rank 1: the connection to it broke 12 s ago and is made again: 10.0.0.1 to 10.0.0.2, 7 attempts")
        );
        assert_eq!(to(2), None, "that one is there");
        let any = to(Subject::NO_PROCESS).unwrap();
        assert!(any.starts_with("a message; the connection to rank 1 broke 12 s ago"), "{any}");
    }

    #[test]
    fn words_for_people() {
        let subject = Subject { kind: subject::MESSAGE, process: 5, rank: 1, tag: 7, context: NO_CONTEXT };
        assert_eq!(words(&subject), "a message from rank 1 (rank 5 of the job) with tag 7");
        let any = Subject { process: Subject::NO_PROCESS, rank: ANY_SOURCE, tag: ANY_TAG, ..subject };
        assert_eq!(words(&any), "a message from any rank with any tag");
        let collective = Subject { kind: subject::of(subject::REST, true), process: 1, ..subject };
        assert_eq!(words(&collective), "rank 1 in a collective operation");
        let lock = subject::at_window(subject::LOCK, Some((2, 2)), 1);
        assert_eq!(words(&lock), "the lock of rank 1 of a window, which rank 2 holds");
        let shared = subject::at_window(subject::LOCK, None, 1);
        assert_eq!(words(&shared), "the lock of rank 1 of a window, which others hold");
        let post = subject::at_window(subject::POST, Some((1, 5)), 0);
        assert_eq!(words(&post), "rank 1 (rank 5 of the job) to call MPI_Win_post");
        assert_eq!(words(&Subject::UNKNOWN), "");
    }
}
