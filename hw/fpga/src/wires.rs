//! Generated from hw/fpga/wires.txt by `cargo xtask fpga wires`.

use crate::register::{Register, Wire};

/// Nodes that one machine serves.
pub const NODES: usize = 60;
/// Barriers at once on the machine with channels.
pub const CHANNELS: usize = 4;
/// Bits of the register behind the control lines: command, then mask; read back: members, then busy.
pub const FRAME: usize = 8;
/// Command: this node becomes a member of the mask's channels.
pub const JOIN: u8 = 0xa;
/// Command: this node is no member of the mask's channels any more.
pub const LEAVE: u8 = 0x5;
/// Command: this node becomes a member of those channels of the mask that have no members.
pub const CLAIM: u8 = 0x9;
/// Offset of the data register from the port's base address.
pub const DATA_OFFSET: u16 = 0;
/// Offset of the status register.
pub const STATUS_OFFSET: u16 = 1;
/// Offset of the control register.
pub const CONTROL_OFFSET: u16 = 2;
/// What the node says on channel 0; the only output of the classic machine.
pub const OUT_0: Wire =
    Wire { name: "OUT_0", register: Register::Data, bit: 0, pin: 2, inverted: false };
/// What the node says on channel 1.
pub const OUT_1: Wire =
    Wire { name: "OUT_1", register: Register::Data, bit: 1, pin: 3, inverted: false };
/// What the node says on channel 2.
pub const OUT_2: Wire =
    Wire { name: "OUT_2", register: Register::Data, bit: 2, pin: 4, inverted: false };
/// What the node says on channel 3.
pub const OUT_3: Wire =
    Wire { name: "OUT_3", register: Register::Data, bit: 3, pin: 5, inverted: false };
/// Level of channel 0 (ACK); the only level of the classic machine.
pub const LEVEL_0: Wire =
    Wire { name: "LEVEL_0", register: Register::Status, bit: 6, pin: 10, inverted: false };
/// Level of channel 1 (PAPER OUT).
pub const LEVEL_1: Wire =
    Wire { name: "LEVEL_1", register: Register::Status, bit: 5, pin: 12, inverted: false };
/// Level of channel 2 (SELECT).
pub const LEVEL_2: Wire =
    Wire { name: "LEVEL_2", register: Register::Status, bit: 4, pin: 13, inverted: false };
/// Level of channel 3 (ERROR).
pub const LEVEL_3: Wire =
    Wire { name: "LEVEL_3", register: Register::Status, bit: 3, pin: 15, inverted: false };
/// Read-back line (BUSY), active low at the pin: a cable without a machine reads as absent.
pub const READ_BACK: Wire =
    Wire { name: "READ_BACK", register: Register::Status, bit: 7, pin: 11, inverted: true };
/// Rising: the register shifts in BIT (STROBE).
pub const SHIFT: Wire =
    Wire { name: "SHIFT", register: Register::Control, bit: 0, pin: 1, inverted: true };
/// The bit that is shifted in (AUTO FEED).
pub const BIT: Wire =
    Wire { name: "BIT", register: Register::Control, bit: 1, pin: 14, inverted: true };
/// Rising: the command in the register is done (INIT).
pub const COMMIT: Wire =
    Wire { name: "COMMIT", register: Register::Control, bit: 2, pin: 16, inverted: false };
/// Rising: the register takes members and busy; high: READ_BACK is its last bit (SELECT IN).
pub const LOAD: Wire =
    Wire { name: "LOAD", register: Register::Control, bit: 3, pin: 17, inverted: true };
/// Every wire.
pub const ALL: &[Wire] = &[
    OUT_0, OUT_1, OUT_2, OUT_3, LEVEL_0, LEVEL_1,
    LEVEL_2, LEVEL_3, READ_BACK, SHIFT, BIT, COMMIT, LOAD,
];
