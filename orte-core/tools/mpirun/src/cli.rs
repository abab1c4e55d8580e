//! The command line, as users of Open MPI and MPICH type it: options with one dash or two, then the program, which is the
//! first word that is no option; `:` separates several programs of one job.

mod app;
mod counts;
mod environment;
mod foreign;
mod hosts;
mod inherited;
mod line;
mod map;
mod option_files;
mod options;
mod output;
mod own_hosts;
mod process_sets;
mod runtime;
mod split;
mod values;

pub use app::{App, app_of};
pub use environment::Environment;
pub use hosts::Own;
pub use inherited::Inherited;
pub use map::{Map, Unit, processors, unit};
pub use output::{Output, OutputFiles, Tag};
pub use process_sets::PROCESS_SETS;
pub use values::Stdin;

use crate::binding::{self, Binding, Place};
use crate::params;
use crate::rankfile;
use crate::refusal::Refusal;
use crate::topology::Topology;
use counts::Counts;
use hosts::Host;
pub use hosts::{HostRoom, of_allocation as hosts_of_allocation};
use line::Line;
use options::{Options, read};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

/// Everything that was asked for, checked.
#[derive(Debug)]
pub struct Job {
    /// The programs, at least one; ranks are counted through all of them in this order.
    pub apps: Vec<App>,
    /// Parameters of `--mca`, in order; names are known where a table exists.
    pub mca: Vec<(String, String)>,
    /// What becomes of the ranks' output.
    pub output: Output,
    /// Who gets standard input.
    pub stdin: Stdin,
    /// Where each rank of this host may run.
    pub places: Vec<Place>,
    /// The node of each rank: 0 is this host, whether or not it has ranks.
    pub nodes: Vec<u32>,
    /// The name of each node; those behind this host have ranks.
    pub names: Vec<String>,
    /// All hosts that further jobs may run on, if there are other ones than this.
    pub hosts: Vec<HostRoom>,
    /// What further jobs are started with as well.
    pub inherited: Inherited,
    /// The words by which other hosts place their ranks.
    pub binding: Vec<String>,
    /// In place of them: the slot of each rank in a rankfile.
    pub slots: Vec<String>,
    /// Say what starts daemons, too.
    pub explain: bool,
    /// Where ompi-rs lies on other hosts, if not where it lies here.
    pub prefix: Option<PathBuf>,
    /// Other hosts get the programs from here.
    pub preload_binary: bool,
    /// Files that other hosts get where they lack them.
    pub preload_files: Vec<PathBuf>,
    /// How many ranks the job could have.
    pub universe: u32,
    /// Lines about what was decided, to be said before the start.
    pub reports: Vec<String>,
    /// Say them, and start nothing.
    pub do_not_launch: bool,
    /// Write mpirun's process id there: `-`, `+` or a file.
    pub report_pid: Option<PathBuf>,
    /// End the job after this time.
    pub timeout: Option<Duration>,
    /// Then say where in the program each thread of each rank was.
    pub stack_traces: bool,
    /// Say who waits for what after so long without progress; 0: never.
    pub stall_s: u64,
    /// How long ranks have to end when they are asked to.
    pub grace_s: Option<u64>,
    /// A rank that fails does not end the job.
    pub keep_going: bool,
    /// Leave out what is not the ranks' own output.
    pub quiet: bool,
    /// Say which processes are started and how each ended.
    pub verbose: bool,
    /// What is worth a word but no refusal.
    pub notes: Vec<String>,
}

impl Job {
    /// Ranks of all programs, at least 1.
    pub fn ranks(&self) -> u32 {
        self.apps.iter().map(|app| app.ranks).sum()
    }

    /// The number of the program that a rank runs: MPI_APPNUM.
    pub fn app_of(&self, rank: u32) -> usize {
        app_of(self.apps.iter().map(|app| app.ranks), rank)
    }
}

/// The words by which a host places its ranks, of those of the job and of what a rankfile says of each rank.
pub fn binding_of(binding: &[String], slots: &[String], nodes: &[u32], node: u32) -> Vec<String> {
    if slots.is_empty() {
        return binding.to_vec();
    }
    let own = slots.iter().zip(nodes).filter(|(_, its)| **its == node).map(|(slot, _)| slot.clone());
    let report = binding.iter().filter(|word| *word == REPORT).cloned();
    std::iter::once(RANKFILE.to_owned()).chain(report).chain(own).collect()
}

/// The table of options for the manual page, with those of other launchers behind it.
pub fn command() -> clap::Command {
    let command = options::command();
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let theirs = foreign::help(|_| true);
    command.after_help(format!("{after}\n\nOptions of other launchers, and what is done with them:\n{theirs}"))
}

/// Reads the command line. `--help` and `--version` print and give an empty refusal with status 0.
pub fn parse(arguments: &[OsString]) -> Result<Job, Refusal> {
    parse_parted(arguments, OsStr::new(":"))
}

/// What `--name-server` asks for: the file, and the parameters.
pub fn name_server(arguments: &[OsString]) -> Result<Option<(PathBuf, Vec<String>)>, Refusal> {
    Line::name_server(arguments)
}

/// As [`parse`] where another word than `:` parts the programs.
pub fn parse_parted(arguments: &[OsString], separator: &OsStr) -> Result<Job, Refusal> {
    let line = Line::new(arguments, separator)?;
    // Most options are about the job, wherever they stand; of one that is given twice the last one counts.
    let whole = read(line.common.iter().chain(line.parts.iter().flat_map(|part| &part.options)))?;
    starts_a_program(&whole)?;
    let mut notes = Vec::new();
    let map = Map::new(&whole)?;
    let topology = Topology::new(map.only.as_deref())?;
    let counts = Counts::new(&whole, &line.parts, &map, &topology)?;
    let apps = line.apps(&whole, &counts, &mut notes)?;
    let total = counts.check(&apps)?;
    let runtime = runtime::Wishes::new(&whole)?;
    let defaults = environment::defaults();
    let timeout = whole.timeout.as_deref().map(|text| ("--timeout", text));
    let timeout = timeout.or(defaults.timeout.as_deref().map(|text| ("MPIEXEC_TIMEOUT", text)));
    whole.arch.as_deref().map_or(Ok(()), values::arch)?;
    if let Some(list) = &whole.memory_alloc_kinds {
        values::memory_kinds(list, &mut notes);
    }
    let binding = Binding::new(whole.bind_to.as_deref(), &map)?;
    let hosts_of_ranks = counts.map(&apps)?;
    let (nodes, names) = nodes(&hosts_of_ranks, &counts.hosts);
    let here = nodes.iter().filter(|node| **node == 0).count() as u32;
    let slots = counts.slots.get(..total as usize).unwrap_or_default().to_vec();
    let (places, said) = match slots.is_empty() {
        false => (places_of_lines(&slots, &nodes, &topology)?, Vec::new()),
        true => binding::places(&binding, &map, &topology, here)?,
    };
    notes.extend(said);
    let show = runtime::Show::new(&whole, binding.report, runtime.do_not_launch)?;
    let mut reports = if whole.explain { counts.explain(&whole, total) } else { Vec::new() };
    reports.extend(show.lines(&apps, &places, &topology, &counts.hosts, (&nodes, &names)));
    let output = Output::new(&whole, &defaults)?;
    let universe = whole.usize.as_deref().or(defaults.usize.as_deref());
    Ok(Job {
        mca: parameters(&whole, process_sets::parameter(&line.process_sets()?, &apps)?)?,
        inherited: Inherited::of(&whole, &output, whole.disable_auto_cleanup || runtime.keep_going),
        output,
        stdin: values::stdin(whole.stdin.as_deref(), total)?,
        reports,
        slots,
        explain: whole.explain,
        universe: values::universe(universe, total, counts.all_slots())?,
        do_not_launch: runtime.do_not_launch,
        report_pid: whole.report_pid.clone(),
        timeout: match (timeout, runtime.timeout) {
            (Some((option, text)), _) => Some(values::duration(option, text)?),
            (None, timeout) => timeout,
        },
        stack_traces: whole.get_stack_traces || runtime.stack_traces,
        stall_s: whole
            .stall_report
            .as_deref()
            .map_or(Ok(STALL_S), |text| values::seconds_or_none("--stall-report", text))?,
        grace_s: whole.grace.as_deref().map(|text| values::seconds("--grace", text)).transpose()?,
        keep_going: whole.disable_auto_cleanup || runtime.keep_going,
        quiet: whole.quiet,
        verbose: whole.verbose,
        notes,
        places,
        nodes,
        names,
        hosts: hosts::rooms(&counts.hosts, &hosts_of_ranks),
        binding: binding_words(&whole, show.asks_daemons()),
        preload_binary: whole.preload_binary,
        preload_files: whole.preload_files.iter().flat_map(|list| list.split(',')).map(PathBuf::from).collect(),
        prefix: whole.prefix,
        apps,
    })
}

/// The places of this host's ranks, by the slots of all ranks.
fn places_of_lines(slots: &[String], nodes: &[u32], topology: &Topology) -> Result<Vec<Place>, Refusal> {
    let here = slots.iter().zip(nodes).filter(|(_, node)| **node == 0).map(|(slot, _)| slot.as_str());
    rankfile::places(here, topology).map_err(|why| Refusal::usage(format!("--rankfile: {why}")))
}

/// The node of each rank and the names of the nodes: this host first, then those of the others that have ranks.
fn nodes(map: &[u32], hosts: &[Host]) -> (Vec<u32>, Vec<String>) {
    let mut names = vec![opal_core::sys::hostname()];
    let mut numbers: Vec<Option<u32>> = hosts.iter().map(|host| host.is_here.then_some(0)).collect();
    let number = |host: &u32| {
        let host = *host as usize;
        *numbers[host].get_or_insert_with(|| {
            names.push(hosts[host].name.clone());
            names.len() as u32 - 1
        })
    };
    let nodes = map.iter().map(number).collect();
    (nodes, names)
}

/// What `--map-by`, `--bind-to` and their relatives said, and whether the host is to say what came of it.
fn binding_words(whole: &Options, reports: bool) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |option: &str, value: &str| words.extend([option.to_owned(), value.to_owned()]);
    whole.map_by.iter().for_each(|text| add("--map-by", text));
    whole.bind_to.iter().for_each(|text| add("--bind-to", text));
    whole.rank_by.iter().for_each(|text| add("--rank-by", text));
    whole.cpu_set.iter().for_each(|text| add("--cpu-set", text));
    words.extend(whole.oversubscribe.then(|| "--oversubscribe".to_owned()));
    words.extend(reports.then(|| REPORT.to_owned()));
    words
}

/// The places of these ranks on the cores of this host, as these words of mpirun's on another host say; and the lines that are to be said
/// of them.
pub fn places_here(words: &[OsString], ranks: &[u32]) -> Result<(Vec<Place>, Vec<String>), Refusal> {
    let reports = words.iter().any(|word| word == REPORT);
    let (places, topology) = match words.split_first() {
        Some((first, slots)) if first == RANKFILE => {
            let slots: Vec<&str> =
                slots.iter().filter(|word| *word != REPORT).filter_map(|slot| slot.to_str()).collect();
            let topology = Topology::new(None)?;
            let places = rankfile::places(slots, &topology);
            (places.map_err(|why| Refusal::usage(format!("--rankfile: {why}")))?, topology)
        }
        _ => places_by_options(words, ranks.len() as u32)?,
    };
    let lines = if reports { binding::report(ranks, &places, &topology) } else { Vec::new() };
    Ok((places, lines))
}

fn places_by_options(words: &[OsString], ranks: u32) -> Result<(Vec<Place>, Topology), Refusal> {
    let whole = read(words)?;
    let map = Map::new(&whole)?;
    let topology = Topology::new(map.only.as_deref())?;
    if let Some(per_unit) = map.per_unit {
        let units = topology.groups(map.unit)?.len() as u32;
        if ranks > per_unit.saturating_mul(units) {
            let name = crate::topology::name(map.unit);
            return Err(Refusal::usage(format!(
                "--map-by ppr:{per_unit}:…: {units} {name}s may be used there, too few for {ranks} ranks; mpirun's own host has more"
            )));
        }
    }
    let binding = Binding::new(whole.bind_to.as_deref(), &map)?;
    Ok((binding::places(&binding, &map, &topology, ranks)?.0, topology))
}

/// The first of these words where a rankfile says the rest.
const RANKFILE: &str = "rankfile";
/// One of them where the host is to say where its ranks may run.
const REPORT: &str = "--report-bindings";

/// A job in which nothing happens for so long has most likely come to its end.
const STALL_S: u64 = 60;

/// Refuses what goes without a program.
fn starts_a_program(whole: &Options) -> Result<(), Refusal> {
    if whole.status.is_some() {
        return Err(Refusal::usage("--status asks another mpirun and starts no program: leave the program out"));
    }
    if whole.name_server.is_some() {
        return Err(Refusal::usage(
            "--name-server starts no program: leave the program out, or write --ompi-server to use a server that runs",
        ));
    }
    Ok(())
}

/// The parameters of the job.
fn parameters(whole: &Options, process_sets: Option<String>) -> Result<Vec<(String, String)>, Refusal> {
    let mut mca: Vec<(String, String)> =
        whole.mca.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    if let Some(handler) = &whole.initial_errhandler {
        mca.push(("mpi_initial_errhandler".to_owned(), handler.clone()));
    }
    mca.extend(process_sets.map(|sets| (PROCESS_SETS.to_owned(), sets)));
    // Rank 0 may run in another directory.
    let mut add = |name: &str, file: &std::path::Path| {
        let path = std::path::absolute(file).map_err(|error| Refusal::usage(format!("{}: {error}", file.display())))?;
        mca.push((name.to_owned(), path.display().to_string()));
        Ok::<(), Refusal>(())
    };
    if whole.stats.as_ref().is_some_and(|file| file.is_empty()) {
        return Err(Refusal::usage("--stats=: the name of a file is missing; --stats alone prints the statistics"));
    }
    if whole.stats.as_deref().is_some_and(|file| whole.trace.as_deref().is_some_and(|trace| trace == file)) {
        return Err(Refusal::usage("--stats and --trace name the same file"));
    }
    whole.trace.as_ref().map_or(Ok(()), |file| add("ompi_trace", file))?;
    match &whole.stats {
        Some(word) if word == "1" || word == "-" => {
            mca.push(("ompi_stats".to_owned(), word.display().to_string()));
        }
        Some(file) => add("ompi_stats", file.as_ref())?,
        None => {}
    }
    params::check(&mca)?;
    Ok(mca)
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
            assert_eq!(job(line).unwrap().ranks(), 3, "{line}");
        }
        let job = job("mpirun -mca btl sm,self --gmca x -1 --omca y 2 --tag-output -n 2 a -n 5 --mca").unwrap();
        let pairs = [("btl", "sm,self"), ("x", "-1"), ("y", "2")];
        assert_eq!(job.mca, pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(job.apps[0].command, ["a", "-n", "5", "--mca"]);
        assert!(job.output.tags == [Tag::Rank, Tag::Rank] && job.ranks() == 2);
    }

    #[test]
    fn statistics_and_traces() {
        let mca = |line: &str| job(line).unwrap().mca;
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(mca("mpirun --stats a b"), [pair("ompi_stats", "1")]);
        assert_eq!(mca("mpirun --stats=- a b"), [pair("ompi_stats", "-")]);
        assert!(job("mpirun --stats= a").unwrap_err().sentence.contains("is missing"));
        assert!(job("mpirun --stats=x --trace x a").unwrap_err().sentence.contains("same file"));
        assert_eq!(job("mpirun --stats a b").unwrap().apps[0].command, ["a", "b"]);
        assert_eq!(mca("mpirun -stats=/x/y.svg a"), [pair("ompi_stats", "/x/y.svg")]);
        assert_eq!(mca("mpirun --trace /x/t.json a"), [pair("ompi_trace", "/x/t.json")]);
        // Where rank 0 runs in another directory it is still the file that was meant.
        let here = std::env::current_dir().unwrap().join("y.json").display().to_string();
        assert_eq!(mca("mpirun --stats=y.json --wdir /tmp a"), [pair("ompi_stats", &here)]);
        assert!(job("mpirun --name-server f a").unwrap_err().sentence.contains("--ompi-server"));
        let refusal = job("mpirun --status 1 a").unwrap_err();
        assert!(refusal.sentence.contains("leave the program out"), "{refusal:?}");
    }

    #[test]
    fn what_ends_the_options() {
        assert_eq!(job("mpirun -- -odd").unwrap().apps[0].command, ["-odd"]);
        assert_eq!(job("mpirun - x").unwrap().apps[0].command, ["-", "x"]);
    }

    #[test]
    fn several_programs() {
        let job = job("mpirun -n 2 -wd /tmp a -x : -np 3 --tag-output b : c d").unwrap();
        let ranks: Vec<u32> = job.apps.iter().map(|app| app.ranks).collect();
        assert_eq!((ranks, job.ranks(), job.output.tags[0] == Tag::Rank), (vec![2, 3, 1], 6, true));
        assert_eq!(job.apps[0].command, ["a", "-x"]);
        assert_eq!((job.apps[0].wdir.is_some(), job.apps[1].wdir.is_some()), (true, false));
        assert_eq!([0, 1, 2, 4, 5].map(|rank| job.app_of(rank)), [0, 0, 1, 1, 2]);
    }

    #[test]
    fn how_many_ranks() {
        for (line, ranks) in [
            ("mpirun --host localhost:8 a", 8),
            ("mpirun -H localhost,127.0.0.1:2 a", 3),
            ("mpirun --host localhost:2 -n 5 a", 5),
            ("mpirun -npernode 3 a", 3),
            ("mpirun -N 4 -n 2 a", 2),
            ("mpirun --map-by ppr:2:node a", 2),
        ] {
            assert_eq!(job(line).unwrap().ranks(), ranks, "{line}");
        }
    }

    #[test]
    fn ranks_on_several_hosts() {
        let (a, b) = ("a.invalid", "b.invalid");
        for (line, nodes, names) in [
            ("mpirun --host a.invalid:2,b.invalid:1 x", vec![1, 1, 2], vec![a, b]),
            ("mpirun --host a.invalid:2,localhost:2 -n 3 x", vec![1, 1, 0], vec![a]),
            ("mpirun --host a.invalid:2,b.invalid:2 --map-by node x", vec![1, 2, 1, 2], vec![a, b]),
            ("mpirun --host a.invalid:2,b.invalid:2 -N 1 x", vec![1, 2], vec![a, b]),
            ("mpirun --host a.invalid:8,b.invalid:8 --map-by ppr:2:node x", vec![1, 1, 2, 2], vec![a, b]),
            ("mpirun --host a.invalid:8,b.invalid:8 -n 2 x", vec![1, 1], vec![a]),
            ("mpirun --host a.invalid,b.invalid -ppn 2 -n 5 x", vec![1, 1, 2, 2, 1], vec![a, b]),
            ("mpirun --host a.invalid,b.invalid -ppn 1 -n 3 x", vec![1, 2, 1], vec![a, b]),
            ("mpirun --host a.invalid:2,b.invalid:2 --rank-by node x", vec![1, 2, 1, 2], vec![a, b]),
            ("mpirun --host a.invalid:2,b.invalid:2 --map-by node --rank-by slot x", vec![1, 1, 2, 2], vec![a, b]),
            ("mpirun --host b.invalid,a.invalid,b.invalid:2 --map-by seq x", vec![1, 2, 1, 1], vec![b, a]),
            // Each program on the hosts that it names; on those of the job that are left where it names none.
            ("mpirun -H a.invalid:4 -n 1 x : -H b.invalid:4 -n 2 y", vec![1, 2, 2], vec![a, b]),
            ("mpirun -H a.invalid -n 1 x : -H b.invalid -n 2 y", vec![1, 2, 2], vec![a, b]),
            ("mpirun -n 1 -H a.invalid x : -n 1 y : -n 1 -H b.invalid:2 z", vec![1, 2, 2], vec![a, b]),
            ("mpirun -H a.invalid,b.invalid -n 1 x : -n 1 y", vec![1, 2], vec![a, b]),
            ("mpirun -N 2 -H a.invalid:2 -n 1 x : -H b.invalid:2,a.invalid:2 -n 3 y", vec![1, 2, 2, 1], vec![a, b]),
            ("mpirun -H a.invalid x : -H b.invalid,a.invalid --map-by node -n 2 y", vec![1, 2, 1], vec![a, b]),
        ] {
            let job = job(line).unwrap();
            assert_eq!(
                (job.nodes, &job.names[1..]),
                (nodes, &names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()[..]),
                "{line}"
            );
        }
    }

    #[test]
    fn refusals_name_what_was_typed() {
        for (line, words) in [
            ("mpirun --tagoutput a", "--tag-output"),
            ("mpirun -nn 2 a", "-nn"),
            ("mpirun --frobnicate a", "--frobnicate"),
            ("mpirun -n 0 a", "1 to 1048576"),
            ("mpirun -n -4 a", "-4"),
            ("mpirun -n 1025 a", "1025"),
            ("mpirun -n two a", "two"),
            ("mpirun --mca btl", "a name and a value"),
            ("mpirun -n", "a value"),
            ("mpirun -n 2", "no program"),
            ("mpirun --bind-to sockets a", "sockets"),
            ("mpirun --map-by cores a", "cores"),
            ("mpirun --map-by core:PE=0 a", "PE=0"),
            ("mpirun --timeout 0 a", "--timeout 0"),
            ("mpirun --timeout 1e-20 a", "--timeout 1e-20"),
            ("mpirun --timeout -1.5 a", "--timeout -1.5"),
            ("mpirun --timeout NaN a", "--timeout NaN"),
            ("mpirun --tag-output=yes a", "takes no value"),
            ("mpirun -n 1 a : -n 1", "`:`"),
            ("mpirun -n 1000 a : -n 1000 b", "2000 ranks"),
            ("mpirun -x =3 a", "-x =3"),
            ("mpirun --stdin 2 -n 2 a", "--stdin 2"),
            ("mpirun --stdin some a", "--stdin some"),
            ("mpirun --host -x a", "no name of a host"),
            ("mpirun --host localhost:x a", "localhost:x"),
            ("mpirun --hostfile /no/such/file a", "/no/such/file"),
            ("mpirun -N 2 -n 3 a", "more machines"),
            ("mpirun --rank-by core a", "slot, node, fill or span"),
            ("mpirun -N 2 --host a.invalid,b.invalid -n 5 a", "2 machines"),
            ("mpirun --map-by seq a", "--host A,B,A"),
            ("mpirun --map-by seq --host a.invalid,b.invalid -n 3 a", "2"),
            ("mpirun --nooversubscribe -n 3 -H a.invalid a : -H b.invalid:8 b", "into the 1 slots of 1 hosts"),
        ] {
            let refusal = job(line).unwrap_err();
            assert!(refusal.status == 125 && refusal.sentence.contains(words), "{line}: {refusal:?}");
            assert!(!refusal.sentence.contains('\n'));
        }
    }
}
