//! Whether a communicator has anything under way.

use crate::protocol::rendezvous::Work;
use crate::state::State;
use crate::wire::Envelope;
use ompi_core::comm::Communicator;

impl State {
    /// Whether no receive is posted on a communicator, no send on it waits for room or for its receive, and no long message
    /// that met its receive moves between this process and one of its peers. Of the last it is not known on which
    /// communicator they are; they end whatever their users do.
    pub fn is_settled(&mut self, comm: &Communicator) -> bool {
        if self.context(comm.context).is_some_and(|context| context.is_posted()) {
            return false;
        }
        let peers = comm.peers();
        let is_of = |process: u32, immediate: u64| {
            let context = peers.rank_of(process).and_then(|rank| comm.peer_contexts().get(rank));
            context == Some(&Envelope::of(immediate).context)
        };
        if peers
            .members()
            .iter()
            .any(|process| self.sends_waiting(*process).any(|immediate| is_of(*process, immediate)))
        {
            return false;
        }
        (0..self.operations.numbers()).all(|number| match self.operations.find_mut(number) {
            None => true,
            Some(operation) => match operation.work {
                Work::Acknowledge | Work::Announced { .. } => !is_of(operation.process, operation.immediate),
                _ => peers.rank_of(operation.process).is_none(),
            },
        })
    }
}
