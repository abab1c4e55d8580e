//! The statistics for a terminal.

use super::late::SEVERAL;
use super::record::{Messages, RankRecord};
use crate::report::{OF_JOB, table};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use opal_core::sort;

/// All tables.
pub fn of(ranks: &[RankRecord]) -> String {
    format!("statistics of {} ranks (--stats)\n{}", ranks.len(), tables(ranks))
}

/// Those of one rank of a program that has no MPI_Finalize.
pub fn of_one(rank: &[RankRecord; 1]) -> String {
    format!("statistics of rank {} alone, of a program without MPI_Init (--stats)\n{}", rank[0].rank, tables(rank))
}

fn tables(ranks: &[RankRecord]) -> String {
    // Names are the program's: nothing of them tells a terminal to do something.
    tables_of(ranks).replace(|one: char| one.is_control() && one != '\n', "?")
}

fn tables_of(ranks: &[RankRecord]) -> String {
    let mut text = String::new();
    text.push_str(&by_rank(ranks));
    let transports = ranks.iter().flat_map(|rank| &rank.peers).map(|peer| (peer.transport.as_str(), peer.messages));
    text.push_str(&sums("transport", transports));
    let comms = ranks.iter().flat_map(|rank| &rank.comms).map(|comm| (comm.name.as_str(), comm.messages));
    text.push_str(&sums("communicator", comms));
    text.push_str(&collectives(ranks));
    text.push_str(&longest(ranks));
    text
}

fn by_rank(ranks: &[RankRecord]) -> String {
    let head = [
        "rank",
        "host",
        "seconds",
        "sent",
        "bytes",
        "received",
        "bytes",
        "unexpected",
        "waiting",
        "of that asleep",
        "share",
    ];
    let mut rows = Vec::from([row(&head)]);
    let line = |name: String, host: &str, seconds: f64, record: &RankRecord, messages: Messages| {
        let share = 100.0 * seconds_of(record.waited_ns) / seconds.max(1e-9);
        [
            name,
            host.to_string(),
            format!("{seconds:.3}"),
            messages.sent.to_string(),
            messages.sent_bytes.to_string(),
            messages.received.to_string(),
            messages.received_bytes.to_string(),
            record.variable("pml_ob1_unexpected_arrived").to_string(),
            format!("{:.3} s", seconds_of(record.waited_ns)),
            format!("{:.3} s", seconds_of(record.asleep_ns)),
            format!("{share:.0} %"),
        ]
        .to_vec()
    };
    let (mut all, mut total, mut seconds) = (Messages::default(), RankRecord::default(), 0.0);
    let mut unexpected = 0;
    for rank in ranks {
        let (messages, own) = (rank.messages(), seconds_of(rank.until_ns.saturating_sub(rank.from_ns)));
        rows.push(line(rank.rank.to_string(), &rank.host, own, rank, messages));
        all.add(messages);
        seconds += own;
        total.waited_ns += rank.waited_ns;
        total.asleep_ns += rank.asleep_ns;
        unexpected += rank.variable("pml_ob1_unexpected_arrived");
    }
    total.variables.push(("pml_ob1_unexpected_arrived".to_string(), unexpected));
    rows.push(line("all".to_string(), "", seconds, &total, all));
    table::lines(&rows)
}

fn sums<'a>(what: &str, parts: impl Iterator<Item = (&'a str, Messages)>) -> String {
    let mut sums: BTreeMap<&str, Messages> = BTreeMap::new();
    parts.for_each(|(name, messages)| sums.entry(name).or_default().add(messages));
    let head = Vec::from([row(&[what, "messages", "bytes"])]);
    let rows = sums
        .into_iter()
        .filter(|(_, all)| all.sent > 0)
        .map(|(name, all)| [name.to_string(), all.sent.to_string(), all.sent_bytes.to_string()].to_vec());
    section(head.into_iter().chain(rows).collect())
}

fn collectives(ranks: &[RankRecord]) -> String {
    // Calls and time of all ranks, and the longest time of one.
    let mut sums: BTreeMap<(&str, &str), (u64, u64, u64, u64)> = BTreeMap::new();
    for one in ranks.iter().flat_map(|rank| &rank.collectives) {
        let (calls, ns, waited, most) = sums.entry((&one.function, &one.algorithm)).or_default();
        *calls += one.calls;
        *ns += one.ns;
        *waited += one.waited_ns;
        *most = (*most).max(one.ns);
    }
    let head =
        row(&["collective operation", "by", "calls of all ranks", "µs each", "of that waiting", "most of a rank"]);
    let rows = sums.into_iter().map(|((function, algorithm), (calls, ns, waited, most))| {
        let each = |ns: u64| format!("{:.2}", ns as f64 / 1e3 / calls.max(1) as f64);
        let most = format!("{:.3} s", seconds_of(most));
        [function.to_string(), algorithm.to_string(), calls.to_string(), each(ns), each(waited), most].to_vec()
    });
    section([head].into_iter().chain(rows).collect())
}

fn longest(ranks: &[RankRecord]) -> String {
    let mut waits: Vec<_> = ranks.iter().flat_map(|rank| rank.longest.iter().map(move |wait| (rank, wait))).collect();
    sort::by_key(&mut waits, |(_, wait)| core::cmp::Reverse(wait.ns));
    let head = row(&["longest waits", "seconds", "from", "late", "waited for"]);
    let rows = waits.into_iter().take(MOST).map(|(rank, wait)| {
        let from = format!("{:.3} s", seconds_of(wait.since_ns.saturating_sub(rank.from_ns)));
        let late = match wait.process {
            0.. => format!("rank {}", wait.process),
            SEVERAL => String::from("several"),
            _ if wait.words.contains(OF_JOB) => String::from("of another job"),
            _ => String::from("unknown"),
        };
        let name = format!("rank {}", rank.rank);
        [name, format!("{:.3}", seconds_of(wait.ns)), from, late, wait.words.clone()].to_vec()
    });
    section([head].into_iter().chain(rows).collect())
}

/// A table after an empty line; nothing if there is only its head.
fn section(rows: Vec<Vec<String>>) -> String {
    if rows.len() > 1 { String::from("\n") + &table::lines(&rows) } else { String::new() }
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_string()).collect()
}

pub(super) fn seconds_of(ns: u64) -> f64 {
    ns as f64 / 1e9
}

const MOST: usize = 10;

#[cfg(test)]
mod tests {
    use super::super::record;
    use super::*;

    #[test]
    fn tables() {
        let text = of(&record::two());
        let squeezed: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        for line in [
            "0 n1 2.000 3 3000 2 16 5 0.500 s 0.400 s 25 %",
            "all 4.000 3 3000 2 16 5 0.500 s 0.400 s 12 %",
            "sm 3 3000",
            "MPI_COMM_WORLD 3 3000",
            "MPI_Bcast sm: flags 7 10.00 3.00 0.000 s",
            "rank 0 0.480 0.500 s rank 1 a message from rank 1 with tag 7 on \"ring\" & <more>",
        ] {
            assert!(squeezed.iter().any(|own| own == line), "{line} is missing in\n{text}");
        }
    }

    #[test]
    fn names_tell_a_terminal_nothing() {
        let mut ranks = record::two();
        ranks[0].comms[0].name = "\x1b[31mred\r".into();
        let text = of(&ranks);
        assert!(text.contains("?[31mred?") && !text.contains('\x1b') && !text.contains('\r'), "{text:?}");
    }
}
