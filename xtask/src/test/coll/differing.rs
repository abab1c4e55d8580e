//! Ranks with different parameters of coll/sm's pipelines, which would look for each other's data in different places.

use super::differential::{DRAWS, LIMIT};
use crate::failure::{Result, fail};
use crate::test::programs::{compiled, own_choice};
use crate::test::{Session, Verdict, deadline};
use std::process::Command;

/// `coll/pieces-differ@2`.
pub fn cases(session: &mut Session) {
    session.case("coll/pieces-differ@2", |session| run(session).unwrap_or_else(Verdict::from));
}

fn run(session: &mut Session) -> Result<Verdict> {
    let program = compiled(session, &session.tree.root.join("tests/c/coll_differential.c"), &[])?;
    let mut command = Command::new(session.library().map_err(fail)?.dist.join("bin/mpirun"));
    command.args(["-n", "2", "--mca", "coll_base_verbose", "40", "--mca", "smsc", "^cma", "sh", "-c", SCRIPT]);
    command.arg(program).args([DRAWS, "2"]);
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("coll/pieces-differ@2.log"))?;
    let right = ended.ended_with(0)
        && ended.err.contains("coll_sm_pipeline_ring is not the same on all ranks")
        && !ended.err.contains(": pipeline");
    Ok(if right { Verdict::Passed(String::new()) } else { Verdict::Failed(ended.story()) })
}

const SCRIPT: &str = "export OMPI_MCA_coll_sm_pipeline_piece=$((4096 << OMPI_COMM_WORLD_RANK)); exec \"$0\" \"$@\"";
