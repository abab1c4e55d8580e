//! From registers of a parallel port to wires and back. A register's bit is the inverse of its pin where the port
//! inverts; the machine sees pins.

use crate::register::Wire;
use crate::wires;

/// What a node says on every channel.
pub const OUT: [Wire; wires::CHANNELS] = [wires::OUT_0, wires::OUT_1, wires::OUT_2, wires::OUT_3];
/// The level of every channel.
pub const LEVEL: [Wire; wires::CHANNELS] = [wires::LEVEL_0, wires::LEVEL_1, wires::LEVEL_2, wires::LEVEL_3];
/// The control lines in the order in which the machine counts them.
pub const CONTROL: [Wire; 4] = [wires::SHIFT, wires::BIT, wires::COMMIT, wires::LOAD];

/// The control register that puts these lines (SHIFT is bit 0) on the pins.
pub fn control_register(lines: u8) -> u8 {
    let bit = |(index, wire): (usize, &Wire)| match (lines >> index & 1 == 1) != wire.inverted {
        true => wire.mask(),
        false => 0,
    };
    CONTROL.iter().enumerate().map(bit).fold(0, |all, one| all | one)
}

/// The lines that a control register puts on the pins.
pub fn control_lines(register: u8) -> u8 {
    let line = |(index, wire): (usize, &Wire)| u8::from((register & wire.mask() != 0) != wire.inverted) << index;
    CONTROL.iter().enumerate().map(line).fold(0, |all, one| all | one)
}

/// The status register that a node reads at these levels (channel 0 is bit 0); the read-back line is active low at the
/// pin, and inverted by the port.
pub fn status_register(levels: u8, read_back: bool) -> u8 {
    let level = |(index, wire): (usize, &Wire)| match (levels >> index & 1 == 1) != wire.inverted {
        true => wire.mask(),
        false => 0,
    };
    let pin_low_when_set = !read_back;
    let rest = if pin_low_when_set != wires::READ_BACK.inverted { wires::READ_BACK.mask() } else { 0 };
    LEVEL.iter().enumerate().map(level).fold(rest, |all, one| all | one)
}

/// What a status register says: levels and the read-back line.
pub fn status(register: u8) -> (u8, bool) {
    let level = |(index, wire): (usize, &Wire)| u8::from((register & wire.mask() != 0) != wire.inverted) << index;
    let levels = LEVEL.iter().enumerate().map(level).fold(0, |all, one| all | one);
    let pin = (register & wires::READ_BACK.mask() != 0) != wires::READ_BACK.inverted;
    (levels, !pin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_and_lines_are_one_to_one() {
        for lines in 0..16 {
            assert_eq!(control_lines(control_register(lines)), lines);
            for read_back in [false, true] {
                assert_eq!(status(status_register(lines, read_back)), (lines, read_back));
            }
        }
    }

    #[test]
    fn an_unplugged_cable_is_no_machine() {
        // Pulled up: all pins are high, and the port inverts BUSY.
        let pulled_up = LEVEL.iter().fold(0, |all, wire| all | wire.mask());
        assert_eq!(status(pulled_up), (0xf, false));
    }

    #[test]
    fn no_two_wires_share_a_pin_or_a_bit() {
        for (index, one) in wires::ALL.iter().enumerate() {
            for other in &wires::ALL[index + 1..] {
                assert!(one.pin != other.pin, "{} {}", one.name, other.name);
                assert!((one.register, one.bit) != (other.register, other.bit), "{} {}", one.name, other.name);
            }
        }
    }
}
