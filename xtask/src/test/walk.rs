//! The walk of one MPI_Send in docs/architecture/walk.md against a real run under callgrind, so that the page cannot rot.
//!
//! Each row of the page's tables names a file, a function, and the row it is called from. A row holds if lines of that
//! function were executed on behalf of the row it names, inlined or called. The order of a table is the order of the
//! walk; that a later row works with what an earlier one left behind is for the reader.

use super::{Session, Verdict, deadline};
use crate::failure::{At, Result as Outcome, fail};
use crate::{shell, tree};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `walk/architecture`.
pub fn tier(session: &mut Session) -> Outcome<()> {
    session.case("walk/architecture", |session| {
        if shell::which("valgrind").is_none() {
            return Verdict::Skipped("valgrind is not installed: apt-get install valgrind".to_owned());
        }
        match walk(session) {
            Ok(verdict) => verdict,
            Err(failure) => failure.into(),
        }
    });
    Ok(())
}

fn walk(session: &mut Session) -> Outcome<Verdict> {
    let program = program(session)?;
    let library = session.library().map_err(fail)?;
    // The page tells of a receiver that polls when the message comes: neither was the message there first, nor did the
    // receiver fall asleep. Which of the three a run meets is the system's choice.
    let mut said = String::new();
    for _ in 0..TRIES {
        match run(session, &library.dist, &program)? {
            Ok(passed) => return Ok(Verdict::Passed(passed)),
            Err(why) => said = why,
        }
    }
    Ok(Verdict::Failed(format!("none of {TRIES} runs is the one of the page; the last: {said}")))
}

/// One run, and what the comparison says.
fn run(session: &Session, dist: &Path, program: &Path) -> Outcome<Result<String, String>> {
    let folder = session.scratch().join("walk");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).at(format_args!("use {}", folder.display()))?;
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.args(["-n", "2", "valgrind", "--quiet", "--tool=callgrind"]);
    command.args(["--compress-strings=no", "--compress-pos=no"]);
    command.arg(format!("--callgrind-out-file={}/%p", folder.display())).arg(program);
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("walk.log"))?;
    if !ended.ended_with(0) {
        return Err(fail(ended.story()));
    }
    let mut profiles = Vec::new();
    for entry in std::fs::read_dir(&folder).at(format_args!("use {}", folder.display()))?.flatten() {
        profiles.push(Profile::read(&shell::read(&entry.path())?));
    }
    // Both ranks send and receive once; that of the eight bytes that rank 1 waits for cannot be told from the other.
    let [one, other] = &profiles[..] else {
        return Ok(Err(format!("callgrind should leave two profiles, one of each rank, and left {}", profiles.len())));
    };
    Ok(compare(&session.tree.root, one, other).or_else(|why| {
        let other_way = compare(&session.tree.root, other, one);
        other_way.map_err(|other_why| format!("{why}\nwith the ranks' profiles exchanged: {other_why}"))
    }))
}

/// Compiled without optimization: what is not forced inline is a function of its own in the profile.
fn program(session: &Session) -> Outcome<PathBuf> {
    let mut cargo = tree::cargo();
    cargo.args(["build", "--quiet", "--package", "walk", "--message-format", "json-render-diagnostics"]);
    cargo.arg("--manifest-path").arg(session.tree.root.join("Cargo.toml"));
    let outcome = shell::outcome(&mut cargo, COMPILE_LIMIT)?;
    if !outcome.status.success() {
        return Err(fail(outcome.stderr));
    }
    let messages = outcome.stdout.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut executables = messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    executables.next_back().ok_or_else(|| fail("cargo built package walk, but names no program of it"))
}

const PAGE: &str = "docs/architecture/walk.md";
const TRIES: usize = 12;
const LIMIT: Duration = Duration::from_secs(120);
const COMPILE_LIMIT: Duration = Duration::from_secs(600);

/// One row of a table.
struct Step {
    number: String,
    from: String,
    file: String,
    function: String,
}

/// What callgrind saw of one process.
#[derive(Default)]
struct Profile {
    /// Lines executed by a function, those inlined into it included: file as the compiler named it, line.
    lines: HashMap<String, HashSet<(String, usize)>>,
    calls: HashMap<String, HashSet<String>>,
}

/// Compares the page with the profiles of sender and receiver; a sentence on what was checked, or what does not hold.
fn compare(root: &Path, sender: &Profile, receiver: &Profile) -> Result<String, String> {
    let page = std::fs::read_to_string(root.join(PAGE)).map_err(|why| why.to_string())?;
    let send = section(&page, "## The sender")?;
    let recv = section(&page, "## The receiver")?;
    check(root, &send, sender, "PMPI_Send")?;
    check(root, &recv, receiver, "PMPI_Recv")?;
    Ok(format!("{} steps of the sender and {} of the receiver", send.len(), recv.len()))
}

fn check(root: &Path, steps: &[Step], profile: &Profile, entry: &str) -> Result<(), String> {
    let entry = profile
        .lines
        .keys()
        .find(|function| function.as_str() == entry || function.ends_with(&format!("::{entry}")))
        .ok_or_else(|| format!("{entry} was not called at all"))?;
    // Which functions of the profile executed lines of a step.
    let mut hosts: HashMap<&str, Vec<&String>> = HashMap::new();
    for step in steps {
        let from: Vec<&String> = match step.from.as_str() {
            "C" => vec![entry],
            earlier => hosts
                .get(earlier)
                .cloned()
                .ok_or_else(|| format!("step {} comes from step {earlier}, which is not above it", step.number))?,
        };
        let spans = spans(root, &step.file, &step.function)?;
        let found: Vec<&String> = profile
            .reachable(&from)
            .into_iter()
            .filter(|function| {
                profile.lines.get(*function).is_some_and(|lines| {
                    lines.iter().any(|(file, line)| {
                        file.ends_with(&step.file) && spans.iter().any(|(first, last)| (first..=last).contains(&line))
                    })
                })
            })
            .collect();
        if found.is_empty() {
            return Err(format!(
                "{PAGE} says that step {} runs `{}` of {} on behalf of step {}; the real run does not",
                step.number, step.function, step.file, step.from
            ));
        }
        hosts.insert(&step.number, found);
    }
    Ok(())
}

/// The rows of the first table below a heading.
fn section(page: &str, heading: &str) -> Result<Vec<Step>, String> {
    let below = page.split_once(&format!("\n{heading}")).ok_or_else(|| format!("{PAGE} has no section `{heading}`"))?.1;
    let steps: Vec<Step> = below
        .lines()
        .skip(1)
        .take_while(|line| !line.starts_with('#'))
        .filter(|line| line.starts_with('|'))
        .skip(2)
        .filter_map(|line| {
            let cells: Vec<&str> =
                line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
            let [number, from, file, function, ..] = cells[..] else { return None };
            Some(Step { number: number.into(), from: from.into(), file: file.into(), function: function.into() })
        })
        .collect();
    if steps.len() < 4 {
        Err(format!("{PAGE}: section `{heading}` should have a table of at least four steps"))
    } else {
        Ok(steps)
    }
}

/// First and last line of every function of this name in a file; `Type::name` looks only into impl blocks of the type.
fn spans(root: &Path, file: &str, function: &str) -> Result<Vec<(usize, usize)>, String> {
    let text = std::fs::read_to_string(root.join(file)).map_err(|why| format!("{file}: {why}"))?;
    let lines: Vec<&str> = text.lines().collect();
    let (owner, name) = function.rsplit_once("::").map_or((None, function), |(owner, name)| (Some(owner), name));
    let (signature, generic) = (format!("fn {name}("), format!("fn {name}<"));
    let areas: Vec<(usize, usize)> = match owner {
        None => vec![(1, lines.len())],
        Some(owner) => (1..=lines.len())
            .filter(|number| {
                let line = lines[number - 1];
                line.starts_with("impl") && line.split(|c: char| !c.is_alphanumeric()).any(|word| word == owner)
            })
            .map(|number| (number, end_of_block(&lines, number)))
            .collect(),
    };
    let found: Vec<(usize, usize)> = areas
        .iter()
        .flat_map(|(first, last)| *first..=*last)
        .filter(|number| lines[number - 1].contains(&signature) || lines[number - 1].contains(&generic))
        .map(|number| (number, end_of_block(&lines, number)))
        .collect();
    match found.is_empty() {
        true => Err(format!("{PAGE} names `{function}` in {file}, which has no such function")),
        false => Ok(found),
    }
}

/// The line that closes the block which opens at or after a line. The sources are formatted: it is the next line that
/// begins with a closing brace at the same indentation.
fn end_of_block(lines: &[&str], first: usize) -> usize {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let own = indent(lines[first - 1]);
    (first + 1..=lines.len())
        .find(|number| {
            let line = lines[number - 1];
            indent(line) == own && line.trim_start().starts_with('}')
        })
        .unwrap_or(lines.len())
}

impl Profile {
    /// Reads callgrind's output, written with `--compress-strings=no --compress-pos=no`.
    fn read(text: &str) -> Profile {
        let mut profile = Profile::default();
        let (mut file, mut function) = (String::new(), String::new());
        for line in text.lines() {
            match line.split_once('=') {
                Some(("fl" | "fi" | "fe", name)) => file = name.to_owned(),
                Some(("fn", name)) => function = name.to_owned(),
                Some(("cfn", name)) => {
                    profile.calls.entry(function.clone()).or_default().insert(name.to_owned());
                }
                _ => {
                    let number = line.split(' ').next().and_then(|word| word.parse().ok());
                    if let (Some(number), false) = (number, function.is_empty()) {
                        profile.lines.entry(function.clone()).or_default().insert((file.clone(), number));
                    }
                }
            }
        }
        profile
    }

    fn reachable<'a>(&'a self, from: &[&'a String]) -> HashSet<&'a String> {
        let mut seen: HashSet<&String> = from.iter().copied().collect();
        let mut next: Vec<&String> = from.to_vec();
        while let Some(function) = next.pop() {
            for called in self.calls.get(function).into_iter().flatten() {
                if seen.insert(called) {
                    next.push(called);
                }
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROFILE: &str = "fl=/src/a.rs\nfn=PMPI_Send\n3 1\nfi=/src/b.rs\n12 1\nfe=/src/a.rs\ncfi=/src/c.rs\n\
                           cfn=deep\ncalls=1 7\n4 9\n\nfl=/src/c.rs\nfn=deep\n7 2\n";

    #[test]
    fn profiles_are_read() {
        let profile = Profile::read(PROFILE);
        assert_eq!(profile.lines.len(), 2);
        let entry = String::from("PMPI_Send");
        assert_eq!(profile.reachable(&[&entry]).len(), 2);
        assert!(profile.lines["PMPI_Send"].contains(&("/src/b.rs".into(), 12)));
    }

    #[test]
    fn a_wrong_row_is_noticed() {
        let root = std::env::temp_dir().join(format!("ompi-rs-walk-{}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(
            root.join("b.rs"),
            format!("{}fn inlined() {{\n    1;\n}}\nfn other() {{\n}}\n", "\n".repeat(10)),
        )
        .unwrap();
        let step = |function: &str| Step {
            number: "1".into(),
            from: "C".into(),
            file: "b.rs".into(),
            function: function.into(),
        };
        let profile = Profile::read(PROFILE);
        assert!(check(&root, &[step("inlined")], &profile, "PMPI_Send").is_ok());
        assert!(check(&root, &[step("other")], &profile, "PMPI_Send").is_err());
        assert!(check(&root, &[step("gone")], &profile, "PMPI_Send").is_err());
        std::fs::remove_dir_all(&root).unwrap();
    }
}
