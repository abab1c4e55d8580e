//! Trials with a clock of our own.

use super::*;
use core::cell::Cell;
use opal_core::autotune::{FIRST_INTERVAL, LAST_INTERVAL, RUN};

const BYTES: usize = 65536;

struct Machine {
    selection: Selection,
    clock: Cell<u64>,
    // Ticks of a message, by protocol.
    takes: [u64; 3],
    // A single copy is possible.
    single: bool,
    // Messages of a window go to the same place, not one behind the other.
    one_place: bool,
    // This process sends meanwhile.
    sends: bool,
}

impl Machine {
    fn new(fragments: u64, single: u64) -> Machine {
        let takes = [fragments, single, fragments];
        Machine {
            selection: Selection::new(1, None, true),
            clock: Cell::new(1000),
            takes,
            single: true,
            one_place: false,
            sends: false,
        }
    }

    // `at_once` messages that are under way together; the protocol of the first one.
    fn window(&mut self, at_once: u32, bytes: usize) -> Protocol {
        let clock = || self.clock.get();
        let place = |number: u32| 1 << 40 | if self.one_place { 0 } else { u64::from(number) * bytes as u64 };
        let protocol =
            self.selection.begin_at((bytes, place(0), self.single.then_some(Memory::Private)), self.sends, clock);
        (1..at_once).for_each(|number| {
            assert_eq!(
                self.selection.begin_at(
                    (bytes, place(number), self.single.then_some(Memory::Private)),
                    self.sends,
                    clock
                ),
                protocol
            );
        });
        for _ in 0..at_once {
            self.clock.set(self.clock.get() + self.takes[protocol as usize] * bytes as u64 / BYTES as u64);
            self.selection.end_at(bytes, clock);
        }
        protocol
    }

    fn singles(&mut self, windows: u32) -> u32 {
        (0..windows).filter(|_| self.window(1, BYTES) == Protocol::SingleCopy).count() as u32
    }
}

#[test]
fn the_cheaper_way_is_used_and_the_other_one_tried_now_and_then() {
    for (fragments, single, better) in [(2000, 5000, Protocol::Fragments), (5000, 2000, Protocol::SingleCopy)] {
        let mut machine = Machine::new(fragments, single);
        let turn = if better == Protocol::SingleCopy { RUN } else { 2 };
        assert_eq!(machine.singles(RUN + turn), turn, "a trial");
        let windows = 20_000;
        let singles = machine.singles(windows);
        let worse = if better == Protocol::SingleCopy { windows - singles } else { singles };
        assert!(worse > RUN && worse < windows / 200, "{worse} of {windows} the worse protocol");
    }
}

#[test]
fn what_a_program_computes_meanwhile_is_no_cost() {
    let window = |protocol, is_refused| SampleWindow { protocol, is_refused, bytes: 1 << 20, ..SampleWindow::EMPTY };
    for (protocol, cost) in
        [(Protocol::Fragments, None), (Protocol::SingleCopy, Some(u64::MAX)), (Protocol::Streamed, Some(u64::MAX))]
    {
        assert_eq!(window(protocol, false).cost(1000, 250), Some(1000));
        assert_eq!(window(protocol, false).cost(1000, 251), cost);
        assert_eq!(window(protocol, true).cost(1000, 999), Some(u64::MAX));
    }
}

#[test]
fn periods_in_which_nobody_looked_do_not_end_the_turn_of_fragments() {
    let mut machine = Machine::new(1000, 10);
    for _ in 0..2 * RUN {
        let clock = || machine.clock.get();
        assert_eq!(machine.selection.begin_at((BYTES, 0, Some(Memory::Private)), false, clock), Protocol::Fragments);
        std::thread::sleep(std::time::Duration::from_millis(1));
        opal_core::progress::pass();
        machine.clock.set(machine.clock.get() + 1000);
        machine.selection.end_at(BYTES, clock);
    }
}

#[test]
fn a_single_copy_must_be_clearly_cheaper() {
    let mut machine = Machine::new(1000, 850);
    machine.singles(2 * RUN);
    assert_eq!(machine.singles(10), 0);
}

#[test]
fn while_this_process_sends_fragments_count_for_both() {
    let mut machine = Machine::new(1000, 1400);
    machine.sends = true;
    (0..4 * RUN).for_each(|_| _ = machine.window(7, BYTES));
    assert_eq!(machine.window(7, BYTES), Protocol::SingleCopy);
    // The first window one way is taken for one both ways.
    machine.sends = false;
    machine.window(7, BYTES);
    machine.singles(2 * RUN);
    assert_eq!(machine.singles(10), 0, "one way");
    machine.sends = true;
    machine.window(7, BYTES);
    assert_eq!(machine.window(7, BYTES), Protocol::SingleCopy, "both ways it is known already");
    let mut slow = Machine::new(1000, 1600);
    slow.sends = true;
    (0..4 * RUN).for_each(|_| _ = slow.window(7, BYTES));
    assert_eq!(slow.window(7, BYTES), Protocol::Fragments);
}

#[test]
fn half_of_the_messages_make_it_an_exchange() {
    let window =
        |begun, exchanged, bytes| SampleWindow { begun, exchanged, bytes, span: (0, bytes), ..SampleWindow::EMPTY };
    let small = [Traffic::Small, Traffic::Exchange];
    assert_eq!(small.map(|before| window(8, 4, 1).traffic(true, before)), [Traffic::Exchange; 2]);
    assert_eq!(small.map(|before| window(8, 3, 1).traffic(true, before)), [Traffic::Small; 2]);
    assert_eq!(small.map(|before| window(0, 0, 1).traffic(true, before)), small, "the rest of the window before");
    assert_eq!(small.map(|before| window(8, 8, LARGE_WINDOW_BYTES).traffic(true, before)), [Traffic::Large; 2]);
}

#[test]
fn what_disturbs_a_trial_once_does_not_decide_it() {
    let mut machine = Machine::new(1000, 3000);
    machine.takes[0] = 1_000_000;
    machine.window(1, BYTES);
    machine.takes[0] = 1000;
    machine.singles(2 * RUN - 1);
    assert_eq!(machine.singles(10), 0);
}

#[test]
fn a_change_is_noticed() {
    let mut machine = Machine::new(1000, 3000);
    machine.singles(10_000);
    machine.takes[..2].copy_from_slice(&[3000, 1000]);
    machine.singles(LAST_INTERVAL + 2 * RUN);
    assert_eq!(machine.singles(FIRST_INTERVAL - 10), FIRST_INTERVAL - 10);
}

#[test]
fn messages_at_once_are_one_period_and_sizes_are_told_apart() {
    let mut machine = Machine::new(5000, 2000);
    (0..2 * RUN).for_each(|_| _ = machine.window(7, BYTES));
    assert_eq!(machine.window(7, BYTES), Protocol::SingleCopy);
    assert_eq!(machine.window(1, 1 << 20), Protocol::Fragments, "of that size nothing is known");
    assert_eq!(class(1, Memory::Private), 0);
    assert_eq!(
        (class(usize::MAX, Memory::Private), class(1 << 22, Memory::Private), class((1 << 22) - 1, Memory::Private)),
        (SIZE_CLASSES - 1, SIZE_CLASSES - 1, SIZE_CLASSES - 2)
    );
}

#[test]
fn what_is_known_of_private_memory_says_nothing_of_shareable() {
    let mut machine = Machine::new(2000, 5000);
    machine.singles(4 * RUN);
    assert_eq!(machine.window(1, BYTES), Protocol::Fragments);
    let clock = || machine.clock.get();
    let trials = (0..2 * RUN).filter(|_| {
        let protocol = machine.selection.begin_at((BYTES, 0, Some(Memory::Shareable)), false, clock);
        machine.clock.set(machine.clock.get() + [2000, 500, 2000][protocol as usize]);
        machine.selection.end_at(BYTES, clock);
        protocol == Protocol::SingleCopy
    });
    assert_eq!(trials.count() as u32, RUN);
    let protocol = machine.selection.begin_at((BYTES, 0, Some(Memory::Shareable)), false, clock);
    machine.selection.end_at(BYTES, clock);
    assert_eq!((protocol, machine.window(1, BYTES)), (Protocol::SingleCopy, Protocol::Fragments));
    let classes = [class(BYTES, Memory::Private), class(usize::MAX, Memory::Private), class(1, Memory::Shareable)];
    assert!(classes[0] < classes[1] && classes[1] < classes[2] && class(usize::MAX, Memory::Shareable) < 32);
}

#[test]
fn a_stream_that_never_ends_is_judged_all_the_same() {
    let mut machine = Machine::new(5000, 2000);
    let clock = || machine.clock.get();
    machine.selection.begin_at((BYTES, 0, Some(Memory::Private)), false, clock);
    let mut protocol = machine.selection.begin_at((BYTES, 0, Some(Memory::Private)), false, clock);
    for _ in 0..MOST_PER_WINDOW * (2 * RUN + 2) {
        machine.clock.set(machine.clock.get() + machine.takes[protocol as usize]);
        machine.selection.end_at(BYTES, clock);
        protocol = machine.selection.begin_at((BYTES, 0, Some(Memory::Private)), false, clock);
    }
    assert_eq!(protocol, Protocol::SingleCopy);
}

#[test]
fn what_the_user_wants_is_never_tried() {
    for protocol in Protocol::ALL {
        let mut machine = Machine::new(1000, 1000);
        machine.selection = Selection::new(1, Some(protocol), true);
        assert!((0..1000).all(|_| machine.window(3, BYTES) == protocol));
        assert_eq!(machine.clock.get() - 1000, 3_000_000);
    }
}

// Windows of 32 MiB.
fn large_window(machine: &mut Machine, windows: u32) -> [u32; 3] {
    let mut taken = [0; 3];
    (0..windows).for_each(|_| taken[machine.window(8, 4 << 20) as usize] += 1);
    taken
}

#[test]
fn floods_may_be_streamed() {
    let mut machine = Machine::new(3000, 2900);
    machine.takes[2] = 2000;
    assert_eq!(large_window(&mut machine, 1), [1, 0, 0], "nobody knows yet how much comes");
    assert_eq!(large_window(&mut machine, 3 * RUN), [RUN, RUN, RUN], "a trial");
    assert_eq!(large_window(&mut machine, 10), [0, 0, 10]);
    assert_eq!(machine.window(1, 4 << 20), Protocol::Streamed, "nobody knows yet how little comes");
    assert!((0..100).all(|_| machine.window(1, 4 << 20) != Protocol::Streamed));
    machine.one_place = true;
    assert_eq!(large_window(&mut machine, 1000)[2], 0, "many bytes to one place");
    machine.one_place = false;
    machine.selection.streams = false;
    large_window(&mut machine, 1);
    assert_eq!(large_window(&mut machine, 1000)[2], 0, "it makes no difference");
}

#[test]
fn streams_must_be_clearly_cheaper() {
    for (streamed, better) in [(2700, Protocol::Fragments), (2600, Protocol::Streamed)] {
        let mut machine = Machine::new(3000, 9000);
        machine.takes[2] = streamed;
        large_window(&mut machine, 1 + 3 * RUN);
        assert_eq!(large_window(&mut machine, 10)[better as usize], 10);
    }
    let mut machine = Machine::new(3000, 1000);
    machine.takes[2] = 950;
    large_window(&mut machine, 1 + 3 * RUN);
    assert_eq!(large_window(&mut machine, 10)[Protocol::SingleCopy as usize], 10);
}

#[test]
fn where_no_single_copy_is_possible_its_turn_counts_for_nothing() {
    let mut machine = Machine::new(3000, 1000);
    (machine.single, machine.takes[2]) = (false, 2000);
    assert_eq!(machine.singles(100), 0);
    let [fragments, single, streamed] = large_window(&mut machine, 1000);
    assert!(single == 0 && streamed > 900 && fragments >= 2 * RUN, "{fragments} {single} {streamed}");
}
