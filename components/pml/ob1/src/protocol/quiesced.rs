//! Whether a communicator has anything under way, or whether anything has with processes of other jobs.

use crate::protocol::operation::OperationState;
use crate::state::State;
use crate::wire::Envelope;
use ompi_core::comm::Communicator;

impl State {
    /// Whether nothing is under way with processes from this index on. What was begun with one that is gone has failed.
    pub fn is_done_from(&mut self, first: u32) -> bool {
        let waits = |(process, _)| process as u32 >= first && self.queued_sends(process as u32).next().is_some();
        !self.backlogs.iter().any(waits) && self.operations.all().all(|(_, operation)| operation.process < first)
    }

    /// Whether no receive is posted on a communicator, no send on it waits for room or for its receive, and no long message
    /// that met its receive moves between this process and one of its peers. Of the last it is not known on which
    /// communicator they are; they end whatever their users do.
    pub fn is_quiesced(&mut self, comm: &Communicator) -> bool {
        if self.context(comm.context).is_some_and(|context| context.is_posted()) {
            return false;
        }
        let peers = comm.peers();
        let is_of = |process: u32, envelope: u64| {
            let context = peers.rank_of(process).and_then(|rank| comm.peer_contexts().get(rank));
            context == Some(Envelope::of(envelope).context)
        };
        let waits = |(process, _)| self.queued_sends(process as u32).any(|envelope| is_of(process as u32, envelope));
        if self.backlogs.iter().any(waits) {
            return false;
        }
        self.operations.all().all(|(_, operation)| match operation.state {
            OperationState::SyncQueued | OperationState::AwaitingAck | OperationState::RtsSent { .. } => {
                !is_of(operation.process, operation.envelope)
            }
            _ => peers.rank_of(operation.process).is_none(),
        })
    }
}
