//! The registers of a parallel port, and where a wire lies in them.

/// The registers of a parallel port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// Eight outputs.
    Data,
    /// Five inputs, bits 3 to 7.
    Status,
    /// Four outputs, bits 0 to 3.
    Control,
}

/// One wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// As in wires.txt.
    pub name: &'static str,
    /// Where the port has it.
    pub register: Register,
    /// And at which bit.
    pub bit: u8,
    /// Of the DB-25 connector.
    pub pin: u8,
    /// The register's bit is the inverse of the pin.
    pub inverted: bool,
}

impl Wire {
    /// The bit in its register.
    pub const fn mask(&self) -> u8 {
        1 << self.bit
    }
}
