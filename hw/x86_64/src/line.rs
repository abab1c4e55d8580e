//! The boot line: who a rank is, its parameters, and the program's arguments, in one line of text.
//!
//! `rank=0 size=4 tsc_khz=2100000 --mca coll_base_verbose 40 NAME=value -- arguments of the program`
//!
//! `key=value` in small letters says something to the library, as a variable KEY; [`KEYS`] lists them. `NAME=value` in
//! capitals is a variable of the environment as it is. Double quotes keep spaces together.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What a boot line can say, and what it means.
pub const KEYS: &[(&str, &str)] = &[
    ("rank", "rank of the first core in the job"),
    ("size", "ranks of the job; more than 1 needs the job's shared memory"),
    ("local_rank", "rank of the first core among those that share memory (default: rank)"),
    ("local_size", "ranks that share memory (default: size)"),
    ("smp", "ranks on this machine, one per core (default: 1)"),
    ("job", "the job's number, hexadecimal; it is in the shared memory, too"),
    ("universe", "ranks that the job could have (default: size)"),
    ("app", "which of the job's programs this is, counted from 0"),
    ("hostname", "the machine's name"),
    ("tsc_khz", "how fast the time-stamp counter runs"),
    ("cores", "hexadecimal mask of the host's cores that the job shares; makes waiting polite to the host"),
    ("program", "name of the program, its argument 0"),
];

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
        if !KEYS.iter().any(|(key, _)| *key == name) {
            let keys: Vec<&str> = KEYS.iter().map(|(key, _)| *key).collect();
            return Err(format!("there is no key {name}; there are {}", keys.join(", ")));
        }
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
    let said = text.split(' ').take_while(|word| *word != "--");
    said.filter_map(|word| word.split_once('=')).find(|(name, _)| *name == key)?.1.parse().ok()
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
