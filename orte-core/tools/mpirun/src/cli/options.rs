//! The table of options, and how words become what clap reads.

use crate::refusal::Refusal;
use clap::{ArgAction, CommandFactory, Parser};
use opal_core::mca::name;
use std::ffi::OsString;
use std::path::PathBuf;

/// Starts the ranks of an MPI program on this machine.
#[derive(Parser)]
#[command(
    name = "mpirun",
    version,
    args_override_self = true,
    override_usage = "mpirun [options] program [arguments] [: [options] program [arguments]]...",
    after_help = "Options end at the first word that is none: the program. One dash does as well as two (-np 4, -mca btl sm,self).\n\
                  After `:` another program of the same job follows, with -n and --wdir of its own (one rank if -n is\n\
                  missing); all other options hold for the whole job, wherever they stand.\n\n\
                  Exit status: that of the first rank that failed, 128+n if signal n ended it; 127 the program was not\n\
                  found, 126 it cannot be executed, 124 --timeout, 2 a wrong option, 1 mpirun itself failed."
)]
pub struct Options {
    /// Number of ranks (default: the slots of --host or --hostfile, else one per usable core); more than cores is fine
    #[arg(short = 'n', long = "np", visible_aliases = ["n"], aliases = ["c"], value_name = "N", allow_hyphen_values = true)]
    pub np: Option<String>,
    /// At most this many ranks on each machine; how many are started if -n is missing
    #[arg(short = 'N', long, aliases = ["ppn"], value_name = "N", allow_hyphen_values = true)]
    pub npernode: Option<String>,
    /// Where to run: localhost:8 is this machine with room for 8 ranks; other machines are not there yet
    #[arg(short = 'H', long, value_name = "HOST[:SLOTS],...", action = ArgAction::Append, allow_hyphen_values = true)]
    pub host: Vec<String>,
    /// The same from a file with a line `HOST slots=N` each
    #[arg(long, visible_alias = "machinefile", value_name = "FILE", action = ArgAction::Append, allow_hyphen_values = true)]
    pub hostfile: Vec<PathBuf>,
    /// Set a parameter, such as --mca btl sm,self; ompi_info lists them
    #[arg(long, visible_aliases = ["gmca", "omca"], num_args = 2, value_names = ["NAME", "VALUE"], action = ArgAction::Append, allow_hyphen_values = true)]
    pub mca: Vec<String>,
    /// What happens on errors until the program decides: mpi_errors_are_fatal (default), mpi_errors_abort, mpi_errors_return
    #[arg(long, value_name = "HANDLER", value_parser = ["mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"])]
    pub initial_errhandler: Option<String>,
    /// Pass a variable to the ranks, or set it there
    #[arg(short = 'x', value_name = "VAR[=VALUE]", action = ArgAction::Append, allow_hyphen_values = true)]
    pub x: Vec<OsString>,
    /// Change to this directory first
    #[arg(long, visible_alias = "wd", value_name = "DIR", allow_hyphen_values = true)]
    pub wdir: Option<PathBuf>,
    /// Who reads standard input: a rank's number (default 0), all or none
    #[arg(long, value_name = "N|all|none", allow_hyphen_values = true)]
    pub stdin: Option<String>,
    /// Begin each line of output with its rank: [1,RANK]<stdout>
    #[arg(long)]
    pub tag_output: bool,
    /// Begin each line of output with the time
    #[arg(long)]
    pub timestamp_output: bool,
    /// Write output also into DIR/1/rank.N/stdout and stderr; with :nocopy only there
    #[arg(long, value_name = "DIR[:nocopy]", allow_hyphen_values = true)]
    pub output_filename: Option<OsString>,
    /// End the job after this many seconds, with status 124
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub timeout: Option<String>,
    /// Pin each rank to a core, a hardware thread or a socket of its own, in turn; or none (default)
    #[arg(long, value_name = "core|hwthread|socket|numa|none", allow_hyphen_values = true)]
    pub bind_to: Option<String>,
    /// Accepted for scripts, since ranks of one machine are always placed in order; core:PE=2 binds to 2 cores each
    #[arg(long, value_name = "core|hwthread|slot|node|none|ppr:N:node", allow_hyphen_values = true)]
    pub map_by: Option<String>,
    /// Say which cores each rank may use
    #[arg(long)]
    pub report_bindings: bool,
    /// Say which processes are started and how each of them ends
    #[arg(short = 'v', long)]
    pub verbose: bool,
    /// Say nothing when ranks fail: the exit status tells
    #[arg(short = 'q', long)]
    pub quiet: bool,
    /// Accepted for scripts; more ranks than cores are always allowed
    #[arg(long)]
    pub oversubscribe: bool,
    /// Accepted for scripts; root may always run
    #[arg(long)]
    pub allow_run_as_root: bool,
    /// Accepted for scripts; on one machine nothing has to be found elsewhere
    #[arg(long, value_name = "DIR", allow_hyphen_values = true)]
    pub prefix: Option<PathBuf>,
}

/// The table, for the manual page.
pub fn command() -> clap::Command {
    Options::command()
}

/// Parts options from the program, and writes the options as clap wants them.
pub fn split(words: &[OsString]) -> Result<(Vec<OsString>, Vec<OsString>), Refusal> {
    let mut known = Options::command();
    known.build();
    let mut options = Vec::new();
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
