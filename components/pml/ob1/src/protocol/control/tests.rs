//! No control message of a peer ends an operation whose own message is still in the backlog.
#![allow(unsafe_code)] // the shape of a transport's call

use super::*;
use crate::raw::UserBuffer;
use crate::test_image::{Calls, Nothing, Transport};
use core::ops::Range;
use ompi_core::request::Kind;
use opal_core::framework::btl::{AmId, Full};
use std::boxed::Box;
use std::sync::atomic::{AtomicBool, Ordering};

/// A transport that is full until it is told otherwise.
#[derive(Default)]
struct Gate {
    is_open: AtomicBool,
}

impl Calls for Gate {
    unsafe fn send_inline(&self, _: AmId, _: u64, _: *const u8, _: usize) -> Result<(), Full> {
        if self.is_open.load(Ordering::Relaxed) { Ok(()) } else { Err(Full) }
    }

    fn send(&self, _: usize, _: &mut dyn FnMut(*mut u8)) -> Result<(), Full> {
        if self.is_open.load(Ordering::Relaxed) { Ok(()) } else { Err(Full) }
    }

    fn send_run(&self, _: Range<usize>) -> Result<(), Full> {
        if self.is_open.load(Ordering::Relaxed) { Ok(()) } else { Err(Full) }
    }
}

#[test]
fn no_ack_ends_a_synchronous_send_that_waits_for_room() {
    let gate: &'static Transport<Gate> = Box::leak(Box::default());
    let endpoint: &'static Endpoint = Box::leak(Box::new(Endpoint::of_test(gate, None)));
    let (mut state, mut data, process) = (State::new(), [7; 100], endpoint.process);
    let request = request::create(Kind::Send, &Nothing, 0).unwrap();
    let handle = state.operations.begin(process, 0, request.id(), OperationState::AwaitingAck);
    let buffer = UserBuffer::over(&mut data);
    let send = QueuedSend { envelope: 0, buffer, sync: Some(handle), request: request.id() };
    state.queue_eager(endpoint, send);
    assert!(!state.ack(process, handle), "the transport would read the buffer after its request's end");
    assert_eq!(state.push_packets(endpoint), 0);
    assert!(!state.ack(process, handle));
    gate.0.is_open.store(true, Ordering::Relaxed);
    assert_eq!(state.push_packets(endpoint), 1);
    assert!(state.ack(process, handle));
    request.wait().unwrap();
}
