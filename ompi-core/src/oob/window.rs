//! Packets of one-sided communication. They are no messages that wait to be asked for: whoever serves windows gets each of them at
//! once, in the order in which its sender sent them.

use crate::error::Result;
use crate::framework::pml;
use opal_core::sync::Once;

/// What a packet begins with: one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowPacket {
    /// The number by which the receiver knows the communicator of the window.
    pub context: u32,
    /// The sender's rank in it, as the sender says: the receiver looks whether it is true.
    pub sender: u32,
}

/// Takes a packet behind its first word; its bytes may be anything. `false` if it is malformed. It may send, but must not make progress.
pub type Handler = fn(process: u32, packet: WindowPacket, records: &[u8]) -> bool;

static HANDLER: Once<Handler> = Once::new();

/// Provides who serves windows; the first one stays.
pub fn serve(handler: Handler) {
    HANDLER.call_once(|| handler);
}

/// Sends a packet, at most as long as [`reach`](crate::framework::pml::Module::reach) says.
pub fn send(process: u32, packet: &[u8]) -> Result<()> {
    pml::selected().send_oob(process, packet)
}

impl WindowPacket {
    /// Its length.
    pub const BYTES: usize = 8;

    /// As it travels. No key of a conversation begins with this byte.
    pub fn word(self) -> u64 {
        u64::from(KIND) | u64::from(self.sender) << 8 | u64::from(self.context) << 32
    }

    /// `None` if it is no packet of one-sided communication.
    #[inline]
    pub fn split(packet: &[u8]) -> Option<(WindowPacket, &[u8])> {
        let (word, records) = packet.split_first_chunk()?;
        let word = u64::from_le_bytes(*word);
        let sender = (word as u32) >> 8;
        (word as u8 == KIND).then_some((WindowPacket { context: (word >> 32) as u32, sender }, records))
    }

    /// Gives it to who serves windows.
    #[inline]
    pub fn deliver(self, process: u32, records: &[u8]) -> bool {
        HANDLER.get().is_some_and(|handler| handler(process, self, records))
    }
}

/// Above all conversations.
const KIND: u8 = 0xff;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_come_back() {
        let head = WindowPacket { context: u32::MAX - 1, sender: 0xff_fffe };
        let mut packet = alloc::vec::Vec::from(head.word().to_le_bytes());
        packet.push(3);
        assert_eq!(WindowPacket::split(&packet), Some((head, &[3u8][..])));
        assert_eq!(WindowPacket::split(&packet[..7]), None);
        packet[0] = 8;
        assert_eq!(WindowPacket::split(&packet), None);
    }
}
