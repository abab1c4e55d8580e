//! When, where and by which compilers a library is built: what `ompi_info` shows of it.

use crate::build::compile;
use crate::failure::{Result, fail};
use crate::shell;
use crate::tree::Tree;
use serde_json::{Value, json};
use std::process::Command;

/// The variable by which packagers fix all dates of a build (reproducible-builds.org): seconds since 1970.
pub const EPOCH: &str = "SOURCE_DATE_EPOCH";

/// The facts, as `share/ompi-rs/components.json` has them. Two builds of one commit differ at most in the host's name, and
/// with [`EPOCH`] set not even in that.
pub fn facts(tree: &Tree) -> Result<Value> {
    let first = |mut command: Command| {
        let said = shell::output(&mut command).ok();
        said.and_then(|text| text.lines().next().map(str::to_owned)).unwrap_or_else(|| "unknown".to_owned())
    };
    let asked = |program: &str, argument: &str| {
        let mut command = Command::new(program);
        command.arg(argument);
        command
    };
    let mut rustc = compile::rustc();
    rustc.arg("-V");
    let host = match std::env::var_os(EPOCH) {
        Some(_) => format!("not recorded, since {EPOCH} asks for equal builds"),
        None => first(asked("uname", "-n")),
    };
    Ok(json!({
        "architecture": compile::host()?,
        "host": host,
        "date": date(tree)?,
        "rust": first(rustc),
        "c": "gcc",
        "c_version": first(asked("gcc", "-dumpfullversion")),
        "cxx": "g++",
    }))
}

/// The date that the packager says, else that of the commit, so that the same sources give the same product.
fn date(tree: &Tree) -> Result<String> {
    let seconds = match std::env::var(EPOCH) {
        Ok(text) => text.parse().map_err(|_| {
            fail(format!(
                "{EPOCH}={text} is no number of seconds; write {EPOCH}=$(git log -1 --format=%ct) or unset it"
            ))
        })?,
        Err(_) => {
            let mut git = Command::new("git");
            git.arg("-C").arg(&tree.root).args(["log", "-1", "--format=%ct"]);
            match shell::output(&mut git).ok().and_then(|text| text.trim().parse().ok()) {
                Some(seconds) => seconds,
                None => return Ok(format!("not recorded: no commit and no {EPOCH}")),
            }
        }
    };
    Ok(utc(seconds))
}

/// `2026-01-02T03:04:05Z`. Days to dates by Howard Hinnant's `civil_from_days`: years begin in March, so that the leap
/// day is the last one.
fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let march = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * march + 2) / 5 + 1, if march < 10 { march + 3 } else { march - 9 });
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn dates() {
        // As `date -u -d @N +%FT%TZ` writes them.
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_767_323_045), "2026-01-02T03:04:05Z");
        assert_eq!(utc(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}
