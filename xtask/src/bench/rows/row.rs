//! One row: a program of benches/c with its arguments, sizes and unit.

/// What carries the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Shared memory.
    Sm,
    /// The same, and this library's messages carry checksums (pml_ob1_checksum 1); those of peers do not.
    SmChecked,
    /// TCP over the loopback.
    Tcp,
    /// The same, and this library proves every byte (btl_tcp_protect auth); peers cannot.
    TcpAuth,
    /// The same, and this library encrypts every byte; peers cannot.
    TcpEncrypt,
}

impl Transport {
    /// Whether the loopback carries the bytes.
    pub fn is_tcp(self) -> bool {
        !matches!(self, Transport::Sm | Transport::SmChecked)
    }
}

/// Which way is better, and how a figure reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Less is better.
    Us,
    /// Messages per second; more is better.
    PerS,
    /// More is better.
    BytesPerS,
    /// Seconds of a whole program; less is better.
    S,
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line for a reader.
    pub title: &'static str,
    /// The C file in benches/c, without extension.
    pub program: &'static str,
    /// Arguments that make the row.
    pub arguments: &'static [&'static str],
    /// Bytes, or what `over` says.
    pub sizes: &'static [u64],
    /// What a size counts.
    pub over: &'static str,
    /// How many ranks.
    pub ranks: u32,
    /// Threads of each rank that work at once.
    pub threads: u32,
    /// Over what.
    pub transport: Transport,
    /// The program of benches/c that shows what the machine can do, with its arguments.
    pub raw: Option<(&'static str, &'static [&'static str])>,
    /// Ratio to the best peer that this library aims at, by size.
    pub aims: &'static [(u64, f64)],
    /// Part of `--quick`.
    pub quick: bool,
}

impl Unit {
    /// Whether less is better.
    pub fn is_time(self) -> bool {
        matches!(self, Unit::Us | Unit::S)
    }

    /// As a table shows it.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Us => "µs",
            Unit::PerS => "M/s",
            Unit::BytesPerS => "MB/s",
            Unit::S => "s",
        }
    }
}

/// What most rows share.
pub const PLAIN: Row = Row {
    name: "",
    title: "",
    program: "",
    arguments: &[],
    sizes: &[],
    over: "bytes",
    ranks: 2,
    threads: 1,
    transport: Transport::Sm,
    raw: None,
    aims: &[],
    quick: false,
};

pub const K4: u64 = 4 << 10;
pub const K8: u64 = 8 << 10;
pub const K16: u64 = 16 << 10;
pub const K32: u64 = 32 << 10;
pub const K64: u64 = 64 << 10;
pub const K256: u64 = 256 << 10;
pub const M1: u64 = 1 << 20;
pub const M4: u64 = 4 << 20;
