//! The signals of a node on its control lines, step by step: joining and leaving channels, and reading back. After each
//! step the node must leave the machine time to see it.

use crate::machine::{BIT, SHIFT};
use crate::wires::{CHANNELS, CLAIM, FRAME, JOIN, LEAVE};

/// The frame after which the node is also a member of these channels.
pub const fn join(mask: u8) -> u8 {
    JOIN << CHANNELS | mask
}

/// The frame after which the node is no member of these channels.
pub const fn leave(mask: u8) -> u8 {
    LEAVE << CHANNELS | mask
}

/// The frame after which the node is also a member of those of these channels that had no members.
pub const fn claim(mask: u8) -> u8 {
    CLAIM << CHANNELS | mask
}

/// The control lines that shift a frame in: three steps for each bit, all lines low at the end.
pub fn shifted(frame: u8) -> impl Iterator<Item = u8> {
    (0..FRAME).rev().flat_map(move |at| {
        let bit = if frame >> at & 1 == 1 { BIT } else { 0 };
        [bit, bit | SHIFT, 0]
    })
}

/// What was read back: the channels that the node is a member of, and those that have members.
pub const fn parts(read: u8) -> (u8, u8) {
    (read >> CHANNELS, read & ((1 << CHANNELS) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{COMMIT, Channels, LOAD, Pins};

    struct Board {
        machine: Channels,
        pins: Pins,
    }

    impl Board {
        fn new(nodes: usize) -> Board {
            Board { machine: Channels::new(nodes, 2, 1), pins: Pins::default() }
        }

        fn control(&mut self, node: usize, lines: u8) {
            for (line, word) in self.pins.control.iter_mut().enumerate() {
                *word = *word & !(1 << node) | u64::from(lines >> line & 1) << node;
            }
        }

        fn run(&mut self, ticks: usize) {
            (0..ticks).for_each(|_| self.machine.tick(&self.pins));
        }

        fn read_back(&self, node: usize) -> bool {
            self.machine.read_back(&self.pins) >> node & 1 == 1
        }

        fn shift(&mut self, node: usize, frame: u8) {
            for lines in shifted(frame) {
                self.control(node, lines);
                self.run(4);
            }
        }

        fn commit(&mut self, node: usize) -> bool {
            self.control(node, COMMIT);
            self.run(80);
            let done = self.read_back(node);
            self.control(node, 0);
            self.run(4);
            done
        }

        fn load(&mut self, node: usize) -> (u8, u8) {
            self.control(node, LOAD);
            self.run(4);
            let mut read = 0;
            for _ in 0..FRAME {
                read = read << 1 | u8::from(self.read_back(node));
                self.control(node, LOAD | SHIFT);
                self.run(4);
                self.control(node, LOAD);
                self.run(4);
            }
            self.control(node, 0);
            self.run(4);
            parts(read)
        }
    }

    #[test]
    fn a_node_joins_reads_back_and_leaves() {
        let mut board = Board::new(3);
        assert!(!board.read_back(1));
        board.shift(1, join(0b0101));
        assert!(board.commit(1) && board.read_back(1));
        assert_eq!(board.load(1), (0b0101, 0b0101));
        assert_eq!(board.load(2), (0, 0b0101));
        board.shift(1, leave(0b0100));
        assert!(board.commit(1));
        assert_eq!(board.load(1), (0b0001, 0b0001));
    }

    #[test]
    fn of_claims_at_the_same_tick_one_wins() {
        for nodes in 2..=60 {
            let mut board = Board::new(nodes);
            (0..nodes).for_each(|node| board.shift(node, claim(0b0110)));
            (0..nodes).for_each(|node| board.control(node, COMMIT));
            board.run(80);
            let winners = (0..nodes).filter(|node| board.machine.member[*node].member == 0b0110).count();
            let losers = (0..nodes).filter(|node| board.machine.member[*node].member == 0).count();
            assert_eq!((winners, losers), (1, nodes - 1));
        }
    }

    #[test]
    fn what_is_no_command_does_nothing() {
        for frame in 0..=255u8 {
            let mut board = Board::new(1);
            board.shift(0, frame);
            board.commit(0);
            let (command, mask) = (frame >> CHANNELS, frame & 0xf);
            let is_command = [JOIN, LEAVE, CLAIM].contains(&command);
            let member = if is_command && command != LEAVE { mask } else { 0 };
            assert_eq!((board.machine.member[0].member, board.read_back(0)), (member, is_command));
        }
    }
}
