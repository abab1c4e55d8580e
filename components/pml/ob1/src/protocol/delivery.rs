//! Messages and RTS that arrive are matched with posted receives, or kept as unexpected until a receive is posted.

use crate::context::{Body, Message, PendingRts, Receive};
use crate::peers::endpoint;
use crate::state::State;
use crate::wire::{Control, Envelope};
use ompi_core::comm::Communicator;
use ompi_core::framework::pml::{self, Happened};
use ompi_core::request::{self, Id};
use ompi_core::status::Status;
use opal_core::mem::Untrusted;
use opal_core::verbose;

impl State {
    /// An eager message arrived; with the sender's handle if the send is synchronous.
    #[inline(always)]
    pub fn eager(&mut self, process: u32, immediate: u64, payload: Untrusted<'_>, sync: Option<u64>) {
        let envelope = Envelope::of(immediate);
        let Some(context) = self.context(envelope.context) else {
            return unroutable(process, envelope);
        };
        let Some(source) = context.rank_of(process) else {
            let body = self.keep_unexpected(process, payload, sync);
            return self.without_rank(process, envelope, body);
        };
        let closing = context.closing;
        match context.matcher(envelope.collective).arrive(source, envelope.tag) {
            Some(receive) => {
                let bytes = payload.len().min(receive.buffer.bytes());
                context.count_received(envelope.collective, source, envelope.tag, bytes);
                finish(receive, Status::new(source as i32, envelope.tag, 0), envelope.context, payload);
                if let Some(handle) = sync {
                    self.control(process, handle, Control::Ack);
                }
                if closing {
                    self.close_if_idle(envelope.context);
                }
            }
            None if closing => {}
            None => {
                let body = self.keep_unexpected(process, payload, sync);
                self.enqueue(envelope, source, Message { process, body });
            }
        }
    }

    /// An RTS arrived, or a message whose communicator is active by now.
    pub fn message(&mut self, envelope: Envelope, message: Message) {
        let Some(context) = self.context(envelope.context) else {
            unroutable(message.process, envelope);
            return self.discard(message);
        };
        let Some(source) = context.rank_of(message.process) else {
            return self.without_rank(message.process, envelope, message.body);
        };
        let closing = context.closing;
        match context.matcher(envelope.collective).arrive(source, envelope.tag) {
            Some(receive) => {
                let status = Status::new(source as i32, envelope.tag, 0);
                self.count_received(envelope, source, &receive, &message);
                self.receive(receive, status, envelope.context, message);
                self.close_if_idle(envelope.context);
            }
            None if closing => self.discard(message),
            None => self.enqueue(envelope, source, message),
        }
    }

    /// Counts a message that met its receive, if a tool wants it.
    pub fn count_received(&mut self, envelope: Envelope, source: u32, receive: &Receive, message: &Message) {
        let bytes = (message.body.bytes() as usize).min(receive.buffer.bytes());
        let Envelope { context, collective, tag } = envelope;
        if let Body::Rts(_) = message.body {
            return self.count_matched(context, collective, source, tag, bytes, receive.request);
        }
        if let Some(context) = self.context(context) {
            context.count_received(collective, source, tag, bytes);
        }
    }

    /// A receive and an unexpected message met.
    pub fn receive(&mut self, receive: Receive, status: Status, context: u32, message: Message) {
        match message.body {
            Body::Whole(payload, sync) => {
                finish(receive, status, context, Untrusted::of(payload.bytes()));
                self.uncount_unexpected(message.process, &payload);
                if let Some(handle) = sync {
                    self.control(message.process, handle, Control::Ack);
                }
            }
            Body::Rts(pending) => self.answer_rts(receive, status, context, message.process, pending),
        }
    }

    /// The communicator is active: what arrived before is matched now.
    pub fn connect(&mut self, comm: &Communicator) {
        let Some(context) = self.context(comm.context) else { return };
        context.connect(comm.peers().members());
        endpoint::lost_of(comm.peers().members().iter()).for_each(|process| context.mark_lost(process));
        for (envelope, message) in core::mem::take(&mut context.preactivation) {
            self.message(envelope, message);
        }
    }

    /// The communicator is gone.
    pub fn disconnect(&mut self, number: u32) {
        for collective in [false, true] {
            loop {
                let Some(context) = self.context(number) else { return };
                let Some((_, _, message)) = context.matcher(collective).take_any() else { break };
                self.discard(message);
            }
        }
        let Some(context) = self.context(number) else { return };
        context.close();
        self.close_if_idle(number);
    }

    /// MPI_Cancel of a receive: only while it is posted.
    pub fn cancel(&mut self, context_bits: u64, number: u32, id: Id) {
        let envelope = Envelope::of(context_bits);
        let Some(context) = self.context(envelope.context) else { return };
        let matcher = context.matcher(envelope.collective);
        if matcher.posted_mut(number).is_some_and(|receive| receive.request == id) {
            matcher.cancel(number);
            let mut status = Status::EMPTY;
            status.set_cancelled(true);
            request::complete(id, status);
            self.close_if_idle(envelope.context);
        }
    }

    #[cold]
    fn without_rank(&mut self, process: u32, envelope: Envelope, body: Body) {
        match self.context(envelope.context) {
            Some(context) if !context.is_connected() => {
                context.preactivation.push((envelope, Message { process, body }));
            }
            _ => {
                unroutable(process, envelope);
                self.discard(Message { process, body });
            }
        }
    }

    // Apart, so that who delivers saves no registers for it.
    #[inline(never)]
    fn enqueue(&mut self, envelope: Envelope, source: u32, message: Message) {
        let process = message.process;
        let Some(context) = self.context(envelope.context) else { return };
        let matcher = context.matcher(envelope.collective);
        if !matcher.has_room() {
            self.out_of_memory(process);
        }
        if !envelope.collective {
            let Envelope { context, tag, .. } = envelope;
            pml::tell_unexpected(Happened::Unexpected, context, process, tag, message.body.bytes());
        }
        matcher.enqueue(source, envelope.tag, message);
    }

    // Nobody will receive it.
    fn discard(&mut self, message: Message) {
        match message.body {
            Body::Rts(PendingRts { rts, data: Some(number), .. }) => {
                self.drop_rts_data(message.process, rts.handle, number);
            }
            Body::Rts(_) => {}
            Body::Whole(payload, _) => self.uncount_unexpected(message.process, &payload),
        }
    }
}

/// Copies an eager message to the user's buffer and completes the receive.
#[inline(always)]
fn finish(mut receive: Receive, mut status: Status, context: u32, payload: Untrusted<'_>) {
    status.set_bytes(receive.buffer.write(payload) as u64);
    if payload.len() > receive.buffer.bytes() {
        // MPI 5.0 §3.2.4: what does not fit is an overflow error; what fits was written.
        status.fail_truncated(payload.len() as u64, context);
    }
    request::complete(receive.request, status);
}

#[cold]
#[inline(never)]
fn unroutable(process: u32, envelope: Envelope) {
    let Envelope { context, tag, .. } = envelope;
    verbose!(
        pml::FRAMEWORK,
        10,
        "dropped a message from process {process} with tag {tag} for context {context}, which it is no part of"
    );
}
