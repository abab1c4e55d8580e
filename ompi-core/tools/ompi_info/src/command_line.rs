//! What was asked for.

use crate::failure::say;
use opal_core::mca::source;
use std::os::unix::process::CommandExt;

/// Shows what this library contains: frameworks, components, parameters, and where each value came from.
#[derive(clap::Parser, Clone, Debug, Default)]
#[command(name = "ompi_info", disable_version_flag = true, after_help = EXAMPLES)]
pub struct Arguments {
    /// Show every parameter of every framework and component
    #[arg(short, long)]
    pub all: bool,
    /// Show the parameters of a framework, or of one of its components (`all` stands for every framework)
    #[arg(long, alias = "params", value_names = ["FRAMEWORK", "COMPONENT"], num_args = 1..=2, action = clap::ArgAction::Append)]
    pub param: Vec<String>,
    /// Show parameters up to this level: 1-3 for users, 4-6 for tuners, 7-9 for developers [default: 3; 9 with --all]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=9))]
    pub level: Option<u8>,
    /// Show only parameters of this type: int, size, bool, string or choice; Open MPI's names of types do, too
    #[arg(short, long, value_name = "TYPE")]
    pub r#type: Option<String>,
    /// Leave out the components that the selection lists leave out (`--mca btl ^tcp`), and their parameters
    #[arg(short, long)]
    pub selected_only: bool,
    /// Show every parameter of the levels asked for; none is internal, so it changes nothing
    #[arg(long)]
    pub internal: bool,
    /// Set a parameter as `mpirun --mca` would, to see what becomes of it
    #[arg(long, alias = "gmca", value_names = ["NAME", "VALUE"], num_args = 2, action = clap::ArgAction::Append)]
    pub mca: Vec<String>,
    /// Write JSON
    #[arg(long, conflicts_with = "parsable")]
    pub json: bool,
    /// Write one `key:value` line per fact, as scripts made for Open MPI read them
    #[arg(long, alias = "parseable")]
    pub parsable: bool,
    /// Write text for people, as it is done without --json and --parsable, too
    #[arg(long, visible_alias = "pretty", conflicts_with_all = ["json", "parsable"])]
    pub pretty_print: bool,
    /// Write the table of all parameters as a JSON array, without values
    #[arg(long, conflicts_with_all = ["json", "parsable", "param"])]
    pub params_json: bool,
    /// Show how this library was built: components, those that are called directly, and the kind of optimization
    #[arg(short, long)]
    pub config: bool,
    /// Show the architecture that this library was built for
    #[arg(long)]
    pub arch: bool,
    /// Show the name of the machine that this library was built on
    #[arg(long)]
    pub hostname: bool,
    /// Show where this library lies: prefix, bindir, libdir, incdir, mandir, pkgdatadir, sysconfdir, or all
    #[arg(long, value_name = "WHICH", num_args = 0..=1, default_missing_value = "all")]
    pub path: Option<String>,
    /// Show every collective function with the components that serve it, their algorithms and priorities, and which one
    /// would serve a call
    #[arg(long, conflicts_with_all = ["param", "parsable", "params_json"])]
    pub coll: bool,
    /// With --coll: processes of the communicator [default: 8]
    #[arg(long, value_name = "N", requires = "coll")]
    pub size: Option<usize>,
    /// With --coll: bytes, as the list says how they are counted [default: 8]
    #[arg(long, value_name = "B", requires = "coll")]
    pub bytes: Option<usize>,
    /// For `cargo xtask build`: what the manual page is made of
    #[arg(long = "ompi-rs-manual", hide = true)]
    pub manual: bool,
    /// Show the version only
    #[arg(short = 'V', long)]
    pub version: bool,
    /// Show versions: WHAT is ompi, a framework, framework:component or all, and WHICH is full, major, minor or release
    #[arg(short = 'v', long, value_name = "WHAT[:WHICH]", conflicts_with_all = ["version", "json"])]
    pub show_version: Option<String>,
}

/// Reads the command line; `Err` is the status to end with, everything having been said.
pub fn parse(typed: Vec<String>) -> Result<Arguments, u8> {
    let words = std::iter::once("ompi_info".to_owned()).chain(typed.into_iter().map(two_dashes));
    let arguments = <Arguments as clap::Parser>::try_parse_from(words).map_err(|error| {
        // Nobody is left to be told when this fails, too.
        let _ = error.print();
        error.exit_code() as u8
    })?;
    match arguments.mca.is_empty() || std::env::var_os(AGAIN).is_some() {
        true => Ok(arguments),
        false => Err(again(&arguments)),
    }
}

/// One dash does as well as two before a long name, as with mpirun.
fn two_dashes(word: String) -> String {
    let name = word.strip_prefix('-').unwrap_or_default().split('=').next().unwrap_or_default();
    let command = <Arguments as clap::CommandFactory>::command();
    let mut names = command
        .get_arguments()
        .flat_map(|argument| argument.get_long().into_iter().chain(argument.get_all_aliases().unwrap_or_default()));
    match name.len() > 1 && (name == "help" || names.any(|long| long == name)) {
        true => format!("-{word}"),
        false => word,
    }
}

/// Starts itself again with `--mca` in the environment, which is how mpirun hands such values down.
fn again(arguments: &Arguments) -> u8 {
    let pairs = arguments.mca.chunks_exact(2);
    let names: Vec<&str> = pairs.clone().map(|pair| pair[0].as_str()).collect();
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return say(1, &format!("cannot find my own program: {error}")),
    };
    let mut command = std::process::Command::new(program);
    command.args(std::env::args_os().skip(1)).env(AGAIN, "1").env(source::COMMAND_LINE, names.join(","));
    for pair in pairs {
        command.env(format!("{}{}", source::PREFIX, pair[0]), &pair[1]);
    }
    say(1, &format!("cannot start myself with --mca: {}", command.exec()))
}

/// Set in the program that was started again.
const AGAIN: &str = "OMPI_RS_INFO_AGAIN";

const EXAMPLES: &str = "Examples:
  ompi_info                            version, frameworks and components
  ompi_info --all                      every parameter with type, value, default and origin
  ompi_info --param btl sm --level 9   the parameters of btl/sm, those for developers included
  ompi_info --mca btl ^sm --param btl  what a selection list on mpirun's command line would do
  ompi_info --all --json               the same for programs
  ompi_info --coll --size 16 --bytes 65536    who would serve collectives, and how
  ompi_info --path libdir              where the libraries lie
  ompi_info --show-version btl:sm      the version of one component
  ompi_info --parsable | grep mpi_built_with_cuda_support:value    buffers on a GPU: no

Values come from, weakest first: the parameter's default, /etc/ompi-rs/mca-params.conf,
~/.ompi-rs/mca-params.conf, OMPI_MCA_<name> in the environment, mpirun --mca <name> <value>.";
