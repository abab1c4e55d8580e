//! The boot line: who a rank is, its parameters, and the program's arguments, in one line of text.
//!
//! `rank=0 size=4 tsc_khz=2100000 --mca coll_base_verbose 40 NAME=value -- arguments of the program`
//!
//! `key=value` in small letters says something to the library, as a variable KEY; [`KEYS`] lists them. `NAME=value` in
//! capitals is a variable of the environment as it is. Double quotes keep spaces together.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What a boot line can say, how it is written, and what it means.
pub const KEYS: &[(&str, Written, &str)] = &[
    ("rank", Written::Number, "rank of the first core in the job"),
    ("size", Written::Number, "ranks of the job; more than 1 needs the job's shared memory"),
    ("local_rank", Written::Number, "rank of the first core among those that share memory (default: rank)"),
    ("local_size", Written::Number, "ranks that share memory (default: size)"),
    ("smp", Written::Number, "ranks on this machine, one per core (default: 1)"),
    ("job", Written::Hexadecimal, "the job's number, hexadecimal; it is in the shared memory, too"),
    ("universe", Written::Number, "ranks that the job could have (default: size)"),
    ("app", Written::Number, "which of the job's programs this is, counted from 0"),
    ("hostname", Written::Text, "the machine's name"),
    ("tsc_khz", Written::Number, "how fast the time-stamp counter runs"),
    ("cores", Written::Hexadecimal, "mask of the host's cores that the job shares; makes waiting polite to the host"),
    (
        "shared_mib",
        Written::Number,
        "MiB of this machine's memory for a job of its own ranks, instead of a device's memory",
    ),
    (
        "log",
        Written::Level,
        "what goes to serial port 2, where there is one: error, warn, info, debug (default), trace",
    ),
    ("program", Written::Text, "name of the program, its argument 0"),
];

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Decimal digits.
    Number,
    /// Hexadecimal digits, without 0x.
    Hexadecimal,
    /// How much is logged.
    Level,
    /// Anything.
    Text,
}

impl Written {
    /// `Err` with what it should have been.
    fn check(self, value: &str) -> Result<(), &'static str> {
        match self {
            Written::Number => value.parse::<u32>().map(drop).map_err(|_| "no number"),
            Written::Hexadecimal => u64::from_str_radix(value, 16).map(drop).map_err(|_| "no hexadecimal number"),
            Written::Level if !["off", "error", "warn", "info", "debug", "trace"].contains(&value) => {
                Err("none of off, error, warn, info, debug, trace")
            }
            Written::Level | Written::Text => Ok(()),
        }
    }
}

/// A boot line in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Name and value of each variable.
    pub variables: Vec<(String, String)>,
    /// What stands behind `--`.
    pub arguments: Vec<String>,
}

impl Line {
    /// Reads a line for core `core` of the machine. `Err` with a sentence if it makes no sense.
    pub fn parse(text: &str, core: u32) -> Result<Line, String> {
        let words = words(text)?;
        let mut line = Line::default();
        let mut typed: Vec<String> = Vec::new();
        let mut rest = words.into_iter();
        while let Some(word) = rest.next() {
            match word.as_str() {
                "--" => {
                    line.arguments = rest.collect();
                    break;
                }
                "--mca" | "-mca" => {
                    let (Some(name), Some(value)) = (rest.next(), rest.next()) else {
                        return Err(format!("{word} wants a name and a value; {ADVICE}"));
                    };
                    line.variables.push((format!("OMPI_MCA_{name}"), value));
                    typed.push(name);
                }
                _ => line.assignment(&word, core)?,
            }
        }
        if !typed.is_empty() {
            line.variables.push(("OMPI_RS_MCA_COMMAND_LINE".to_string(), typed.join(",")));
        }
        Ok(line)
    }

    fn assignment(&mut self, word: &str, core: u32) -> Result<(), String> {
        let Some((name, value)) = word.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(format!("`{word}` is no key=value and no option; {ADVICE}"));
        };
        if !name.contains(|c: char| c.is_ascii_lowercase()) {
            self.variables.push((name.to_string(), value.to_string()));
            return Ok(());
        }
        let Some((_, written, _)) = KEYS.iter().find(|(key, ..)| *key == name) else {
            let keys: Vec<&str> = KEYS.iter().map(|(key, ..)| *key).collect();
            return Err(format!("there is no key {name}; there are {}", keys.join(", ")));
        };
        written.check(value).map_err(|what| format!("it says {name}={value}, which is {what}"))?;
        // The other cores are the ranks that follow.
        let value = match (name, value.parse::<u32>()) {
            ("rank" | "local_rank", Ok(first)) => first.saturating_add(core).to_string(),
            _ => value.to_string(),
        };
        self.variables.push((name.to_ascii_uppercase(), value));
        Ok(())
    }
}

/// The number that a key is given, without memory from the heap; `None` if it is not said or is none.
pub fn number(text: &str, key: &str) -> Option<u64> {
    word(text, key)?.parse().ok()
}

/// What a key is given, likewise.
pub fn word<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut said = text.split(' ').take_while(|word| *word != "--").filter_map(|word| word.split_once('='));
    said.find(|(name, _)| *name == key).map(|(_, value)| value)
}

fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let (mut word, mut begun, mut quoted) = (String::new(), false, false);
    for letter in text.chars() {
        match letter {
            '"' => (quoted, begun) = (!quoted, true),
            ' ' | '\t' | '\n' if !quoted => {
                if begun {
                    words.push(core::mem::take(&mut word));
                }
                begun = false;
            }
            _ => {
                word.push(letter);
                begun = true;
            }
        }
    }
    if quoted {
        return Err(format!("a double quote is never closed; {ADVICE}"));
    }
    if begun {
        words.push(word);
    }
    Ok(words)
}

const ADVICE: &str = "a boot line is key=value …, --mca name value …, -- arguments";

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(line: &Line) -> Vec<(&str, &str)> {
        line.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    #[test]
    fn a_line_in_parts() {
        let text = "rank=2 size=8  --mca btl sm,self -mca x \"a b\" HOME=/ -- -n \"\" \"one two\" --mca";
        let line = Line::parse(text, 1).unwrap();
        let wanted = [
            ("RANK", "3"),
            ("SIZE", "8"),
            ("OMPI_MCA_btl", "sm,self"),
            ("OMPI_MCA_x", "a b"),
            ("HOME", "/"),
            ("OMPI_RS_MCA_COMMAND_LINE", "btl,x"),
        ];
        assert_eq!(pairs(&line), wanted);
        assert_eq!(line.arguments, ["-n", "", "one two", "--mca"]);
        assert_eq!(Line::parse("", 0), Ok(Line::default()));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (text, word) in [
            ("rank", "`rank`"),
            ("=3", "`=3`"),
            ("ranks=3", "ranks"),
            ("--mca btl", "--mca"),
            ("a=\"b", "quote"),
            ("--frob", "`--frob`"),
            ("smp=two", "smp=two"),
            ("log=much", "log=much"),
            ("rank=-1", "rank=-1"),
            ("size=4294967296", "size=4294967296"),
            ("cores=0x3", "cores=0x3, which is no hexadecimal number"),
        ] {
            let sentence = Line::parse(text, 0).unwrap_err();
            assert!(sentence.contains(word), "{text}: {sentence}");
        }
    }

    #[test]
    fn numbers_before_there_is_a_heap() {
        assert_eq!(number("rank=1 smp=4 -- smp=5", "smp"), Some(4));
        assert_eq!(number("rank=1 -- smp=5", "smp"), None);
        assert_eq!(number("smp=x", "smp"), None);
    }
}
