//! The statistics as JSON, for programs.

use super::record::{Messages, RankRecord};
use super::text::seconds_of;
use crate::report::quoted;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// An object with a list `ranks`.
pub fn of(ranks: &[RankRecord]) -> String {
    let ranks: Vec<String> = ranks.iter().map(rank).collect();
    format!("{{\n\"ranks\": [\n{}\n]\n}}\n", ranks.join(",\n"))
}

fn rank(of: &RankRecord) -> String {
    let peers = of.peers.iter().map(|peer| {
        let (transport, waiting) = (quoted(&peer.transport), seconds_of(peer.waited_ns));
        let messages = messages(&peer.messages);
        let rank = if peer.process < 0 { String::from("null") } else { format!("{}", peer.process) };
        format!(r#"{{"rank": {rank}, "transport": {transport}, {messages}, "waiting_s": {waiting}}}"#)
    });
    let comms =
        of.comms.iter().map(|comm| format!(r#"{{"name": {}, {}}}"#, quoted(&comm.name), messages(&comm.messages)));
    let collectives = of.collectives.iter().map(|one| {
        let (function, algorithm) = (quoted(&one.function), quoted(&one.algorithm));
        let (calls, seconds, waiting) = (one.calls, seconds_of(one.ns), seconds_of(one.waited_ns));
        format!(
            r#"{{"function": {function}, "algorithm": {algorithm}, "calls": {calls}, "seconds": {seconds}, "waiting_s": {waiting}}}"#
        )
    });
    let waits = of.longest.iter().map(|wait| {
        let late = if wait.process < 0 { String::from("null") } else { format!("{}", wait.process) };
        let from = seconds_of(wait.since_ns.saturating_sub(of.from_ns));
        let (seconds, words) = (seconds_of(wait.ns), quoted(&wait.words));
        format!(r#"{{"from_s": {from}, "seconds": {seconds}, "late": {late}, "waited_for": {words}}}"#)
    });
    let pieces = of.pieces.iter().map(|ns| format!("{}", seconds_of(*ns)));
    let counts = of.variables.iter().map(|(name, value)| format!("{}: {value}", quoted(name)));
    let times = of.times.iter().map(|(name, ns)| format!("{}: {}", quoted(name), seconds_of(*ns)));
    let variables = counts.chain(times);
    format!(
        r#"{{"rank": {}, "host": {}, "seconds": {}, "waits": {}, "waiting_s": {}, "asleep_s": {},
 "peers": [{}],
 "communicators": [{}],
 "collectives": [{}],
 "longest_waits": [{}],
 "time_line": {{"piece_s": {}, "waiting_s": [{}]}},
 "variables": {{{}}}}}"#,
        of.rank,
        quoted(&of.host),
        seconds_of(of.until_ns.saturating_sub(of.from_ns)),
        of.waits,
        seconds_of(of.waited_ns),
        seconds_of(of.asleep_ns),
        list(peers),
        list(comms),
        list(collectives),
        list(waits),
        seconds_of(of.piece_ns),
        list(pieces),
        list(variables),
    )
}

fn messages(of: &Messages) -> String {
    let Messages { sent, sent_bytes, received, received_bytes } = of;
    format!(r#""sent": {sent}, "sent_bytes": {sent_bytes}, "received": {received}, "received_bytes": {received_bytes}"#)
}

fn list(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::record;
    use super::*;

    #[test]
    fn times_are_in_seconds_and_others_have_no_rank() {
        let mut ranks = record::two();
        ranks[1].peers.push(record::PeerRecord { process: -1, ..record::PeerRecord::default() });
        let text = of(&ranks);
        for part in [
            r#""variables": {"pml_ob1_unexpected_arrived": 5, "opal_wait_asleep": 0.4}"#,
            r#"{"rank": 1, "transport": "sm", "sent": 3"#,
            r#"{"rank": null, "transport": "", "sent": 0"#,
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }
}
