//! Each message survives the wire, and what is no message is refused.

use super::*;
use std::vec::Vec;

#[test]
fn envelopes() {
    for (context, collective, tag) in [(0, false, 0), (1, true, 7), ((1 << 22) - 1, true, i32::MAX)] {
        let immediate = envelope(context_bits(context, collective), tag);
        assert!(immediate >> IMMEDIATE_BITS == 0);
        assert_eq!(Envelope::of(immediate), Envelope { context, collective, tag });
        assert_eq!(context_bits_of(immediate), context_bits(context, collective));
    }
    assert!(Envelope::of(u64::MAX).tag >= 0);
}

#[test]
fn a_prefix_is_eight_bytes() {
    let bytes = [7u64.to_le_bytes(), u64::MAX.to_le_bytes()].concat();
    assert!(split_prefix(Untrusted::of(&bytes[..7])).is_none());
    let (number, data) = split_prefix(Untrusted::of(&bytes)).unwrap();
    assert_eq!((number, data.len()), (7, 8));
}

#[test]
fn rts() {
    for address in [None, Some(4096)] {
        let rts = Rts { bytes: u64::MAX, handle: 3, address, data_bytes: 16384, checksum: 0x8000_0001 };
        assert_eq!(Rts::unpack(Untrusted::of(&rts.pack())), Some(rts));
    }
    for bytes in [0, 8, 31, 33, 40] {
        assert_eq!(Rts::unpack(Untrusted::of(&[1; 40][..bytes])), None, "{bytes} bytes");
    }
}

/// With a key of each length behind the numbers; without one, and with one that is too long or cut off.
#[test]
fn rts_with_a_key() {
    let rts = Rts { bytes: 1 << 20, handle: 3, address: None, data_bytes: 0, checksum: 0 };
    assert_eq!(Rts::unpack_with_key(Untrusted::of(&rts.pack())), Some((rts, None)));
    let bytes: Vec<u8> = (0..65).collect();
    for length in 1..=64 {
        let key = RemoteKey::new(u64::MAX, 0x0f1b_0002, &bytes[..length]).unwrap();
        let mut place = [0; REMOTE_KEY_BYTES_MAX];
        let packed = key.pack(&mut place);
        let whole = [&rts.pack()[..], &place[..packed]].concat();
        assert_eq!(Rts::unpack_with_key(Untrusted::of(&whole)), Some((rts, Some(key))));
        assert_eq!((key.key(), packed), (&bytes[..length], 16 + length));
    }
    assert_eq!(RemoteKey::new(0, 0, &[]), None);
    assert_eq!(RemoteKey::new(0, 0, &bytes), None);
    for wrong in (0..32).chain(33..49).chain([113, 200]) {
        assert_eq!(Rts::unpack_with_key(Untrusted::of(&std::vec![0; wrong])), None, "{wrong} bytes");
    }
    let (mut no_id, id) = (std::vec![0; 49], 32 + 8..32 + 16);
    no_id[id].copy_from_slice(&(1u64 << 32).to_le_bytes());
    assert_eq!(Rts::unpack_with_key(Untrusted::of(&no_id)), None);
}

/// Every control message with its kind on the wire and the number of its fields.
fn all() -> [(Control, u64, usize); 10] {
    let cts = Cts { handle: 1 << 53, wanted: 100 };
    let offer = PushOffer { handle: 9, wanted: 100, address: 4096, begin: 40, claim_word: 5 };
    [
        (Control::Ack, 1, 0),
        (Control::Cts(cts), 2, 2),
        (Control::CtsResend(cts), 3, 2),
        (Control::NoneWanted, 4, 0),
        (Control::PushOffer(offer), 5, 5),
        (Control::PushDone, 6, 0),
        (Control::PushFailed, 7, 0),
        (Control::Fin, 8, 0),
        (Control::Xoff, 9, 0),
        (Control::Xon, 10, 0),
    ]
}

#[test]
fn control_messages() {
    for (control, kind, fields) in all() {
        let packed = control.pack();
        let bytes = packed.bytes();
        assert_eq!((bytes[..8].to_vec(), bytes.len()), (kind.to_le_bytes().to_vec(), 8 + 8 * fields), "{control:?}");
        assert_eq!(Control::unpack(Untrusted::of(bytes)), Some(control));
    }
}

#[test]
fn what_is_no_control_message() {
    for (control, kind, fields) in all() {
        for wrong in (0..80).filter(|bytes| *bytes != 8 + 8 * fields) {
            let mut bytes: Vec<u8> = kind.to_le_bytes().to_vec();
            bytes.resize(wrong.max(8), 1);
            assert_eq!(Control::unpack(Untrusted::of(&bytes[..wrong])), None, "{control:?} of {wrong} bytes");
        }
    }
    for kind in [0, 11, 1 << 32, u64::MAX] {
        for fields in [0, 2, 5] {
            let bytes = [kind.to_le_bytes().to_vec(), std::vec![0; 8 * fields]].concat();
            assert_eq!(Control::unpack(Untrusted::of(&bytes)), None, "kind {kind}");
        }
    }
}
