//! Probes.

use crate::context::Context;
use crate::recv::{match_source, match_tag, tell_expected};
use crate::state::{STATE, State, aborted};
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
    if let Some(found) = peek(&mut STATE.lock(), source, tag, context) {
        return Ok(Some(found));
    }
    wait::polled_progress();
    let state = &mut STATE.lock();
    match peek(state, source, tag, context) {
        None => check_sender(state, source, context).map(|()| None),
        found => Ok(found),
    }
}

/// MPI_Improbe.
pub fn improbe(source: i32, tag: i32, context: MatchContext<'_>) -> Result<Option<Matched>> {
    if source == PROC_NULL {
        return Ok(Some(Matched { status: Status::NO_PROC, token: NO_PROC }));
    }
    if let Some(found) = take(&mut STATE.lock(), source, tag, context) {
        return Ok(Some(found));
    }
    wait::polled_progress();
    let state = &mut STATE.lock();
    match take(state, source, tag, context) {
        None => check_sender(state, source, context).map(|()| None),
        found => Ok(found),
    }
}

fn peek(state: &mut State, source: i32, tag: i32, context: MatchContext<'_>) -> Option<Status> {
    let matcher = state.context_of(context.comm).matcher(context.collective);
    let (source, tag, message) = matcher.peek(match_source(source), match_tag(tag))?;
    Some(Status::new(source as i32, tag, message.body.bytes()))
}

fn take(state: &mut State, source: i32, tag: i32, context: MatchContext<'_>) -> Option<Matched> {
    let matcher = state.context_of(context.comm).matcher(context.collective);
    let (source, tag, message) = matcher.take(match_source(source), match_tag(tag))?;
    tell_expected(Envelope { context: context.comm.context, collective: context.collective, tag }, &message);
    let status = Status::new(source as i32, tag, message.body.bytes());
    let token = state.put_matched(status, context.comm.context, message);
    Some(Matched { status, token })
}

/// `Err` if nobody can send such a message any more.
#[inline(always)]
fn check_sender(state: &mut State, source: i32, context: MatchContext<'_>) -> Result<()> {
    let own = state.context_of(context.comm);
    if own.matcher(context.collective).has_lost() { living_sender(own, source, context) } else { Ok(()) }
}

#[cold]
fn living_sender(own: &Context, source: i32, context: MatchContext<'_>) -> Result<()> {
    own.lost_sender(source).map_or(Ok(()), |lost| Err(aborted(lost, context.comm.context).fault()))
}
