//! Which rank the end of a job began with.
//!
//! A rank whose call failed because a peer was lost says so in the segment before it ends, in whatever way: its end is a
//! consequence. Over sockets it may be known before that of the peer. Then mpirun asks nobody to end until it has heard of the
//! rank that it began with: ranks that it had asked could not be told from it.

use super::{Phase, Running};
use crate::outcome::Cause;
use std::time::{Duration, Instant};

impl Running {
    /// A rank failed: what that means for the job. `finalized`: the rank that ended just now was done with MPI.
    pub(super) fn weigh(&mut self, cause: Cause, finalized: bool) {
        // Another rank's abort is the reason for this end, if there was one.
        let cause = match self.first_abort() {
            Some(abort) if !self.is_behind(&cause, &abort) => abort,
            _ => cause,
        };
        let is_own = matches!(cause, Cause::Exit(..) | Cause::Signal(..) | Cause::NotFinalized(_));
        let seeks = matches!(self.phase, Phase::Seeking(_));
        match (finalized, &cause) {
            _ if is_own && self.job.keep_going && !seeks => match self.cause {
                Some(_) => self.also.push(cause),
                None => self.cause = Some(cause),
            },
            // It went on after others were ended, and could not say goodbye to them.
            (_, Cause::NotFinalized(_)) if !self.ending.is_empty() && self.is_consequence(&cause) => {}
            _ if self.is_consequence(&cause) => self.seek(cause),
            // The others came as far as it did, and are most likely about to end: let them write what they have.
            (true, Cause::Exit(..)) if !seeks => {
                self.cause = Some(cause);
                self.phase = Phase::Lingering(Instant::now() + LINGER);
            }
            _ => self.fail(cause, true),
        }
    }

    /// A rank called abort and has not ended yet: a shell may stand between it and its end, which is not waited for.
    pub(super) fn look_at_aborts(&mut self) {
        match self.first_abort() {
            Some(abort) if self.is_consequence(&abort) => self.seek(abort),
            Some(abort) => self.fail(abort, true),
            None => {}
        }
    }

    /// Waits for news of the rank that it began with: until all ranks have ended, or for a while.
    fn seek(&mut self, consequence: Cause) {
        self.cause.get_or_insert(consequence);
        if self.phase == Phase::Running {
            self.phase = Phase::Seeking(Instant::now() + SEEK);
        }
    }

    /// Nothing more will be known. A rank that left without MPI_Init is what the others missed, if nothing else is.
    pub(super) fn settle(&mut self) {
        if let (Some(rank), Some(cause)) = (self.never_initialized, &self.cause)
            && self.is_consequence(cause)
        {
            self.cause = Some(Cause::NotInitialized(rank));
        }
    }

    /// The abort that the job ends for: one that is no consequence comes first.
    fn first_abort(&self) -> Option<Cause> {
        let aborts = (0..self.job.ranks()).filter_map(|rank| {
            let (status, message) = self.aborted(rank)?;
            Some(Cause::Abort(rank, status, message))
        });
        aborts.min_by_key(|abort| self.is_consequence(abort))
    }

    /// Whether `cause` is the reason for `other`, which was known before.
    pub(super) fn is_behind(&self, cause: &Cause, other: &Cause) -> bool {
        // Ranks that were asked to end may end by the signal or, having caught it, with a status.
        let is_free = match (self.phase, cause) {
            (_, Cause::Signal(_, signal)) => *signal != libc::SIGTERM,
            (Phase::Ending(_), _) => false,
            _ => true,
        };
        cause.explains(other) || (is_free && self.is_consequence(other) && !self.is_consequence(cause))
    }

    /// Whether it is the end of a rank that had lost a peer.
    fn is_consequence(&self, cause: &Cause) -> bool {
        cause.rank().is_some_and(|rank| self.has_lost_peer(rank))
    }
}

/// How long news of the rank that it began with may take: it is on its way from another host, or the system still writes a core
/// file of it.
const SEEK: Duration = Duration::from_secs(1);
/// How long ranks may go on after another one was done with MPI and then failed.
const LINGER: Duration = Duration::from_millis(100);
