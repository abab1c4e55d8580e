//! Whether a communicator has anything under way.

use crate::rendezvous::Work;
use crate::state::State;

impl State {
    /// Whether no receive is posted on a context and no long message that met its receive moves between this process and one
    /// of `peers`. Such messages end whatever their users do, so that they can be waited for.
    pub fn is_settled(&mut self, number: u32, peers: &[u32]) -> bool {
        if self.context(number).is_some_and(|context| context.is_posted()) {
            return false;
        }
        let met = |work: &Work| !matches!(work, Work::Acknowledge | Work::Announced(..));
        (0..self.operations.numbers()).all(|number| match self.operations.find_mut(number) {
            Some(operation) => !(met(&operation.work) && peers.contains(&operation.process)),
            None => true,
        })
    }
}
