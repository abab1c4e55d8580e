//! `--host`, `--hostfile` and the allocation of a resource manager: jobs run on this machine, so they say how many ranks it
//! has room for, and other machines are refused.

use crate::refusal::Refusal;
use orte_core::allocation::{self, Surroundings};
use std::path::PathBuf;

/// Slots that hosts and files name together; `None` if they name none.
pub fn slots(hosts: &[String], files: &[PathBuf]) -> Result<Option<u32>, Refusal> {
    let mut total: Option<u32> = None;
    let mut add = |slots: u32| total = Some(total.unwrap_or(0).saturating_add(slots));
    for word in hosts.iter().flat_map(|list| list.split(',')).map(str::trim).filter(|word| !word.is_empty()) {
        let from = format!("--host {word}");
        let (name, slots) = part(word);
        check(name, &from)?;
        add(slots.map_or(Ok(1), |slots| number(slots, &from))?);
    }
    for path in files {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Refusal::usage(format!("--hostfile {}: {error}", path.display())))?;
        for (index, line) in text.lines().enumerate() {
            let from = format!("{}, line {}", path.display(), index + 1);
            if let Some(slots) = of_line(line, &from)? {
                add(slots);
            }
        }
    }
    Ok(total)
}

/// Slots that the resource manager gave of this machine; `None` if there is no manager. An allocation of other machines is
/// refused: ranks that silently crowd on one of them are what nobody wants.
pub fn allocated(surroundings: &impl Surroundings) -> Result<Option<u32>, Refusal> {
    let allocation = allocation::allocation(surroundings).map_err(|why| {
        Refusal::usage(format!("{why}; `--host localhost:N` starts N ranks on this machine without it"))
    })?;
    let Some((manager, hosts)) = allocation else { return Ok(None) };
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    match names.iter().all(|name| check(name, "").is_ok()) {
        true => Ok(Some(hosts.iter().fold(0, |sum, host| sum.saturating_add(host.slots)))),
        false => Err(Refusal::usage(format!(
            "{} gave this job {}, and {ONE_MACHINE}; `--host localhost:N` starts N ranks on this machine alone",
            manager.name(),
            shown(&names)
        ))),
    }
}

/// This process's own variables and files.
pub struct Own;

impl Surroundings for Own {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn file(&self, path: &str) -> Result<String, String> {
        match std::fs::metadata(path) {
            Ok(data) if !data.is_file() => Err("it is not a regular file".into()),
            Ok(data) if data.len() > FILE_MAX => Err(format!("it is longer than {FILE_MAX} bytes")),
            Ok(_) => std::fs::read_to_string(path).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A list of hosts is not longer.
const FILE_MAX: u64 = 64 << 20;
/// What to do with several machines.
const ONE_MACHINE: &str = "mpirun does not start ranks on several machines yet (mpiexec.hydra of MPICH does, with programs of this \
                           library)";

/// The first names of a list.
fn shown(names: &[&str]) -> String {
    match names.len() {
        0..=4 => names.join(", "),
        count => format!("{} and {} other machines", names[..3].join(", "), count - 3),
    }
}

/// `name slots=N max_slots=N # comment`, or MPICH's `name:N`.
pub fn of_line(line: &str, from: &str) -> Result<Option<u32>, Refusal> {
    let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
    let Some(word) = words.next() else { return Ok(None) };
    let (name, after_colon) = part(word);
    check(name, from)?;
    let mut slots = after_colon.map(|slots| number(slots, from)).transpose()?;
    for word in words {
        match word.split_once('=') {
            Some(("slots" | "cpu" | "count", count)) => slots = Some(number(count, from)?),
            // More ranks than slots are always allowed.
            Some(("max_slots" | "max-slots", count)) => _ = number(count, from)?,
            _ => return Err(Refusal::usage(format!("{from}: `{word}` is not known; write HOST slots=N"))),
        }
    }
    Ok(Some(slots.unwrap_or(opal_core::sys::cores() as u32)))
}

/// Name and slots. The colons of an address such as `::1` part nothing.
fn part(word: &str) -> (&str, Option<&str>) {
    match word.split_once(':') {
        Some((name, slots)) if !name.is_empty() && !slots.contains(':') => (name, Some(slots)),
        _ => (word, None),
    }
}

fn number(text: &str, from: &str) -> Result<u32, Refusal> {
    match text {
        "*" => Ok(opal_core::sys::cores() as u32),
        _ => text
            .parse()
            .ok()
            .filter(|slots| *slots > 0)
            .ok_or_else(|| Refusal::usage(format!("{from}: `{text}` is no number of slots"))),
    }
}

/// Refuses a name that is not this machine's; `from` says where it stood.
pub fn check(name: &str, from: &str) -> Result<(), Refusal> {
    let own = opal_core::sys::hostname();
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_address = name.contains(':') || name.starts_with(|c: char| c.is_ascii_digit());
    let same = name.eq_ignore_ascii_case(&own)
        || (!is_address && short(name) == short(&own) && (!name.contains('.') || !own.contains('.')));
    match same || ["localhost", "127.0.0.1", "::1"].contains(&name) {
        true => Ok(()),
        false => Err(Refusal::usage(format!(
            "{from}: {name} is not this machine ({own}), and {ONE_MACHINE}; write localhost or leave it out"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_hostfile() {
        let line = |text| of_line(text, "f, line 1");
        assert_eq!(line("localhost slots=4 max_slots=8 # mine").unwrap(), Some(4));
        assert_eq!(line("127.0.0.1:3").unwrap(), Some(3));
        assert_eq!(line("::1").unwrap(), Some(opal_core::sys::cores() as u32));
        assert_eq!(line("  # nothing").unwrap(), None);
        for (text, words) in [
            ("node17 slots=4", "node17 is not this machine"),
            ("localhost slots=many", "`many`"),
            ("localhost slot", "`slot`"),
            ("localhost slots=0", "`0`"),
            ("10.0.0.1", "10.0.0.1"),
        ] {
            let sentence = line(text).unwrap_err().sentence;
            assert!(sentence.contains(words) && sentence.contains("f, line 1"), "{text}: {sentence}");
        }
    }

    struct Given(Vec<(&'static str, String)>);

    impl Surroundings for Given {
        fn variable(&self, name: &str) -> Option<String> {
            self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
        }

        fn file(&self, _path: &str) -> Result<String, String> {
            Err("there is no such file".into())
        }
    }

    #[test]
    fn an_allocation_says_how_many_ranks_there_are() {
        let slurm = |hosts: &str, tasks: &str| {
            allocated(&Given(vec![
                ("SLURM_JOB_ID", "7".into()),
                ("SLURM_JOB_NODELIST", hosts.into()),
                ("SLURM_TASKS_PER_NODE", tasks.into()),
            ]))
        };
        assert_eq!(slurm(&opal_core::sys::hostname(), "3").unwrap(), Some(3));
        assert_eq!(allocated(&Given(Vec::new())).unwrap(), None);
        let sentence = slurm("elsewhere[1-9]", "2(x9)").unwrap_err().sentence;
        let words =
            ["Slurm gave this job elsewhere1, elsewhere2, elsewhere3 and 6 other machines", "--host localhost:N"];
        assert!(words.iter().all(|word| sentence.contains(word)), "{sentence}");
        let sentence = slurm("n1,n2", "2").unwrap_err().sentence;
        assert!(sentence.contains("SLURM_TASKS_PER_NODE") && sentence.contains("--host localhost:N"), "{sentence}");
        let pbs = Given(vec![("PBS_JOBID", "7".into()), ("PBS_NODEFILE", "/gone".into())]);
        assert!(allocated(&pbs).unwrap_err().sentence.contains("/gone"));
    }

    #[test]
    fn this_machine_by_its_name() {
        let own = opal_core::sys::hostname();
        assert_eq!(slots(&[format!("{own}:2,localhost")], &[]).unwrap(), Some(3));
        assert_eq!(slots(&[], &[]).unwrap(), None);
    }
}
