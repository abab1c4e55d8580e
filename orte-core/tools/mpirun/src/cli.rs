//! The command line, as Open MPI's users type it: options with one dash or two, up to the first word that is none.

use crate::{Refusal, params};
use clap::{ArgAction, CommandFactory, Parser};
use opal_core::mca::name;
use orte_core::segment::layout::RANKS_MAX;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Everything that was asked for, checked.
#[derive(Debug)]
pub struct Job {
    /// Number of ranks, 1 to 1024.
    pub ranks: u32,
    /// Parameters of `--mca`, in order; names are known where a table exists.
    pub mca: Vec<(String, String)>,
    /// Variables of `-x`.
    pub export: Vec<(OsString, OsString)>,
    /// Write `[1,rank]<stdout>: ` before each line.
    pub tag_output: bool,
    /// Pin each rank to one core.
    pub bind_to_core: bool,
    /// Say where each rank may run.
    pub report_bindings: bool,
    /// End the job after this many seconds.
    pub timeout_s: Option<u64>,
    /// Directory to work in.
    pub wdir: Option<PathBuf>,
    /// The program and its arguments, at least one word.
    pub command: Vec<OsString>,
}

/// Starts the ranks of an MPI program on this machine.
#[derive(Parser)]
#[command(
    name = "mpirun",
    version,
    override_usage = "mpirun [options] program [arguments]",
    after_help = "Options end at the first word that is none: the program. One dash does as well as two (-np 4, -mca btl sm,self).\n\
                  Exit status: that of the first rank that failed, 128+n if signal n ended it; 127 the program was not\n\
                  found, 126 it cannot be executed, 124 --timeout, 2 a wrong option, 1 mpirun itself failed."
)]
struct Options {
    /// Number of ranks (default: one per usable core); more than cores is fine
    #[arg(short = 'n', long = "np", visible_aliases = ["n"], aliases = ["c"], value_name = "N", allow_hyphen_values = true, overrides_with = "np")]
    np: Option<String>,
    /// Set a parameter, such as --mca btl sm,self; ompi_info lists them
    #[arg(long, num_args = 2, value_names = ["NAME", "VALUE"], action = ArgAction::Append, allow_hyphen_values = true)]
    mca: Vec<String>,
    /// Pass a variable to the ranks, or set it there
    #[arg(short = 'x', value_name = "VAR[=VALUE]", action = ArgAction::Append, allow_hyphen_values = true)]
    x: Vec<OsString>,
    /// Begin each line of output with its rank
    #[arg(long)]
    tag_output: bool,
    /// Change to this directory first
    #[arg(long, visible_alias = "wd", value_name = "DIR", allow_hyphen_values = true)]
    wdir: Option<PathBuf>,
    /// End the job after this many seconds, with status 124
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    timeout: Option<String>,
    /// Pin each rank to a core of its own, or none (default)
    #[arg(long, value_name = "none|core", allow_hyphen_values = true)]
    bind_to: Option<String>,
    /// Say which cores each rank may use
    #[arg(long)]
    report_bindings: bool,
    /// Accepted for scripts; more ranks than cores are always allowed
    #[arg(long)]
    oversubscribe: bool,
    /// Accepted for scripts; root may always run
    #[arg(long)]
    allow_run_as_root: bool,
}

/// Reads the command line. `--help` and `--version` print and give an empty refusal with status 0.
pub fn parse(arguments: &[OsString]) -> Result<Job, Refusal> {
    let (options, command) = split(arguments.get(1..).unwrap_or(&[]))?;
    let options = Options::try_parse_from(options).map_err(|error| match error.use_stderr() {
        false => {
            let _ = error.print();
            Refusal { status: 0, sentence: String::new() }
        }
        true => Refusal::usage(first_line(&error.to_string())),
    })?;
    if command.is_empty() {
        return Err(Refusal::usage("no program is named; write mpirun [options] program [arguments]"));
    }
    if command.iter().any(|word| word == ":") {
        return Err(Refusal::usage(
            "several programs in one job, separated by `:`, are not supported; start one program that branches on its rank",
        ));
    }
    let mca: Vec<(String, String)> =
        options.mca.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    params::check(&mca)?;
    Ok(Job {
        ranks: ranks(options.np.as_deref())?,
        export: options.x.iter().filter_map(|word| export(word).transpose()).collect::<Result<_, _>>()?,
        tag_output: options.tag_output,
        bind_to_core: bind_to_core(options.bind_to.as_deref())?,
        report_bindings: options.report_bindings,
        timeout_s: options.timeout.as_deref().map(timeout).transpose()?,
        wdir: options.wdir,
        mca,
        command,
    })
}

/// Parts options from the program, and writes the options as clap wants them.
fn split(words: &[OsString]) -> Result<(Vec<OsString>, Vec<OsString>), Refusal> {
    let mut known = Options::command();
    known.build();
    let mut options = vec![OsString::from("mpirun")];
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        let text = word.to_string_lossy();
        if text == "--" {
            rest = after;
            break;
        }
        let Some(typed) = text.strip_prefix('-').filter(|typed| !typed.is_empty()) else { break };
        let typed = typed.strip_prefix('-').unwrap_or(typed);
        let (name, joined) = match typed.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (typed, None),
        };
        let argument = known
            .get_arguments()
            .find(|argument| names(argument).iter().any(|known| known == name))
            .ok_or_else(|| unknown(&text, name, &known))?;
        let canonical = match (argument.get_long(), argument.get_short()) {
            (Some(long), _) => format!("--{long}"),
            (None, Some(short)) => format!("-{short}"),
            (None, None) => text.to_string(),
        };
        options.push(canonical.into());
        let wanted = match argument.get_action().takes_values() {
            true => argument.get_num_args().map_or(1, |count| count.min_values()),
            false => 0,
        };
        let given = usize::from(joined.is_some());
        if given > wanted {
            return Err(Refusal::usage(format!("option {text} takes no value")));
        }
        options.extend(joined.map(OsString::from));
        let (values, after) = after.split_at_checked(wanted - given).ok_or_else(|| missing(&text, wanted))?;
        options.extend_from_slice(values);
        rest = after;
    }
    Ok((options, rest.to_vec()))
}

fn names(argument: &clap::Arg) -> Vec<String> {
    let mut names: Vec<String> = argument.get_long().map(String::from).into_iter().collect();
    names.extend(argument.get_all_aliases().unwrap_or_default().into_iter().map(String::from));
    names.extend(argument.get_short().map(String::from));
    names
}

fn unknown(text: &str, name: &str, known: &clap::Command) -> Refusal {
    let candidates: Vec<String> = known.get_arguments().flat_map(names).filter(|name| name.len() > 1).collect();
    let hint = name::nearest(name, candidates.iter().map(String::as_str));
    let hint = hint.map(|near| format!("; did you mean --{near}?")).unwrap_or_default();
    Refusal::usage(format!("there is no option {text}{hint} (mpirun --help lists all)"))
}

fn missing(text: &str, wanted: usize) -> Refusal {
    let what = if wanted == 2 { "a name and a value, as in --mca btl sm,self" } else { "a value" };
    Refusal::usage(format!("option {text} wants {what}"))
}

fn ranks(text: Option<&str>) -> Result<u32, Refusal> {
    let Some(text) = text else {
        return Ok((opal_core::sys::cores() as u32).clamp(1, RANKS_MAX));
    };
    match text.trim().parse::<u32>() {
        Ok(count) if (1..=RANKS_MAX).contains(&count) => Ok(count),
        _ => Err(Refusal::usage(format!("-n {text}: the number of ranks is a whole number from 1 to {RANKS_MAX}"))),
    }
}

/// `None` for a variable that is to be passed on but is not set: that is said, and no failure.
fn export(word: &OsStr) -> Result<Option<(OsString, OsString)>, Refusal> {
    let bytes = word.as_bytes();
    let (name, value) = match bytes.iter().position(|byte| *byte == b'=') {
        Some(at) => (OsStr::from_bytes(&bytes[..at]), Some(OsStr::from_bytes(&bytes[at + 1..]).to_owned())),
        None => (word, std::env::var_os(word)),
    };
    if name.is_empty() {
        let typed = word.to_string_lossy();
        return Err(Refusal::usage(format!("-x {typed}: a variable's name is wanted, as in -x OMP_NUM_THREADS=4")));
    }
    if value.is_none() {
        crate::say(&format!("-x {}: the variable is not set here, so the ranks do not get it", name.display()));
    }
    Ok(value.map(|value| (name.into(), value)))
}

fn bind_to_core(text: Option<&str>) -> Result<bool, Refusal> {
    match text {
        None | Some("none") => Ok(false),
        Some("core") => Ok(true),
        Some(other) => Err(Refusal::usage(format!("--bind-to {other}: none or core is wanted"))),
    }
}

fn timeout(text: &str) -> Result<u64, Refusal> {
    match text.trim().parse() {
        Ok(seconds) if seconds > 0 => Ok(seconds),
        _ => Err(Refusal::usage(format!("--timeout {text}: a whole number of seconds above 0 is wanted"))),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or("").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(line: &str) -> Result<Job, Refusal> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        parse(&words)
    }

    #[test]
    fn spellings() {
        for line in ["mpirun -n 3 a", "mpirun -np 3 a", "mpirun --np 3 a", "mpirun --np=3 a", "mpirun -n 2 -np 3 a"] {
            assert_eq!(job(line).unwrap().ranks, 3, "{line}");
        }
        let job = job("mpirun -mca btl sm,self --mca x -1 --tag-output -n 2 a -n 5 --mca").unwrap();
        assert_eq!(job.mca, [("btl".into(), "sm,self".into()), ("x".into(), "-1".into())]);
        assert_eq!(job.command, ["a", "-n", "5", "--mca"]);
        assert!(job.tag_output && job.ranks == 2);
    }

    #[test]
    fn what_ends_the_options() {
        assert_eq!(job("mpirun -- -odd").unwrap().command, ["-odd"]);
        assert_eq!(job("mpirun - x").unwrap().command, ["-", "x"]);
    }

    #[test]
    fn refusals_name_what_was_typed() {
        for (line, words) in [
            ("mpirun --tagoutput a", "--tag-output"),
            ("mpirun -nn 2 a", "-nn"),
            ("mpirun --frobnicate a", "--frobnicate"),
            ("mpirun -n 0 a", "1 to 1024"),
            ("mpirun -n -4 a", "-4"),
            ("mpirun -n 1025 a", "1025"),
            ("mpirun -n two a", "two"),
            ("mpirun --mca btl", "a name and a value"),
            ("mpirun -n", "a value"),
            ("mpirun -n 2", "no program"),
            ("mpirun --bind-to socket a", "socket"),
            ("mpirun --timeout 0 a", "--timeout 0"),
            ("mpirun --tag-output=yes a", "takes no value"),
            ("mpirun -n 1 a : -n 1 b", "`:`"),
            ("mpirun -x =3 a", "-x =3"),
        ] {
            let refusal = job(line).unwrap_err();
            assert!(refusal.status == 2 && refusal.sentence.contains(words), "{line}: {refusal:?}");
            assert!(!refusal.sentence.contains('\n'));
        }
    }
}
