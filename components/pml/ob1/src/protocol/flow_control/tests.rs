//! Who is stopped, who is told, and what becomes of messages that wait.

use super::*;
use crate::test_image::{CONTEXT, Calls, Nothing, Transport, state};
use crate::wire::{self, Envelope};
use ompi_core::request::{self, Kind};
use ompi_core::sequence::Sequence;
use opal_core::sync::AtomicU64;
use std::boxed::Box;

/// A transport that is always full.
#[derive(Default)]
struct Shut;

impl Calls for Shut {}

fn endpoint() -> Endpoint {
    let shut: &'static Transport<Shut> = Box::leak(Box::default());
    Endpoint::of_test(shut, None)
}

fn words() -> (endpoint::XoffWords, &'static AtomicU64) {
    let word = || -> &'static AtomicU64 { Box::leak(Box::new(AtomicU64::new(0))) };
    let words = endpoint::XoffWords { received: word(), sent: word() };
    (words, words.received)
}

#[test]
fn xoff_closes_the_fast_path_and_is_no_backlog() {
    let endpoint = endpoint();
    endpoint.set_xoff(true);
    assert!(endpoint.queued.load(Ordering::Relaxed) != 0 && endpoint.is_stopped() && !endpoint.has_backlog());
    endpoint.set_backlog(3);
    assert!(endpoint.is_stopped() && endpoint.has_backlog());
    endpoint.set_xoff(false);
    assert!(!endpoint.is_stopped() && endpoint.has_backlog());
    endpoint.set_backlog(0);
    assert_eq!(endpoint.queued.load(Ordering::Relaxed), 0);
}

#[test]
fn a_shared_word_is_obeyed_when_it_is_read() {
    let (words, received) = words();
    let mut endpoint = endpoint();
    endpoint.xoff_words = Some(words);
    for said in [0, 1, u64::MAX, 0] {
        received.store(said, Ordering::Relaxed);
        assert_eq!(endpoint.is_stopped(), said != 0);
        assert_eq!(endpoint.queued.load(Ordering::Relaxed) != 0, said != 0);
    }
}

#[test]
fn what_is_kept_is_counted_until_it_is_received_or_discarded() {
    let (mut state, envelope) = (state(&[0, 1]), wire::envelope(wire::context_bits(CONTEXT, false), 4));
    let counts = |state: &mut State| (state.unexpected_count(1).messages, state.unexpected_count(1).bytes);
    for bytes in [8, 1000] {
        state.eager(1, envelope, Untrusted::of(&[7; 1000][..bytes]), None);
    }
    let entry = size_of::<crate::context::Message>();
    assert_eq!(counts(&mut state), (2, 2 * entry + 1000));
    assert_eq!(state.context(CONTEXT).unwrap().unexpected(1), 2);
    assert_eq!(state.context(CONTEXT).unwrap().unexpected(0), 0);
    let matcher = state.context(CONTEXT).unwrap().matcher(false);
    let (_, _, first) = matcher.take_any().unwrap();
    let request = request::create(Kind::Recv, &Nothing, 0).unwrap();
    let receive = crate::context::Receive { request: request.id(), ..Default::default() };
    state.receive(receive, ompi_core::status::Status::EMPTY, CONTEXT, first);
    drop(request.wait());
    assert_eq!(counts(&mut state), (1, entry + 1000));
    state.disconnect(CONTEXT);
    assert_eq!(counts(&mut state), (0, 0));
}

#[test]
fn what_comes_before_its_communicator_is_counted_once() {
    let mut state = state(&[0, 1]);
    state.open(CONTEXT + 1).unwrap();
    let immediate = wire::envelope(wire::context_bits(CONTEXT + 1, false), 4);
    state.eager(1, immediate, Untrusted::of(&[7; 8]), None);
    assert_eq!(state.unexpected_count(1).messages, 1);
    let context = state.context(CONTEXT + 1).unwrap();
    assert_eq!(context.unexpected(1), 1);
    context.connect(&Sequence::up_to(2));
    for (envelope, message) in core::mem::take(&mut context.preactivation) {
        state.message(envelope, message);
    }
    assert_eq!((state.unexpected_count(1).messages, state.context(CONTEXT + 1).unwrap().unexpected(1)), (1, 1));
    // Nobody knows such a context.
    state.eager(1, wire::envelope(wire::context_bits(77, false), 4), Untrusted::of(&[7; 8]), None);
    // Nor this process in that one.
    state.eager(5, immediate, Untrusted::of(&[7; 8]), None);
    assert_eq!((state.unexpected_count(1).messages, state.unexpected_count(5).messages), (1, 0));
}

/// The first of the backlog is announced, if it is an eager message; the others stay behind it.
#[test]
fn an_eager_message_of_the_backlog_is_announced() {
    let (mut state, mut data) = (state(&[0, 1]), [3; 40]);
    let endpoint: &'static Endpoint = Box::leak(Box::new(endpoint()));
    let (envelope, process) = (wire::envelope(0, 4), endpoint.process);
    let requests = [(); 2].map(|()| request::create(Kind::Send, &Nothing, 0).unwrap());
    let [plain, synchronous] = [0, 1].map(|index| requests[index].id());
    let handle = state.operations.begin(process, envelope, synchronous, OperationState::AwaitingAck);
    for (request, sync) in [(plain, None), (synchronous, Some(handle))] {
        state.queue_eager(endpoint, QueuedSend { envelope, buffer: UserBuffer::over(&mut data), sync, request });
    }
    endpoint.set_xoff(true);
    for waiting in [2, 1] {
        assert_eq!(state.push_packets(endpoint), 0);
        let Some(Packet::Rts(found, packed, None)) = state.backlog(process).packets.pop_front() else {
            panic!("no RTS")
        };
        let rts = Rts::unpack(Untrusted::of(&packed)).unwrap();
        assert_eq!((Envelope::of(found).tag, rts.bytes, rts.address, rts.data_bytes), (4, 40, None, 0));
        let (number, operation) = state.operations.find(process, rts.handle).unwrap();
        assert!(matches!(operation.state, OperationState::RtsSent { .. }));
        assert_eq!(waiting == 1, rts.handle == handle, "a synchronous send keeps its operation");
        assert!(state.operations.sends_long());
        let ended = state.operations.remove(number).request;
        assert!(!state.operations.sends_long());
        request::complete(ended, ompi_core::status::Status::EMPTY);
    }
    assert_eq!(state.push_packets(endpoint), 0, "nothing is left");
    requests.into_iter().for_each(|request| drop(request.wait()));
}

#[test]
fn what_is_begun_when_the_peer_is_lost_ends() {
    let (mut state, mut data) = (state(&[0, 1]), [3; 40]);
    let endpoint: &'static Endpoint = Box::leak(Box::new(endpoint()));
    endpoint.set_dead();
    let requests = [(); 3].map(|()| request::create(Kind::Send, &Nothing, 0).unwrap());
    let ids = [0, 1, 2].map(|index| requests[index].id());
    state.announce(endpoint, 0, ids[0], UserBuffer::over(&mut data));
    let sync = state.operations.begin(endpoint.process, 0, ids[1], OperationState::AwaitingAck);
    for (request, sync) in [(ids[1], Some(sync)), (ids[2], None)] {
        state.queue_eager(endpoint, QueuedSend { envelope: 0, buffer: UserBuffer::over(&mut data), sync, request });
    }
    for request in requests {
        assert!(request.wait().is_err(), "the peer is lost");
    }
    assert_eq!(state.operations.all().count(), 0);
}
