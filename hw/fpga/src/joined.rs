//! A node's record of the channels that it joined, without input and output. A machine that lost its power forgets all
//! channels. The read-back line says *present* again as soon as the node sends the restarted machine anything, so it
//! does not show the loss. So the node itself remembers which of its channels the restarted machine does not know.

use crate::CHANNELS;

/// Channels of a node, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Joined {
    /// What the machine has been told that this node is a member of.
    channels: u8,
    /// Those of them that it is known to have forgotten: nobody here believes their levels any more.
    lost: u8,
}

impl Joined {
    /// The machine has forgotten that this node is a member.
    pub fn is_lost(&self, channel: usize) -> bool {
        self.lost >> channel & 1 == 1
    }

    /// Whether a claim of the channel makes sense: even the channel of a dead team stays this node's, so that nobody gets it.
    pub fn is_free(&self, channel: usize) -> bool {
        self.channels >> channel & 1 == 0
    }

    /// Whether this node may join a channel that another one took. As claims are granted only for channels without members,
    /// a machine that knew this node to be a member would not have let it go: it has begun anew, and what it says on the
    /// channel is meant for the new team. The team that had it before is lost; and so that neither takes the level for its
    /// own, this node must not join.
    pub fn may_join(&mut self, channel: usize) -> bool {
        self.lost |= self.channels & 1 << channel;
        self.is_free(channel)
    }

    /// A command was done, and the machine read back which channels this node is a member of. Whether this one is among
    /// them; then it is remembered.
    pub fn read_back(&mut self, members: u8, channel: usize) -> bool {
        self.lost |= self.channels & !members;
        self.channels |= members & 1 << channel;
        members >> channel & 1 == 1
    }

    /// Whether the machine must be told that this node leaves; one that has forgotten it must not, since the channel may be
    /// another team's by now.
    pub fn leaves(&mut self, channel: usize) -> bool {
        if !self.is_lost(channel) {
            return true;
        }
        let mask = 1 << channel;
        (self.lost, self.channels) = (self.lost & !mask, self.channels & !mask);
        false
    }

    /// The machine was told to, and read back what is left.
    pub fn has_left(&mut self, members: u8, channel: usize) {
        self.channels &= !(1 << channel);
        self.lost |= self.channels & !members;
    }
}

/// All of a node's channels.
pub const ALL: u8 = (1 << CHANNELS) - 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame;
    use crate::machine::{Channels, LOAD, Pins};

    /// Shifts a command in for a node, as a port does; what the machine then knows of the node.
    fn command(machine: &mut Channels, node: usize, frame: u8) -> u8 {
        let mut put = |lines: u8| {
            let mut pins = Pins::default();
            (0..4).for_each(|line| pins.control[line] = u64::from(lines >> line & 1) << node);
            (0..16).for_each(|_| machine.tick(&pins));
        };
        frame::shifted(frame).for_each(&mut put);
        put(crate::machine::COMMIT);
        put(0);
        put(LOAD);
        put(0);
        machine.member[node].member
    }

    #[test]
    fn a_channel_that_a_new_machine_gives_away_is_joined_by_none_of_its_old_members() {
        let mut machine = Channels::new(3, 2, 1);
        let mut nodes = [Joined::default(); 3];
        assert!(nodes[0].is_free(0) && nodes[0].read_back(command(&mut machine, 0, frame::claim(1)), 0));
        assert!(nodes[2].may_join(0) && nodes[2].read_back(command(&mut machine, 2, frame::join(1)), 0));
        // Its power fails; node 1, which was no member, takes the same channel for itself and node 2.
        let mut machine = Channels::new(3, 2, 1);
        assert!(nodes[1].is_free(0) && nodes[1].read_back(command(&mut machine, 1, frame::claim(1)), 0));
        assert!(!nodes[2].may_join(0) && nodes[2].is_lost(0));
        // Its old team is given up; the machine is not told, and the channel can be joined again.
        assert!(!nodes[2].leaves(0) && !nodes[2].is_lost(0) && nodes[2].may_join(0));
        assert!(nodes[2].read_back(command(&mut machine, 2, frame::join(1)), 0));
        // A node that does something else with the new machine notices that it has forgotten channel 0.
        assert!(nodes[0].read_back(command(&mut machine, 0, frame::claim(2)), 1));
        assert!(nodes[0].is_lost(0) && !nodes[0].is_lost(1));
    }

    #[test]
    fn leaving_says_what_else_was_forgotten() {
        let mut node = Joined::default();
        assert!(node.read_back(0b0001, 0) && node.read_back(0b0011, 1) && !node.read_back(0b0011, 2));
        assert!(node.leaves(0));
        node.has_left(0b0000, 0);
        assert!(node.is_lost(1) && !node.is_lost(0) && node.is_free(0) && !node.is_free(1));
    }
}
