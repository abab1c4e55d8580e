//! What a peer says of a single copy, and who copies what.

use super::*;

const GOOD: Share = Share { cookie: 9, wanted: 100, address: 4096, begin: 40, word: 5 };

fn pull(data: &mut [u8], end: usize) -> Pull {
    let wanted = data.len();
    let place = Place::over(data);
    let run = place.run().unwrap();
    Pull { end, ..Pull::new(place, run, Status::EMPTY, wanted, (7, 4096)) }
}

fn announced(data: &mut [u8], push: Push) -> Work {
    Work::Announced { place: Place::over(data), push, sent: 0 }
}

#[test]
fn a_share_is_within_what_was_offered() {
    let (mut state, mut data) = (State::new(), [0u8; 100]);
    let (_, plain) = state.begin(3, Id::default(), announced(&mut data, Push::No));
    let (_, cookie) = state.begin(3, Id::default(), announced(&mut data, Push::Offered));
    assert!(!state.asked_to_share(3, plain, GOOD));
    assert!(!state.asked_to_share(2, cookie, GOOD));
    assert!(!state.asked_to_share(3, cookie + 1, GOOD));
    for bad in [
        Share { wanted: 101, ..GOOD },
        Share { begin: 100, ..GOOD },
        Share { begin: u64::MAX, wanted: u64::MAX, ..GOOD },
        Share { address: u64::MAX - 50, ..GOOD },
        Share { word: 1 << 32, ..GOOD },
    ] {
        assert!(!state.asked_to_share(3, cookie, bad));
    }
    assert!(state.copies.is_empty());
    assert!(state.asked_to_share(3, cookie, GOOD));
    assert!(!state.asked_to_share(3, cookie, GOOD), "once");
}

#[test]
fn shared_is_heard_once_and_only_of_a_part_that_was_left() {
    let (mut state, mut data) = (State::new(), [0u8; 100]);
    let (_, all) = state.begin(3, Id::default(), Work::Pulling(pull(&mut data, 100)));
    let (_, half) = state.begin(3, Id::default(), Work::Pulling(pull(&mut data, 50)));
    assert!(!state.shared(3, all, true), "the receiver has it all");
    assert!(!state.shared(2, half, true));
    assert!(state.shared(3, half, true));
    assert!(!state.shared(3, half, true));
}

#[test]
fn own_halves_come_first() {
    let (mut state, mut data) = (State::new(), [0u8; 300]);
    let begin = |state: &mut State, part: &mut [u8]| {
        let pull = pull(part, 50);
        let (_, cookie) = state.begin(3, Id::default(), Work::Pulling(pull));
        state.copies.push_back(cookie);
        cookie
    };
    let (first, rest) = data.split_at_mut(150);
    let (one, other) = (begin(&mut state, first), begin(&mut state, rest));
    for (cookie, waits) in [(one, 1), (other, 1)] {
        let (_, operation) = state.find_own(cookie).unwrap();
        let Work::Pulling(pull) = &mut operation.work else { panic!("it pulls") };
        pull.got = 50;
        state.copies.pop_front();
        state.settle(cookie);
        assert_eq!(state.second_halves.len(), waits);
    }
    assert_eq!(state.second_halves, [one], "nobody has a link to claim the other's with");
}

#[test]
fn no_page_has_two_writers() {
    let mut data = alloc::vec![0u8; 300_000];
    for (from, bytes) in [(0, 300_000), (1, 65536), (4095, 65537), (17, 8192), (5, 100), (0, 1)] {
        let pull = pull(&mut data[from..from + bytes], 0);
        for head_start in [0, HEAD_START] {
            let begin = middle(&pull, head_start);
            let ends_a_page = (pull.run.address() + begin as u64).is_multiple_of(PAGE);
            assert!(begin <= bytes && (begin == 0 || begin == bytes || ends_a_page), "{begin} of {bytes}");
            assert!(bytes < 65536 || (bytes / 2..bytes / 2 + 6145).contains(&begin), "{begin} of {bytes}");
        }
    }
}
