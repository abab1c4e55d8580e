//! Parameters.

opal_core::params! {
    /// How the port is reached: none, inout (the processor's instructions; wants root), ppdev (the kernel's driver), mapped (registers of a card) or emulated (a cable to the program tuc-fpga).
    pub static PORT: Choice(&["none", "inout", "ppdev", "mapped", "emulated"]) = Text("none"), "", level 2;
    /// The machine that is built in: classic (one barrier, for MPI_COMM_WORLD, all nodes take part) or channels (four barriers, for any communicator that gets one).
    pub static MODE: Choice(&["classic", "channels"]) = Text("classic"), "", level 2;
    /// Base address of the port, for inout and emulated.
    pub static BASE: Int = Int(0x378), "", level 3;
    /// Device of ppdev, or the file whose first page has the registers of a mapped card.
    pub static DEVICE: Text = Text("/dev/parport0"), "", level 3;
    /// Where in the card's page the data register lies.
    pub static MAP_OFFSET: Size = Int(0), "bytes", level 4;
    /// Bytes from one register of the card to the next.
    pub static MAP_STRIDE: Size = Int(1), "bytes", level 4;
    /// The cable of an emulated port; tuc-fpga sets it for what it runs.
    pub static CABLE: Text = Text(""), "", level 3;
    /// How many ranks, one after the other, share a port, the first of which drives it: those of a guest, say. 0: an emulated port is one rank's own, any other is shared by all ranks of its host.
    pub static RANKS_PER_PORT: Int = Int(0), "", level 4;
    /// Bit of the data register that is the output of the classic machine.
    pub static OUT_BIT: Int = Int(0), "", level 4;
    /// Whether the level between port and machine is the inverse of that bit.
    pub static OUT_INVERTED: Bool = Bool(false), "", level 4;
    /// Bit of the status register that is the level of the classic machine; 7 is BUSY, which ports invert.
    pub static IN_BIT: Int = Int(6), "", level 4;
    /// Whether that bit is the inverse of the level.
    pub static IN_INVERTED: Bool = Bool(false), "", level 4;
    /// Bit of the status register that says that a machine is there and knows what it says; -1 for a machine without that line, whose loss of power then goes unnoticed.
    pub static PRESENT_BIT: Int = Int(7), "", level 4;
    /// How many equal readings of the level are believed.
    pub static READINGS: Int = Int(2), "", level 5;
    /// A barrier that takes longer than this ends the use of the hardware for its communicator; it is then decided in software whether it took place.
    pub static TIMEOUT_MS: Size = Int(10000), "ms", level 3, change Local;
    /// Above the other components where it can serve.
    pub static PRIORITY: Int = Int(80), "", level 5;
}
