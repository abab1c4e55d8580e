//! How the words of a command line become options, in the spelling of our own table, and programs.

use super::{foreign, options};
use crate::refusal::Refusal;
use opal_core::mca::name;
use std::ffi::OsString;

/// What stands on one side of a `:`.
#[derive(Debug, Default)]
pub struct Part {
    /// Options of our own, spelled as clap wants them.
    pub options: Vec<OsString>,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// `--help` was typed, perhaps with a word behind it.
    pub help: Option<OsString>,
}

/// Parts options from the program.
pub fn split(words: &[OsString]) -> Result<Part, Refusal> {
    let mut known = options::command();
    known.build();
    let mut part = Part::default();
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        if word == "--" {
            rest = after;
            break;
        }
        let text = word.to_string_lossy();
        let Some(typed) = text.strip_prefix('-').filter(|typed| !typed.is_empty()) else { break };
        let typed = typed.strip_prefix('-').unwrap_or(typed);
        let (name, joined) = match typed.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (typed, None),
        };
        if ["h", "help"].contains(&name) {
            part.help = Some(after.first().cloned().unwrap_or_default());
            return Ok(part);
        }
        let taken = take(&text, name, joined, after, &known)?;
        part.options.extend(taken.words);
        rest = taken.rest;
    }
    part.command = rest.to_vec();
    Ok(part)
}

/// An option with its values, and the words after them.
struct Taken<'a> {
    words: Vec<OsString>,
    rest: &'a [OsString],
}

fn take<'a>(
    text: &str,
    name: &str,
    joined: Option<&str>,
    after: &'a [OsString],
    known: &clap::Command,
) -> Result<Taken<'a>, Refusal> {
    let own = known.get_arguments().find(|argument| options::names(argument).iter().any(|known| known == name));
    let foreign = foreign::find(name);
    let wanted = match (own, foreign) {
        (Some(argument), _) if !argument.get_action().takes_values() => 0,
        (Some(argument), _) => argument.get_num_args().map_or(1, |count| count.min_values()),
        (None, Some(foreign)) => foreign.values,
        (None, None) => return Err(unknown(text, name, known)),
    };
    let given = usize::from(joined.is_some());
    if let (Some(argument), Some(value)) = (own.filter(|argument| argument.is_require_equals_set()), joined) {
        let mut word = canonical(text, argument);
        word.push(format!("={value}"));
        return Ok(Taken { words: vec![word], rest: after });
    }
    if given > wanted {
        return Err(Refusal::usage(format!("option {text} takes no value")));
    }
    let mut values: Vec<OsString> = joined.map(OsString::from).into_iter().collect();
    let (more, rest) = match after.split_at_checked(wanted - given) {
        Some(parted) => parted,
        // It need not be written right to be told what to write instead.
        None if matches!(foreign, Some(foreign::Foreign { meaning: foreign::Meaning::Refused(_), .. })) => {
            (after, after)
        }
        None => return Err(missing(text, wanted)),
    };
    values.extend_from_slice(more);
    let words = match (own, foreign) {
        (Some(argument), _) => std::iter::once(canonical(text, argument)).chain(values).collect(),
        // What stands for it may be a foreign name once more.
        (None, Some(foreign)) => split(&foreign.translate(text, &values)?)?.options,
        (None, None) => Vec::new(),
    };
    Ok(Taken { words, rest })
}

fn canonical(text: &str, argument: &clap::Arg) -> OsString {
    match (argument.get_long(), argument.get_short()) {
        (Some(long), _) => format!("--{long}").into(),
        (None, Some(short)) => format!("-{short}").into(),
        (None, None) => text.into(),
    }
}

fn unknown(text: &str, name: &str, known: &clap::Command) -> Refusal {
    let own: Vec<String> = known.get_arguments().flat_map(options::names).filter(|name| name.len() > 1).collect();
    let theirs = foreign::names().filter(|name| name.len() > 1).map(String::from);
    let all: Vec<String> = own.into_iter().chain(theirs).collect();
    let hint = name::nearest(name, all.iter().map(String::as_str));
    let hint = hint.map(|near| format!("; did you mean --{near}?")).unwrap_or_default();
    Refusal::usage(format!("there is no option {text}{hint} (mpirun --help lists all)"))
}

fn missing(text: &str, wanted: usize) -> Refusal {
    let what = match (wanted, text.trim_start_matches('-')) {
        (2, "mca" | "gmca" | "omca") => "a name and a value, as in --mca btl sm,self",
        (2, _) => "a name and a value",
        _ => "a value",
    };
    Refusal::usage(format!("option {text} wants {what}"))
}
