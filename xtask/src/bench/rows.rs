//! What is measured: one row is one program with its arguments, over several sizes.

mod collective;
mod first;

use crate::failure::{Result, refuse};

/// What carries the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Shared memory.
    Sm,
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
        self != Transport::Sm
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
    /// Over what.
    pub transport: Transport,
    /// The program of benches/c that shows what the machine can do, with its arguments.
    pub raw: Option<(&'static str, &'static [&'static str])>,
    /// Ratio to the best peer that this library aims at, by size.
    pub aims: &'static [(u64, f64)],
    /// Part of `--quick`.
    pub quick: bool,
}

/// The rows that the command line names; all, or with `quick` a few, when it names none. Of them those with one of these
/// numbers of ranks, if any are given.
pub fn chosen(words: &[String], ranks: &[u32], quick: bool) -> Result<Vec<Row>> {
    let rows: Vec<Row> = all()
        .filter(|row| match words.is_empty() {
            true => !quick || row.quick,
            // A name that is exactly a row's means that row alone.
            false => words.iter().any(|word| match all().any(|row| row.name == word) {
                true => row.name == word,
                false => row.name.contains(word.as_str()),
            }),
        })
        .filter(|row| ranks.is_empty() || ranks.contains(&row.ranks))
        .cloned()
        .collect();
    match (rows.is_empty(), ranks.is_empty()) {
        (true, true) => {
            Err(refuse(format!("no row has a name with {}; `cargo xtask bench --list` names them", words.join(" or "))))
        }
        (true, false) => {
            Err(refuse(format!("--ranks {ranks:?}: none of the rows that are wanted has so many; rows have 2, 4 or 8")))
        }
        (false, _) => Ok(rows),
    }
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
    transport: Transport::Sm,
    raw: None,
    aims: &[],
    quick: false,
};

/// All of them, in the order of a page that a visitor reads.
pub fn all() -> impl Iterator<Item = &'static Row> + Clone {
    POINT_TO_POINT.iter().chain(collective::ROWS).chain(first::ROWS)
}

const POINT_TO_POINT: &[Row] = &[
    Row {
        name: "latency",
        title: "one way, MPI_Send and MPI_Recv, buffers untouched in between",
        program: "latency",
        sizes: &[0, 8, 64, 512, K4, K16, K64, K256, M1, M4],
        raw: Some(("raw_sm", &[])),
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
        name: "latency-rewritten",
        title: "one way, each message written before it is sent and read after it came",
        program: "latency",
        arguments: &["--rewrite"],
        sizes: &[8, 512, K4, K16, K64, K256, M1, M4],
        raw: Some(("raw_sm", &["--rewrite"])),
        aims: &[(K64, 0.7), (K256, 0.7), (M1, 0.7), (M4, 0.7)],
        ..PLAIN
    },
    Row {
        name: "latency-vector",
        title: "one way, blocks of 8 bytes that lie 8 bytes apart on both sides",
        program: "latency",
        arguments: &["--vector"],
        sizes: &[64, 512, K4, K64, M1],
        ..PLAIN
    },
    Row {
        name: "latency-any",
        title: "one way, received from MPI_ANY_SOURCE with MPI_ANY_TAG",
        program: "latency",
        arguments: &["--any"],
        sizes: &[0, 8, 512, K4, K64],
        ..PLAIN
    },
    Row {
        name: "latency-multiple",
        title: "one way under MPI_THREAD_MULTIPLE, one thread in each rank",
        program: "latency",
        arguments: &["--multiple"],
        sizes: &[0, 8, 512, K4, K64],
        ..PLAIN
    },
    Row {
        name: "rate",
        title: "messages per second, windows of 64 MPI_Isend and MPI_Irecv",
        program: "rate",
        sizes: &[8, 64, 512],
        raw: Some(("raw_sm", &["--rate"])),
        aims: &[(8, 3.0)],
        quick: true,
        ..PLAIN
    },
    Row {
        name: "rate-multiple",
        title: "messages per second under MPI_THREAD_MULTIPLE, one thread in each rank",
        program: "rate",
        arguments: &["--multiple"],
        sizes: &[8],
        ..PLAIN
    },
    Row {
        name: "rate-pairs",
        title: "messages per second of two pairs together",
        program: "rate",
        sizes: &[8],
        ranks: 4,
        ..PLAIN
    },
    Row {
        name: "bandwidth",
        title: "windows of up to 64 MPI_Isend and MPI_Irecv, each message with a buffer of its own",
        program: "bandwidth",
        sizes: &[8, 512, K4, K16, K64, K256, M1, M4],
        raw: Some(("raw_sm", &["--stream"])),
        aims: &[(K4, 1.3), (K64, 1.1), (M1, 1.3), (M4, 1.25)],
        quick: true,
        ..PLAIN
    },
    Row {
        name: "bandwidth-rewritten",
        title: "the same, each message written before it is sent",
        program: "bandwidth",
        arguments: &["--rewrite"],
        sizes: &[K4, K64, M1, M4],
        ..PLAIN
    },
    Row {
        name: "bidirectional",
        title: "windows both ways at once, both directions added up",
        program: "bandwidth",
        arguments: &["--bidir"],
        sizes: &[8, 512, K4, K64, K256, M1, M4],
        ..PLAIN
    },
    Row {
        name: "matching-posted",
        title: "one way of 8 bytes behind posted receives that do not match",
        program: "matching",
        sizes: &[1, 100, 10_000],
        over: "receives",
        ..PLAIN
    },
    Row {
        name: "matching-unexpected",
        title: "one way of 8 bytes behind messages that nobody receives",
        program: "matching",
        arguments: &["--unexpected"],
        sizes: &[1, 100, 10_000],
        over: "messages",
        ..PLAIN
    },
    Row {
        name: "halo",
        title: "a solver's step: exchange with both neighbours around about 1 µs of computing",
        program: "halo",
        sizes: &[8, 512, K4, K64, K256],
        ..PLAIN
    },
    Row {
        name: "halo-4",
        title: "the same step of four ranks: who waits has to give its core up in time",
        program: "halo",
        sizes: &[8, 512, K4],
        ranks: 4,
        ..PLAIN
    },
    Row {
        name: "tcp-latency",
        title: "one way over TCP on the loopback",
        program: "latency",
        sizes: &[1, 8, K4, K64, M1],
        transport: Transport::Tcp,
        raw: Some(("raw_tcp", &[])),
        aims: &[(8, 0.9), (K64, 1.0), (M1, 0.9)],
        ..PLAIN
    },
    Row {
        name: "tcp-rate",
        title: "messages per second over TCP on the loopback; raw: one system call each",
        program: "rate",
        sizes: &[8],
        transport: Transport::Tcp,
        raw: Some(("raw_tcp", &["--rate"])),
        aims: &[(8, 3.0)],
        ..PLAIN
    },
    Row {
        name: "tcp-bandwidth",
        title: "windows over TCP on the loopback",
        program: "bandwidth",
        sizes: &[K4, K64, M1],
        transport: Transport::Tcp,
        raw: Some(("raw_tcp", &["--stream"])),
        ..PLAIN
    },
    Row {
        name: "tcp-auth-latency",
        title: "one way over TCP on the loopback, proved by btl_tcp_protect auth; peers and raw: not protected",
        program: "latency",
        sizes: &[8, K4, K64, M1],
        transport: Transport::TcpAuth,
        raw: Some(("raw_tcp", &[])),
        ..PLAIN
    },
    Row {
        name: "tcp-auth-bandwidth",
        title: "windows over TCP on the loopback, proved by btl_tcp_protect auth; peers and raw: not protected",
        program: "bandwidth",
        sizes: &[K4, K64, M1],
        transport: Transport::TcpAuth,
        raw: Some(("raw_tcp", &["--stream"])),
        ..PLAIN
    },
    Row {
        name: "tcp-encrypt-bandwidth",
        title: "windows over TCP on the loopback, encrypted by btl_tcp_protect encrypt; peers and raw: not protected",
        program: "bandwidth",
        sizes: &[K4, K64, M1],
        transport: Transport::TcpEncrypt,
        raw: Some(("raw_tcp", &["--stream"])),
        ..PLAIN
    },
];

const K4: u64 = 4 << 10;
const K16: u64 = 16 << 10;
const K64: u64 = 64 << 10;
const K256: u64 = 256 << 10;
const M1: u64 = 1 << 20;
const M4: u64 = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn rows_by_name() {
        let names = |words: &[&str], quick| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            chosen(&words, &[], quick).map(|rows| rows.iter().map(|row| row.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["rate"], false).unwrap(), ["rate"]);
        assert_eq!(names(&["barrier-"], true).unwrap(), ["barrier-2", "barrier-4", "barrier-8"]);
        assert_eq!(names(&[], false).unwrap().len(), all().count());
        assert!(names(&[], true).unwrap().len() < 6 && names(&["nothing"], false).is_err());
        let crowded = chosen(&["barrier".to_owned()], &[4, 8], false).unwrap();
        assert_eq!(crowded.iter().map(|row| row.name).collect::<Vec<_>>(), ["barrier-4", "barrier-8"]);
        assert!(chosen(&[], &[3], false).is_err());
    }

    #[test]
    fn each_row_is_one_and_its_aims_are_measured() {
        assert_eq!(all().map(|row| row.name).collect::<BTreeSet<_>>().len(), all().count());
        for row in all() {
            assert!(row.aims.iter().all(|(size, _)| row.sizes.contains(size)), "{}", row.name);
            assert!(row.quick || row.sizes.is_sorted(), "{}", row.name);
        }
    }
}
