//! Offers and answers of a peer, and which side copies which part.

use super::rget::PAGE;
use super::*;
use ompi_core::status::Status;

const GOOD: PushOffer = PushOffer { handle: 9, wanted: 100, address: 4096, begin: 40, claim_word: 5 };

/// A receive in a single copy whose part from `end` on is offered, if there is one.
fn rget(data: &mut [u8], end: usize) -> Rget {
    let wanted = data.len();
    let buffer = UserBuffer::over(data);
    let target = buffer.contiguous().unwrap();
    let mut rget = Rget::new(buffer, target, Status::EMPTY, wanted, 7, 4096);
    if end < wanted {
        rget.offer(end, u32::MAX);
    }
    rget
}

fn rts_sent(data: &mut [u8], push: PushState) -> OperationState {
    OperationState::RtsSent { buffer: UserBuffer::over(data), push, sent: 0, exposure: None }
}

#[test]
fn an_offer_is_within_the_message() {
    let (mut state, mut data) = (State::new(), [0u8; 100]);
    let plain = state.operations.begin(3, 0, Id::default(), rts_sent(&mut data, PushState::NoAddress));
    let handle = state.operations.begin(3, 0, Id::default(), rts_sent(&mut data, PushState::AddressSent));
    assert!(!state.push_offered(3, plain, GOOD));
    assert!(!state.push_offered(2, handle, GOOD));
    assert!(!state.push_offered(3, handle + 1, GOOD));
    for bad in [
        PushOffer { wanted: 101, ..GOOD },
        PushOffer { begin: 100, ..GOOD },
        PushOffer { begin: u64::MAX, wanted: u64::MAX, ..GOOD },
        PushOffer { address: u64::MAX - 50, ..GOOD },
        PushOffer { claim_word: 1 << 32, ..GOOD },
    ] {
        assert!(!state.push_offered(3, handle, bad));
    }
    assert!(state.copies.is_empty());
    assert!(state.push_offered(3, handle, GOOD));
    assert!(!state.push_offered(3, handle, GOOD), "once");
}

#[test]
fn a_push_is_done_once_and_only_where_a_part_was_offered() {
    let (mut state, mut data) = (State::new(), [0u8; 100]);
    let all = state.operations.begin(3, 0, Id::default(), OperationState::Rget(rget(&mut data, 100)));
    let half = state.operations.begin(3, 0, Id::default(), OperationState::Rget(rget(&mut data, 50)));
    assert!(!state.pushed(3, all, true), "the receiver has it all");
    assert!(!state.pushed(2, half, true));
    assert!(state.pushed(3, half, true));
    assert!(!state.pushed(3, half, true));
}

#[test]
fn own_halves_come_first() {
    let (mut state, mut data) = (State::new(), [0u8; 300]);
    let begin = |state: &mut State, part: &mut [u8]| {
        let handle = state.operations.begin(3, 0, Id::default(), OperationState::Rget(rget(part, 50)));
        state.copies.push_back(handle);
        handle
    };
    let (first, rest) = data.split_at_mut(150);
    let (one, other) = (begin(&mut state, first), begin(&mut state, rest));
    for (handle, waits) in [(one, 1), (other, 1)] {
        let (_, operation) = state.operations.find_own(handle).unwrap();
        let OperationState::Rget(rget) = &mut operation.state else { panic!("it is an RGET") };
        rget.read = 50;
        state.copies.pop_front();
        state.advance_rget(handle);
        assert_eq!(state.deferred_pushes.len(), waits);
    }
    assert_eq!(state.deferred_pushes, [one], "nobody has an endpoint to claim the other's with");
}

#[test]
fn no_page_has_two_writers() {
    let mut data = alloc::vec![0u8; 300_000];
    for (from, bytes) in [(0, 300_000), (1, 65536), (4095, 65537), (17, 8192), (5, 100), (0, 1)] {
        let rget = rget(&mut data[from..from + bytes], 0);
        for head_start in [0, HEAD_START] {
            let begin = rget.middle(head_start);
            let ends_a_page = (rget.target.address() + begin as u64).is_multiple_of(PAGE);
            assert!(begin <= bytes && (begin == 0 || begin == bytes || ends_a_page), "{begin} of {bytes}");
            assert!(bytes < 65536 || (bytes / 2..bytes / 2 + 6145).contains(&begin), "{begin} of {bytes}");
        }
    }
}
