//! Placement of long payloads: cut anywhere, refused, with a place that vanishes, with a connection that ends in the
//! middle.

use super::*;
use crate::rx::{Read, Rx, RxEvent};
use crate::wire::{HEADER_BYTES, Header};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::framework::btl::{self, Fill, Placement, RxPayload};
use rustix::fd::OwnedFd;
use rustix::net;
use std::println;
use std::sync::{Mutex, MutexGuard, Once};

/// What a message's number says will be done with it.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Placed,
    Refused,
    Lost,
}

/// The places by number, with what placed; and what was taken out of its place while it came.
#[derive(Default)]
struct Places {
    open: BTreeMap<u64, Vec<u8>>,
    placed: Vec<u64>,
    fates: BTreeMap<u64, Fate>,
}

static PLACES: Mutex<Option<Places>> = Mutex::new(None);
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
const KIND: u8 = 3;

fn start() -> MutexGuard<'static, ()> {
    static REGISTER: Once = Once::new();
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    REGISTER.call_once(|| {
        btl::register_placement(KIND, Placement { prefix_bytes: 8, place, placed }).unwrap();
    });
    *PLACES.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(Places::default());
    guard
}

fn number(arriving: &RxPayload<'_>) -> u64 {
    u64::from_le_bytes(arriving.prefix.try_into().unwrap())
}

fn place(arriving: RxPayload<'_>, take: Fill<'_>) -> bool {
    let (number, mut places) = (number(&arriving), PLACES.lock().unwrap());
    let places = places.as_mut().unwrap();
    let gone = match places.fates[&number] {
        Fate::Placed => false,
        Fate::Refused => true,
        Fate::Lost => arriving.done > 20_000,
    };
    if gone {
        places.open.remove(&number);
        return false;
    }
    let place = places.open.entry(number).or_insert_with(|| vec![0; arriving.bytes]);
    take(&mut place[arriving.done..]);
    true
}

fn placed(arriving: RxPayload<'_>) {
    assert_eq!(arriving.done, arriving.bytes);
    assert_eq!((arriving.peer, arriving.immediate), (5, number(&arriving) * 3));
    PLACES.lock().unwrap().as_mut().unwrap().placed.push(number(&arriving));
}

fn payload(number: u64, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|index| (index as u64 * 37 + (index as u64 >> 8) * 5 + number) as u8).collect()
}

fn push(stream: &mut Vec<u8>, kind: u8, number: u64, bytes: usize) {
    let pad = number as usize % 5 * 10;
    stream.extend(Header { kind, pad, bytes: 8 + bytes, immediate: number * 3 }.encode());
    stream.resize(stream.len() + pad, 0);
    stream.extend(number.to_le_bytes());
    stream.extend(payload(number, bytes));
}

fn rx() -> (OwnedFd, Rx) {
    let flags = net::SocketFlags::NONBLOCK;
    let (near, far) = net::socketpair(net::AddressFamily::UNIX, net::SocketType::STREAM, flags, None).unwrap();
    (near, Rx::new(Arc::new(far), 5, None))
}

fn write(to: &OwnedFd, bytes: &[u8]) {
    assert_eq!(socket::send(to, bytes), Ok(bytes.len()), "the system's buffer holds a cut");
}

/// What is complete now: numbers of delivered messages, none for placed ones. Checks what was delivered.
fn take(rx: &mut Rx, sizes: &BTreeMap<u64, usize>, taken: &mut Vec<u64>) {
    loop {
        match rx.next() {
            RxEvent::Frame(frame) => {
                let bytes = rx.payload(&frame);
                let number = u64::from_le_bytes(bytes[..8].try_into().unwrap());
                assert_eq!(frame.immediate, number * 3);
                assert!(bytes[8..] == payload(number, sizes[&number]), "message {number} differs");
                rx.advance(&frame);
                taken.push(number);
            }
            RxEvent::Placed => {}
            RxEvent::Incomplete => return,
            RxEvent::Malformed | RxEvent::Forged => panic!("sound bytes are called malformed"),
        }
    }
}

#[test]
fn any_cut_any_fate() {
    let _guard = start();
    let mut ways = [0; 3];
    for seed in 0..30 {
        println!("seed {seed}");
        let mut dice = Dice::new(seed);
        let (near, mut rx) = rx();
        let (mut stream, mut sizes, mut taken) = (Vec::new(), BTreeMap::new(), Vec::new());
        *PLACES.lock().unwrap() = Some(Places::default());
        for number in 0..40 {
            let fate = [Fate::Placed, Fate::Placed, Fate::Refused, Fate::Lost][dice.roll(4)];
            let bytes = if dice.roll(2) == 0 { dice.roll(300) } else { dice.roll(200_000) };
            PLACES.lock().unwrap().as_mut().unwrap().fates.insert(number, fate);
            push(&mut stream, if dice.roll(4) == 0 { 0 } else { KIND }, number, bytes);
            sizes.insert(number, bytes);
        }
        let mut rest = &stream[..];
        while !rest.is_empty() {
            let cut = (1 + if dice.roll(2) == 0 { dice.roll(100) } else { dice.roll(60_000) }).min(rest.len());
            write(&near, &rest[..cut]);
            rest = &rest[cut..];
            loop {
                let read = rx.read();
                take(&mut rx, &sizes, &mut taken);
                match read {
                    Read::More => {}
                    Read::Empty if dice.roll(3) > 0 => break,
                    Read::Empty => {}
                    Read::Ended(why) => panic!("ended: {why:?}"),
                }
            }
        }
        while !matches!(rx.read(), Read::Empty) {
            take(&mut rx, &sizes, &mut taken);
        }
        take(&mut rx, &sizes, &mut taken);
        let places = PLACES.lock().unwrap().take().unwrap();
        for number in &places.placed {
            assert!(places.open[number] == payload(*number, sizes[number]), "message {number} placed wrong");
        }
        for (number, fate) in &places.fates {
            let times = [&places.placed, &taken].map(|list| list.iter().filter(|one| *one == number).count());
            match fate {
                Fate::Lost => assert!(times[0] + times[1] <= 1),
                Fate::Refused => assert_eq!(times, [0, 1]),
                Fate::Placed => assert_eq!(times[0] + times[1], 1, "message {number} of {} bytes", sizes[number]),
            }
            ways[0] += times[0];
            ways[1] += times[1];
            ways[2] += usize::from(times == [0, 0]);
        }
        let mut order = taken.clone();
        order.sort_unstable();
        assert_eq!(order, taken, "messages that are delivered keep their order");
    }
    println!("{} placed, {} delivered, {} lost their place", ways[0], ways[1], ways[2]);
    assert!(ways.iter().all(|times| *times > 50), "some way is hardly ever taken");
}

#[test]
fn an_end_in_the_middle_completes_nothing() {
    let _guard = start();
    for cut in [HEADER_BYTES + 19, HEADER_BYTES + 28, HEADER_BYTES + 29, 5000, 70_000, 100_000 + HEADER_BYTES + 7] {
        *PLACES.lock().unwrap() = Some(Places { fates: [(7, Fate::Placed)].into(), ..Places::default() });
        let (near, mut rx) = rx();
        let mut stream = Vec::new();
        push(&mut stream, KIND, 7, 100_000);
        write(&near, &stream[..cut]);
        drop(near);
        loop {
            match rx.read() {
                Read::Ended(_) => break,
                _ => assert!(matches!(rx.next(), RxEvent::Incomplete)),
            }
        }
        assert_eq!(PLACES.lock().unwrap().as_ref().unwrap().placed, [], "cut after {cut} bytes");
    }
}

#[test]
fn garbage_behind_a_placed_payload_is_malformed() {
    let _guard = start();
    *PLACES.lock().unwrap() = Some(Places { fates: [(7, Fate::Placed)].into(), ..Places::default() });
    let (near, mut rx) = rx();
    let mut stream = Vec::new();
    push(&mut stream, KIND, 7, 100_000);
    stream.extend([0xff; 64]);
    write(&near, &stream[..30_000]);
    rx.read();
    assert!(matches!(rx.next(), RxEvent::Incomplete));
    write(&near, &stream[30_000..]);
    while !matches!(rx.read(), Read::Empty) {}
    assert!(matches!(rx.next(), RxEvent::Placed));
    assert!(matches!(rx.next(), RxEvent::Malformed));
    assert_eq!(PLACES.lock().unwrap().as_ref().unwrap().placed, [7]);
}
