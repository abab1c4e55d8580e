//! A peer is lost: whatever needs it fails.

use crate::checksum;
use crate::peers::endpoint;
use crate::state::{STATE, State, aborted};
use ompi_core::framework::bml::{self, Change};
use ompi_core::request;

/// A transport says that a process can no longer be reached.
pub fn peer_failed(process: u32) {
    if let Some(endpoint) = endpoint::existing(process)
        && !endpoint.set_dead()
    {
        bml::tell_paths(Change::Lost, process);
    }
    if checksum::is_on() {
        checksum::lose(process);
    }
    let mut state = STATE.lock();
    state.fail_backlog(process);
    state.fail_operations(process);
    state.end_rts_data(process);
    state.fail_receives(process);
}

impl State {
    /// Fails the long messages with a process.
    pub fn fail_operations(&mut self, process: u32) {
        self.forget_selection(process);
        let of_process = |(number, operation): (u32, &_)| {
            let operation: &crate::protocol::operation::Operation = operation;
            (operation.process == process).then_some(number)
        };
        let failed: alloc::vec::Vec<u32> = self.operations.all().filter_map(of_process).collect();
        for number in failed {
            self.end_operation(number, aborted(0));
        }
    }

    fn fail_receives(&mut self, process: u32) {
        for number in 0..self.context_numbers() {
            let Some(context) = self.context(number) else { continue };
            let Some(source) = context.rank_of(process) else { continue };
            for collective in [false, true] {
                while let Some(receive) = context.matcher(collective).cancel_from(source) {
                    request::complete(receive.request, aborted(number));
                }
            }
            self.close_if_idle(number);
        }
    }
}
