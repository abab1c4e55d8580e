//! Probes.

use crate::peers::endpoint;
use crate::recv::{match_source, match_tag, tell_expected};
use crate::state::STATE;
use crate::wire::Envelope;
use ompi_core::error::Result;
use ompi_core::framework::pml::{MatchContext, Matched, NO_PROC};
use ompi_core::status::{PROC_NULL, Status};
use opal_core::wait;

/// MPI_Iprobe.
pub fn iprobe(source: i32, tag: i32, context: MatchContext<'_>) -> Result<Option<Status>> {
    if source == PROC_NULL {
        return Ok(Some(Status::NO_PROC));
    }
    if let Some(found) = peek(source, tag, context) {
        return Ok(Some(found));
    }
    wait::polled_progress();
    match peek(source, tag, context) {
        None => check_sender(source, context).map(|()| None),
        found => Ok(found),
    }
}

/// MPI_Improbe.
pub fn improbe(source: i32, tag: i32, context: MatchContext<'_>) -> Result<Option<Matched>> {
    if source == PROC_NULL {
        return Ok(Some(Matched { status: Status::NO_PROC, token: NO_PROC }));
    }
    if let Some(found) = take(source, tag, context) {
        return Ok(Some(found));
    }
    wait::polled_progress();
    match take(source, tag, context) {
        None => check_sender(source, context).map(|()| None),
        found => Ok(found),
    }
}

/// `Err` if nobody can send such a message any more.
fn check_sender(source: i32, context: MatchContext<'_>) -> Result<()> {
    let mut state = STATE.lock();
    let own = state.context_of(context.comm);
    if !own.matcher(context.collective).has_lost() {
        return Ok(());
    }
    match own.lost_sender(source).and_then(endpoint::existing) {
        Some(lost) => Err(lost.fault()),
        None => Ok(()),
    }
}

fn peek(source: i32, tag: i32, context: MatchContext<'_>) -> Option<Status> {
    let mut state = STATE.lock();
    let matcher = state.context_of(context.comm).matcher(context.collective);
    let (source, tag, message) = matcher.peek(match_source(source), match_tag(tag))?;
    Some(Status::new(source as i32, tag, message.body.bytes()))
}

fn take(source: i32, tag: i32, context: MatchContext<'_>) -> Option<Matched> {
    let mut state = STATE.lock();
    let matcher = state.context_of(context.comm).matcher(context.collective);
    let (source, tag, message) = matcher.take(match_source(source), match_tag(tag))?;
    tell_expected(Envelope { context: context.comm.context, collective: context.collective, tag }, &message);
    let status = Status::new(source as i32, tag, message.body.bytes());
    let token = state.put_matched(status, context.comm.context, message);
    Some(Matched { status, token })
}
