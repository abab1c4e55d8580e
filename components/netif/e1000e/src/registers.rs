//! Registers by their offset, and their bits (82574 datasheet, 10).

/// Device control (10.2.2.1).
pub const CTRL: usize = 0x0;
/// Set link up.
pub const CTRL_SLU: u32 = 1 << 6;
/// Reset everything but the wake-up logic.
pub const CTRL_RST: u32 = 1 << 26;
/// Device status (10.2.2.2).
pub const STATUS: usize = 0x8;
/// Link up.
pub const STATUS_LU: u32 = 1 << 1;
/// Speed, two bits: 10, 100, 1000, 1000.
pub const STATUS_SPEED: u32 = 6;
/// Interrupt cause read, which clears it (10.2.4.1).
pub const ICR: usize = 0xc0;
/// Interrupt mask clear (10.2.4.6).
pub const IMC: usize = 0xd8;
/// Receive control (10.2.5.1): buffers of 2048 bytes where none of its bits says otherwise, no long frames, no frames for others.
pub const RCTL: usize = 0x100;
/// Receive.
pub const RCTL_EN: u32 = 1 << 1;
/// Take broadcasts.
pub const RCTL_BAM: u32 = 1 << 15;
/// Leave the checksum out of what is stored.
pub const RCTL_SECRC: u32 = 1 << 26;
/// Transmit control (10.2.6.1).
pub const TCTL: usize = 0x400;
/// Transmit.
pub const TCTL_EN: u32 = 1 << 1;
/// Pad short frames.
pub const TCTL_PSP: u32 = 1 << 3;
/// Collision threshold 15 and distance 63, as the datasheet wants them for both duplex modes.
pub const TCTL_COLLISIONS: u32 = 0xf << 4 | 0x3f << 12;
/// Transmit inter packet gap (10.2.6.2), and what it wants there.
pub const TIPG: usize = 0x410;
/// IPGT 8, IPGR1 8, IPGR2 6.
pub const TIPG_COPPER: u32 = 8 | 8 << 10 | 6 << 20;
/// Base, length, head and tail of the receive ring (10.2.5.5 and following).
pub const RDBAL: usize = 0x2800;
/// Of the transmit ring (10.2.6.4 and following).
pub const TDBAL: usize = 0x3800;
/// From a ring's low base to its high one, its length in bytes, its head and its tail.
pub const RING: [usize; 4] = [0x4, 0x8, 0x10, 0x18];
/// Multicast table, 128 words (10.2.5.15).
pub const MTA: usize = 0x5200;
/// Words of the multicast table.
pub const MTA_WORDS: usize = 128;
/// Receive address 0, low and high (10.2.5.16, 10.2.5.17).
pub const RAL0: usize = 0x5400;
/// Likewise.
pub const RAH0: usize = 0x5404;
/// That address is in use.
pub const RAH_AV: u32 = 1 << 31;
/// Frames that came and were not stored, each cleared when read: CRC errors, missed for want of room, too short, fragments, too long, jabber
/// (10.2.7).
pub const DROPPED: [usize; 6] = [0x4000, 0x4010, 0x40a4, 0x40a8, 0x40ac, 0x40b0];
/// Bytes of all registers.
pub const BYTES: u64 = 128 << 10;

/// Descriptor done, in the status of both kinds (7.1.4.2, 7.2.10.1.4).
pub const DONE: u8 = 1;
/// The last descriptor of a frame that was received.
pub const RX_END_OF_PACKET: u8 = 2;
/// The last descriptor of a frame to send, with its checksum appended, its end reported in the descriptor.
pub const TX_COMMAND: u8 = 1 | 1 << 1 | 1 << 3;
