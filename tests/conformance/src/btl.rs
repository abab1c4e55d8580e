//! What every transport promises: order, whole payloads of every allowed size, *full* instead of loss.

use crate::btl_remote;
use crate::declined::{accepted, opened};
use crate::pair::{self, Pair};
use ompi_core::framework::pml::OOB_BYTES;
use opal_core::framework::btl::{self, AM_IDS, Component, Endpoint, Full, Job, Module, Peer};
use opal_core::framework::shmem;
use opal_core::mem::Untrusted;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A running transport with one peer, which runs the same suite.
pub struct Fixture<'a> {
    /// The transport.
    pub module: &'static dyn Module,
    /// Its number for the peer.
    pub endpoint: Endpoint,
    /// Which side this is; both are 0 if the peer is this process.
    pub side: u32,
    /// The peer's side.
    pub other: u32,
    /// The number under which the peer was added.
    pub peer: u32,
    /// Waits for the peer.
    pub barrier: &'a mut dyn FnMut(),
}

/// Runs every case between two processes of this node, over the first module that reaches the other one. Before any thread
/// exists and before any component is opened.
///
/// # Panics
/// With the component's own sentence if it declines, and at the first broken promise.
pub fn between_two(component: &'static dyn Component) {
    let (mut pair, module, endpoint) = reached(component);
    let side = pair.side;
    let barrier = &mut || pair.barrier();
    suite(&mut Fixture { module, endpoint, side, other: 1 - side, peer: 1 - side, barrier });
    pair.end();
}

/// The same for memory of the peer, whose process helps by polling.
///
/// # Panics
/// As [`between_two`].
pub fn remote_between_two(component: &'static dyn Component) {
    let (mut pair, module, endpoint) = reached(component);
    let exchange = &mut |bytes: &[u8]| pair.exchange_while(bytes, &mut || _ = module.poll());
    btl_remote::suite(&mut btl_remote::Fixture { module, endpoint, exchange });
    pair.end();
}

/// Two processes, and in each the first module that reaches the other one.
fn reached(component: &'static dyn Component) -> (Pair, &'static dyn Module, Endpoint) {
    let mut pair = pair::fork();
    let side = pair.side;
    shmem::select(Some(pair.inherited)).expect("a component of shmem runs");
    btl::set_job(Job { number: 4711, index: side, size: 2, one_node: true, secret: [42; 32] });
    opened(component);
    let modules = accepted(component.info(), component.query());
    let own: Vec<u8> = modules.iter().flat_map(|module| module.address()).collect();
    let address = pair.exchange(&own);
    let peer = Peer { index: 1 - side, is_self: false, same_node: true, address: &address };
    let reach = |module: &'static dyn Module| Some((module, module.add_peer(peer).expect("the address is good")?));
    let reached = modules.into_iter().find_map(reach);
    let (module, endpoint) =
        reached.unwrap_or_else(|| panic!("{:?} does not reach a process of its node", component.info()));
    pair.barrier();
    (pair, module, endpoint)
}

/// Runs every case; panics at the first broken promise.
pub fn suite(fixture: &mut Fixture<'_>) {
    for (am, handler) in HANDLERS.iter().enumerate() {
        btl::register_handler(am as u8, *handler).expect("the id is free");
    }
    assert_eq!(btl::register_handler(0, receive::<0>), Err(opal_core::Error::Exists));
    for (name, case) in CASES {
        case(fixture);
        (fixture.barrier)();
        assert_eq!(fixture.module.poll(), 0, "{name}: nothing is left");
        assert!(ARRIVED.lock().unwrap().is_empty(), "{name}: nothing is left");
        // The peer's next case begins when this look is over.
        (fixture.barrier)();
    }
}

type Case = fn(&mut Fixture<'_>);

/// All cases by name.
pub const CASES: &[(&str, Case)] = &[
    ("abilities make sense", abilities),
    ("every inline size", every_inline_size),
    ("every boundary size", boundary_sizes),
    ("random sizes in both directions", random_sizes),
    ("full, not lost", full_not_lost),
    ("one peer at a time", poll_peer),
];

#[derive(Clone, Debug, PartialEq)]
struct Message {
    am: u8,
    immediate: u64,
    payload: Vec<u8>,
}

static ARRIVED: Mutex<Vec<(u32, Message)>> = Mutex::new(Vec::new());

const HANDLERS: [btl::AmHandler; AM_IDS] =
    [receive::<0>, receive::<1>, receive::<2>, receive::<3>, receive::<4>, receive::<5>, receive::<6>, receive::<7>];

fn receive<const AM: u8>(peer: u32, immediate: u64, payload: Untrusted<'_>) {
    let mut bytes = vec![0; payload.len()];
    payload.copy_to(&mut bytes);
    ARRIVED.lock().unwrap().push((peer, Message { am: AM, immediate, payload: bytes }));
}

fn abilities(fixture: &mut Fixture<'_>) {
    let caps = fixture.module.caps();
    assert!(caps.immediate_bits <= 64);
    assert!(caps.inline_bytes <= caps.send_bytes && caps.eager_bytes <= caps.send_bytes);
    assert!(caps.bandwidth_mbps > 0);
    // Fewer, and no message of MPI can travel.
    assert!(caps.immediate_bits >= PML_IMMEDIATE_BITS && caps.send_bytes >= OOB_BYTES, "pml/ob1 refuses: {caps:?}");
}

fn every_inline_size(fixture: &mut Fixture<'_>) {
    let most = fixture.module.caps().inline_bytes;
    // Some transports have no limit of their own: then all small ones and a few of the others.
    let sizes = (0..=most).filter(|size| *size <= 1024 || size.is_multiple_of(4093) || *size == most);
    both_ways(fixture, sizes.collect(), true);
}

fn boundary_sizes(fixture: &mut Fixture<'_>) {
    let caps = *fixture.module.caps();
    let mut sizes = vec![0, 1, caps.inline_bytes, caps.inline_bytes + 1, caps.eager_bytes, caps.send_bytes];
    sizes.extend([63, 64, 65, 4095, 4096, 4097, caps.eager_bytes - 1, caps.send_bytes - 1]);
    sizes.retain(|size| *size <= caps.send_bytes);
    both_ways(fixture, sizes, false);
}

fn random_sizes(fixture: &mut Fixture<'_>) {
    let most = fixture.module.caps().send_bytes;
    for seed in 1..6u64 {
        let mut state = (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 3) | 1;
        let mut next = |limit: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as usize % limit
        };
        let sizes = (0..2000).map(|_| if next(20) == 0 { next(most + 1) } else { next(600.min(most)) }).collect();
        both_ways(fixture, sizes, seed % 2 == 0);
    }
}

/// A sender that is never listened to is told so, and everything that it was not told so about arrives.
fn full_not_lost(fixture: &mut Fixture<'_>) {
    let bytes = 100.min(fixture.module.caps().send_bytes);
    let mut sent = 0;
    while send(fixture, &message(fixture, fixture.side, sent, bytes), false).is_ok() {
        sent += 1;
        assert!(sent < 1_000_000, "a transport has an end");
    }
    assert!(sent > 0);
    (fixture.barrier)();
    assert!(ARRIVED.lock().unwrap().is_empty(), "nothing is handed out but by a poll");
    // What fits may differ from side to side: the last message says how many there were.
    let last = Message { am: 7, immediate: sent as u64, payload: Vec::new() };
    while send(fixture, &last, false).is_err() {
        fixture.module.poll();
    }
    let is_last = |(_, one): &(u32, Message)| one.am == 7 && one.payload.is_empty();
    let mut got = collect(fixture, |arrived| arrived.last().is_some_and(is_last));
    let (_, last) = got.pop().expect("the last one is there");
    assert_eq!(got.len() as u64, last.immediate);
    for (number, one) in got.into_iter().enumerate() {
        assert_eq!(one, (fixture.peer, message(fixture, fixture.other, number, bytes)));
    }
    settle(fixture);
    (fixture.barrier)();
    // After progress there is room again.
    both_ways(fixture, vec![bytes; 10], false);
}

/// The direct path: the next message of one peer, looked at and taken.
fn poll_peer(fixture: &mut Fixture<'_>) {
    const MESSAGES: usize = 50;
    let module = fixture.module;
    for number in 0..MESSAGES {
        let message = message(fixture, fixture.side, number, number);
        while send(fixture, &message, false).is_err() {
            module.poll();
        }
    }
    module.flush(fixture.endpoint);
    (fixture.barrier)();
    let mut direct = 0;
    while let Some(arrived) = module.poll_peer(fixture.endpoint, 1) {
        let mut payload = vec![0; arrived.payload.len()];
        arrived.payload.copy_to(&mut payload);
        let got = Message { am: arrived.am, immediate: arrived.immediate, payload };
        assert_eq!(got, message(fixture, fixture.other, direct, direct));
        let again = module.poll_peer(fixture.endpoint, 1).expect("it is there until it is consumed");
        assert_eq!(again.immediate, got.immediate);
        module.consume(fixture.endpoint);
        direct += 1;
        if direct == MESSAGES / 2 {
            break;
        }
    }
    let rest = collect(fixture, |arrived| arrived.len() >= MESSAGES - direct);
    for (number, one) in rest.into_iter().enumerate() {
        let number = number + direct;
        assert_eq!(one, (fixture.peer, message(fixture, fixture.other, number, number)));
    }
}

fn both_ways(fixture: &mut Fixture<'_>, sizes: Vec<usize>, inline: bool) {
    let (mut next, mut seen) = (0, 0);
    let deadline = Instant::now() + PATIENCE;
    while seen < sizes.len() {
        while next < sizes.len() {
            let inline = inline && sizes[next] <= fixture.module.caps().inline_bytes;
            if send(fixture, &message(fixture, fixture.side, next, sizes[next]), inline).is_err() {
                break;
            }
            next += 1;
        }
        fixture.module.poll();
        for (peer, got) in std::mem::take(&mut *ARRIVED.lock().unwrap()) {
            assert_eq!(peer, fixture.peer);
            let expected = message(fixture, fixture.other, seen, sizes[seen]);
            assert!(got == expected, "message {seen} of {} bytes came as {} bytes", sizes[seen], got.payload.len());
            seen += 1;
        }
        assert!(Instant::now() < deadline, "{seen} of {} messages came", sizes.len());
    }
    while next < sizes.len() {
        let message = message(fixture, fixture.side, next, sizes[next]);
        match send(fixture, &message, false) {
            Ok(()) => next += 1,
            Err(Full) => _ = fixture.module.poll(),
        }
    }
    settle(fixture);
    (fixture.barrier)();
}

/// Until what was sent needs no more help.
fn settle(fixture: &Fixture<'_>) {
    let deadline = Instant::now() + PATIENCE;
    while !fixture.module.is_drained() {
        fixture.module.poll();
        assert!(Instant::now() < deadline, "what was sent never leaves");
    }
}

fn collect(fixture: &Fixture<'_>, is_all: impl Fn(&[(u32, Message)]) -> bool) -> Vec<(u32, Message)> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        fixture.module.poll();
        let mut arrived = ARRIVED.lock().unwrap();
        if is_all(&arrived) {
            return std::mem::take(&mut *arrived);
        }
        assert!(Instant::now() < deadline, "only {} messages came", arrived.len());
    }
}

fn send(fixture: &Fixture<'_>, message: &Message, inline: bool) -> Result<(), Full> {
    let Fixture { module, endpoint, .. } = fixture;
    let (from, bytes) = (message.payload.as_ptr(), message.payload.len());
    if inline {
        // SAFETY: the payload is `bytes` long.
        return unsafe { module.send_inline(*endpoint, message.am, message.immediate, from, bytes) };
    }
    let mut fills = 0;
    let sent = module.send(*endpoint, message.am, message.immediate, bytes, &mut |to| {
        fills += 1;
        // SAFETY: the transport promises a place for `bytes`.
        unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
    });
    assert_eq!(fills, usize::from(sent.is_ok()), "the payload is asked for once, if at all");
    sent
}

fn message(fixture: &Fixture<'_>, side: u32, number: usize, bytes: usize) -> Message {
    let seed = number as u64 * 0x1_0001 + u64::from(side) * 77;
    let immediate =
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) & (u64::MAX >> (64 - fixture.module.caps().immediate_bits));
    let payload = (0..bytes).map(|index| (seed as usize * 13 + index * 7) as u8).collect();
    Message { am: (number % AM_IDS) as u8, immediate, payload }
}

const PATIENCE: Duration = Duration::from_secs(60);
/// `IMMEDIATE_BITS` of components/pml/ob1/src/wire.rs.
const PML_IMMEDIATE_BITS: u32 = 54;
