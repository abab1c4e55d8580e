//! First lines of a C program, for the test runner.
//!
//! ```c
//! // covers: MPI_Send MPI_Recv      read by `cargo xtask api`
//! // ranks: 16 32                   instead of the usual ones
//! // args: --rounds 10              one run for each such line
//! // seconds: 300                   deadline of one run
//! ```
//! `SEED_…_MISTAKE` in the text is a mistake that `-D` seeds: the program must then fail.

use std::time::Duration;

/// The header of one program.
#[derive(Debug, PartialEq, Eq)]
pub struct Header {
    /// How many ranks, if not the usual ones.
    pub ranks: Option<Vec<u32>>,
    /// The arguments of each run.
    pub arguments: Vec<Vec<String>>,
    /// Of one run.
    pub limit: Duration,
    /// Macros that seed a mistake.
    pub mistakes: Vec<String>,
}

impl Header {
    /// Reads a program's text; `Err` is a sentence about a line that cannot be read.
    pub fn read(source: &str) -> Result<Header, String> {
        let mut header = Header { ranks: None, arguments: Vec::new(), limit: LIMIT, mistakes: mistakes(source) };
        for line in source.lines().take_while(|line| line.starts_with("//")) {
            let Some((key, value)) = line.trim_start_matches('/').split_once(':') else { continue };
            let bad = |what: &str| format!("`{line}`: {what}");
            match key.trim() {
                "covers" => {}
                "ranks" => {
                    let numbers: Result<Vec<u32>, _> = value.split_whitespace().map(str::parse).collect();
                    header.ranks = Some(numbers.map_err(|_| bad("write numbers with blanks between them"))?);
                }
                "args" => header.arguments.push(value.split_whitespace().map(str::to_owned).collect()),
                "seconds" => {
                    let seconds = value.trim().parse().map_err(|_| bad("write a number of seconds"))?;
                    header.limit = Duration::from_secs(seconds);
                }
                _ => {
                    return Err(bad(
                        "write covers, ranks, args or seconds; other comments with a colon come after the first line of code",
                    ));
                }
            }
        }
        if header.arguments.is_empty() {
            header.arguments.push(Vec::new());
        }
        Ok(header)
    }
}

fn mistakes(source: &str) -> Vec<String> {
    let words = source.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    // As `-DSEED_X_MISTAKE` in a comment a word begins with the D of the option.
    let words = words.map(|word| word.strip_prefix('D').filter(|rest| rest.starts_with("SEED_")).unwrap_or(word));
    let mut found: Vec<String> =
        words.filter(|word| word.starts_with("SEED_") && word.ends_with("_MISTAKE")).map(str::to_owned).collect();
    found.sort();
    found.dedup();
    found
}

/// Seconds on a busy machine with more ranks than cores.
const LIMIT: Duration = Duration::from_secs(120);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_headers() {
        let plain = Header::read("// covers: MPI_Send\n/*\n * text: more\n */\n// ranks: 9\n").unwrap();
        assert_eq!(plain, Header { ranks: None, arguments: vec![vec![]], limit: LIMIT, mistakes: vec![] });
        let rich =
            "// ranks: 16 32\n// args: a b\n// args:\n// seconds: 7\n#ifdef SEED_X_MISTAKE // -DSEED_X_MISTAKE\n";
        let rich = Header::read(rich).unwrap();
        assert_eq!(rich.ranks, Some(vec![16, 32]));
        assert_eq!(rich.arguments, [vec!["a".to_owned(), "b".to_owned()], vec![]]);
        assert_eq!((rich.limit, rich.mistakes), (Duration::from_secs(7), vec!["SEED_X_MISTAKE".to_owned()]));
        assert!(Header::read("// ranks: many\n").is_err());
        assert!(Header::read("// rank: 3\n").unwrap_err().contains("write covers"));
    }
}
