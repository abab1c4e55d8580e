//! What is measured: one row is one program with its arguments, over several sizes.

use crate::failure::{Result, refuse};

/// What carries the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Shared memory.
    Sm,
    /// TCP over the loopback.
    Tcp,
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
    /// Over what.
    pub transport: Transport,
    /// The program of benches/c that shows what the machine can do, with its arguments.
    pub raw: Option<(&'static str, &'static [&'static str])>,
    /// Ratio to the best peer that this library aims at, by size.
    pub aims: &'static [(u64, f64)],
    /// Part of `--quick`.
    pub quick: bool,
}

/// The rows that the command line names; all, or with `quick` a few, when it names none.
pub fn chosen(words: &[String], quick: bool) -> Result<Vec<Row>> {
    let rows: Vec<Row> = ROWS
        .iter()
        .filter(|row| match words.is_empty() {
            true => !quick || row.quick,
            // A name that is exactly a row's means that row alone.
            false => words.iter().any(|word| match ROWS.iter().any(|row| row.name == word) {
                true => row.name == word,
                false => row.name.contains(word.as_str()),
            }),
        })
        .cloned()
        .collect();
    match rows.is_empty() {
        true => {
            Err(refuse(format!("no row has a name with {}; `cargo xtask bench --list` names them", words.join(" or "))))
        }
        false => Ok(rows),
    }
}

impl Unit {
    /// Whether less is better.
    pub fn is_time(self) -> bool {
        self == Unit::Us
    }

    /// As a table shows it.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Us => "µs",
            Unit::PerS => "M/s",
            Unit::BytesPerS => "MB/s",
        }
    }
}

const PLAIN: Row = Row {
    name: "",
    title: "",
    program: "",
    arguments: &[],
    sizes: &[],
    over: "bytes",
    ranks: 2,
    transport: Transport::Sm,
    raw: None,
    aims: &[],
    quick: false,
};

/// All of them.
pub const ROWS: &[Row] = &[
    Row {
        name: "latency",
        title: "one way, MPI_Send and MPI_Recv, buffers untouched in between",
        program: "latency",
        sizes: &[0, 8, 64, 512, K4, K16, K64, K256, M1, M4],
        aims: &[
            (0, 0.62),
            (8, 0.6),
            (64, 0.65),
            (512, 0.55),
            (K4, 0.85),
            (K64, 0.7),
            (K256, 0.7),
            (M1, 0.7),
            (M4, 0.7),
        ],
        quick: true,
        ..PLAIN
    },
    Row {
        name: "rate",
        title: "messages per second, windows of 64 MPI_Isend and MPI_Irecv",
        program: "rate",
        sizes: &[8, 512],
        aims: &[(8, 3.0)],
        quick: true,
        ..PLAIN
    },
    Row {
        name: "bandwidth",
        title: "windows of up to 64 MPI_Isend and MPI_Irecv, each message with its own buffer",
        program: "bandwidth",
        sizes: &[8, 512, K4, K64, M1, M4],
        aims: &[(K4, 1.3), (K64, 1.1), (M1, 1.3), (M4, 1.25)],
        quick: true,
        ..PLAIN
    },
];

const K4: u64 = 4 << 10;
const K16: u64 = 16 << 10;
const K64: u64 = 64 << 10;
const K256: u64 = 256 << 10;
const M1: u64 = 1 << 20;
const M4: u64 = 4 << 20;
