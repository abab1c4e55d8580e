//! Long receives whose end somebody wants to hear of, and the end of every operation of several messages.

use crate::context::PendingCompletion;
use crate::state::State;
use ompi_core::framework::pml;
use ompi_core::request::{self, Id};
use ompi_core::status::Status;

impl State {
    /// Counts a message that met its receive and is still to come, if a tool wants it.
    pub fn count_matched(&mut self, number: u32, collective: bool, source: u32, tag: i32, bytes: usize, request: Id) {
        let Some(traffic) = self.context(number).filter(|_| !collective).and_then(|context| context.traffic.clone())
        else {
            return;
        };
        traffic.matched(source as i32, tag, bytes);
        if pml::is_observed() {
            self.completions.push(PendingCompletion { request, traffic, source, tag, bytes });
        }
    }

    /// Ends an operation and completes its request.
    pub fn end_operation(&mut self, number: u32, status: Status) {
        let request = self.operations.remove(number).request;
        self.complete(request, status);
    }

    /// Completes the request of a long message, and tells of it.
    pub fn complete(&mut self, request: Id, status: Status) {
        if !self.completions.is_empty() {
            self.tell_completed(request);
        }
        request::complete(request, status);
    }

    #[cold]
    fn tell_completed(&mut self, request: Id) {
        let Some(index) = self.completions.iter().position(|known| known.request == request) else { return };
        let PendingCompletion { traffic, source, tag, bytes, .. } = self.completions.swap_remove(index);
        traffic.completed(source as i32, tag, bytes);
    }
}
