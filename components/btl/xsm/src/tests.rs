//! Two processes of different jobs, played by one.

use crate::claim;
use crate::own_board::Own;
use crate::owner::Owner;
use crate::wire;
use opal_core::framework::btl::ProcessName;
use opal_core::sync::Ordering;

fn name(job: u64, rank: u32) -> ProcessName {
    ProcessName { job, rank }
}

#[test]
fn both_find_the_same_cell_and_another_one_after_they_left() {
    let own = Own::new(name(1, 0), true).unwrap();
    let file = crate::board_file::BoardFile::open(&own.file.place).unwrap();
    let theirs = crate::board::Board { header: file.map(0, wire::HEADER_BYTES, None).unwrap() };
    let guest = name(2, 5);
    let cell = claim::cell(&own.board, guest).unwrap();
    assert_eq!(claim::cell(&theirs, guest), Some(cell));
    assert_ne!(claim::cell(&theirs, name(2, 6)), Some(cell));
    let mapping = file.map(wire::cell(cell), wire::CELL_BYTES, None).unwrap();
    mapping.word64(wire::word(0, 3)).store(7, Ordering::Relaxed);
    // The host left first; its guest has not yet, and they meet again.
    own.board.leave(cell, 0);
    own.sweep();
    let again = claim::cell(&own.board, guest).unwrap();
    assert_ne!(again, cell);
    assert_eq!(claim::cell(&theirs, guest), Some(again));
    theirs.leave(cell, 1);
    own.sweep();
    assert_eq!(own.board.state(cell), wire::FREE);
    assert_eq!(mapping.word64(wire::word(0, 3)).load(Ordering::Relaxed), 0, "a cell is zeros when it is used again");
}

#[test]
fn a_full_board_says_so() {
    let own = Own::new(name(1, 0), true).unwrap();
    for rank in 0..wire::CELLS as u32 {
        assert!(claim::cell(&own.board, name(2, rank)).is_some());
    }
    assert_eq!(claim::cell(&own.board, name(3, 0)), None);
    let first = claim::cell(&own.board, name(2, 0)).unwrap();
    own.board.leave(first, 0);
    own.board.leave(first, 1);
    own.sweep();
    assert_eq!(claim::cell(&own.board, name(3, 0)), Some(first));
}

#[test]
fn two_that_claim_at_once_agree() {
    for round in 0..200 {
        let own = Own::new(name(1, 0), true).unwrap();
        let place = own.file.place;
        let guest = name(2, round);
        let other = std::thread::spawn(move || {
            let file = crate::board_file::BoardFile::open(&place).unwrap();
            let board = crate::board::Board { header: file.map(0, wire::HEADER_BYTES, None).unwrap() };
            claim::cell(&board, guest)
        });
        let cell = claim::cell(&own.board, guest);
        assert_eq!(other.join().unwrap(), cell);
        assert_eq!(claim::cell(&own.board, guest), cell);
    }
}

#[test]
fn what_was_abandoned_is_zeros_and_another_file_is_refused() {
    let own = Own::new(name(1, 0), true).unwrap();
    let mapping = own.file.map(wire::cell(0), wire::CELL_BYTES, None).unwrap();
    let word = mapping.word64(wire::word(1, 0));
    word.store(9, Ordering::Relaxed);
    mapping.abandon();
    assert_eq!(word.load(Ordering::Relaxed), 0);
    let again = own.file.map(wire::cell(0), wire::CELL_BYTES, Some(mapping)).unwrap();
    assert!(core::ptr::eq(again.word64(wire::word(1, 0)), word), "the place is used again");
    assert_eq!(word.load(Ordering::Relaxed), 9);
    let wrong = wire::Place { inode: own.file.place.inode + 1, ..own.file.place };
    assert!(crate::board_file::BoardFile::open(&wrong).unwrap_err().contains("another file"));
}

#[test]
fn a_process_that_ended_is_told_from_one_that_closed_its_descriptors() {
    let own = Own::new(name(1, 0), true).unwrap();
    assert!(!Owner::of(own.file.place).has_ended());
    let closed = wire::Place { descriptor: 1_000_000, ..own.file.place };
    assert!(!Owner::of(closed).has_ended(), "the board is not there, the process is");
    let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let place = wire::Place { pid: child.id(), ..closed };
    let owner = Owner::of(place);
    assert!(!owner.has_ended());
    child.kill().unwrap();
    // Its parent hears of it later.
    while !owner.has_ended() {
        std::thread::yield_now();
    }
    child.wait().unwrap();
    assert!(owner.has_ended());
}

#[test]
fn a_side_that_left_mpi_still_has_its_cell() {
    let own = Own::new(name(1, 0), true).unwrap();
    let cell = claim::cell(&own.board, name(2, 0)).unwrap();
    own.board.finish(cell, 1);
    assert_eq!(own.board.claimed(cell).left, wire::FINISHED << 1);
    assert_ne!(claim::cell(&own.board, name(2, 0)), Some(cell), "who meets it anew gets another one");
    own.board.leave(cell, 0);
    own.sweep();
    assert_eq!(own.board.state(cell), wire::CLAIMED);
    own.board.leave(cell, 1);
    own.sweep();
    assert_eq!(own.board.state(cell), wire::FREE);
}
