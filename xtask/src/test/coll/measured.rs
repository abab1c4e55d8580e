//! Calls that repeat themselves: both algorithms of long data are tried, and all ranks come to the same verdicts.

use super::differential::launch;
use crate::failure::Result;
use crate::test::{Session, Verdict};

/// `coll/measured@…`.
pub fn cases(session: &mut Session) {
    for ranks in [2, 3] {
        session.case(&format!("coll/measured@{ranks}"), |session| run(session, ranks).unwrap_or_else(Verdict::from));
    }
}

fn run(session: &mut Session, ranks: u32) -> Result<Verdict> {
    let ended = launch(session, "coll_measured", "measured", ranks, &[], &[])?;
    if !ended.ended_with(0) {
        return Ok(Verdict::Failed(ended.story()));
    }
    let ran = |algorithm: &str| {
        ended.err.lines().any(|line| line.contains("sm: Bcast of ") && line.trim_end().ends_with(algorithm))
    };
    if !ran(": direct") || !ran(": pipeline") {
        return Ok(Verdict::Failed(
            "MPI_Bcast did not run both direct and in a pipeline (see --mca coll_base_verbose 40)".to_owned(),
        ));
    }
    let verdicts = |rank: u32| -> Vec<&str> {
        let said = ended.err.lines().filter_map(|line| line.split_once(&format!(" rank {rank}] ")));
        said.map(|(_, text)| text).filter(|text| text.contains(" and more goes ")).collect()
    };
    let first = verdicts(0);
    Ok(match first.is_empty() || (1..ranks).any(|rank| verdicts(rank) != first) {
        false => Verdict::Passed(String::new()),
        true => Verdict::Failed(format!("the ranks report no choice, or different ones\n{}", ended.story())),
    })
}
