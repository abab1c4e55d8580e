//! Reads through a transport: in parts, with failures, with a sender that is lost; and the sender's memory, which is registered meanwhile.

use super::*;
use crate::peers::backlog::Packet;
use crate::peers::rail::Getter;
use crate::protocol::smsc::rget::PushState;
use crate::test_image::{Calls, ENDPOINT, Nothing, Transport};
use core::ops::Range;
use ompi_core::framework::bml::Path;
use ompi_core::request::{self, Kind, Request};
use opal_core::framework::btl::Registration;
use opal_core::framework::rcache;
use opal_core::mem::Untrusted;
use std::sync::Mutex;
use std::vec::Vec;

const PEER: u32 = 1;
const THEIRS: u64 = 77;
const REMOTE: Remote = Remote { address: 1 << 40, key: 6 };

/// What the transport was told.
#[derive(Default)]
struct Told {
    room: usize,
    is_at_once: bool,
    issued: Vec<(u64, Range<usize>)>,
    dropped: Vec<u64>,
    live: usize,
}

#[derive(Default)]
struct Card(Mutex<Told>);

impl Calls for Card {
    fn get(&self, remote: Remote, to: Range<usize>) -> core::result::Result<Begun, Full> {
        let mut told = self.0.lock().unwrap();
        told.room = told.room.checked_sub(1).ok_or(Full)?;
        assert_eq!(remote.key, REMOTE.key);
        told.issued.push((remote.address - REMOTE.address, to));
        Ok(if told.is_at_once { Begun::Done(0) } else { Begun::Later })
    }

    fn drop_key(&self, key: u64) {
        self.0.lock().unwrap().dropped.push(key);
    }

    fn register(&self, bytes: usize) -> Result<Registration> {
        self.0.lock().unwrap().live += 1;
        Ok(Registration { handle: 1, key: std::vec![1; if bytes == LONG_KEY { 65 } else { 16 }] })
    }

    fn unregister(&self, _registration: Registration) {
        self.0.lock().unwrap().live -= 1;
    }
}

/// A buffer of so many bytes has a key that does not fit.
const LONG_KEY: usize = 50;

fn card(room: usize) -> &'static Transport<Card> {
    let card = Transport(Card(Mutex::new(Told { room, ..Told::default() })));
    Box::leak(Box::new(card))
}

/// A receive of 100 bytes that are read by 40 at most.
fn start(card: &'static Transport<Card>, state: &mut State, data: &mut [u8; 100]) -> Request {
    opal_core::sync::raise_threads();
    let request = request::create(Kind::Recv, &Nothing, 0).unwrap();
    let buffer = UserBuffer::over(data);
    let (target, path) = (buffer.contiguous().unwrap(), Path { module: card, endpoint: ENDPOINT });
    let mut getting = Getting::new(target, 100, THEIRS, (path, 40), REMOTE);
    getting.buffer = buffer;
    getting.status.set_bytes(100);
    state.start_get(PEER, getting, 0, request.id());
    request
}

/// What this process says to the peer's operation.
fn said(state: &mut State) -> Vec<Control> {
    let packets = core::mem::take(&mut state.backlog(PEER).packets);
    let control = |packet| match packet {
        Packet::Control(THEIRS, control) => Control::unpack(Untrusted::of(control.bytes())),
        _ => None,
    };
    packets.into_iter().map(|packet| control(packet).expect("a control message to the sender")).collect()
}

#[test]
fn a_message_is_read_in_parts_as_there_is_room() {
    let (card, mut state, mut data) = (card(2), State::new(), [0; 100]);
    let first = data.as_ptr().addr();
    let request = start(card, &mut state, &mut data);
    let part = |range: Range<usize>| (range.start as u64, first + range.start..first + range.end);
    let handle = state.operations.only(PEER);
    assert_eq!(card.0.0.lock().unwrap().issued, [part(0..40), part(40..80)]);
    assert_eq!((state.gets.len(), state.begin_gets()), (1, 0), "the transport is full");
    state.got(handle, true);
    card.0.0.lock().unwrap().room = 5;
    assert_eq!((state.begin_gets(), state.gets.len()), (1, 0));
    assert_eq!(card.0.0.lock().unwrap().issued[2..], [part(80..100)]);
    state.got(handle, true);
    assert_eq!((said(&mut state), request.is_complete()), (Vec::new(), false), "one is still read");
    state.got(handle, true);
    assert_eq!(said(&mut state), [Control::Fin]);
    assert_eq!(card.0.0.lock().unwrap().dropped, [REMOTE.key]);
    assert_eq!(request.wait().unwrap().bytes(), 100);
    state.got(handle, true);
}

#[test]
fn a_transport_may_read_at_once() {
    let (card, mut state, mut data) = (card(3), State::new(), [0; 100]);
    card.0.0.lock().unwrap().is_at_once = true;
    let request = start(card, &mut state, &mut data);
    assert_eq!(said(&mut state), [Control::Fin]);
    request.wait().unwrap();
}

#[test]
fn what_was_not_read_comes_in_fragments_when_nothing_is_in_flight() {
    let (card, mut state, mut data) = (card(2), State::new(), [0; 100]);
    let request = start(card, &mut state, &mut data);
    let handle = state.operations.only(PEER);
    state.got(handle, false);
    assert!(said(&mut state).is_empty(), "the transport still writes to the buffer");
    card.0.0.lock().unwrap().room = 5;
    state.begin_gets();
    assert_eq!(card.0.0.lock().unwrap().issued.len(), 2, "nothing more is asked for");
    state.got(handle, true);
    assert_eq!(said(&mut state), [Control::CtsResend(Cts { handle, wanted: 100 })]);
    assert!(state.fragment(PEER, handle, 0, Untrusted::of(&[9; 100])));
    request.wait().unwrap();
    assert_eq!(data, [9; 100]);
}

#[test]
fn a_receive_from_a_lost_sender_ends_when_its_buffer_is_its_own_again() {
    let (card, mut state, mut data) = (card(2), State::new(), [0; 100]);
    let request = start(card, &mut state, &mut data);
    let handle = state.operations.only(PEER);
    state.fail_operations(PEER);
    state.got(handle, true);
    assert!(!request.is_complete(), "the transport still writes to the buffer");
    state.got(handle, false);
    assert!(request.wait().is_err());
    assert_eq!(card.0.0.lock().unwrap().dropped, [REMOTE.key]);
    state.begin_gets();
    assert_eq!(card.0.0.lock().unwrap().issued.len(), 2);
}

/// A send whose memory the receiver may read.
fn exposed(card: &'static Transport<Card>, state: &mut State, data: &mut [u8]) -> (u64, Request) {
    opal_core::sync::raise_threads();
    let getter = Getter { wire_id: 9, bytes: 1 << 20, registrations: rcache::of(card) };
    let buffer = UserBuffer::over(data);
    let (exposure, key) = Exposure::new(&buffer.contiguous().unwrap(), &getter).unwrap().expect("the key fits");
    assert_eq!((key.address, key.wire_id, key.key().len()), (data.as_ptr().addr() as u64, 9, 16));
    let request = request::create(Kind::Send, &Nothing, 0).unwrap();
    let (push, exposure) = (PushState::NoAddress, Some(exposure));
    let operation = OperationState::RtsSent { buffer, push, sent: 0, exposure };
    (state.operations.begin(PEER, 0, request.id(), operation), request)
}

#[test]
fn memory_stays_registered_until_the_receiver_has_it() {
    let (card, mut state, mut data) = (card(0), State::new(), [0; 100]);
    let live = || card.0.0.lock().unwrap().live;
    let (handle, request) = exposed(card, &mut state, &mut data);
    assert!(!state.fin(2, handle) && !state.fin(PEER, handle + 1));
    assert_eq!(live(), 1);
    assert!(state.fin(PEER, handle) && !state.fin(PEER, handle));
    assert_eq!(live(), 0);
    request.wait().unwrap();

    let (handle, request) = exposed(card, &mut state, &mut data);
    assert!(state.none_wanted(PEER, handle));
    assert_eq!(live(), 0);
    request.wait().unwrap();

    let (handle, request) = exposed(card, &mut state, &mut data);
    assert!(state.cts(PEER, handle, Cts { handle: 5, wanted: 100 }, false), "the receiver wants fragments");
    assert_eq!(live(), 0);
    state.fail_operations(PEER);
    assert!(request.wait().is_err());

    let (_, request) = exposed(card, &mut state, &mut data);
    state.fail_operations(PEER);
    assert_eq!(live(), 0);
    assert!(request.wait().is_err());
}

#[test]
fn memory_whose_key_is_too_long_is_not_named() {
    let (card, mut data) = (card(0), [0; LONG_KEY]);
    let getter = Getter { wire_id: 9, bytes: 1 << 20, registrations: rcache::of(card) };
    let buffer = UserBuffer::over(&mut data);
    assert!(Exposure::new(&buffer.contiguous().unwrap(), &getter).unwrap().is_none());
    assert_eq!(card.0.0.lock().unwrap().live, 0);
}

/// Whoever names no memory is not told that it was read.
#[test]
fn a_send_without_memory_ends_by_no_fin() {
    let (mut state, mut data) = (State::new(), [0; 100]);
    let state_of = OperationState::RtsSent {
        buffer: UserBuffer::over(&mut data),
        push: PushState::NoAddress,
        sent: 0,
        exposure: None,
    };
    let handle = state.operations.begin(PEER, 0, Id::default(), state_of);
    assert!(!state.fin(PEER, handle));
    assert_eq!(state.operations.get_mut(handle as u32 & 0xff_ffff).process, PEER);
}
