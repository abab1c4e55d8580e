//! A peer is lost: whatever needs it fails.

use crate::checksum;
use crate::peers::endpoint;
use crate::protocol::operation::{Operation, OperationState};
use crate::state::{STATE, State, aborted};
use crate::wire::Envelope;
use alloc::vec::Vec;
use ompi_core::comm::{self, context};
use ompi_core::framework::bml::{self, Change};
use ompi_core::process;
use ompi_core::request;
use ompi_core::status::ANY_SOURCE;
use opal_core::framework::btl;
use opal_core::{message, wait};

/// A transport says that it no longer reaches a process. Where messages have checksums another one may carry what it would have.
#[cold]
pub fn path_failed(process: u32, wire_id: u32) {
    let Some(path) = checksum::fail_over(process, wire_id) else { return peer_failed(process) };
    let name = bml::selected().and_then(|bml| bml.transport_name(&path)).unwrap_or("?");
    message!("messages to {} go by btl/{name} from now on", btl::peer_named(process));
}

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
    drop(state);
    if process::is_beyond_job(process) {
        wait::tell_lost_beyond_job();
    }
}

impl State {
    /// Fails the long messages with a process.
    pub fn fail_operations(&mut self, process: u32) {
        self.forget_selection(process);
        let of_process = |(number, operation): (u32, &_)| {
            let operation: &Operation = operation;
            (operation.process == process).then_some(number)
        };
        let failed: Vec<u32> = self.operations.all().filter_map(of_process).collect();
        for number in failed {
            self.fail_operation(number);
        }
    }

    /// Fails an operation with a process that is gone.
    pub fn fail_operation(&mut self, number: u32) {
        // Its buffer is the transport's until that says otherwise.
        if let OperationState::Getting(getting) = &mut self.operations.get_mut(number).state
            && getting.is_in_flight()
        {
            return getting.lose();
        }
        let Operation { process, envelope, state, .. } = self.operations.get(number);
        let (process, context) = (*process, Envelope::of(*envelope).context);
        let context = match state {
            OperationState::ReceivingFragments { .. } | OperationState::Rget(_) | OperationState::Getting(_) => context,
            _ => own_context(process, context),
        };
        self.end_operation(number, aborted(process, context));
    }

    fn fail_receives(&mut self, process: u32) {
        for number in 0..self.context_numbers() {
            let Some(context) = self.context(number) else { continue };
            let Some(source) = context.rank_of(process) else { continue };
            context.mark_lost(process);
            // Who takes a message of any source waits while there is one that may send it.
            let is_last = context.lost_sender(ANY_SOURCE).is_some();
            for collective in [false, true] {
                let matcher = context.matcher(collective);
                while let Some(receive) = matcher.cancel_from(Some(source)) {
                    request::complete(receive.request, aborted(process, number));
                }
                while is_last && let Some(receive) = matcher.cancel_from(None) {
                    request::complete(receive.request, aborted(process, number));
                }
            }
            self.close_if_idle(number);
        }
    }
}

/// The envelope of a send has the number that its communicator has at the receiver.
pub fn own_context(process: u32, there: u32) -> u32 {
    comm::of_peer_context(process, there).map_or(context::WORLD, |comm| comm.context)
}
