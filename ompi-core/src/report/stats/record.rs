//! What one rank counted, and its form in the message to rank 0: lines of cells between tabs.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;
use core::str::FromStr;

/// Of one rank. Times in ns; of the clock of its host, if they are no durations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankRecord {
    /// Rank in MPI_COMM_WORLD.
    pub rank: u32,
    /// Where it ran.
    pub host: String,
    /// When counting began and ended.
    pub from_ns: u64,
    /// The end.
    pub until_ns: u64,
    /// Waits that were not over at once, and how long they took together.
    pub waits: u64,
    /// The time.
    pub waited_ns: u64,
    /// Of that asleep.
    pub asleep_ns: u64,
    /// By process.
    pub peers: Vec<PeerRecord>,
    /// By communicator.
    pub comms: Vec<CommRecord>,
    /// By function and algorithm.
    pub collectives: Vec<CollectiveRecord>,
    /// The longest waits.
    pub longest: Vec<WaitRecord>,
    /// How long a piece of the time line is.
    pub piece_ns: u64,
    /// How long it waited in each piece.
    pub pieces: Vec<u64>,
    /// Performance variables that are not 0, but times.
    pub variables: Vec<(String, u64)>,
    /// Those that are times.
    pub times: Vec<(String, u64)>,
}

/// The user's messages with one process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeerRecord {
    /// The process, by its rank in MPI_COMM_WORLD; -1: all of other jobs.
    pub process: i64,
    /// Of its path.
    pub transport: String,
    /// Messages and bytes.
    pub messages: Messages,
    /// How long this rank slept or was about to, waiting for that process.
    pub waited_ns: u64,
}

/// Messages and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Messages {
    /// That were sent.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// That met a receive.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
}

/// The user's messages on communicators of one name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommRecord {
    /// The name.
    pub name: String,
    /// Messages and bytes.
    pub messages: Messages,
}

/// Blocking collective operations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CollectiveRecord {
    /// As the standard spells it.
    pub function: String,
    /// Component and algorithm.
    pub algorithm: String,
    /// How often.
    pub calls: u64,
    /// How long this rank was in it.
    pub ns: u64,
    /// Of that in waits.
    pub waited_ns: u64,
}

/// A wait.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WaitRecord {
    /// Since when.
    pub since_ns: u64,
    /// How long.
    pub ns: u64,
    /// The process that was late, by its rank in MPI_COMM_WORLD; -1: nobody knows; -2: several were.
    pub process: i64,
    /// What it waited for.
    pub words: String,
}

impl Messages {
    /// Both together.
    pub fn add(&mut self, more: Messages) {
        self.sent += more.sent;
        self.sent_bytes += more.sent_bytes;
        self.received += more.received;
        self.received_bytes += more.received_bytes;
    }

    fn cells(&self) -> String {
        format!("{}\t{}\t{}\t{}", self.sent, self.sent_bytes, self.received, self.received_bytes)
    }
}

impl RankRecord {
    /// As text.
    pub fn encode(&self) -> String {
        let mut to = String::new();
        let clean = |text: &str| text.replace(['\t', '\n'], " ");
        let _ = writeln!(
            to,
            "rank\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            self.rank,
            clean(&self.host),
            self.from_ns,
            self.until_ns,
            self.waits,
            self.waited_ns,
            self.asleep_ns
        );
        for peer in &self.peers {
            let (messages, transport) = (peer.messages.cells(), clean(&peer.transport));
            let _ = writeln!(to, "peer\t{}\t{transport}\t{messages}\t{}", peer.process, peer.waited_ns);
        }
        for comm in &self.comms {
            let _ = writeln!(to, "comm\t{}\t{}", clean(&comm.name), comm.messages.cells());
        }
        for one in &self.collectives {
            let (algorithm, calls) = (clean(&one.algorithm), one.calls);
            let _ = writeln!(to, "collective\t{}\t{algorithm}\t{calls}\t{}\t{}", one.function, one.ns, one.waited_ns);
        }
        for wait in &self.longest {
            let _ = writeln!(to, "wait\t{}\t{}\t{}\t{}", wait.since_ns, wait.ns, wait.process, clean(&wait.words));
        }
        let pieces: Vec<String> = self.pieces.iter().map(u64::to_string).collect();
        let _ = writeln!(to, "line\t{}\t{}", self.piece_ns, pieces.join("\t"));
        for (name, value) in &self.variables {
            let _ = writeln!(to, "variable\t{name}\t{value}");
        }
        for (name, ns) in &self.times {
            let _ = writeln!(to, "time\t{name}\t{ns}");
        }
        to
    }

    /// The same from text; what it lacks is empty.
    pub fn decode(text: &str) -> RankRecord {
        let mut record = RankRecord::default();
        for line in text.lines() {
            let mut cells = Cells(line.split('\t'));
            match cells.text().as_str() {
                "rank" => {
                    (record.rank, record.host) = (cells.number(), cells.text());
                    (record.from_ns, record.until_ns) = (cells.number(), cells.number());
                    (record.waits, record.waited_ns, record.asleep_ns) =
                        (cells.number(), cells.number(), cells.number());
                }
                "peer" => record.peers.push(PeerRecord {
                    process: cells.number(),
                    transport: cells.text(),
                    messages: cells.messages(),
                    waited_ns: cells.number(),
                }),
                "comm" => record.comms.push(CommRecord { name: cells.text(), messages: cells.messages() }),
                "collective" => record.collectives.push(CollectiveRecord {
                    function: cells.text(),
                    algorithm: cells.text(),
                    calls: cells.number(),
                    ns: cells.number(),
                    waited_ns: cells.number(),
                }),
                "wait" => record.longest.push(WaitRecord {
                    since_ns: cells.number(),
                    ns: cells.number(),
                    process: cells.number(),
                    words: cells.text(),
                }),
                "line" => {
                    record.piece_ns = cells.number();
                    record.pieces = cells.0.filter_map(|cell| cell.parse().ok()).collect();
                }
                "variable" => record.variables.push((cells.text(), cells.number())),
                "time" => record.times.push((cells.text(), cells.number())),
                _ => {}
            }
        }
        record
    }

    /// The user's messages with all processes.
    pub fn messages(&self) -> Messages {
        let mut all = Messages::default();
        self.peers.iter().for_each(|peer| all.add(peer.messages));
        all
    }

    /// A performance variable.
    pub fn variable(&self, name: &str) -> u64 {
        self.variables.iter().find(|(own, _)| own == name).map_or(0, |(_, value)| *value)
    }
}

struct Cells<'a>(core::str::Split<'a, char>);

impl Cells<'_> {
    fn text(&mut self) -> String {
        self.0.next().unwrap_or_default().to_string()
    }

    fn number<T: FromStr + Default>(&mut self) -> T {
        self.0.next().and_then(|cell| cell.parse().ok()).unwrap_or_default()
    }

    fn messages(&mut self) -> Messages {
        Messages {
            sent: self.number(),
            sent_bytes: self.number(),
            received: self.number(),
            received_bytes: self.number(),
        }
    }
}

/// Two ranks, for tests of what is made of them.
#[cfg(test)]
pub fn two() -> Vec<RankRecord> {
    let messages = Messages { sent: 3, sent_bytes: 3000, received: 2, received_bytes: 16 };
    let first = RankRecord {
        rank: 0,
        host: "n1".into(),
        from_ns: 1_000_000_000,
        until_ns: 3_000_000_000,
        waits: 4,
        waited_ns: 500_000_000,
        asleep_ns: 400_000_000,
        peers: [PeerRecord { process: 1, transport: "sm".into(), messages, waited_ns: 480_000_000 }].into(),
        comms: [CommRecord { name: "MPI_COMM_WORLD".into(), messages }].into(),
        collectives: [CollectiveRecord {
            function: "MPI_Bcast".into(),
            algorithm: "sm: flags".into(),
            calls: 7,
            ns: 70_000,
            waited_ns: 21_000,
        }]
        .into(),
        longest: [WaitRecord {
            since_ns: 1_500_000_000,
            ns: 480_000_000,
            process: 1,
            words: "a message from rank 1 with tag 7 on \"ring\" & <more>".into(),
        }]
        .into(),
        piece_ns: 1_000_000_000,
        pieces: [480_000_000, 20_000_000].into(),
        variables: [("pml_ob1_unexpected_arrived".to_string(), 5)].into(),
        times: [("opal_wait_asleep".to_string(), 400_000_000)].into(),
    };
    let second = RankRecord {
        rank: 1,
        host: "n1".into(),
        from_ns: 1_000_000_000,
        until_ns: 3_000_000_000,
        ..RankRecord::default()
    };
    Vec::from([first, second])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_what_comes() {
        for record in two() {
            assert_eq!(RankRecord::decode(&record.encode()), record);
        }
        assert_eq!(
            RankRecord::decode("peer\nwait\tx\n\n"),
            RankRecord {
                peers: [PeerRecord::default()].into(),
                longest: [WaitRecord::default()].into(),
                ..RankRecord::default()
            }
        );
    }
}
