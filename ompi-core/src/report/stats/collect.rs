//! What this rank counts for itself.

use super::record::{CollectiveRecord, CommRecord, Messages, PeerRecord, RankRecord, WaitRecord};
use crate::framework::pml::{self, Traffic, watched};
use crate::process;
use crate::report::rank_of;
use crate::report::wait::Wait;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use opal_core::mca::param::full_name;
use opal_core::mca::pvar::Reading;
use opal_core::mca::{Pvar, PvarClass, image};
use opal_core::sync::Mutex;
use opal_core::{progress, sys, wait};

static COLLECTED: Mutex<Collected> = Mutex::new(Collected::NOTHING);

struct Collected {
    from_ns: u64,
    asleep_before_ns: u64,
    waits: u64,
    waited_ns: u64,
    // By the process that was waited for.
    late_ns: BTreeMap<u32, u64>,
    longest: Vec<WaitRecord>,
    collectives: BTreeMap<(&'static str, String), (u64, u64, u64)>,
    line: TimeLine,
}

/// Counts from now on.
pub fn begin() {
    let mut collected = COLLECTED.lock();
    collected.from_ns = sys::monotonic_ns();
    collected.asleep_before_ns = wait::asleep_ns();
    collected.line.from_ns = collected.from_ns;
}

/// A wait is over.
pub fn waited(wait: &Wait) {
    let mut collected = COLLECTED.lock();
    let ns = wait.until_ns.saturating_sub(wait.since_ns);
    collected.waits += 1;
    collected.waited_ns += ns;
    collected.line.add(wait.since_ns, wait.until_ns);
    // Shorter ones do not say what they are for.
    let Some(subject) = &wait.subject else { return };
    if let Some(process) = subject.process {
        *collected.late_ns.entry(process).or_default() += ns;
    }
    let longest = &mut collected.longest;
    let place = longest.partition_point(|one| one.ns >= ns);
    if place < LONGEST {
        longest.truncate(LONGEST - 1);
        let process = subject.process.map_or(-1, i64::from);
        longest.insert(place, WaitRecord { since_ns: wait.since_ns, ns, process, words: subject.words.clone() });
    }
}

/// A blocking collective operation has ended.
pub fn collective(function: &'static str, algorithm: &str, ns: u64, waited_ns: u64) {
    let mut collected = COLLECTED.lock();
    let (calls, sum, waited) = collected.collectives.entry((function, algorithm.to_string())).or_default();
    *calls += 1;
    *sum += ns;
    *waited += waited_ns;
}

/// Number of waits by now, and how long they took together, in ns. `None` while they change.
pub fn waits() -> Option<(u64, u64)> {
    let collected = COLLECTED.try_lock()?;
    Some((collected.waits, collected.waited_ns))
}

/// All that was counted by now, and no more.
pub fn end() -> RankRecord {
    let collected = core::mem::replace(&mut *COLLECTED.lock(), Collected::NOTHING);
    record(&collected)
}

/// All that was counted by now.
pub fn so_far() -> RankRecord {
    record(&COLLECTED.lock())
}

fn record(collected: &Collected) -> RankRecord {
    let until_ns = sys::monotonic_ns();
    let collective = |(name, sums): (&(&'static str, String), &(u64, u64, u64))| CollectiveRecord {
        function: name.0.to_string(),
        algorithm: name.1.clone(),
        calls: sums.0,
        ns: sums.1,
        waited_ns: sums.2,
    };
    let (peers, comms) = messages(&collected.late_ns);
    let (times, variables) = variables();
    RankRecord {
        rank: process::me().index,
        host: sys::hostname(),
        from_ns: collected.from_ns,
        until_ns,
        waits: collected.waits,
        waited_ns: collected.waited_ns,
        asleep_ns: wait::asleep_ns().saturating_sub(collected.asleep_before_ns),
        peers,
        comms,
        collectives: collected.collectives.iter().map(collective).collect(),
        longest: collected.longest.clone(),
        piece_ns: collected.line.piece_ns,
        pieces: collected.line.pieces.clone(),
        variables,
        times,
    }
}

/// By process and by communicator.
fn messages(late_ns: &BTreeMap<u32, u64>) -> (Vec<PeerRecord>, Vec<CommRecord>) {
    // By rank, -1 for processes of other jobs, and transport.
    let mut peers = BTreeMap::<(i64, String), Messages>::new();
    let mut comms = BTreeMap::<String, Messages>::new();
    watched::each(|name, members, traffic: &Traffic| {
        let mut all = Messages::default();
        for (process, counts) in members.iter().zip(traffic.all()) {
            let [sent, sent_bytes, received, received_bytes] = counts;
            let messages = Messages { sent, sent_bytes, received, received_bytes };
            if messages != Messages::default() {
                peers.entry(path_to(process)).or_default().add(messages);
                all.add(messages);
            }
        }
        if all != Messages::default() {
            comms.entry(name.to_string()).or_default().add(all);
        }
    });
    for process in late_ns.keys() {
        peers.entry(path_to(*process)).or_default();
    }
    let peer = |((process, transport), messages)| PeerRecord {
        process,
        transport,
        messages,
        waited_ns: u32::try_from(process).ok().and_then(|process| late_ns.get(&process).copied()).unwrap_or(0),
    };
    let comm = |(name, messages)| CommRecord { name, messages };
    (peers.into_iter().map(peer).collect(), comms.into_iter().map(comm).collect())
}

/// The rank of a process, and how messages reach it.
fn path_to(process: u32) -> (i64, String) {
    let transport = pml::selected().path_info(process).map_or(String::new(), |path| path.transport);
    (rank_of(process).map_or(-1, i64::from), transport)
}

type Named = Vec<(String, u64)>;

/// Performance variables of the process that are not 0, by their names in the tool interface: times in ns, and others.
fn variables() -> (Named, Named) {
    let own = wait::PVARS.iter().chain(progress::PVARS).map(|pvar| (full_name("opal", "", pvar.name), *pvar));
    let components = image::components().iter().flat_map(|info| {
        info.pvars.iter().map(move |pvar| (full_name(info.framework.name, info.name, pvar.name), *pvar))
    });
    let number = |pvar: &Pvar| match &pvar.reading {
        Reading::Of(read) => read(),
        Reading::Mark(level) => level.take_most(),
    };
    let all = own.chain(components).map(|(name, pvar)| (pvar.class, (name, number(pvar))));
    let (times, others): (Vec<_>, Vec<_>) =
        all.filter(|(_, (_, value))| *value != 0).partition(|(class, _)| *class == PvarClass::Timer);
    let named = |list: Vec<(PvarClass, (String, u64))>| list.into_iter().map(|(_, named)| named).collect();
    (named(times), named(others))
}

/// How long was waited in each of so many pieces of time, which become longer as time goes on.
struct TimeLine {
    from_ns: u64,
    piece_ns: u64,
    pieces: Vec<u64>,
}

impl TimeLine {
    const fn new() -> TimeLine {
        TimeLine { from_ns: 0, piece_ns: FIRST_PIECE_NS, pieces: Vec::new() }
    }

    fn add(&mut self, since_ns: u64, until_ns: u64) {
        let (mut since, until) = (since_ns.saturating_sub(self.from_ns), until_ns.saturating_sub(self.from_ns));
        while until / self.piece_ns >= PIECES as u64 {
            self.pieces = self.pieces.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.piece_ns *= 2;
        }
        while since < until {
            let piece = (since / self.piece_ns) as usize;
            let end = until.min((piece as u64 + 1) * self.piece_ns);
            if self.pieces.len() <= piece {
                self.pieces.resize(piece + 1, 0);
            }
            self.pieces[piece] += end - since;
            since = end;
        }
    }
}

impl Collected {
    const NOTHING: Collected = Collected {
        from_ns: 0,
        asleep_before_ns: 0,
        waits: 0,
        waited_ns: 0,
        late_ns: BTreeMap::new(),
        longest: Vec::new(),
        collectives: BTreeMap::new(),
        line: TimeLine::new(),
    };
}

/// Waits that each rank remembers.
const LONGEST: usize = 10;
const PIECES: usize = 320;
const FIRST_PIECE_NS: u64 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_longer() {
        let mut line = TimeLine::new();
        line.add(FIRST_PIECE_NS / 2, FIRST_PIECE_NS * 3 / 2);
        assert_eq!(line.pieces, [FIRST_PIECE_NS / 2, FIRST_PIECE_NS / 2]);
        let far = FIRST_PIECE_NS * (2 * PIECES as u64 + 1);
        line.add(far - FIRST_PIECE_NS, far);
        assert_eq!((line.piece_ns, line.pieces[0]), (4 * FIRST_PIECE_NS, FIRST_PIECE_NS));
        assert_eq!(line.pieces.iter().sum::<u64>(), 2 * FIRST_PIECE_NS);
        assert!(line.pieces.len() <= PIECES);
    }
}
