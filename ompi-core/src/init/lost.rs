//! What a wait needs after processes were lost: MPI_ERRORS_ABORT ends some of the job, and the others go on; those of other jobs end when
//! they like.

use crate::comm;
use crate::framework::pml::{self, subject};
use crate::process;
use crate::status::ANY_SOURCE;
use opal_core::wait::{self, Subject};
use orte_core::framework::ess;

/// Whether a wait needs none of the lost, as far as is known. Where the environment knows of no single process, each wait may.
pub fn only_needs_living(awaited: &Subject) -> bool {
    // Where nothing is known, one of the job may be needed.
    let may_need = wait::any_lost();
    if awaited.kind == Subject::UNKNOWN.kind {
        return !may_need;
    }
    // A collective operation needs all, also where this process waits for one: that one may have given up.
    let is_collective = awaited.kind >= subject::COLLECTIVE && awaited.context != subject::NO_CONTEXT;
    if awaited.process != Subject::NO_PROCESS && !is_collective {
        return is_there(awaited.process);
    }
    if awaited.context == subject::NO_CONTEXT {
        return !may_need;
    }
    let Some((_, comm)) = comm::of_context(awaited.context) else { return !may_need };
    let members = || comm.group.members().iter().chain(comm.remote.iter().flat_map(|remote| remote.members().iter()));
    // A message of any source may come from each of the living on the other side, what all are to do from all of them alone.
    match awaited.rank == ANY_SOURCE && awaited.kind % subject::COLLECTIVE == subject::MESSAGE {
        true => comm.peers().members().iter().any(|member| member != process::me().index && is_there(member)),
        false => members().all(is_there),
    }
}

/// Tells the PML which processes of the job have ended without MPI_Finalize, as far as the environment knows.
pub fn tell_ended() {
    let Some(environment) = ess::selected() else { return };
    let ended = (0..process::count() as u32).filter(|process| environment.is_gone(*process) == Some(true));
    ended.for_each(|process| pml::selected().process_ended(process));
}

/// Whether a process has ended without MPI_Finalize; `None` where the environment knows of no single process, and of those of other jobs.
pub fn has_ended(process: u32) -> Option<bool> {
    let environment = ess::selected().filter(|_| (process as usize) < process::count())?;
    environment.is_gone(process)
}

/// The environment knows those of the job, the transports those of other jobs.
fn is_there(process: u32) -> bool {
    match process as usize >= process::count() {
        true => !pml::selected().is_lost(process),
        false if !wait::any_lost() => true,
        false => ess::selected().is_some_and(|environment| environment.is_gone(process) == Some(false)),
    }
}
