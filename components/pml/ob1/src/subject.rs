//! What a request that is waited for waits for.

use crate::peers::endpoint::Endpoint;
use crate::protocol::operation::{Operation, OperationState};
use crate::state::{STATE, State};
use crate::wire::Envelope;
use ompi_core::framework::pml::subject::{self, NO_CONTEXT};
use ompi_core::request::Id;
use ompi_core::status::{ANY_SOURCE, ANY_TAG};
use opal_core::wait::Subject;

/// Of a receive with the token of its request: context bits, and above them its number among those that are posted.
#[cold]
pub fn of_receive(token: u64, id: Id) -> Subject {
    let Some(mut state) = STATE.try_lock() else { return Subject::UNKNOWN };
    let Envelope { context, collective, .. } = Envelope::of(token & 0xffff_ffff);
    posted(&mut state, context, collective, (token >> 32) as u32, id).unwrap_or_else(|| in_progress(&state, id))
}

/// Of a send.
#[cold]
pub fn of_send(id: Id) -> Subject {
    STATE.try_lock().map_or(Subject::UNKNOWN, |state| in_progress(&state, id))
}

/// Of an eager message that has not left.
#[cold]
pub fn of_room(endpoint: &Endpoint, envelope: u64) -> Subject {
    to(subject::ROOM, endpoint.process, envelope)
}

fn posted(state: &mut State, context: u32, collective: bool, number: u32, id: Id) -> Option<Subject> {
    let of = state.context(context)?;
    let (source, tag, receive) = of.matcher(collective).posted(number)?;
    let (source, tag) = (source.map_or(ANY_SOURCE, |rank| rank as i32), tag.number().unwrap_or(ANY_TAG));
    (receive.request == id).then(|| {
        let process = of.process_of(source as u32);
        subject::message(source, process, tag, context, collective)
    })
}

fn in_progress(state: &State, id: Id) -> Subject {
    let found = state.operations.all().find(|(_, operation)| operation.request == id);
    if let Some((_, operation)) = found {
        return of_operation(operation);
    }
    let queued = state.backlogs.iter().find_map(|(process, backlog)| Some((process as u32, backlog.envelope_of(id)?)));
    queued.map_or(Subject::UNKNOWN, |(process, envelope)| to(subject::ROOM, process, envelope))
}

fn of_operation(operation: &Operation) -> Subject {
    match &operation.state {
        OperationState::SyncQueued => to(subject::ROOM, operation.process, operation.envelope),
        OperationState::AwaitingAck | OperationState::RtsSent { .. } | OperationState::SendingFragments { .. } => {
            to(subject::RECEIVE, operation.process, operation.envelope)
        }
        OperationState::ReceivingFragments { status, .. } => rest(operation.process, status.source, status.tag),
        OperationState::Getting(getting) => rest(operation.process, getting.status.source, getting.status.tag),
        OperationState::Rget(rget) => rest(operation.process, rget.status.source, rget.status.tag),
    }
}

fn rest(process: u32, rank: i32, tag: i32) -> Subject {
    Subject { kind: subject::REST, process, rank, tag, context: NO_CONTEXT }
}

/// An envelope to a process holds the number that the communicator has there.
fn to(kind: u32, process: u32, envelope: u64) -> Subject {
    let Envelope { collective, tag, .. } = Envelope::of(envelope);
    Subject { kind: subject::of(kind, collective), process, rank: process as i32, tag, context: NO_CONTEXT }
}
