//! More elements than an `int` counts.

use super::differential::launch;
use crate::failure::{Result, fail};
use crate::shell;
use crate::test::{Session, Verdict};
use std::path::Path;

/// Alone, because of its memory: on each rank its elements, and as many again where they are combined.
pub fn run(session: &mut Session) -> Result<Verdict> {
    let (free, wanted) = (available_gib()?, WANTED_GIB);
    if free < wanted {
        return Ok(Verdict::Skipped(format!(
            "it needs {wanted} GiB of memory, and {free:.1} are free; end other programs"
        )));
    }
    let ended = launch(session, "coll_giant", "giant", 2, &[], &[ELEMENTS])?;
    Ok(if ended.ended_with(0) { Verdict::Passed(String::new()) } else { Verdict::Failed(ended.story()) })
}

/// As the system estimates it.
fn available_gib() -> Result<f64> {
    let text = shell::read(Path::new("/proc/meminfo"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
    Ok(kib.ok_or_else(|| fail("/proc/meminfo has no line MemAvailable"))? / f64::from(1 << 20))
}

const WANTED_GIB: f64 = 10.0;
/// 2^31 + 55.
const ELEMENTS: &str = "2147483703";
