//! Receives through matching.

pub mod batch;
pub mod probe;
pub mod requestless;

use crate::context::{MatchedMessage, Message, Receive};
use crate::matching::Tag;
use crate::raw::{Contiguous, UserBuffer};
use crate::state::STATE;
use crate::wire::Envelope;
use crate::{subject, wire};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::pml::{self, Happened, MatchContext, Matched, NO_PROC};
use ompi_core::request::{self, Driver, Id, Kind, Request};
use ompi_core::status::{ANY_SOURCE, ANY_TAG, PROC_NULL, Status};
use opal_core::mem::Untrusted;
use opal_core::wait::Subject;

/// Receives can be cancelled while they are posted. Token: context bits in the low 32 bits, number above.
pub struct Receives;

impl Driver for Receives {
    fn subject(&self, token: u64, id: Id) -> Subject {
        subject::of_receive(token, id)
    }

    fn context(&self, token: u64) -> Option<u32> {
        Some(Envelope::of(token & 0xffff_ffff).context)
    }

    fn cancel(&self, token: u64, id: Id) {
        STATE.lock().cancel(token & 0xffff_ffff, (token >> 32) as u32, id);
    }
}

static RECEIVES: Receives = Receives;

/// The source as matching wants it.
#[inline(always)]
pub fn match_source(rank: i32) -> Option<u32> {
    (rank != ANY_SOURCE).then_some(rank as u32)
}

/// The tag as matching wants it.
#[inline(always)]
pub fn match_tag(tag: i32) -> Tag {
    if tag == ANY_TAG { Tag::ANY } else { Tag::only(tag) }
}

/// The fast path: starts a receive of one run from one source if no other thread is at it, no message is unexpected and an
/// entry is free. `None`: [`start`] does it. It calls nothing.
#[inline(always)]
pub fn start_fast(run: Contiguous, source: i32, tag: i32, context: MatchContext<'_>) -> Option<Request> {
    // ANY_SOURCE and PROC_NULL are negative.
    let source = u32::try_from(source).ok()?;
    let mut state = STATE.try_lock()?;
    let matcher = state.context(context.comm.context)?.matcher(context.collective);
    let slot = matcher.free_slot(source)?;
    let token = wire::context_bits(context.comm.context, context.collective) | u64::from(slot.number()) << 32;
    let (request, slot_ptr) = request::create_fast(&RECEIVES, token)?;
    let receive = Receive { buffer: UserBuffer::of(run), request: request.id(), slot_ptr, from_busy: false };
    slot.post(match_tag(tag), receive);
    Some(request)
}

/// Starts a receive; `from_busy` as of [`pml::Module::irecv_from_busy`].
#[inline(never)]
pub fn start(buffer: UserBuffer, source: i32, tag: i32, context: MatchContext<'_>, from_busy: bool) -> Result<Request> {
    let request = request::create(Kind::Recv, &RECEIVES, 0)?;
    let id = request.id();
    if source == PROC_NULL {
        request::complete(id, Status::NO_PROC);
        return Ok(request);
    }
    let receive = Receive { buffer, request: id, slot_ptr: request.slot_ptr(), from_busy };
    let number = context.comm.context;
    let mut state = STATE.lock();
    let mut matcher = state.context_of(context.comm).matcher(context.collective);
    match matcher.take(match_source(source), match_tag(tag)) {
        Some((source, tag, message)) => {
            let envelope = Envelope { context: number, collective: context.collective, tag };
            tell_expected(envelope, &message);
            state.count_received(envelope, source, &receive, &message);
            state.receive(receive, Status::new(source as i32, tag, 0), number, message);
        }
        None => {
            if matcher.has_lost() {
                let own = state.context_of(context.comm);
                if let Some(lost) = own.lost_sender(source) {
                    request::complete(id, crate::state::aborted(lost, number));
                    return Ok(request);
                }
                matcher = own.matcher(context.collective);
            }
            let entry = matcher.post(match_source(source), match_tag(tag), receive);
            request::set_token(id, wire::context_bits(number, context.collective) | u64::from(entry) << 32);
        }
    }
    Ok(request)
}

/// A message is unexpected no more.
#[inline(always)]
pub fn tell_expected(envelope: Envelope, message: &Message) {
    if !envelope.collective {
        let Envelope { context, tag, .. } = envelope;
        pml::tell_unexpected(Happened::Expected, context, message.process, tag, message.body.bytes());
    }
}

/// Receives a message that a matched probe took.
pub fn start_matched(mut buffer: UserBuffer, message: Matched) -> Result<Request> {
    if message.token == NO_PROC {
        let request = request::create(Kind::Recv, &RECEIVES, 0)?;
        buffer.write(Untrusted::of(&[]));
        request::complete(request.id(), Status::NO_PROC);
        return Ok(request);
    }
    let mut state = STATE.lock();
    let Some(MatchedMessage { status, context, message: taken, .. }) = state.take_matched(message.token) else {
        return Err(Fault::new(Class::Request)
            .argument("message")
            .because("it is not a message that MPI_Mprobe or MPI_Improbe returned"));
    };
    let request = request::create(Kind::Recv, &RECEIVES, 0)?;
    let receive = Receive { buffer, request: request.id(), slot_ptr: request.slot_ptr(), from_busy: false };
    let envelope = Envelope { context, collective: false, tag: status.tag };
    state.count_received(envelope, status.source as u32, &receive, &taken);
    state.receive(receive, status, context, taken);
    Ok(request)
}

/// The status of a receive without a request into a buffer of `capacity` bytes.
#[inline(always)]
pub fn status_of(source: i32, tag: i32, capacity: usize, payload: Untrusted<'_>, context: u32) -> Status {
    let mut status = Status::new(source, tag, payload.len().min(capacity) as u64);
    if payload.len() > capacity {
        status.fail_truncated(payload.len() as u64, context);
    }
    status
}
