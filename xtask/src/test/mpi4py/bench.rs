//! `cargo xtask bench mpi4py` measures a suite, and lists its tests.

use super::super::{Session, Verdict, deadline};
use crate::bench::result::{Figure, Table};
use crate::failure::{At, Result, fail};
use crate::shell;
use std::process::Command;
use std::time::Duration;

/// Ours alone, twice.
pub fn measured(session: &mut Session) -> Result<Verdict> {
    let file = session.scratch().join("mpi4py/bench.json");
    let _ = std::fs::remove_file(&file);
    let own = std::env::current_exe().at("find my own program")?;
    let mut command = Command::new(own);
    command.args(["bench", "mpi4py", "--suites", "request", "--rounds", "2", "--dist"]);
    command.arg(session.library().map_err(fail)?.dist).arg("--json").arg(&file);
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("mpi4py/bench.log"))?;
    if !ended.ended_with(0) {
        return Ok(Verdict::Failed(ended.story()));
    }
    let table: Table = serde_json::from_str(&shell::read(&file)?).at("read the figures")?;
    let row = table.rows.first().ok_or_else(|| fail("the table of figures has no row"))?;
    let line = row.sizes.first().ok_or_else(|| fail("the row of figures has no sizes"))?;
    let right = table.libraries[0].version.starts_with("ompi-rs")
        && row.failures.is_empty()
        && line.label.as_deref() == Some("request (30 tests)")
        && matches!(line.figures[..], [Some(Figure { best: Some(best), clean: 2, .. })] if best > 0.0);
    Ok(match right {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("{row:?}")),
    })
}

const LIMIT: Duration = Duration::from_secs(300);
