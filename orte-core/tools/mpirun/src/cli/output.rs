//! Where output goes and how it is labelled: `--output`, and the older options that mean the same as its words.

use super::environment::Defaults;
use super::options::Options;
use crate::refusal::Refusal;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// What becomes of the ranks' output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Jobs are counted from 1, which is the one that the user started.
    pub job: u32,
    /// What stands before each line of standard output and error.
    pub tags: [Tag; 2],
    /// Write the time before each line.
    pub timestamp: bool,
    /// Standard error goes where standard output goes.
    pub merge: bool,
    /// Pass bytes on as they come, without waiting for the ends of lines.
    pub raw: bool,
    /// Where each rank has files of its own.
    pub files: Option<OutputFiles>,
    /// OutputFiles for standard output and error that are written instead of passing them on; their names are patterns.
    pub instead: [Option<String>; 2],
}

/// What stands before a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Tag {
    /// Nothing.
    #[default]
    None,
    /// `[JOB,RANK]<stdout>: `.
    Rank,
    /// `[JOB,RANK][HOST:PID]<stdout>: `.
    Detailed,
    /// A text in which `%r`, `%p` and `%h` are rank, process and machine.
    Pattern(String),
}

/// The files of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFiles {
    /// A directory for `JOB/rank.N/stdout`, or the beginning of names `.N.out`, of further jobs `.JOB.N.out`.
    pub path: PathBuf,
    /// Which of the two.
    pub is_directory: bool,
    /// Output goes there only.
    pub nocopy: bool,
}

impl Output {
    /// Reads the options.
    pub fn new(options: &Options, defaults: &Defaults) -> Result<Output, Refusal> {
        let mut output = Output {
            job: FIRST_JOB,
            tags: defaults.prefixes.clone().map(|prefix| prefix.map_or(Tag::None, Tag::Pattern)),
            timestamp: options.timestamp_output,
            merge: options.merge_stderr_to_stdout,
            instead: [options.outfile_pattern.clone(), options.errfile_pattern.clone()],
            ..Output::default()
        };
        if let Some(pattern) = &options.prepend_pattern {
            output.tag(Tag::Pattern(pattern.clone()));
        }
        if options.prepend_rank {
            output.tag(Tag::Pattern("[%r] ".to_owned()));
        }
        if options.tag_output {
            output.tag(Tag::Rank);
        }
        if let Some(typed) = &options.output_filename {
            output.files = Some(directory(typed)?);
        }
        options.output.iter().try_for_each(|list| output.words(list))?;
        Ok(output)
    }

    fn tag(&mut self, tag: Tag) {
        self.tags = [tag.clone(), tag];
    }

    /// `--output WORD,…:QUALIFIER…`.
    fn words(&mut self, list: &str) -> Result<(), Refusal> {
        let mut parts = list.split(':');
        for word in parts.next().unwrap_or_default().split(',').filter(|word| !word.is_empty()) {
            let (word, value) = word.split_once('=').map_or((word, None), |(word, value)| (word, Some(value)));
            match (nearest(word, WORDS), value) {
                (Some("tag"), None) => self.tag(Tag::Rank),
                (Some("tag-detailed" | "tag-fullname"), None) => self.tag(Tag::Detailed),
                (Some("timestamp"), None) => self.timestamp = true,
                (Some("merge-stderr-to-stdout"), None) => self.merge = true,
                (Some(kind @ ("dir" | "directory" | "file")), Some(path)) if !path.is_empty() => {
                    let is_directory = kind != "file";
                    self.files = Some(OutputFiles { path: path.into(), is_directory, nocopy: false });
                }
                (Some("xml"), None) => return Err(wrong(list, "output is text, never XML")),
                _ => return Err(wrong(list, &format!("`{word}` is not known or wants a value"))),
            }
        }
        for qualifier in parts {
            match (nearest(qualifier, &["nocopy", "raw"]), &mut self.files) {
                (Some("raw"), _) => self.raw = true,
                (Some("nocopy"), Some(files)) => files.nocopy = true,
                (Some("nocopy"), None) => return Err(wrong(list, "nocopy stands behind dir=DIR or file=FILE")),
                _ => return Err(wrong(list, &format!("`:{qualifier}` is not known"))),
            }
        }
        Ok(())
    }
}

/// The one of `words` that is meant: upper or lower case, and no longer than needed to tell it from the others.
pub fn nearest(typed: &str, words: &[&'static str]) -> Option<&'static str> {
    let typed = typed.to_ascii_lowercase();
    if let Some(word) = words.iter().find(|word| **word == typed) {
        return Some(word);
    }
    let mut found = words.iter().filter(|word| !typed.is_empty() && word.starts_with(&typed));
    match (found.next(), found.next()) {
        (Some(word), None) => Some(word),
        _ => None,
    }
}

fn directory(typed: &OsString) -> Result<OutputFiles, Refusal> {
    let bytes = typed.as_bytes();
    let (name, nocopy) = match bytes.strip_suffix(b":nocopy") {
        Some(name) => (name, true),
        None => (bytes, false),
    };
    if name.is_empty() {
        return Err(Refusal::usage("--output-filename: the name of a directory is wanted"));
    }
    Ok(OutputFiles { path: OsString::from_vec(name.to_vec()).into(), is_directory: true, nocopy })
}

fn wrong(list: &str, what: &str) -> Refusal {
    Refusal::usage(format!(
        "--output {list}: {what}; tag, tag-detailed, tag-fullname, timestamp, merge-stderr-to-stdout, dir=DIR or file=FILE \
         is wanted, with :nocopy or :raw"
    ))
}

const FIRST_JOB: u32 = 1;
const WORDS: &[&str] =
    &["tag", "tag-detailed", "tag-fullname", "timestamp", "merge-stderr-to-stdout", "dir", "directory", "file", "xml"];
