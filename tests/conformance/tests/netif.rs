//! netif/packet over a virtual wire of the system: the suite, and what goes wrong with interfaces.

#![allow(unsafe_code)] // a raw socket

use opal_core::framework::netif::{Component as _, HEADER_BYTES, LEAST_BYTES, Link, Mac, Module};
use opal_core::mca::{Component as _, Source, Value};
use std::time::{Duration, Instant};
use test_conformance::{netif, veth};

opal_core::image![opal_core::framework::atomics, memcpy_portable, netif_packet];

fn main() {
    if let Err(why) = veth::lay() {
        println!("skipped: {why}");
        return;
    }
    let tests: [(&str, fn()); 5] = [
        ("names that are none", names),
        ("every length there and back", lengths),
        ("a full ring", full),
        ("giants and runts", giants),
        ("a cable that is pulled", pulled),
    ];
    assert!(named("").is_none(), "nothing is taken unasked");
    assert!(netif_packet::IF.set_value(Value::Text(veth::ENDS[0]), Source::Program));
    netif::suite(&netif_packet::COMPONENT);
    println!("test suite ... ok");
    for (name, test) in tests {
        test();
        println!("test {name} ... ok");
    }
}

/// The card that this list of names gives, if any.
fn named(names: &'static str) -> Option<&'static dyn Module> {
    assert!(netif_packet::IF.set_value(Value::Text(names), Source::Program));
    netif_packet::COMPONENT.open().ok()?;
    Some(netif_packet::COMPONENT.query().ok()?[0])
}

/// Both ends, which hand out frames of the type.
fn ends() -> [&'static dyn Module; 2] {
    let ends = veth::ENDS.map(|end| named(end).expect("it is there"));
    ends.map(|end| {
        let descriptor = end.listen(ETHERTYPE).expect("the system gives a ring");
        assert!(descriptor.is_some(), "a process can sleep");
        end
    })
}

fn names() {
    assert!(named("nosuch").is_none() && named("nosuch, two ,one").is_some());
    assert!(named("lo").is_none(), "no Ethernet");
    assert!(named("a name that is longer than any of an interface").is_none());
}

fn frame(to: Mac, from: Mac, bytes: usize) -> Vec<u8> {
    let body = (HEADER_BYTES..bytes).map(|at| (at * 7 + bytes) as u8);
    [&to.0[..], &from.0, &ETHERTYPE.to_be_bytes()].concat().into_iter().chain(body).collect()
}

fn send(from: &dyn Module, to: &dyn Module, bytes: usize) {
    let frame = frame(to.caps().mac, from.caps().mac, bytes);
    let start = Instant::now();
    while from.send(bytes, &mut |place| place.copy_from_slice(&frame)).is_err() {
        assert!(start.elapsed() < PATIENCE, "there is never room");
    }
}

fn received(by: &dyn Module) -> Vec<u8> {
    let (start, mut got) = (Instant::now(), Vec::new());
    while got.is_empty() {
        by.receive(&mut |frame| got.extend_from_slice(frame));
        assert!(start.elapsed() < PATIENCE, "nothing comes");
    }
    got
}

fn lengths() {
    let [one, two] = ends();
    for bytes in (HEADER_BYTES..=HEADER_BYTES + one.caps().mtu).filter(|bytes| *bytes < 200 || bytes % 13 == 1) {
        for (from, to) in [(one, two), (two, one)] {
            send(from, to, bytes);
            let mut right = frame(to.caps().mac, from.caps().mac, bytes);
            right.resize(bytes.max(LEAST_BYTES), 0);
            assert_eq!(received(to), right);
        }
    }
    assert_eq!((one.dropped(), two.dropped()), (0, 0));
}

/// What does not fit is dropped and counted, and later frames come.
fn full() {
    let [one, two] = ends();
    const FRAMES: u64 = 5000;
    (0..FRAMES).for_each(|_| send(one, two, 100));
    let mut came = 0;
    while two.receive(&mut |_| came += 1) {}
    assert!(came < FRAMES && came > 500, "{came}");
    assert_eq!(two.dropped(), FRAMES - came);
    send(one, two, 101);
    assert_eq!(received(two).len(), 101);
}

/// The wire got longer frames than the card knew when it was opened; and frames of a header alone.
fn giants() {
    let [one, two] = ends();
    veth::ENDS.iter().for_each(|end| veth::ip(&["link", "set", end, "mtu", "9000"]).expect("virtual wires have them"));
    let long = named(veth::ENDS[0]).expect("it is there");
    assert_eq!((one.caps().mtu, long.caps().mtu), (1500, 9000));
    for bytes in [1515, 2100, 9014] {
        send(long, two, bytes);
    }
    raw(&frame(two.caps().mac, one.caps().mac, HEADER_BYTES));
    send(one, two, 1514);
    let (start, mut seen) = (Instant::now(), Vec::new());
    while seen.last() != Some(&1514) {
        two.receive(&mut |frame| seen.push(frame.len()));
        assert!(start.elapsed() < PATIENCE, "{seen:?}");
    }
    assert_eq!((seen, two.dropped()), (vec![HEADER_BYTES, 1514], 3));
    veth::ENDS.iter().for_each(|end| veth::ip(&["link", "set", end, "mtu", "1500"]).expect("as before"));
}

fn pulled() {
    let [one, two] = ends();
    // The system tells of a cable when it comes to it.
    let until = |is_up: bool| {
        let start = Instant::now();
        while [one, two].iter().any(|end| (end.link() != Link::Down) != is_up) {
            assert!(start.elapsed() < PATIENCE, "it does not change");
        }
    };
    until(true);
    veth::ip(&["link", "set", "two", "down"]).expect("an interface can go down");
    until(false);
    assert!(named("two").is_none(), "it is down");
    // Lost, or not taken: nobody waits.
    let frame = frame(two.caps().mac, one.caps().mac, 60);
    let taken = (0..300).filter(|_| one.send(60, &mut |place| place.copy_from_slice(&frame)).is_ok()).count();
    assert!(taken < 300, "the system says that the cable is out");
    veth::ip(&["link", "set", "two", "up"]).expect("and up again");
    until(true);
    send(one, two, 77);
    // One that was taken while the cable was out may have waited.
    let first = received(two).len();
    assert_eq!(if first == 60 { received(two).len() } else { first }, 77);
}

/// Sends a frame as it is, which drivers pad.
fn raw(frame: &[u8]) {
    // SAFETY: no pointers.
    let socket = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW, 0) };
    assert!(socket >= 0);
    // SAFETY: all zeros are a value of it.
    let mut to: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    to.sll_family = libc::AF_PACKET as u16;
    // SAFETY: a NUL-terminated name.
    to.sll_ifindex = unsafe { libc::if_nametoindex(c"one".as_ptr()) } as i32;
    let bytes = size_of_val(&to) as u32;
    // SAFETY: a frame and an address of these lengths.
    let sent = unsafe { libc::sendto(socket, frame.as_ptr().cast(), frame.len(), 0, (&raw const to).cast(), bytes) };
    assert_eq!(sent, frame.len() as isize, "{}", std::io::Error::last_os_error());
    // SAFETY: this function's own.
    unsafe { libc::close(socket) };
}

/// IEEE 802's second type for local experiments.
const ETHERTYPE: u16 = 0x88b6;
const PATIENCE: Duration = Duration::from_secs(60);
