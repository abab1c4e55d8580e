//! Probes.

use crate::recv;
use crate::state::STATE;
use ompi_core::error::Result;
use ompi_core::framework::pml::{MatchContext, Matched, NO_PROC};
use ompi_core::status::{PROC_NULL, Status};
use opal_core::wait;

/// MPI_Iprobe.
pub fn look(from: i32, with: i32, context: MatchContext<'_>) -> Result<Option<Status>> {
    if from == PROC_NULL {
        return Ok(Some(Status::NO_PROC));
    }
    if let Some(found) = look_once(from, with, context) {
        return Ok(Some(found));
    }
    wait::polled_progress();
    Ok(look_once(from, with, context))
}

/// MPI_Improbe.
pub fn take(from: i32, with: i32, context: MatchContext<'_>) -> Result<Option<Matched>> {
    if from == PROC_NULL {
        return Ok(Some(Matched { status: Status::NO_PROC, token: NO_PROC }));
    }
    if let Some(found) = take_once(from, with, context) {
        return Ok(Some(found));
    }
    wait::polled_progress();
    Ok(take_once(from, with, context))
}

fn look_once(from: i32, with: i32, context: MatchContext<'_>) -> Option<Status> {
    let mut state = STATE.lock();
    let matcher = state.context_of(context.comm).matcher(context.collective);
    let (source, tag, message) = matcher.look(recv::source(from), recv::tag(with))?;
    Some(Status::new(source as i32, tag, message.body.bytes()))
}

fn take_once(from: i32, with: i32, context: MatchContext<'_>) -> Option<Matched> {
    let mut state = STATE.lock();
    let matcher = state.context_of(context.comm).matcher(context.collective);
    let (source, tag, message) = matcher.take(recv::source(from), recv::tag(with))?;
    let status = Status::new(source as i32, tag, message.body.bytes());
    let token = state.put_matched(status, context.comm.context, message);
    Some(Matched { status, token })
}
