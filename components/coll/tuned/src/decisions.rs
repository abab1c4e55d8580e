//! The decision file: which algorithm from how many ranks and bytes on.
//!
//! ```text
//! # function  ranks  bytes  algorithm
//! bcast       2      0      next
//! bcast       2      1m     chain
//! bcast       16     64k    scatter_allgather
//! ```
//! Functions and algorithms are those of the parameters `coll_tuned_<function>_algorithm`. Of a function's
//! lines with at most the ranks and bytes of a call the one with the most ranks counts, among these the one with the most
//! bytes. Where there is none, or where it says auto, the built-in limits decide. Bytes are counted as
//! `ompi_info --coll` says; k, m and g are powers of 1024.

use crate::algorithm::{SERVED, Served, Subject};
use crate::params;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::mca::name;
use opal_core::sync::Once;
use opal_core::{Error, Result, message, sys};

/// The rules of a file, one a line.
#[derive(Debug, Default)]
pub struct Decisions {
    rules: Vec<Rule>,
    fingerprint: u64,
}

#[derive(Debug)]
struct Rule {
    subject: Subject,
    ranks: usize,
    bytes: usize,
    algorithm: &'static str,
}

/// Bytes; a line is a rule.
const LONGEST_FILE: usize = 1 << 20;

static IN_FORCE: Once<Option<Decisions>> = Once::new();

/// Reads the file that the parameter names, if it names one; once. `Err(Invalid)` after a message for each mistake.
pub fn read() -> Result<()> {
    let path = params::DECISIONS.text();
    if path.is_empty() || IN_FORCE.get().is_some() {
        return Ok(());
    }
    let bytes = sys::read_trusted(path, LONGEST_FILE).map_err(|why| {
        message!("coll_tuned_decisions: {path} cannot be read: {why}; name a file that every node has");
        Error::Invalid
    })?;
    let text = String::from_utf8(bytes).map_err(|_| {
        message!("coll_tuned_decisions: {path} is no text; name a file that every node has");
        Error::Invalid
    })?;
    let decisions = Decisions::parse(&text).map_err(|mistakes| {
        mistakes.iter().for_each(|mistake| message!("coll_tuned_decisions: {path}, {mistake}"));
        Error::Invalid
    })?;
    IN_FORCE.call_once(|| Some(decisions));
    Ok(())
}

/// What was read.
pub fn in_force() -> Option<&'static Decisions> {
    IN_FORCE.get()?.as_ref()
}

impl Decisions {
    /// From the text of a file; what is wrong, each with the number of its line.
    pub fn parse(text: &str) -> core::result::Result<Decisions, Vec<String>> {
        let (mut rules, mut mistakes) = (Vec::new(), Vec::new());
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            if words.is_empty() {
                continue;
            }
            match Rule::parse(&words) {
                Ok(rule) => rules.push(rule),
                Err(why) => mistakes.push(format!("line {}: {why}", index + 1)),
            }
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        // FNV-1a.
        let fingerprint = text
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Ok(Decisions { rules, fingerprint })
    }

    /// The word for a call.
    pub fn algorithm(&self, subject: Subject, ranks: usize, bytes: usize) -> Option<&'static str> {
        let counts = |rule: &&Rule| rule.subject == subject && rule.ranks <= ranks && rule.bytes <= bytes;
        self.rules.iter().filter(counts).max_by_key(|rule| (rule.ranks, rule.bytes)).map(|rule| rule.algorithm)
    }

    /// Whether an algorithm of the function is named, in whatever case.
    pub fn names(&self, subject: Subject) -> bool {
        self.rules.iter().any(|rule| rule.subject == subject && !matches!(rule.algorithm, "auto" | "next"))
    }

    /// Differs from that of another text.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

impl Rule {
    fn parse(words: &[&str]) -> core::result::Result<Rule, String> {
        let [function, ranks, bytes, algorithm] = words else {
            return Err(format!("it has {} words; write function, ranks, bytes, algorithm", words.len()));
        };
        let Served { subject, words, .. } = SERVED.iter().find(|served| served.name == *function).ok_or_else(|| {
            let all: Vec<&str> = SERVED.iter().map(|served| served.name).collect();
            unknown("function", function, &all)
        })?;
        let algorithm = words
            .iter()
            .find(|word| *word == algorithm)
            .ok_or_else(|| unknown(&format!("algorithm of {function}"), algorithm, words))?;
        let number = |word: &str, unit: &str| {
            number(word).ok_or_else(|| format!("{word} is no number of {unit}; write 4096 or 4k, say"))
        };
        Ok(Rule { subject: *subject, ranks: number(ranks, "ranks")?, bytes: number(bytes, "bytes")?, algorithm })
    }
}

fn unknown(kind: &str, typed: &str, have: &[&str]) -> String {
    let hint = match name::nearest(typed, have.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("there are {}", have.join(", ")),
    };
    format!("there is no {kind} {typed}; {hint}")
}

fn number(word: &str) -> Option<usize> {
    let shift = match word.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => 10,
        b'm' => 20,
        b'g' => 30,
        _ => return word.parse().ok(),
    };
    word[..word.len() - 1].parse::<usize>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_with_the_most_ranks_and_bytes_counts() {
        let text = "# a comment\n\nbcast 2 0 next\nbcast 2 1k chain # here\nbcast 8 0 auto\nalltoall 2 0 bruck\n";
        let decisions = Decisions::parse(text).unwrap();
        let bcast = |ranks, bytes| decisions.algorithm(Subject::Bcast, ranks, bytes);
        assert_eq!([bcast(1, 9), bcast(2, 0), bcast(7, 1023)], [None, Some("next"), Some("next")]);
        assert_eq!([bcast(7, 1024), bcast(8, 4096)], [Some("chain"), Some("auto")]);
        assert_eq!(decisions.algorithm(Subject::Alltoall, 3, 3), Some("bruck"));
        assert_ne!(decisions.fingerprint(), Decisions::parse("").unwrap().fingerprint());
    }

    #[test]
    fn every_mistake_has_its_line_and_the_nearest_name() {
        let text = "bcast 2 0 chian\nbcats 2 0 next\n\nbcast 2 0\nbcast two 0 next\nbcast 2 1x next\n";
        let mistakes = Decisions::parse(text).unwrap_err();
        assert_eq!(
            mistakes,
            [
                "line 1: there is no algorithm of bcast chian; did you mean chain?",
                "line 2: there is no function bcats; did you mean bcast?",
                "line 4: it has 3 words; write function, ranks, bytes, algorithm",
                "line 5: two is no number of ranks; write 4096 or 4k, say",
                "line 6: 1x is no number of bytes; write 4096 or 4k, say",
            ]
        );
    }
}
