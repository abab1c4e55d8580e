//! Probes.

use crate::context::Context;
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
    if let Some(found) = peek(source, tag, context)? {
        return Ok(Some(found));
    }
    wait::polled_progress();
    peek(source, tag, context)
}

/// MPI_Improbe.
pub fn improbe(source: i32, tag: i32, context: MatchContext<'_>) -> Result<Option<Matched>> {
    if source == PROC_NULL {
        return Ok(Some(Matched { status: Status::NO_PROC, token: NO_PROC }));
    }
    if let Some(found) = take(source, tag, context)? {
        return Ok(Some(found));
    }
    wait::polled_progress();
    take(source, tag, context)
}

fn peek(source: i32, tag: i32, context: MatchContext<'_>) -> Result<Option<Status>> {
    let mut state = STATE.lock();
    let own = state.context_of(context.comm);
    let matcher = own.matcher(context.collective);
    let has_lost = matcher.has_lost();
    match matcher.peek(match_source(source), match_tag(tag)) {
        Some((source, tag, message)) => Ok(Some(Status::new(source as i32, tag, message.body.bytes()))),
        None if has_lost => check_sender(source, own).map(|()| None),
        None => Ok(None),
    }
}

fn take(source: i32, tag: i32, context: MatchContext<'_>) -> Result<Option<Matched>> {
    let mut state = STATE.lock();
    let own = state.context_of(context.comm);
    let matcher = own.matcher(context.collective);
    let Some((source, tag, message)) = matcher.take(match_source(source), match_tag(tag)) else {
        return if matcher.has_lost() { check_sender(source, own).map(|()| None) } else { Ok(None) };
    };
    tell_expected(Envelope { context: context.comm.context, collective: context.collective, tag }, &message);
    let status = Status::new(source as i32, tag, message.body.bytes());
    let token = state.put_matched(status, context.comm.context, message);
    Ok(Some(Matched { status, token }))
}

/// `Err` if nobody can send such a message any more.
#[cold]
fn check_sender(source: i32, own: &Context) -> Result<()> {
    match own.lost_sender(source).and_then(endpoint::existing) {
        Some(lost) => Err(lost.fault()),
        None => Ok(()),
    }
}
