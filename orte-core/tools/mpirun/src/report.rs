//! The message about a job that failed: one block, written once, after all output of the ranks.

use crate::outcome::Cause;
use crate::signals;
use std::fmt::Write;

/// What mpirun did about it.
#[derive(Clone, Debug, Default)]
pub struct Measures {
    /// Ranks that still ran when it happened.
    pub running: usize,
    /// Ranks of those that had to be killed.
    pub killed: usize,
    /// The numbers of further jobs that were ended with it.
    pub jobs: Vec<u32>,
}

/// The block.
pub fn block(
    cause: &Cause,
    also: &[Cause],
    pid: impl Fn(u32) -> Option<u32>,
    host: impl Fn(u32) -> String,
    measures: &Measures,
) -> String {
    let who = |rank: u32| match pid(rank) {
        Some(pid) => format!("rank {rank} (process {pid} on {})", host(rank)),
        None => format!("rank {rank} on {}", host(rank)),
    };
    let mut text = String::from(RULE);
    let _ = match cause {
        Cause::Abort(rank, status, message) => {
            text.push_str(&abort(&who(*rank), *status, message));
            Ok(())
        }
        Cause::Signal(rank, _) | Cause::Exit(rank, _) | Cause::NotFinalized(rank) => {
            writeln!(text, "mpirun: {} {}.", who(*rank), cause.briefly().unwrap_or_default())
        }
        Cause::NotInitialized(rank) => writeln!(
            text,
            "mpirun: {} ended with status 0 without calling MPI_Init, and other ranks waited for it.",
            who(*rank)
        ),
        Cause::Interrupted(signal) => writeln!(text, "mpirun: got signal {signal} ({}).", signals::describe(*signal)),
        Cause::TimedOut(limit, states, jobs) => {
            let (seconds, jobs) = (limit.as_secs_f64(), further(jobs));
            match (states.is_empty(), jobs) {
                (true, None) => writeln!(
                    text,
                    "mpirun: after {seconds} s (--timeout) nobody had read all output of the ranks, which have ended."
                ),
                (true, Some(jobs)) => writeln!(
                    text,
                    "mpirun: after {seconds} s (--timeout) {jobs}, still ran; the ranks of the first job have ended."
                ),
                (false, jobs) => writeln!(
                    text,
                    "mpirun: the job still ran after {seconds} s (--timeout): {}{}.",
                    still(states),
                    jobs.map_or(String::new(), |jobs| format!("; so did {jobs}"))
                ),
            }
        }
        Cause::KeeperLost(status, elsewhere) => {
            let place = elsewhere.as_ref().map_or_else(String::new, |host| format!(" on {host}"));
            let its = if elsewhere.is_some() { "the" } else { "its" };
            let _ = write!(text, "mpirun: {its} keeper process{place} ");
            if libc::WIFSIGNALED(*status) {
                let signal = libc::WTERMSIG(*status);
                let name = signals::describe(signal);
                writeln!(text, "was ended by signal {signal} ({name}), and all ranks{place} with it.")
            } else {
                writeln!(text, "failed, and all ranks{place} ended with it.")
            }
        }
        Cause::JobFailed(number, status) => {
            writeln!(text, "mpirun: job {number}, which ranks spawned, ended with status {status}.")
        }
        Cause::RootGone => writeln!(text, "mpirun: the mpirun that had this job started is gone."),
        Cause::HostLost(host, why) => writeln!(text, "mpirun: host {host} was lost: {why}."),
    };
    for (words, ranks) in grouped(also.iter().filter_map(|cause| Some((cause.rank()?, cause.briefly()?)))) {
        let _ = writeln!(text, "mpirun: {} {words}, too.", listed(&ranks));
    }
    text.push_str(&measures.sentence(cause));
    text.push_str(RULE);
    text
}

/// Ranks of which the same is said, together.
fn grouped(said: impl Iterator<Item = (u32, String)>) -> Vec<(String, Vec<u32>)> {
    let mut kinds: Vec<(String, Vec<u32>)> = Vec::new();
    for (rank, words) in said {
        match kinds.iter_mut().find(|(kind, _)| *kind == words) {
            Some((_, ranks)) => ranks.push(rank),
            None => kinds.push((words, vec![rank])),
        }
    }
    kinds
}

/// `rank 1`, `ranks 0, 2-5, 7`.
fn listed(ranks: &[u32]) -> String {
    format!("rank{} {}", if ranks.len() == 1 { "" } else { "s" }, runs(ranks))
}

/// `0, 2-5, 7`.
fn runs(numbers: &[u32]) -> String {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in &numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let runs = runs.iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}-{last}"),
    });
    runs.collect::<Vec<_>>().join(", ")
}

/// Who was doing what, ranks in the same state together.
fn still(states: &[(u32, String)]) -> String {
    let kinds = grouped(states.iter().cloned());
    kinds.iter().map(|(state, ranks)| format!("{} {state}", listed(ranks))).collect::<Vec<_>>().join("; ")
}

/// `called MPI_Abort …` goes on after the rank's name (see `ess::Module::abort`); else an error handler or the library
/// itself ended the job, which the program need not know of.
fn abort(who: &str, status: i32, message: &str) -> String {
    let message = message.trim_end();
    let mut lines = message.lines();
    let first = lines.next().unwrap_or_default();
    let mut text = match first {
        "" => format!("mpirun: {who} ended the job with status {status}.\n"),
        _ if first.starts_with("called ") => format!("mpirun: {who} {first}.\n"),
        _ => format!("mpirun: {who} ended the job: {first}\n"),
    };
    for line in lines {
        // The library indents what belongs to its first line.
        text.push_str(if line.starts_with("  ") { "" } else { "  " });
        text.push_str(line);
        text.push('\n');
    }
    text
}

impl Measures {
    fn sentence(&self, cause: &Cause) -> String {
        let jobs = further(&self.jobs).map_or(String::new(), |jobs| format!("With it ended {jobs}.\n"));
        if self.running == 0 || matches!(cause, Cause::KeeperLost(_, None)) {
            return jobs;
        }
        let others = if matches!(cause, Cause::Interrupted(_) | Cause::TimedOut(..)) { "" } else { "other " };
        let (ranks, were) = if self.running == 1 { ("rank", "was") } else { ("ranks", "were") };
        let sent = signals::describe(cause.signal());
        let sent = sent.split(',').next().unwrap_or_default();
        let mut text = format!("The {} {others}{ranks} that still ran {were} sent {sent}", self.running);
        let _ = match self.killed {
            0 => writeln!(text, " and ended."),
            killed => writeln!(text, "; {killed} did not end in time and had to be killed."),
        };
        text + &jobs
    }
}

/// `job 2, which ranks spawned`; `None` if there is none.
fn further(numbers: &[u32]) -> Option<String> {
    (!numbers.is_empty()).then(|| format!("{}, which ranks spawned", jobs(numbers)))
}

/// `job 2`, `jobs 2, 4-6`.
pub fn jobs(numbers: &[u32]) -> String {
    format!("job{} {}", if numbers.len() == 1 { "" } else { "s" }, runs(numbers))
}

const RULE: &str = "--------------------------------------------------------------------------\n";

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn blocks_say_who_and_what() {
        let measures = &Measures { running: 3, killed: 1, jobs: Vec::new() };
        let text = block(&Cause::Signal(2, 11), &[], |_| Some(4711), |_| "n1".to_owned(), measures);
        for words in
            ["rank 2", "4711", "on n1", "signal 11", "SIGSEGV", "3 other ranks", "sent SIGTERM;", "1 did not end"]
        {
            assert!(text.contains(words), "{words} is missing in {text}");
        }
        let text =
            block(&Cause::Abort(0, 5, "one\ntwo\n".into()), &[], |_| None, |_| "n1".to_owned(), &Measures::default());
        assert!(text.contains(" ended the job: one\n  two\n") && !text.contains("MPI_Abort"), "{text}");
        let text = block(
            &Cause::Abort(0, 5, "called MPI_Abort on X with error code 5".into()),
            &[],
            |_| None,
            |_| "n1".to_owned(),
            measures,
        );
        assert!(text.contains(" called MPI_Abort on X with error code 5.\n"), "{text}");
        let text = block(&Cause::Abort(0, 5, String::new()), &[], |_| None, |_| "n1".to_owned(), &Measures::default());
        assert!(text.contains(" ended the job with status 5.\n"), "{text}");
        assert!(!text.contains("still ran"));
        let text = block(&Cause::HostLost("n2".into(), "x".into()), &[], |_| None, |_| "n1".to_owned(), measures);
        assert!(text.contains("host n2 was lost: x.") && text.contains("3 other ranks"), "{text}");
        let text = block(&Cause::KeeperLost(9, Some("n2".into())), &[], |_| None, |_| "n1".to_owned(), measures);
        assert!(
            text.contains("the keeper process on n2 was ended by signal 9") && text.contains("all ranks on n2"),
            "{text}"
        );
        let states = vec![(0, "in MPI".to_owned()), (1, "not in MPI_Init yet".to_owned()), (3, "in MPI".to_owned())];
        let text = block(
            &Cause::TimedOut(Duration::from_secs(5), states, vec![2, 3]),
            &[],
            |_| None,
            |_| "n1".to_owned(),
            measures,
        );
        assert!(text.contains("after 5 s (--timeout): ranks 0, 3 in MPI; rank 1 not in MPI_Init yet; so did jobs 2, 3, which ranks spawned."), "{text}");
        let none = Cause::TimedOut(Duration::from_secs(5), Vec::new(), vec![2]);
        let measures = &Measures { jobs: vec![2], ..Measures::default() };
        let text = block(&none, &[], |_| None, |_| "n1".to_owned(), measures);
        assert!(text.contains("(--timeout) job 2, which ranks spawned, still ran; the ranks of"), "{text}");
        assert!(text.contains("With it ended job 2, which ranks spawned.\n"), "{text}");
    }

    #[test]
    fn all_that_failed_are_named() {
        let also = [7, 2, 3, 9, 4].map(|rank| Cause::Exit(rank, 1)).into_iter().chain([Cause::Signal(5, 9)]);
        let also: Vec<Cause> = also.chain([Cause::Exit(6, 4)]).collect();
        let text = block(&Cause::Exit(1, 1), &also, |_| None, |_| "n1".to_owned(), &Measures::default());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "mpirun: rank 1 on n1 ended with status 1.");
        assert_eq!(lines[2], "mpirun: ranks 2-4, 7, 9 ended with status 1, too.");
        assert!(lines[3].starts_with("mpirun: rank 5 was ended by signal 9 (SIGKILL"), "{text}");
        assert_eq!(lines[4], "mpirun: rank 6 ended with status 4, too.");
    }
}
