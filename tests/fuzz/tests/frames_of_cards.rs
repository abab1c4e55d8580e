//! Frames from the wire of machines without an operating system, and what is published of their cards.

use std::cell::Cell;
use test_fuzz::{eth_window, eth_wire, fuzz, roll_wire};

opal_core::image![opal_core::framework::atomics, memcpy_portable, shmem_memfd];

const ROUNDS: u64 = 50_000;
const TAG_AT: usize = 40;

#[test]
fn eth_frames() {
    use eth_window::{Acknowledged, Arrival, FRAMES, Incoming, Message, Outgoing};
    let header = eth_wire::Header {
        from: 1,
        job: 7,
        to: 0,
        number: 2,
        wanted: 3,
        am: Some(4),
        misses: false,
        bytes: 8,
        immediate: 0x0123_4567_89ab_cdef,
    };
    let (key, card) = (eth_wire::Key::of_job(&[5; 32]), opal_core::framework::netif::Mac([0x52, 0x54, 0, 1, 2, 3]));
    let mut head = header.encode();
    key.seal(card, 0, &mut head, b"8 bytes.");
    let frame = [&head[..], b"8 bytes.and padding"].concat();
    let nothing = eth_wire::Header { am: None, bytes: 0, ..header }.encode();
    let (sound, moved, made) = (Cell::new(0), Cell::new(0), Cell::new(0));
    fuzz(&[&frame, &nothing], ROUNDS, |bytes| {
        let Some((header, payload)) = eth_wire::parse(bytes) else { return };
        sound.set(sound.get() + 1);
        assert_eq!(payload.len(), usize::from(header.bytes));
        assert_eq!(header.encode()[..TAG_AT], bytes[..TAG_AT]);
        if key.made(card, 0, bytes, payload) {
            assert_eq!(bytes[..head.len() + 8], frame[..head.len() + 8]);
            made.set(made.get() + 1);
        }
        let (mut outgoing, mut incoming) = (Outgoing::default(), Incoming::default());
        (0..5).for_each(|_| outgoing.keep(Message::default(), 0));
        let answer = outgoing.acknowledge(header.wanted, header.misses, 0);
        assert_eq!(outgoing.next(), 5);
        let first = outgoing.oldest().map_or(5, |(number, _)| number);
        assert!(first == 0 && answer != Acknowledged::Missing || header.wanted <= 5, "{answer:?}");
        match incoming.arrive(header.number) {
            Arrival::Next => assert_eq!(header.number, 0),
            Arrival::Early => {
                assert!((1..FRAMES as u32).contains(&header.number));
                incoming.keep_early(header.number, Message::default());
                assert_eq!(incoming.arrive(header.number), Arrival::Again);
                assert!(incoming.misses());
            }
            Arrival::Again | Arrival::Nonsense => assert_eq!(incoming.wanted(), 0),
        }
        moved.set(moved.get() + u32::from(first > 0));
    });
    assert!(made.get() > 0, "the frame itself is sound");
    assert!(sound.get() > 100 && moved.get() > 10, "mutations must not all be refused at the first byte");
}

#[test]
fn eth_published_addresses() {
    let card = opal_core::framework::netif::Mac([0x52, 0x54, 0, 1, 2, 3]);
    fuzz(&[&eth_wire::address(card)], ROUNDS, |bytes| {
        let _ = eth_wire::wire_id_of(bytes);
        assert!(eth_wire::card_of(bytes).is_none_or(|card| card.is_one_card() && bytes.len() == 12));
    });
}

/// Nothing passes that was not made with the secret.
#[test]
fn roll_frames() {
    let card = opal_core::framework::netif::Mac([0x52, 0x54, 0, 1, 2, 3]);
    let said =
        roll_wire::Said { job: 7, rank: 1, size: 2, stage: 1, seen: 0, asks: true, addresses: b"btl/eth and so on" };
    let frame = said.encode(&[5; 32], card);
    let sound = Cell::new(0);
    fuzz(&[&frame], ROUNDS, |bytes| {
        if let Some(read) = roll_wire::parse(bytes, &[5; 32], card) {
            assert_eq!(read, said);
            sound.set(sound.get() + 1);
        }
    });
    assert!(sound.get() > 0, "the frame itself is sound");
}
