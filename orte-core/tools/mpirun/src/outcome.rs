//! How a job went: the first thing that went wrong, and mpirun's exit status for it.

use orte_core::segment::RankState;
use std::time::Duration;

/// What ended the job before all ranks ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A rank called abort with this status and message.
    Abort(u32, i32, String),
    /// A signal ended a rank.
    Signal(u32, i32),
    /// A rank ended with a status that is not 0.
    Exit(u32, i32),
    /// A rank ended with status 0 between MPI_Init and MPI_Finalize.
    NotFinalized(u32),
    /// A rank ended with status 0 before MPI_Init, and others missed it.
    NotInitialized(u32),
    /// mpirun got this signal.
    Interrupted(i32),
    /// `--timeout` passed; with its time, what each rank that still ran was doing, and the numbers of further jobs that ran.
    TimedOut(Duration, Vec<(u32, String)>, Vec<u32>),
    /// The keeper ended, with this wait status; of another host with its name.
    KeeperLost(i32, Option<String>),
    /// Nothing more is heard of this host, for this reason.
    HostLost(String, String),
    /// A further job, by its number, ended with this status. Its own mpirun has said why.
    JobFailed(u32, u8),
    /// The mpirun that had this job started is gone, or has it ended.
    RootGone,
}

impl Cause {
    /// What the end of a rank means for the job; `None` if it is fine. `aborted` is what the rank left in the segment.
    pub fn of_end(rank: u32, wait_status: i32, state: RankState, aborted: Option<(i32, String)>) -> Option<Cause> {
        if let Some((status, message)) = aborted {
            return Some(Cause::Abort(rank, status, message));
        }
        if libc::WIFSIGNALED(wait_status) {
            return Some(Cause::Signal(rank, libc::WTERMSIG(wait_status)));
        }
        match libc::WEXITSTATUS(wait_status) {
            0 if state == RankState::Initialized => Some(Cause::NotFinalized(rank)),
            0 => None,
            status => Some(Cause::Exit(rank, status)),
        }
    }

    /// mpirun's exit status.
    pub fn status(&self) -> u8 {
        match self {
            // What `exit` makes of it, but a failure stays one.
            Cause::Abort(_, status, _) => match (*status, *status as u8) {
                (0, _) => 0,
                (_, 0) => 1,
                (_, low) => low,
            },
            Cause::Signal(_, signal) | Cause::Interrupted(signal) => 128 + *signal as u8,
            Cause::Exit(_, status) => *status as u8,
            Cause::NotFinalized(_) | Cause::NotInitialized(_) => 1,
            Cause::TimedOut(..) => 124,
            Cause::KeeperLost(wait_status, _) if libc::WIFSIGNALED(*wait_status) => {
                128 + libc::WTERMSIG(*wait_status) as u8
            }
            Cause::JobFailed(_, status) => *status,
            Cause::KeeperLost(..) | Cause::HostLost(..) | Cause::RootGone => 1,
        }
    }

    /// The rank that it began with.
    pub fn rank(&self) -> Option<u32> {
        match self {
            Cause::Abort(rank, ..)
            | Cause::Signal(rank, _)
            | Cause::Exit(rank, _)
            | Cause::NotFinalized(rank)
            | Cause::NotInitialized(rank) => Some(*rank),
            Cause::Interrupted(_)
            | Cause::TimedOut(..)
            | Cause::KeeperLost(..)
            | Cause::HostLost(..)
            | Cause::JobFailed(..)
            | Cause::RootGone => None,
        }
    }

    /// How a rank ended, without its name; `None` if that is said in other ways.
    pub fn briefly(&self) -> Option<String> {
        match self {
            Cause::Signal(_, signal) => {
                Some(format!("was ended by signal {signal} ({})", crate::signals::describe(*signal)))
            }
            Cause::Exit(_, status) => Some(format!("ended with status {status}")),
            Cause::NotFinalized(_) => Some("ended after MPI_Init without calling MPI_Finalize".to_owned()),
            _ => None,
        }
    }

    /// Whether a rank that a signal ended is the reason for another rank's abort: the library there noticed that a peer
    /// is gone, perhaps before this process did. Not so if the program called MPI_Abort by itself, nor if the signal is
    /// the one that ranks are asked to end with.
    pub fn explains(&self, other: &Cause) -> bool {
        match (self, other) {
            (Cause::Signal(rank, signal), Cause::Abort(aborted, _, message)) => {
                rank != aborted && *signal != libc::SIGTERM && !message.starts_with("called ")
            }
            _ => false,
        }
    }

    /// The signal that the remaining ranks get first.
    pub fn signal(&self) -> i32 {
        match self {
            Cause::Interrupted(signal) => *signal,
            _ => libc::SIGTERM,
        }
    }
}

/// `status 3`, `signal 9 (SIGKILL, …)`.
pub fn words(wait_status: i32) -> String {
    match libc::WIFSIGNALED(wait_status) {
        true => {
            let signal = libc::WTERMSIG(wait_status);
            format!("signal {signal} ({})", crate::signals::describe(signal))
        }
        false => format!("status {}", libc::WEXITSTATUS(wait_status)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_ranks() {
        let end = |status, state| Cause::of_end(3, status, state, None);
        assert_eq!(end(0, RankState::Started), None);
        assert_eq!(end(0, RankState::Finalized), None);
        assert_eq!(end(0, RankState::Initialized), Some(Cause::NotFinalized(3)));
        assert_eq!(end(7 << 8, RankState::Finalized), Some(Cause::Exit(3, 7)));
        assert_eq!(end(11, RankState::Started), Some(Cause::Signal(3, 11)));
        let aborted = Cause::of_end(3, 0, RankState::Aborted, Some((5, "x".into())));
        assert_eq!(aborted, Some(Cause::Abort(3, 5, "x".into())));
    }

    #[test]
    fn who_died_explains_who_noticed() {
        let abort = |message: &str| Cause::Abort(1, 58, message.into());
        assert!(Cause::Signal(0, 9).explains(&abort("MPI_Barrier failed: a peer is gone")));
        assert!(!Cause::Signal(0, 9).explains(&abort("called MPI_Abort")));
        assert!(!Cause::Signal(1, 9).explains(&abort("MPI_Barrier failed")));
        assert!(!Cause::Signal(0, 15).explains(&abort("MPI_Barrier failed")));
        assert!(!Cause::Exit(0, 1).explains(&abort("MPI_Barrier failed")));
    }

    #[test]
    fn statuses() {
        let abort = |status| Cause::Abort(0, status, String::new()).status();
        assert_eq!([abort(0), abort(7), abort(256), abort(-1)], [0, 7, 1, 255]);
        assert_eq!(Cause::Signal(0, 9).status(), 137);
        assert_eq!(Cause::Interrupted(2).status(), 130);
        assert_eq!(Cause::KeeperLost(9, None).status(), 137);
    }
}
