//! `--host` and `--hostfile`: there is one machine, so they say how many ranks it has room for, and refuse others.

use crate::refusal::Refusal;
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
            "{from}: {name} is not this machine ({own}), and several machines are not there yet; write localhost or \
             leave it out"
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

    #[test]
    fn this_machine_by_its_name() {
        let own = opal_core::sys::hostname();
        assert_eq!(slots(&[format!("{own}:2,localhost")], &[]).unwrap(), Some(3));
        assert_eq!(slots(&[], &[]).unwrap(), None);
    }
}
