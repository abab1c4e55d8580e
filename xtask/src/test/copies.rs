//! Long messages between the processes of a node under every condition: the C program that is about their data, with and
//! without the system's leave to copy from one process to another, and with a rank that dies meanwhile.

use super::jobs::{self, Job};
use super::{Session, Verdict, deadline};
use crate::failure::Result;
use std::ops::RangeInclusive;

/// `copies/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    for case in CASES {
        session.case(&format!("copies/{}", case.name), |session| {
            run(session, case)
                .map_or_else(Verdict::from, |ended| jobs::verdict(&ended, (case.holds)(&ended, case.ranks)))
        });
    }
    for (name, argument, hosts) in WINDOWS {
        session.case(&format!("copies/{name}"), |session| {
            windows(session, name, argument, *hosts).unwrap_or_else(Verdict::from)
        });
    }
    for case in PIECES {
        session.case(&format!("copies/{}", case.name), |session| pieces(session, case).unwrap_or_else(Verdict::from));
    }
    session.case("copies/pieces-of-a-round-refused", |session| pieces_refused(session).unwrap_or_else(Verdict::from));
    Ok(())
}

/// Rounds of partitioned communication whose sender computes.
struct Pieces {
    name: &'static str,
    options: &'static [&'static str],
    /// How many pieces the receiver copies by itself.
    copied: RangeInclusive<u32>,
    /// How many the sender announces by a message of their own.
    announced: RangeInclusive<u32>,
}

/// The receiver copies all pieces but the last of each round by itself, whatever is measured to be faster, unless the user has said how
/// long messages come. Those of the first round are announced one by one, since the sender learns during it that the receiver can copy;
/// from then on only the last of each round is.
const PIECES: &[Pieces] = &[
    Pieces { name: "pieces-of-a-round", options: &[], copied: 70..=80, announced: 10..=17 },
    Pieces {
        name: "pieces-of-a-round-in-fragments",
        options: &["--mca", "pml_ob1_long_messages", "fragments"],
        copied: 0..=0,
        announced: 80..=80,
    },
];

fn pieces(session: &mut Session, case: &Pieces) -> Result<Verdict> {
    let (name, options) = (format!("copies/{}", case.name), [&["-n", "2"], case.options].concat());
    let ended = Job { source: "tests/mpirun/apart.c", name: &name, options: &options, arguments: &[] }.run(session)?;
    let said = |wanted: &RangeInclusive<u32>, what: &str| {
        let end = format!(" of 80 pieces were {what}");
        let number = ended.err.lines().find_map(|line| line.strip_suffix(&end)?.split_whitespace().next_back());
        match number.and_then(|number| number.parse().ok()) {
            Some(number) if wanted.contains(&number) => Ok(()),
            number => Err(format!("{wanted:?} of 80 pieces should be {what}, not {number:?}")),
        }
    };
    let holds = said(&case.copied, "copied by their receiver")
        .and_then(|()| said(&case.announced, "announced by their sender"))
        .and_then(|()| well(&ended));
    Ok(jobs::verdict(&ended, holds))
}

/// Where a piece cannot be copied the round fails for its receiver, and no later one does.
fn pieces_refused(session: &mut Session) -> Result<Verdict> {
    let (source, name) = ("tests/mpirun/lent.c", "copies/pieces-of-a-round-refused");
    let ended = Job { source, name, options: &["-n", "2"], arguments: &[] }.run(session)?;
    Ok(jobs::verdict(&ended, well(&ended)))
}

/// Windows that MPI makes the memory of, and whether the job has two hosts.
const WINDOWS: &[(&str, &str, bool)] = &[
    ("memory-of-windows", "windows", false),
    ("memory-of-shared-windows", "shared-windows", false),
    ("memory-of-contiguous-windows", "contiguous-windows", false),
    ("memory-of-windows-of-two-hosts", "windows", true),
];

/// Messages from and to memory of such windows go between mapped buffers; there is no other way for a single copy here.
fn windows(session: &mut Session, name: &str, argument: &str, hosts: bool) -> Result<Verdict> {
    let agent = jobs::agent(session)?;
    let ranks: &[&str] = match hosts {
        true => &["--mca", "plm_ssh_agent", &agent, "--host", jobs::TWO_HOSTS],
        false => &["-n", "3"],
    };
    let (source, name) = ("tests/c/pt2pt_shareable.c", format!("copies/{name}"));
    let options = [ranks, &["--mca", "smsc_base_verbose", "20"], MAPPED].concat();
    let ended = Job { source, name: &name, options: &options, arguments: &[argument] }.run(session)?;
    let holds = match hosts {
        // Whether a sender comes in time to write its half is a matter of luck in a ring.
        false => copied(&ended, 3, 0..=3),
        // Ranks 0 and 1 are on one host.
        true => well(&ended).and_then(|()| match lines(&ended, 3, READ).0[..] {
            [0, 1, 0] => Ok(()),
            ref reads => Err(format!("rank 1 alone should read a peer's memory; lines of each rank: {reads:?}")),
        }),
    };
    Ok(jobs::verdict(&ended, holds))
}

struct Case {
    name: &'static str,
    ranks: usize,
    options: &'static [&'static str],
    argument: &'static str,
    holds: fn(&deadline::Ended, usize) -> std::result::Result<(), String>,
}

const CASES: &[Case] = &[
    Case { name: "copied-by-both", ranks: 2, options: SINGLE, argument: "copied", holds: copied_by_both },
    Case { name: "in-small-pieces", ranks: 4, options: SMALL_PIECES, argument: "copied", holds: copied_by_both },
    // Between mapped buffers, with nothing else; then beside the system's copies.
    Case { name: "mapped", ranks: 2, options: MAPPED, argument: "copied shareable", holds: copied_by_both },
    Case {
        name: "mapped-in-small-pieces",
        ranks: 4,
        options: MAPPED_PIECES,
        argument: "plain shareable",
        holds: copied_by_any,
    },
    Case {
        name: "mapped-by-receivers",
        ranks: 3,
        options: MAPPED_ALONE,
        argument: "plain shareable",
        holds: copied_by_receivers,
    },
    Case { name: "mapped-and-not", ranks: 4, options: SINGLE, argument: "plain mixed", holds: copied_by_any },
    // Where one of both buffers is private the receiver of the other one copies alone; of some messages neither is.
    Case { name: "mapped-or-in-fragments", ranks: 3, options: MAPPED, argument: "plain mixed", holds: copied_by_any },
    Case {
        name: "mapped-as-it-comes",
        ranks: 2,
        options: MEASURED,
        argument: "plain shareable",
        holds: measured_shareable,
    },
    Case {
        name: "mapped-where-the-system-refuses",
        ranks: 2,
        options: SINGLE,
        argument: "refuse shareable",
        holds: copied_by_any,
    },
    Case { name: "nothing-is-mapped", ranks: 2, options: NOT_MAPPED, argument: "plain shareable", holds: not_copied },
    Case {
        name: "killed-with-mapped-buffers",
        ranks: 4,
        options: SINGLE,
        argument: "endless shareable",
        holds: killed,
    },
    // No memory is shared that could decide which side copies: the receiver does.
    Case {
        name: "without-claim-words",
        ranks: 2,
        options: NO_CLAIM_WORDS,
        argument: "plain",
        holds: copied_by_receivers,
    },
    Case { name: "left-out", ranks: 2, options: LEFT_OUT, argument: "plain", holds: not_copied },
    // Either side's half fails when peers have found each other already: the other side, or fragments, must do.
    Case { name: "reads-fail-later", ranks: 2, options: SINGLE, argument: "no-reads", holds: reads_failed },
    Case { name: "writes-fail-later", ranks: 2, options: SINGLE, argument: "no-writes", holds: copied_by_receivers },
    Case { name: "refused-by-the-system", ranks: 3, options: &[], argument: "refuse", holds: refused },
    Case { name: "a-rank-is-killed", ranks: 2, options: SINGLE, argument: "endless", holds: killed },
    Case { name: "killed-as-it-comes", ranks: 2, options: &[], argument: "endless", holds: killed },
    Case { name: "measured", ranks: 2, options: MEASURED, argument: "plain", holds: measured },
    Case { name: "rts-data", ranks: 4, options: RTS_DATA, argument: "plain", holds: rts_data },
    Case { name: "streamed", ranks: 3, options: STREAMED, argument: "plain", holds: streamed },
    Case { name: "over-sockets", ranks: 2, options: SOCKETS, argument: "plain", holds: placed },
    Case { name: "over-sockets-unasked", ranks: 2, options: UNASKED, argument: "plain", holds: placed },
    Case { name: "killed-over-sockets", ranks: 2, options: UNASKED, argument: "endless", holds: killed },
    Case { name: "one-of-four-is-killed", ranks: 4, options: &[], argument: "endless", holds: killed },
];

// Where the other way is not to be tried.
const SINGLE: &[&str] = &["--mca", "pml_ob1_long_messages", "single"];
const SMALL_PIECES: &[&str] = &[
    "--mca",
    "pml_ob1_long_messages",
    "single",
    "--mca",
    "smsc_cma_chunk_size",
    "4k",
    "--mca",
    "smsc_cma_min_size",
    "1",
    "--mca",
    "btl_sm_eager_limit",
    "4k",
];
const MAPPED: &[&str] = &["--mca", "pml_ob1_long_messages", "single", "--mca", "smsc", "map"];
const MAPPED_PIECES: &[&str] = &[
    "--mca",
    "pml_ob1_long_messages",
    "single",
    "--mca",
    "smsc",
    "map",
    "--mca",
    "smsc_map_chunk_size",
    "4k",
    "--mca",
    "smsc_map_min_size",
    "1",
    "--mca",
    "smsc_map_halves_size",
    "1",
    "--mca",
    "btl_sm_eager_limit",
    "4k",
];
const MAPPED_ALONE: &[&str] =
    &["--mca", "pml_ob1_long_messages", "single", "--mca", "smsc", "map", "--mca", "smsc_map_halves_size", "1g"];
const NOT_MAPPED: &[&str] =
    &["--mca", "pml_ob1_long_messages", "single", "--mca", "smsc", "map", "--mca", "mpi_alloc_mem_shareable", "false"];
const NO_CLAIM_WORDS: &[&str] = &["--mca", "btl", "self,tcp", "--mca", "pml_ob1_long_messages", "single"];
const LEFT_OUT: &[&str] = &["--mca", "smsc", "^cma,map"];
const MEASURED: &[&str] = &["--mca", "pml_base_verbose", "20"];
const RTS_DATA: &[&str] = &["--mca", "pml_ob1_long_messages", "fragments", "--mca", "pml_base_verbose", "20"];
const STREAMED: &[&str] = &["--mca", "pml_ob1_long_messages", "streamed", "--mca", "pml_base_verbose", "20"];
const SOCKETS: &[&str] = &["--mca", "btl", "self,tcp", "--mca", "smsc", "^cma,map", "--mca", "pml_base_verbose", "20"];
// Whatever fits into a frame is sent before anybody asks for it.
const UNASKED: &[&str] = &[
    "--mca",
    "btl",
    "self,tcp",
    "--mca",
    "smsc",
    "^cma,map",
    "--mca",
    "pml_base_verbose",
    "20",
    "--mca",
    "btl_tcp_eager_limit",
    "1m",
    "--mca",
    "btl_tcp_fragment_size",
    "1m",
];

fn run(session: &mut Session, case: &Case) -> Result<deadline::Ended> {
    let (ranks, name) = (case.ranks.to_string(), format!("copies/{}", case.name));
    let options = [&["-n", &ranks, "--mca", "smsc_base_verbose", "20"], case.options].concat();
    let (source, arguments) = ("tests/c/pt2pt_single_copy.c", case.argument.split(' ').collect::<Vec<_>>());
    Job { source, name: &name, options: &options, arguments: &arguments }.run(session)
}

fn well(ended: &deadline::Ended) -> std::result::Result<(), String> {
    if ended.ended_with(0) { Ok(()) } else { Err("status 0 was expected".to_owned()) }
}

/// How many lines of each rank, and of all, contain some words.
fn lines(ended: &deadline::Ended, ranks: usize, words: &str) -> (Vec<usize>, usize) {
    let count = |who: &str| ended.err.lines().filter(|line| line.contains(who) && line.contains(words)).count();
    ((0..ranks).map(|rank| count(&format!(" rank {rank}] "))).collect(), count(""))
}

/// A rank that reads, or writes, says so once.
fn copied(
    ended: &deadline::Ended,
    ranks: usize,
    writers: std::ops::RangeInclusive<usize>,
) -> std::result::Result<(), String> {
    well(ended)?;
    let (reads, _) = lines(ended, ranks, READ);
    if reads.iter().any(|lines| *lines != 1) {
        return Err(format!(
            "each rank should have read a peer's memory and say so in one line; lines of each rank: {reads:?}"
        ));
    }
    let (writes, all) = lines(ended, ranks, WRITTEN);
    if writes.iter().any(|lines| *lines > 1) || !writers.contains(&all) {
        return Err(format!(
            "{writers:?} ranks should have written to a peer's memory and say so in one line; lines of each rank: {writes:?}"
        ));
    }
    Ok(())
}

fn copied_by_both(ended: &deadline::Ended, ranks: usize) -> std::result::Result<(), String> {
    copied(ended, ranks, 1..=ranks)
}

/// Whether a sender comes in time to write a part is a matter of luck where it need not.
fn copied_by_any(ended: &deadline::Ended, ranks: usize) -> std::result::Result<(), String> {
    copied(ended, ranks, 0..=ranks)
}

fn copied_by_receivers(ended: &deadline::Ended, ranks: usize) -> std::result::Result<(), String> {
    copied(ended, ranks, 0..=0)
}

fn not_copied(ended: &deadline::Ended, ranks: usize) -> std::result::Result<(), String> {
    well(ended)?;
    match lines(ended, ranks, "single copy").1 + lines(ended, ranks, REFUSED).1 {
        0 => Ok(()),
        lines => Err(format!("{lines} lines report single copies, although single copies were turned off")),
    }
}

/// RTS data went to receives, was kept where none was posted yet, and came again where too much was kept already.
fn rts_data(ended: &deadline::Ended, ranks: usize) -> std::result::Result<(), String> {
    well(ended)?;
    for words in ["goes straight to its receive", "is kept: no receive is posted", "will come again"] {
        let (said, all) = lines(ended, ranks, words);
        if all == 0 || said.iter().any(|lines| *lines > 1) {
            return Err(format!(
                "some rank should say in one line that RTS data {words:?}; lines of each rank: {said:?}"
            ));
        }
    }
    Ok(())
}

fn refused(ended: &deadline::Ended, ranks: usize) -> std::result::Result<(), String> {
    well(ended)?;
    let (said, all) = lines(ended, ranks, REFUSED);
    if said.iter().any(|lines| *lines != 1) || all != ranks {
        return Err(format!(
            "each rank should say in one line that the system forbids single copies; lines of each rank: {said:?}"
        ));
    }
    match lines(ended, ranks, "single copy").1 {
        0 => Ok(()),
        lines => Err(format!("{lines} lines report single copies, although the system refuses them")),
    }
}

fn reads_failed(ended: &deadline::Ended, ranks: usize) -> std::result::Result<(), String> {
    well(ended)?;
    let ((reads, _), (fragments, _)) = (lines(ended, ranks, READ), lines(ended, ranks, FRAGMENTS));
    match reads.iter().all(|lines| *lines == 0) && fragments.iter().all(|lines| *lines == 1) {
        true => Ok(()),
        false => Err(format!(
            "reads of a peer's memory fail here, so each rank should report none and fragments in one line; lines of each rank: \
             {reads:?} of reads, {fragments:?} of fragments"
        )),
    }
}

/// Each rank has tried both ways and says which one it took.
fn measured(ended: &deadline::Ended, ranks: usize) -> std::result::Result<(), String> {
    well(ended)?;
    let ((verdicts, _), (reads, _)) = (lines(ended, ranks, VERDICT), lines(ended, ranks, READ));
    match verdicts.iter().chain(&reads).all(|lines| *lines > 0) {
        true => Ok(()),
        false => Err(format!(
            "each rank should try single copies and report a choice; lines of each rank: {reads:?} of copies, {verdicts:?} of choices"
        )),
    }
}

/// As [`measured`], of mapped buffers apart from others.
fn measured_shareable(ended: &deadline::Ended, ranks: usize) -> std::result::Result<(), String> {
    measured(ended, ranks)?;
    let (verdicts, _) = lines(ended, ranks, " of shareable memory from process ");
    match verdicts.iter().all(|lines| *lines > 0) {
        true => Ok(()),
        false => {
            Err(format!("each rank should report a choice for shareable memory; lines of each rank: {verdicts:?}"))
        }
    }
}

/// Each rank has stored messages around its caches, and none was copied once.
fn streamed(ended: &deadline::Ended, ranks: usize) -> std::result::Result<(), String> {
    not_copied(ended, ranks)?;
    match lines(ended, ranks, STORED).0 {
        said if said.iter().all(|lines| *lines == 1) => Ok(()),
        said => Err(format!(
            "each rank should store messages around its caches and say so in one line; lines of each rank: {said:?}"
        )),
    }
}

/// Each rank has read whole messages straight to where they were wanted.
fn placed(ended: &deadline::Ended, ranks: usize) -> std::result::Result<(), String> {
    not_copied(ended, ranks)?;
    match lines(ended, ranks, PLACED).0 {
        said if said.iter().all(|lines| *lines == 1) => Ok(()),
        said => Err(format!(
            "each rank should read messages straight into its buffers and say so in one line; lines of each rank: {said:?}"
        )),
    }
}

/// The usual words, and nothing stays behind.
fn killed(ended: &deadline::Ended, ranks: usize) -> std::result::Result<(), String> {
    if !ended.ended_with(137) {
        return Err("status 137 was expected, and no process left behind".to_owned());
    }
    // Each pair has a rank that kills itself only if it is the last.
    let who = format!("mpirun: rank {} (process ", ranks - 1);
    match ended.err.contains(&who) && ended.err.contains("was ended by signal 9") {
        true => Ok(()),
        false => Err(format!("`{who}…) was ended by signal 9` was expected")),
    }
}

const READ: &str = "bytes read from a peer's memory";
const WRITTEN: &str = "bytes written to a peer's memory";
const VERDICT: &str = "MB/s in a single copy";
const STORED: &str = "are stored around the cache";
const FRAGMENTS: &str = "comes in fragments";
const PLACED: &str = "are read straight to their receive";
const REFUSED: &str = "cma cannot reach process";
