//! What waits to be sent to one rank: records gather in a packet until a synchronisation, a full packet or a pass of progress sends it,
//! so that many short accesses are one message, and a lock, an access and an unlock, too.

use crate::wire::PACKET_HEAD_BYTES;
use alloc::vec::Vec;
use ompi_core::comm::Communicator;
use ompi_core::error::Result;
use ompi_core::framework::pml;
use ompi_core::oob::{WindowPacket, window};

/// Of one rank.
#[derive(Debug)]
pub struct Outbox {
    process: u32,
    head: WindowPacket,
    // Most bytes of a packet; 0 until the process was reached.
    room: usize,
    packet: Vec<u8>,
}

impl Outbox {
    /// To a rank of a window's communicator.
    pub fn to(comm: &Communicator, rank: usize) -> Outbox {
        let context = comm.peer_contexts().get(rank).unwrap_or(0);
        let head = WindowPacket { context, sender: comm.rank };
        Outbox { process: comm.peers().members().at(rank), head, room: 0, packet: Vec::new() }
    }

    /// Most bytes of records in one packet.
    #[inline]
    pub fn room(&mut self) -> Result<usize> {
        if self.room == 0 {
            self.room = pml::selected().reach(self.process)? - PACKET_HEAD_BYTES;
        }
        Ok(self.room)
    }

    /// Whether one packet can hold a record of so many bytes. `false` until the process was reached.
    #[inline(always)]
    pub fn fits(&self, bytes: usize) -> bool {
        bytes <= self.room
    }

    /// The packet, where a record of `bytes` bytes may be appended, at most [`Outbox::room`]; sends what is there if there is no room.
    #[inline(always)]
    pub fn for_record(&mut self, bytes: usize) -> Result<&mut Vec<u8>> {
        if self.room == 0 || self.room + PACKET_HEAD_BYTES < self.packet.len() + bytes {
            self.make_room()?;
        }
        if self.packet.is_empty() {
            self.packet.extend_from_slice(&self.head.word().to_le_bytes());
        }
        Ok(&mut self.packet)
    }

    #[inline(never)]
    fn make_room(&mut self) -> Result<()> {
        self.room()?;
        self.send().map(drop)
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.packet.is_empty()
    }

    /// Sends what waits; whether anything did.
    #[inline]
    pub fn send(&mut self) -> Result<bool> {
        if self.packet.is_empty() {
            return Ok(false);
        }
        let sent = window::send(self.process, &self.packet);
        self.packet.clear();
        sent.map(|()| true)
    }
}
