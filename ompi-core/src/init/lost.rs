//! What a wait needs after processes of the job were lost: MPI_ERRORS_ABORT ends some, and the others go on.

use crate::comm;
use crate::framework::pml::subject;
use crate::process;
use crate::status::ANY_SOURCE;
use opal_core::wait::Subject;
use orte_core::framework::ess;

/// Whether a wait needs none of the lost, as far as is known. Where the environment knows of no single process, each wait may.
pub fn only_needs_living(awaited: &Subject) -> bool {
    if awaited.kind == Subject::UNKNOWN.kind {
        return false;
    }
    if awaited.process != Subject::NO_PROCESS {
        return is_there(awaited.process);
    }
    if awaited.context == subject::NO_CONTEXT {
        return false;
    }
    let Some((_, comm)) = comm::of_context(awaited.context) else { return false };
    let members = || comm.group.members().iter().chain(comm.remote.iter().flat_map(|remote| remote.members().iter()));
    // A message of any source may come from each of the living, what all are to do from all of them alone.
    match awaited.rank == ANY_SOURCE && awaited.kind % subject::COLLECTIVE == subject::MESSAGE {
        true => members().any(|member| member != process::me().index && is_there(member)),
        false => members().all(is_there),
    }
}

/// Processes of other jobs have launchers of their own, which end this one if they have to.
fn is_there(process: u32) -> bool {
    process as usize >= process::count()
        || ess::selected().is_some_and(|environment| environment.is_gone(process) == Some(false))
}
