//! The layout read from arbitrary bytes, and the protocol between launcher and ranks, played by threads.

use super::layout::{HEADER_BYTES, PAGE, PORT_BYTES, RANKS_MAX, RX_SEGMENT_ALIGN};
use super::record::{ABORT_TEXT_BYTES, ADDRESSES_BYTES, AWAITED_TEXT_BYTES, TOLD_TEXT_BYTES};
use super::*;
use crate::framework::ess::{Awaited, Needed};
use crate::segment::control::Missed;
use opal_core::Error;
use opal_core::framework::btl::ProcessName;
use opal_core::sync::{AtomicU32, Ordering};
use std::string::String;
use std::sync::Arc;
use std::vec;
use std::vec::Vec;

struct Words(Vec<AtomicU32>);

impl Shared for Words {
    fn bytes(&self) -> usize {
        self.0.len() * 4
    }
    fn word(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4));
        &self.0[offset / 4]
    }
    fn sleep(&self, _offset: usize, _seen: u32, _timeout_us: u64) {
        std::thread::yield_now();
    }
    fn wake(&self, _offset: usize) {}
}

fn control(ranks: u32) -> Control<Words> {
    let layout = Layout::new(7, ranks).unwrap();
    let words = (0..layout.control_bytes() / 4).map(|_| AtomicU32::new(0)).collect();
    Control::new(layout, Words(words)).unwrap()
}

fn soon() -> u64 {
    opal_core::sys::monotonic_ns() + 20_000_000
}

#[test]
fn the_secret_comes_back_and_disturbs_nothing() {
    let control = control(2);
    let secret: [u8; 32] = core::array::from_fn(|index| index as u8 ^ 0xa5);
    control.set_secret(&secret);
    assert_eq!(control.secret(), secret);
    assert_eq!((control.epoch(), control.aborts(), control.state(0)), (0, 0, RankState::Absent));
}

#[test]
fn ports_come_back_and_only_those_that_were_left() {
    let control = control(1);
    assert_eq!(control.port(PortOf::Universe), None);
    let text = "p".repeat(PORT_BYTES);
    control.set_port(PortOf::Parent, &text).unwrap();
    assert_eq!((control.port(PortOf::Universe), control.port(PortOf::Parent)), (None, Some(text.clone())));
    control.set_port(PortOf::Universe, "a:b").unwrap();
    assert_eq!(
        (control.port(PortOf::Universe).as_deref(), control.port(PortOf::Parent)),
        (Some("a:b"), Some(text.clone()))
    );
    assert_eq!(control.set_port(PortOf::Universe, &(text + "p")), Err(Error::OutOfResource));
}

#[test]
fn layout_round_trip() {
    for (ranks, sender) in [(1, 1280), (2, 1280), (8, 1280), (9, 768), (32, 768), (33, 512), (RANKS_MAX, 512)] {
        let layout = Layout::new(0xabcd, ranks).unwrap();
        assert_eq!(Layout::new_checked(&layout.encode(), layout.bytes), Ok(layout));
        assert!(layout.rx_segment_stride >= (9 << 20) + u64::from(ranks) * (sender << 10));
        assert!(layout.record(ranks - 1).unwrap() + PAGE as usize <= layout.control_bytes());
        assert_eq!(layout.record(ranks), None);
    }
    assert_eq!(Layout::new(1, 0), None);
    assert_eq!(Layout::new(1, RANKS_MAX + 1), None);
}

#[test]
fn flawed_headers_are_refused() {
    let layout = Layout::new(1, 4).unwrap();
    let good = layout.encode();
    assert_eq!(Layout::new_checked(&good[..HEADER_BYTES - 1], layout.bytes), Err(Flaw::Short));
    assert_eq!(Layout::new_checked(&[], layout.bytes), Err(Flaw::Short));
    assert_eq!(Layout::new_checked(&good, layout.bytes - 1), Err(Flaw::Short));
    let with = |at: usize, bytes: &[u8]| {
        let mut header = good;
        header[at..at + bytes.len()].copy_from_slice(bytes);
        Layout::new_checked(&header, layout.bytes)
    };
    assert_eq!(with(0, b"X"), Err(Flaw::Magic));
    assert_eq!(with(8, &99u32.to_le_bytes()), Err(Flaw::Version(99)));
    assert_eq!(with(12, &0u32.to_le_bytes()), Err(Flaw::Ranks(0)));
    assert_eq!(with(12, &u32::MAX.to_le_bytes()), Err(Flaw::Ranks(u32::MAX)));
    for at in [24, 32, 40, 48] {
        for absurd in [0, 1, PAGE / 2, u64::MAX, u64::MAX - (RX_SEGMENT_ALIGN - 1), 1 << 62, i64::MAX as u64] {
            assert!(with(at, &absurd.to_le_bytes()).is_err(), "field at {at} accepts {absurd}");
        }
    }
    assert_eq!(with(56, &u64::MAX.to_le_bytes()), Err(Flaw::Offsets));
    assert_eq!(with(56, &0u64.to_le_bytes()), Err(Flaw::Offsets));
    // One rank more than the records have room for.
    assert_eq!(with(12, &(layout.ranks * 16).to_le_bytes()), Err(Flaw::Offsets));
}

#[test]
fn random_headers_never_reach_outside() {
    let mut state = 88172645463325252u64;
    for round in 0..20_000 {
        let mut header = Layout::new(1, 4).unwrap().encode();
        for _ in 0..=round % 3 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            header[8 + (state as usize >> 8) % 56] = state as u8;
        }
        let file_bytes = (state >> 20) % (1 << 34);
        if let Ok(layout) = Layout::new_checked(&header, file_bytes) {
            let last = layout.ranks - 1;
            assert!(layout.record(last).unwrap() + PAGE as usize <= layout.control_bytes());
            assert!(layout.rx_segment_offset + layout.rx_segment_stride * u64::from(layout.ranks) <= file_bytes);
        }
    }
}

#[test]
fn a_short_mapping_is_refused() {
    let layout = Layout::new(7, 3).unwrap();
    let words = (0..layout.control_bytes() / 4 - 1).map(|_| AtomicU32::new(0)).collect();
    assert!(Control::new(layout, Words(words)).is_none());
}

#[test]
fn published_addresses_are_found() {
    let control = control(3);
    let long = vec![0x5a; ADDRESSES_BYTES];
    control.publish(0, b"hello").unwrap();
    control.publish(1, &long).unwrap();
    control.publish(2, b"").unwrap();
    assert_eq!(control.lookup(0, soon()).unwrap(), b"hello");
    assert_eq!(control.lookup(1, soon()).unwrap(), long);
    assert_eq!(control.lookup(2, soon()).unwrap(), b"");
    assert_eq!(control.publish(0, b"again"), Err(Error::Exists));
    assert_eq!(control.publish(3, b""), Err(Error::Invalid));
}

#[test]
fn addresses_that_are_too_long_are_refused() {
    let control = control(1);
    assert_eq!(control.publish(0, &vec![0; ADDRESSES_BYTES + 1]), Err(Error::OutOfResource));
    assert_eq!(control.lookup(0, soon()), Err(Missed::Deadline));
}

#[test]
fn lookup_of_hostile_words() {
    let control = control(2);
    let record = control.layout().record(1).unwrap();
    let words = Words((0..control.layout().control_bytes() / 4).map(|_| AtomicU32::new(0)).collect());
    words.word(record + record::LENGTH).store(ADDRESSES_BYTES as u32 + 1, Ordering::Relaxed);
    words.word(record + record::READY).store(1, Ordering::Relaxed);
    let hostile = Control::new(*control.layout(), words).unwrap();
    assert_eq!(hostile.lookup(1, soon()), Err(Missed::Malformed));
}

#[test]
fn who_is_lost_is_not_waited_for() {
    let control = control(2);
    control.set_state(1, RankState::Started).unwrap();
    assert_eq!((control.lookup(1, soon()), control.epoch()), (Err(Missed::Deadline), 0));
    control.mark_gone(1).unwrap();
    assert_eq!((control.lookup(1, u64::MAX), control.epoch()), (Err(Missed::Lost(1)), 1));
    assert_eq!(control.barrier(0, &mut || {}), Err(Missed::Lost(1)));
    assert!(control.slept(0).is_some() && control.slept(1).is_none());
    // What it published before still stands.
    control.publish(1, b"x").unwrap();
    assert_eq!(control.lookup(1, soon()).unwrap(), b"x");
}

#[test]
fn what_a_rank_waits_for() {
    let control = control(2);
    assert_eq!(control.awaited(0), (Needed::SomeOfJob, String::new()));
    control.set_awaited(0, &Awaited { needed: Needed::Rank(1), words: "a message" }).unwrap();
    assert_eq!(control.awaited(0), (Needed::Rank(1), "a message".into()));
    assert_eq!(control.awaited(1), (Needed::SomeOfJob, String::new()));
    let long: String = core::iter::repeat_n('é', AWAITED_TEXT_BYTES).collect();
    let far = Needed::OfOtherJob(ProcessName { job: u64::MAX - 1, rank: 7 });
    control.set_awaited(0, &Awaited { needed: far, words: &long }).unwrap();
    assert_eq!(control.awaited(0), (far, long[..AWAITED_TEXT_BYTES].into()));
    // Nobody knows what the next wait is for.
    for needed in [Needed::SomeOfOtherJobs, Needed::Path, Needed::Caller] {
        control.set_awaited(0, &Awaited { needed, words: "" }).unwrap();
        assert_eq!(control.awaited(0), (needed, String::new()));
    }
}

#[test]
fn what_a_rank_has_counted() {
    let control = control(2);
    assert_eq!(control.told(1), None);
    for turn in 1..5 {
        let words = std::format!("{turn} messages");
        control.set_told(1, turn, &words).unwrap();
        assert_eq!((control.told(1), control.told(0)), (Some((turn, words)), None));
    }
    let long: std::string::String = core::iter::repeat_n('é', TOLD_TEXT_BYTES).collect();
    control.set_told(0, 9, &long).unwrap();
    assert_eq!(control.told(0), Some((9, long[..TOLD_TEXT_BYTES].into())));
    control.set_told(1, 9, "").unwrap();
    assert_eq!(control.told(1), None);
}

#[test]
fn a_finalized_rank_is_not_lost() {
    let control = control(1);
    control.set_state(0, RankState::Finalized).unwrap();
    control.mark_gone(0).unwrap();
    assert_eq!((control.state(0), control.lost(), control.epoch()), (RankState::Finalized, None, 0));
}

#[test]
fn aborts_carry_status_and_message() {
    let control = control(2);
    assert_eq!(control.aborted(1), None);
    control.abort(1, -3, "héllo").unwrap();
    assert_eq!((control.aborted(1), control.aborts()), (Some((-3, "héllo".into())), 1));
    assert_eq!(control.abort(1, 4, "again"), Err(Error::Exists));
    let long: std::string::String = core::iter::repeat_n('é', ABORT_TEXT_BYTES).collect();
    control.abort(0, 1, &long).unwrap();
    assert_eq!(control.aborted(0).unwrap().1.len(), ABORT_TEXT_BYTES);
}

#[test]
fn nobody_leaves_a_barrier_early() {
    const RANKS: u32 = 4;
    let control = Arc::new(control(RANKS));
    let rounds = Arc::new((0..200).map(|_| AtomicU32::new(0)).collect::<Vec<_>>());
    let threads: Vec<_> = (0..RANKS)
        .map(|rank| {
            let (control, rounds) = (control.clone(), rounds.clone());
            std::thread::spawn(move || {
                for round in rounds.iter() {
                    round.fetch_add(1, Ordering::Relaxed);
                    control.barrier(rank, &mut || {}).unwrap();
                    assert_eq!(round.load(Ordering::Relaxed), RANKS);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
