//! The table of our own options.

use crate::refusal::{self, Refusal};
use clap::{ArgAction, CommandFactory, Parser};
use std::ffi::OsString;
use std::path::PathBuf;

/// Starts the ranks of an MPI program on this machine and others.
#[derive(Parser)]
#[command(
    name = "mpirun",
    version = concat!("(ompi-rs) ", env!("CARGO_PKG_VERSION"), "\nMPI 5.0, standard ABI 1.0"),
    args_override_self = true,
    override_usage = "mpirun [options] program [arguments] [: [options] program [arguments]]...",
    after_help = "Options end at the first word that is none: the program. One dash does as well as two (-np 4, -mca btl sm,self).\n\
                  After `:` another program of the same job follows, with -n, --wdir, --path, -x and its relatives of its own\n\
                  (one rank if -n is missing). Where it has --host or --hostfile each program that names hosts runs on these alone.\n\
                  All other options hold for the whole job, wherever they stand.\n\n\
                  Options of Open MPI, MPICH and Intel MPI that are not listed here are understood or refused with the words to\n\
                  write instead; --help all lists them. --help WORD shows the options that have the word in their names.\n\n\
                  With several ranks output is passed on line by line. The beginning of a line waits half a second for its end; if it\n\
                  has none when another rank's line begins, a line break is put between them. --output :raw passes bytes on as they\n\
                  come. MPI_Abort and errors that end the job write what C and C++ programs hold of standard output.\n\n\
                  What a rank has written arrives before mpirun ends, however the job ends. Standard output of the ranks is a\n\
                  pseudo terminal that changes no byte, so that programs write each whole line when it is printed; where the\n\
                  system has none, it is a pipe, and mpirun says so. If files or pipes get the output, ranks have TERM=dumb and\n\
                  NO_COLOR=1 (-x changes that). --mca iof_pty 0 gives them pipes: faster for megabytes of output, but lines\n\
                  come late, and those that a program still holds when it dies are lost.\n\n\
                  Jobs that ranks start by MPI_Comm_spawn are counted from 2 in messages, labels and names of files; the job of the
\
                  command line is job 1. They have its variables (-x and its relatives), parameters (--mca), --cpu-set,
\
                  --nooversubscribe, --usize, --grace, --stall-report, --disable-auto-cleanup, --runtime-options, --quiet, --verbose
\
                  and what becomes of output. They have none of its sets of processes (--pset), of where its ranks run (--host,
\
                  --map-by, --bind-to; they run on its hosts, those with free slots first) and of --outfile-pattern and
\
                  --errfile-pattern. --timeout holds for all jobs together, and standard input is rank 0's of job 1. mpirun ends
\
                  when all jobs have ended; a job that fails ends those that it is connected to.

\
                  Variables: MPIEXEC_TIMEOUT, MPIEXEC_UNIVERSE_SIZE, MPIEXEC_PREFIX_DEFAULT, MPIEXEC_PREFIX_STDOUT and\n\
                  MPIEXEC_PREFIX_STDERR stand for --timeout, --usize and --prepend-pattern where these are missing.\n\n\
                  Exit status: that of the first rank that failed, 128+n if signal n ended it; 127 the program was not\n\
                  found, 126 it cannot be executed, 125 a wrong option or mpirun itself failed, 124 --timeout."
)]
pub struct Options {
    /// Number of ranks (default: the slots of --host, --hostfile or the resource manager, else one per usable core); more than
    /// cores is fine
    #[arg(short = 'n', long = "np", visible_aliases = ["n"], aliases = ["c"], value_name = "N", allow_hyphen_values = true)]
    pub np: Option<String>,
    /// At most this many ranks on each machine; how many are started if -n is missing
    #[arg(short = 'N', long, value_name = "N", allow_hyphen_values = true)]
    pub npernode: Option<String>,
    /// So many ranks on each machine in turn, from the first one again until all have a place
    #[arg(long, aliases = ["perhost", "ranks-per-node"], value_name = "N", allow_hyphen_values = true)]
    pub ppn: Option<String>,
    /// Where to run: localhost:8 is this machine with room for 8 ranks; on other machines ssh starts ranks (--mca plm_ssh_agent
    /// names another program), or srun in an allocation of Slurm; +n0 is the first host of an allocation or of --hostfile, +e all
    /// that are not named, +e:N so many
    #[arg(short = 'H', long, value_name = "HOST[:SLOTS],...", action = ArgAction::Append, allow_hyphen_values = true)]
    pub host: Vec<String>,
    /// The same from a file with a line `HOST slots=N` each
    #[arg(long, visible_alias = "machinefile", value_name = "FILE", action = ArgAction::Append, allow_hyphen_values = true)]
    pub hostfile: Vec<PathBuf>,
    /// The same where neither --host nor --hostfile is given (also PRTE_MCA_prte_default_hostfile,
    /// OMPI_MCA_orte_default_hostfile, HYDRA_HOST_FILE)
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    pub default_hostfile: Option<PathBuf>,
    /// Only on machines of this architecture, as uname -m names it
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub arch: Option<String>,
    /// Set a parameter, such as --mca btl sm,self; ompi_info lists them
    #[arg(long, visible_aliases = ["gmca", "omca"], num_args = 2, value_names = ["NAME", "VALUE"], action = ArgAction::Append, allow_hyphen_values = true)]
    pub mca: Vec<String>,
    /// Parameters and options from a file: `name = value`, or options as on the command line
    #[arg(long, value_name = "FILE", action = ArgAction::Append, allow_hyphen_values = true)]
    pub tune: Vec<PathBuf>,
    /// Programs and their options from a file, a line for what stands between two `:`
    #[arg(long, visible_alias = "app", value_name = "FILE", allow_hyphen_values = true)]
    pub configfile: Option<PathBuf>,
    /// What happens on errors until the program decides: mpi_errors_are_fatal (default), mpi_errors_abort, mpi_errors_return
    #[arg(long, value_name = "HANDLER", value_parser = ["mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"])]
    pub initial_errhandler: Option<String>,
    /// Name a set of processes, of which sessions make groups: of these ranks of the job, such as 0-3,5, or of the ranks of this
    /// program
    #[arg(long, value_name = "NAME[:RANKS]", action = ArgAction::Append, allow_hyphen_values = true)]
    pub pset: Vec<String>,
    /// Kinds of memory that the program will use in MPI; mpi and system are there
    #[arg(long, value_name = "KIND,...", allow_hyphen_values = true)]
    pub memory_alloc_kinds: Option<String>,
    /// MPI_UNIVERSE_SIZE: a number, SYSTEM (all slots, if --usize is left out, too) or INFINITE
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub usize: Option<String>,
    /// Pass a variable to the ranks, or set it there; NAME* passes all whose names begin so
    #[arg(short = 'x', value_name = "VAR[=VALUE]", action = ArgAction::Append, allow_hyphen_values = true)]
    pub x: Vec<OsString>,
    /// Set a variable for the ranks of this program
    #[arg(long, num_args = 2, value_names = ["NAME", "VALUE"], action = ArgAction::Append, allow_hyphen_values = true)]
    pub env: Vec<OsString>,
    /// Set a variable for all ranks of the job
    #[arg(long, num_args = 2, value_names = ["NAME", "VALUE"], action = ArgAction::Append, allow_hyphen_values = true)]
    pub genv: Vec<OsString>,
    /// Of mpirun's variables pass only these to the ranks of this program
    #[arg(long, value_name = "NAME,...", allow_hyphen_values = true)]
    pub envlist: Option<String>,
    /// Of mpirun's variables pass only these to the ranks of all programs
    #[arg(long, value_name = "NAME,...", allow_hyphen_values = true)]
    pub genvlist: Option<String>,
    /// Pass none of mpirun's variables to the ranks of this program
    #[arg(long, overrides_with = "envall")]
    pub envnone: bool,
    /// Pass all of mpirun's variables to the ranks of this program (default)
    #[arg(long, overrides_with = "envnone")]
    pub envall: bool,
    /// Pass none of mpirun's variables to any rank
    #[arg(long, overrides_with = "genvall")]
    pub genvnone: bool,
    /// Pass all of mpirun's variables to all ranks (default)
    #[arg(long, overrides_with = "genvnone")]
    pub genvall: bool,
    /// Do not pass this variable to the ranks of this program; NAME* names several
    #[arg(long, value_name = "NAME", action = ArgAction::Append, allow_hyphen_values = true)]
    pub unset_env: Vec<String>,
    /// Put a value in front of a variable's; NAME[c] parts them by the character c instead of a colon
    #[arg(long, num_args = 2, value_names = ["NAME", "VALUE"], action = ArgAction::Append, allow_hyphen_values = true)]
    pub prepend_env: Vec<OsString>,
    /// Put a value behind a variable's; NAME[c] parts them by the character c instead of a colon
    #[arg(long, num_args = 2, value_names = ["NAME", "VALUE"], action = ArgAction::Append, allow_hyphen_values = true)]
    pub append_env: Vec<OsString>,
    /// Change to this directory first
    #[arg(long, visible_alias = "wd", value_name = "DIR", allow_hyphen_values = true)]
    pub wdir: Option<PathBuf>,
    /// Look for the program in these directories, then in PATH
    #[arg(long, value_name = "DIR[:DIR]...", allow_hyphen_values = true)]
    pub path: Option<OsString>,
    /// Who reads standard input: a rank's number (default 0), all or none
    #[arg(long, value_name = "N|all|none", allow_hyphen_values = true)]
    pub stdin: Option<String>,
    /// What becomes of output: tag, tag-detailed, tag-fullname, timestamp, merge-stderr-to-stdout, dir=DIR, file=FILE, and after
    /// a colon nocopy or raw
    #[arg(long, value_name = "WORD,...", action = ArgAction::Append, allow_hyphen_values = true)]
    pub output: Vec<String>,
    /// Begin each line of output with its job, counted from 1, and its rank: [JOB,RANK]<stdout>
    #[arg(long)]
    pub tag_output: bool,
    /// Begin each line of output with its rank as MPICH does: [RANK]
    #[arg(long)]
    pub prepend_rank: bool,
    /// Begin each line of output with this text; %r is the rank, %p the process, %h the machine
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub prepend_pattern: Option<String>,
    /// Begin each line of output with the time
    #[arg(long)]
    pub timestamp_output: bool,
    /// Standard error goes where standard output goes
    #[arg(long)]
    pub merge_stderr_to_stdout: bool,
    /// Write output also into DIR/1/rank.N/stdout and stderr, that of further jobs into DIR/2 and so on; with :nocopy only there
    #[arg(long, value_name = "DIR[:nocopy]", allow_hyphen_values = true)]
    pub output_filename: Option<OsString>,
    /// Write standard output into this file instead; with %r, %p and %h as in --prepend-pattern
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub outfile_pattern: Option<String>,
    /// Write standard error into this file instead
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub errfile_pattern: Option<String>,
    /// End the job after this many seconds, which may have a fraction, with status 124
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub timeout: Option<String>,
    /// With --timeout, say where in the program each thread of each rank was
    #[arg(long)]
    pub get_stack_traces: bool,
    /// Say who waits for what when all ranks have waited in MPI for so long without any progress (default: 60; 0: never)
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub stall_report: Option<String>,
    /// Start nothing: say what each rank of the running mpirun with this process number does, and who waits for whom. SIGUSR2 has
    /// mpirun say it itself, unless the program takes that signal
    #[arg(long, value_name = "PID", allow_hyphen_values = true)]
    pub status: Option<String>,
    /// Start nothing: keep the names of ports of jobs on any host and of any user which are started with --ompi-server file:FILE, until
    /// this mpirun is told to end. FILE, which only you may read, says how to call it, and gives whoever has it the right to
    #[arg(long, value_name = "FILE")]
    pub name_server: Option<PathBuf>,
    /// When MPI ends say what the ranks did: messages, waiting, collective operations. With =FILE.json, =FILE.svg or another
    /// =FILE write that instead, with =- to standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    pub stats: Option<OsString>,
    /// Write what happened when as JSON, which Perfetto and chrome://tracing show
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    pub trace: Option<PathBuf>,
    /// How long ranks may take to end when they are asked to (default: 10 after a signal to mpirun, else 1)
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub grace: Option<String>,
    /// When a rank fails, let the others go on
    #[arg(long)]
    pub disable_auto_cleanup: bool,
    /// Pin each rank to a core, a hardware thread, a cache, a socket of its own, in turn; or none (default)
    #[arg(long, value_name = "core|hwthread|l1cache|l2cache|l3cache|socket|numa|none", allow_hyphen_values = true)]
    pub bind_to: Option<String>,
    /// The order in which --bind-to takes places, with :PE=N cores for each rank; or ppr:N:OBJECT ranks on each object,
    /// seq[:file=FILE] (a rank for each line that names a host), rankfile:file=FILE, pe-list=0-3[:ordered]; :NOOVERSUBSCRIBE refuses more ranks than cores
    #[arg(long, value_name = "OBJECT[:MODIFIER]...", action = ArgAction::Append, allow_hyphen_values = true)]
    pub map_by: Vec<String>,
    /// How ranks are counted: over one machine after the other (slot) or over the machines in turn (node), on each over the
    /// objects of --map-by in turn (span), or over one object after the other (fill)
    #[arg(long, value_name = "slot|node|fill|span", allow_hyphen_values = true)]
    pub rank_by: Option<String>,
    /// Use these processors only, numbered as taskset does: 0,2-3
    #[arg(long, visible_alias = "cpu-list", value_name = "LIST", allow_hyphen_values = true)]
    pub cpu_set: Option<String>,
    /// A line `rank N=HOST slot=CORES` for each rank; host +n1 is the second one of the job
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    pub rankfile: Option<PathBuf>,
    /// Say which cores each rank may use
    #[arg(long)]
    pub report_bindings: bool,
    /// Say what was decided: allocation, map, bind, topo
    #[arg(long, value_name = "WORD,...", action = ArgAction::Append, allow_hyphen_values = true)]
    pub display: Vec<String>,
    /// Say what was decided, and start nothing
    #[arg(long)]
    pub do_not_launch: bool,
    /// Say what would be done and why, and start nothing: hosts, slots, ranks, cores, what starts daemons
    #[arg(long)]
    pub explain: bool,
    /// What Open MPI's launcher can be told: donotlaunch, error-nonzero-status=0, timeout=SECONDS, get-stack-traces and others
    #[arg(long, value_name = "WORD[=VALUE],...", action = ArgAction::Append, allow_hyphen_values = true)]
    pub runtime_options: Vec<String>,
    /// Write mpirun's process id to standard output (-), standard error (+) or a file
    #[arg(long, value_name = "-|+|FILE", allow_hyphen_values = true)]
    pub report_pid: Option<PathBuf>,
    /// Say which processes are started and how each of them ends
    #[arg(short = 'v', long)]
    pub verbose: bool,
    /// Say nothing when ranks fail: the exit status tells
    #[arg(short = 'q', long)]
    pub quiet: bool,
    /// More ranks than cores are always allowed; with --bind-to nothing is said about it
    #[arg(long)]
    pub oversubscribe: bool,
    /// Refuse more ranks than there are slots (--host, --hostfile) or usable cores
    #[arg(long)]
    pub nooversubscribe: bool,
    /// Accepted for scripts; root may always run
    #[arg(long)]
    pub allow_run_as_root: bool,
    /// Copy the program to the other hosts: they need none
    #[arg(long)]
    pub preload_binary: bool,
    /// Copy these files to the other hosts, to the same places as seen from the current directory, where they are missing; they are
    /// removed when the job has ended
    #[arg(long, value_name = "FILE,...", action = ArgAction::Append, allow_hyphen_values = true)]
    pub preload_files: Vec<String>,
    /// Where ompi-rs lies on other machines (default: where it lies here)
    #[arg(long, value_name = "DIR", allow_hyphen_values = true)]
    pub prefix: Option<PathBuf>,
}

/// The table, for the manual page and for those who look up names.
pub fn command() -> clap::Command {
    Options::command()
}

/// Reads words that [`split`](super::split::split) spelled. `--version` prints and gives an empty refusal with status 0.
pub fn read<'a>(words: impl IntoIterator<Item = &'a OsString>) -> Result<Options, Refusal> {
    let program = OsString::from("mpirun");
    Options::try_parse_from(std::iter::once(program).chain(words.into_iter().cloned())).map_err(|error| {
        match error.use_stderr() {
            false => {
                let text = error.to_string();
                refusal::print(&text).err().unwrap_or_else(Refusal::nothing_to_do)
            }
            true => Refusal::usage(first_line(&error.to_string())),
        }
    })
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or("").trim_start_matches("error: ").to_owned()
}

/// Every name of an option without its dashes.
pub fn names(argument: &clap::Arg) -> Vec<String> {
    let mut names: Vec<String> = argument.get_long().map(String::from).into_iter().collect();
    names.extend(argument.get_all_aliases().unwrap_or_default().into_iter().map(String::from));
    names.extend(argument.get_short().map(String::from));
    names
}

/// Whether an option of ours has this name.
#[cfg(test)]
pub fn is_known(name: &str) -> bool {
    let mut command = command();
    command.build();
    command.get_arguments().any(|argument| names(argument).iter().any(|known| known == name))
}
