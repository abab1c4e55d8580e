//! Command lines from files: `--configfile` (the standard's, MPI 5.0 §11.5), Open MPI's `--app`, and `--tune`.

use crate::refusal::Refusal;
use std::ffi::OsString;
use std::path::Path;

/// The programs of a `--configfile`: the words of each line. A line may go on behind a backslash; `#` begins a comment.
pub fn programs(path: &Path) -> Result<Vec<Vec<OsString>>, Refusal> {
    let text = read("--configfile", path)?.replace("\\\n", " ");
    let mut programs = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let from = format!("{}, line {}", path.display(), index + 1);
        let mut words = words(line, &from)?;
        // A colon between programs stands for the end of the line.
        if words.last().is_some_and(|word| word == ":") {
            words.pop();
        }
        if !words.is_empty() {
            programs.push(words);
        }
    }
    match programs.is_empty() {
        true => Err(Refusal::usage(format!("--configfile {}: it names no program", path.display()))),
        false => Ok(programs),
    }
}

/// The options of a `--tune` file: those of lines that begin with a dash, and `name = value` as `--mca name value`.
pub fn tuned(path: &Path) -> Result<Vec<OsString>, Refusal> {
    let mut options = Vec::new();
    for (index, line) in read("--tune", path)?.lines().enumerate() {
        let from = format!("{}, line {}", path.display(), index + 1);
        let trimmed = line.trim();
        match trimmed.split_once('=') {
            _ if trimmed.starts_with('-') || trimmed.is_empty() || trimmed.starts_with('#') => {
                options.extend(words(line, &from)?);
            }
            Some((name, value)) => {
                let value = value.split('#').next().unwrap_or_default();
                options.extend(["--mca", name.trim(), value.trim()].map(OsString::from));
            }
            None => {
                return Err(Refusal::usage(format!("{from}: `{trimmed}` is neither `name = value` nor an option")));
            }
        }
    }
    Ok(options)
}

fn read(option: &str, path: &Path) -> Result<String, Refusal> {
    std::fs::read_to_string(path).map_err(|error| Refusal::usage(format!("{option} {}: {error}", path.display())))
}

/// The words of a line as a shell parts them, without anything that a shell would replace.
fn words(line: &str, from: &str) -> Result<Vec<OsString>, Refusal> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(letters.next()),
            (None, '#') if word.is_none() => break,
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    if quote.is_some() {
        return Err(Refusal::usage(format!("{from}: a quotation mark is not closed")));
    }
    words.extend(word);
    Ok(words.into_iter().map(OsString::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_parted_as_by_a_shell() {
        let parted = words("-n 2 'a b' \"c \\\" #\" d\\ e '' # no more", "f").unwrap();
        assert_eq!(parted, ["-n", "2", "a b", "c \" #", "d e", ""]);
        assert!(words("# all", "f").unwrap().is_empty());
        assert!(words("'open", "f, line 3").unwrap_err().sentence.contains("line 3"));
    }
}
