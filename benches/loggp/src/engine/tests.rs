//! Times that can be worked out by hand.

use super::*;
use crate::machine::Level;

const LEVEL: Level = Level { latency: 1000, overhead: 10, gap: 0, per_byte: 2, eager_limit: 100, long_per_byte: 1 };

fn machine(per_node: u32) -> Machine {
    let between = Level { latency: 5000, gap: 300, ..LEVEL };
    Machine { per_node, within: LEVEL, between, copy_per_byte: 3, reduce_per_byte: 7 }
}

fn time(per_node: u32, programs: &[Vec<Step>]) -> Time {
    run(&machine(per_node), programs).unwrap().time
}

fn send(to: u32, bytes: u64) -> Step {
    Step::Send { to, bytes }
}

fn recv(from: u32, bytes: u64) -> Step {
    Step::Recv { from, bytes }
}

#[test]
fn a_short_message() {
    // Overhead, bytes, latency, overhead.
    assert_eq!(time(2, &[vec![send(1, 8)], vec![recv(0, 8)]]), 10 + 16 + 1000 + 10);
    assert_eq!(time(1, &[vec![send(1, 8)], vec![recv(0, 8)]]), 10 + 16 + 5000 + 10);
}

#[test]
fn a_long_message_waits_for_its_receiver() {
    let late = Step::Copy { bytes: 2000 };
    // The receiver comes at 6000, says so, and the bytes follow.
    let programs = [vec![send(1, 200)], vec![late, recv(0, 200)]];
    assert_eq!(time(2, &programs), 6000 + 1000 + 200 + 1000 + 10);
    let early = [vec![send(1, 200)], vec![recv(0, 200)]];
    assert_eq!(time(2, &early), 10 + 1000 + 1000 + 200 + 1000 + 10);
}

#[test]
fn an_early_message_waits_in_memory() {
    let programs = [vec![send(1, 8)], vec![Step::Reduce { bytes: 1000 }, recv(0, 8)]];
    assert_eq!(time(2, &programs), 7000 + 10);
}

#[test]
fn an_adapter_carries_one_message_after_the_other() {
    // Two ranks of one node send to two of another at the same time: the second message leaves 300 later.
    let programs = [vec![send(2, 8)], vec![send(3, 8)], vec![recv(0, 8)], vec![recv(1, 8)]];
    assert_eq!(time(2, &programs), 10 + 300 + 5000 + 16 + 10);
    let outcome = run(&machine(2), &programs).unwrap();
    assert_eq!((outcome.messages, outcome.bytes, outcome.messages_between, outcome.bytes_between), (2, 16, 2, 16));
}

#[test]
fn what_was_begun_goes_on_at_the_same_time() {
    let exchange =
        |peer| vec![Step::StartRecv { from: peer, bytes: 8 }, Step::StartSend { to: peer, bytes: 8 }, Step::Finish];
    assert_eq!(time(2, &[exchange(1), exchange(0)]), 10 + 16 + 1000 + 10);
}

#[test]
fn mistakes_are_noticed() {
    let stuck = run(&machine(2), &[vec![recv(1, 8)], vec![recv(0, 8)]]).unwrap_err();
    assert_eq!(stuck, "2 ranks wait for ever, the first is 0");
    let lost = run(&machine(2), &[vec![send(1, 8)], vec![]]).unwrap_err();
    assert!(lost.starts_with("a message from 0 to 1 is never received"), "{lost}");
}
