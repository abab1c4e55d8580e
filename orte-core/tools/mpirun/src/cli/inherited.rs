//! What further jobs are started with, as the first one was: variables of the ranks, the processors that they may use, what is said and
//! what becomes of output, and what the failure of a rank means. Where ranks run is not among it, and no limit of time: the first job's holds for all. Nor are files with
//! patterns for names, which two jobs would share.

use super::options::Options;
use super::output::{Output, OutputFiles, Tag};
use std::ffi::{OsStr, OsString};

/// Words for the mpiruns of further jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inherited {
    /// About the job.
    pub job: Vec<OsString>,
    /// Of each program.
    pub program: Vec<OsString>,
    /// The failure of a job does not end those that it is connected to.
    pub keep_going: bool,
}

impl Inherited {
    /// Of the options of all programs together, and what they say of output.
    pub fn of(whole: &Options, output: &Output, keep_going: bool) -> Inherited {
        let mut job = Vec::new();
        let mut add = |words: &[&OsStr]| job.extend(words.iter().map(|word| (*word).to_owned()));
        for (is_given, option) in [
            (whole.quiet, "--quiet"),
            (whole.verbose, "--verbose"),
            (whole.disable_auto_cleanup, "--disable-auto-cleanup"),
            (whole.genvnone, "--genvnone"),
            (whole.nooversubscribe, "--nooversubscribe"),
        ] {
            if is_given {
                add(&[option.as_ref()]);
            }
        }
        let texts = [
            ("--stall-report", &whole.stall_report),
            ("--grace", &whole.grace),
            ("--genvlist", &whole.genvlist),
            ("--cpu-set", &whole.cpu_set),
            ("--usize", &whole.usize),
        ];
        for (option, text) in texts {
            text.iter().for_each(|text| add(&[option.as_ref(), text.as_ref()]));
        }
        whole.runtime_options.iter().for_each(|words| add(&["--runtime-options".as_ref(), words.as_ref()]));
        for pair in whole.genv.chunks_exact(2) {
            add(&["--genv".as_ref(), &pair[0], &pair[1]]);
        }
        job.extend(of_output(output));
        let mut program: Vec<OsString> = Vec::new();
        for (is_given, option) in [(whole.envnone, "--envnone"), (whole.envall, "--envall")] {
            program.extend(is_given.then(|| option.into()));
        }
        program.extend(whole.envlist.iter().flat_map(|names| ["--envlist".into(), OsString::from(names)]));
        for (option, pairs) in
            [("--env", &whole.env), ("--prepend-env", &whole.prepend_env), ("--append-env", &whole.append_env)]
        {
            program.extend(pairs.chunks_exact(2).flat_map(|pair| [option.into(), pair[0].clone(), pair[1].clone()]));
        }
        program.extend(whole.x.iter().flat_map(|word| ["-x".into(), word.clone()]));
        program.extend(whole.unset_env.iter().flat_map(|name| ["--unset-env".into(), OsString::from(name)]));
        Inherited { job, program, keep_going }
    }
}

/// Files get names of their own for each job; a further mpirun starts in another directory.
fn of_output(output: &Output) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    let mut add = |option: &str, value: OsString| words.extend([option.into(), value]);
    match &output.tags[0] {
        Tag::None => {}
        Tag::Rank => add("--output", "tag".into()),
        Tag::Detailed => add("--output", "tag-detailed".into()),
        Tag::Pattern(pattern) => add("--prepend-pattern", pattern.into()),
    }
    let wishes = [(output.timestamp, "timestamp"), (output.merge, "merge-stderr-to-stdout"), (output.raw, ":raw")];
    wishes.into_iter().filter(|(is_given, _)| *is_given).for_each(|(_, word)| add("--output", word.into()));
    if let Some(OutputFiles { path, is_directory, nocopy }) = &output.files {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone()).into_os_string();
        let (option, mut value) = match is_directory {
            true => ("--output-filename", path),
            false => ("--output", [OsStr::new("file="), &path].into_iter().collect()),
        };
        value.push(if *nocopy { ":nocopy" } else { "" });
        add(option, value);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::options::read;
    use super::*;

    #[test]
    fn words_for_further_jobs() {
        let words = "-n 2 -x A=1 -x B --genv C 3 --quiet --tag-output --output-filename /out --stall-report 5 --timeout 9 --host a:2 \
                     --runtime-options continuous --disable-auto-cleanup --cpu-set 0 --nooversubscribe --usize 7 --env D 4 --unset-env E";
        let words: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        let whole = read(&words).unwrap();
        let output = Output::new(&whole, &Default::default()).unwrap();
        let inherited = Inherited::of(&whole, &output, true);
        assert_eq!(inherited.program, ["--env", "D", "4", "-x", "A=1", "-x", "B", "--unset-env", "E"]);
        let expected = "--quiet --disable-auto-cleanup --nooversubscribe --stall-report 5 --cpu-set 0 --usize 7 --runtime-options continuous --genv C 3 --output tag \
                        --output-filename /out";
        assert_eq!(inherited.job, expected.split_whitespace().collect::<Vec<_>>());
    }
}
