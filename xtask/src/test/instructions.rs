//! Instructions of the calls that matter most, against the committed figures: five per cent more is a failure.

use super::{Session, Verdict};
use crate::bench::instructions::{self, Count};
use crate::failure::{At, Result, fail};
use crate::shell;
use std::collections::BTreeMap;

/// `instructions/…`: one count each.
pub fn tier(session: &mut Session) -> Result<()> {
    let mut counted = None;
    for name in NAMES {
        session.case(&format!("instructions/{name}"), |session| {
            if shell::which("valgrind").is_none() {
                return Verdict::Skipped("valgrind is not installed: apt-get install valgrind".to_owned());
            }
            let counts = counted.get_or_insert_with(|| count(session).map_err(|failure| failure.text));
            match counts {
                Ok((counts, committed)) => compare(counts.get(*name), committed.get(*name)),
                Err(why) => Verdict::Failed(why.clone()),
            }
        });
    }
    Ok(())
}

type Counts = BTreeMap<String, Count>;

/// Today's and the committed ones; with `--bless` today's are committed.
fn count(session: &mut Session) -> Result<(Counts, Counts)> {
    let dist = session.library().map_err(fail)?.dist;
    let (sources, folder) = (session.tree.root.join("benches/c"), session.scratch().join("instructions"));
    let mut counts = instructions::count(&dist, &[], &sources, &folder)?;
    // The same while messages are counted.
    let (counting, text) = (session.scratch().join("instructions-counting"), folder.join("statistics.txt"));
    let option = format!("--stats={}", text.display());
    for (name, count) in instructions::count(&dist, &[&option], &sources, &counting)? {
        let name = format!("counting_{name}");
        if NAMES.contains(&name.as_str()) {
            counts.insert(name, count);
        }
    }
    // The same while a tool listens to transports.
    let listening = session.scratch().join("instructions-listening");
    let wrapper = (&["mpicc", "-DLISTENS"][..], &*sources.join("instructions.c"));
    for (name, count) in instructions::count_in(&dist, wrapper, &["-n", "2"], &listening)? {
        let name = format!("listening_{name}");
        if NAMES.contains(&name.as_str()) {
            counts.insert(name, count);
        }
    }
    let file = session.tree.root.join(FILE);
    if session.options.bless {
        let text = serde_json::to_string_pretty(&counts).at("write the counts as JSON")?;
        shell::write(&file, &(text + "\n"))?;
    }
    let committed = serde_json::from_str(&shell::read(&file)?).at(format!("read {FILE}"))?;
    Ok((counts, committed))
}

fn compare(now: Option<&Count>, committed: Option<&Count>) -> Verdict {
    let (Some(now), Some(committed)) = (now, committed) else {
        let who = if now.is_none() { "the program printed" } else { "the committed figures have" };
        return Verdict::Failed(format!(
            "{who} no figure of this call; `cargo xtask test instructions --bless` writes {FILE} anew"
        ));
    };
    let text = format!("{} instructions, {} in the mean", now.typical, now.mean);
    let grown = |now: f64, committed: f64| now > committed * TOLERANCE;
    let shrunk = |now: f64, committed: f64| now * TOLERANCE < committed;
    let was = format!("{FILE} says {} and {}", committed.typical, committed.mean);
    if grown(now.typical, committed.typical) || grown(now.mean, committed.mean) {
        return Verdict::Failed(format!(
            "{text}; {was}. The message path became longer by more than 5 %: find out why with \
             `callgrind_annotate --inclusive=yes` on target/test/instructions/profile.*; if it must be so, \
             `cargo xtask test instructions --bless` and say why in the commit"
        ));
    }
    match shrunk(now.typical, committed.typical) || shrunk(now.mean, committed.mean) {
        true => Verdict::Passed(format!("{text}; {was}: --bless them")),
        false => Verdict::Passed(text),
    }
}

const FILE: &str = "benches/instructions.json";
const TOLERANCE: f64 = 1.05;
/// Function and bytes; a receive's message has already arrived, a window's memory is mapped. `counting`: while statistics are gathered. `listening`: while a tool
/// listens to transports, and after it has freed handles that counted, which costs nothing.
const NAMES: &[&str] = &[
    "send_0",
    "send_8",
    "send_512",
    "recv_0",
    "recv_8",
    "recv_512",
    "send_gaps",
    "recv_gaps",
    "isend_8",
    "irecv_8",
    "waitall_of_isends",
    "waitall_of_irecvs",
    "vain_test",
    "vain_testany",
    "vain_iprobe",
    "put_8",
    "get_8",
    "win_flush",
    "fetch_and_op",
    "compare_and_swap",
    "accumulate_double",
    "win_lock",
    "win_unlock",
    "counting_send_8",
    "counting_recv_8",
    "counting_send_512",
    "counting_recv_512",
    "counting_waitall_of_irecvs",
    "listening_send_8",
    "listening_recv_8",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_a_failure() {
        let count = |typical, mean| Count { typical, mean };
        let verdict = |now, committed| compare(Some(&now), Some(&committed));
        assert!(matches!(verdict(count(105.0, 110.0), count(100.0, 110.0)), Verdict::Passed(_)));
        assert!(matches!(verdict(count(106.0, 110.0), count(100.0, 110.0)), Verdict::Failed(_)));
        assert!(matches!(verdict(count(100.0, 120.0), count(100.0, 110.0)), Verdict::Failed(_)));
        let Verdict::Passed(text) = verdict(count(50.0, 110.0), count(100.0, 110.0)) else { panic!("it is better") };
        assert!(text.contains("--bless"));
        assert!(matches!(compare(None, Some(&count(1.0, 1.0))), Verdict::Failed(_)));
        assert!(matches!(compare(Some(&count(1.0, 1.0)), None), Verdict::Failed(_)));
    }
}
