//! Instructions per call, counted by callgrind: times are noisy, these are not.
//!
//! benches/c/instructions.c calls one function from each of its `count_…` functions, sixteen times, each call at a place
//! of its own. The ranks take turns outside of MPI, so that no count has any waiting in it.

use crate::failure::{At, Result, fail};
use crate::shell;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Instructions of one call, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Count {
    /// The middle one of sixteen: what a call takes that has nothing else to do.
    pub typical: f64,
    /// The mean: with what happens only every so many calls.
    pub mean: f64,
}

/// Compiles the program with the product's own mpicc and counts; `folder` is for its files, `options` are mpirun's.
pub fn count(dist: &Path, options: &[&str], sources: &Path, folder: &Path) -> Result<BTreeMap<String, Count>> {
    let options = [options, &["-n", "2"]].concat();
    count_in(dist, (&["mpicc"], &sources.join("instructions.c")), &options, folder)
}

/// Likewise with another wrapper, options of its own, and program; `options` have the number of ranks.
pub fn count_in(
    dist: &Path,
    (wrapper, source): (&[&str], &Path),
    options: &[&str],
    folder: &Path,
) -> Result<BTreeMap<String, Count>> {
    let program = folder.join("instructions");
    let _ = std::fs::remove_dir_all(folder);
    shell::folder(folder)?;
    let mut compiler = Command::new(dist.join("bin").join(wrapper[0]));
    compiler.args(&wrapper[1..]);
    // A function's symbol is bound at the start: its first call is not to count the dynamic loader's work.
    compiler.args(["-O2", "-g", "-Wl,-z,now"]).arg(source).arg("-o").arg(&program).current_dir(folder);
    shell::output(&mut compiler)?;
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.args(options).args(["valgrind", "--quiet", "--tool=callgrind"]);
    command.args(["--compress-strings=no", "--compress-pos=no"]);
    command.arg(format!("--callgrind-out-file={}/profile.%p", folder.display())).arg(&program).arg(folder);
    super::launch::run(&mut command, LIMIT, &folder.join("run.log"))?.map_err(fail)?;
    let mut sites: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).at(format!("list {}", folder.display()))?.flatten() {
        if entry.file_name().to_string_lossy().starts_with("profile.") {
            read(&shell::read(&entry.path())?, &mut sites);
        }
    }
    match sites.len() {
        0 => Err(fail("callgrind counted no call of the functions that are measured")),
        _ => Ok(sites.iter().map(|(name, sites)| (name.clone(), summary(sites))).collect()),
    }
}

/// Adds calls and instructions of every place in a function `count_NAME` that calls another.
fn read(profile: &str, sites: &mut BTreeMap<String, Vec<(u64, u64)>>) {
    let (mut name, mut calls) = (None, None);
    for line in profile.lines() {
        if let Some(function) = line.strip_prefix("fn=") {
            name = function.strip_prefix("count_").map(str::to_owned);
        } else if let Some(rest) = line.strip_prefix("calls=") {
            calls = rest.split(' ').next().and_then(|word| word.parse::<u64>().ok());
        } else if let (Some(times), Some(name)) = (calls.take(), &name) {
            let cost = line.split(' ').nth(1).and_then(|word| word.parse().ok());
            if let Some(cost) = cost {
                sites.entry(name.clone()).or_default().push((times, cost));
            }
        }
    }
}

fn summary(sites: &[(u64, u64)]) -> Count {
    let mut each: Vec<f64> = sites.iter().map(|(calls, cost)| *cost as f64 / *calls as f64).collect();
    each.sort_by(f64::total_cmp);
    let (calls, cost) = sites.iter().fold((0, 0), |(calls, cost), site| (calls + site.0, cost + site.1));
    let tenth = |value: f64| (value * 10.0).round() / 10.0;
    Count { typical: tenth(each[each.len() / 2]), mean: tenth(cost as f64 / calls as f64) }
}

/// Under callgrind on a loaded machine.
const LIMIT: Duration = Duration::from_secs(180);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles() {
        let text = "fn=count_send_8\n12 5\ncfn=PMPI_Send\ncalls=7 0\n12 700\n13 1\ncfn=PMPI_Send\ncalls=7 0\n13 770\n\
                    14 9\ncfn=PMPI_Send\ncalls=7 0\n13 700\nfn=main\ncfn=count_send_8\ncalls=1 0\n9 99999\n";
        let mut sites = BTreeMap::new();
        read(text, &mut sites);
        assert_eq!(sites.keys().collect::<Vec<_>>(), ["send_8"]);
        let count = summary(&sites["send_8"]);
        assert!((count.typical - 100.0).abs() < 1e-9 && (count.mean - 103.3).abs() < 1e-9, "{count:?}");
    }
}
