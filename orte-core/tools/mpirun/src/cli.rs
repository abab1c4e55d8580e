//! The command line, as Open MPI's users type it: options with one dash or two, up to the first word that is none, the
//! program; `:` parts several programs of one job.

mod hosts;
mod options;
mod values;

pub use options::command;
pub use values::{Output, Stdin};

use crate::binding::Binding;
use crate::params;
use crate::refusal::Refusal;
use clap::Parser;
use options::Options;
use orte_core::segment::layout::RANKS_MAX;
use std::ffi::OsString;
use std::path::PathBuf;

/// Everything that was asked for, checked.
#[derive(Debug)]
pub struct Job {
    /// The programs, at least one; ranks are counted through all of them in this order.
    pub apps: Vec<App>,
    /// Parameters of `--mca`, in order; names are known where a table exists.
    pub mca: Vec<(String, String)>,
    /// Variables of `-x`.
    pub export: Vec<(OsString, OsString)>,
    /// What becomes of the ranks' output.
    pub output: Output,
    /// Who gets standard input.
    pub stdin: Stdin,
    /// Where each rank may run.
    pub binding: Binding,
    /// Say where each rank may run.
    pub report_bindings: bool,
    /// End the job after this many seconds.
    pub timeout_s: Option<u64>,
    /// Leave out what is not the ranks' own output.
    pub quiet: bool,
    /// Say which processes are started and how each ended.
    pub verbose: bool,
    /// What is worth a word but no refusal.
    pub notes: Vec<String>,
}

/// One program of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App {
    /// Its ranks, at least 1.
    pub ranks: u32,
    /// Directory to work in.
    pub wdir: Option<PathBuf>,
    /// The program and its arguments, at least one word.
    pub command: Vec<OsString>,
}

impl Job {
    /// Ranks of all programs, 1 to 1024.
    pub fn ranks(&self) -> u32 {
        self.apps.iter().map(|app| app.ranks).sum()
    }

    /// The number of the program that a rank runs: MPI_APPNUM.
    pub fn app_of(&self, rank: u32) -> usize {
        app_of(self.apps.iter().map(|app| app.ranks), rank)
    }
}

/// Which of several programs with so many ranks each a rank runs; the last one for a rank that does not exist.
pub fn app_of(ranks: impl ExactSizeIterator<Item = u32>, rank: u32) -> usize {
    let last = ranks.len().saturating_sub(1);
    let mut end = 0;
    for (app, count) in ranks.enumerate() {
        end += count;
        if rank < end {
            return app;
        }
    }
    last
}

/// Reads the command line. `--help` and `--version` print and give an empty refusal with status 0.
pub fn parse(arguments: &[OsString]) -> Result<Job, Refusal> {
    let parts = arguments.get(1..).unwrap_or(&[]).split(|word| word == ":");
    let parts: Vec<(Vec<OsString>, Vec<OsString>)> = parts.map(options::split).collect::<Result<_, _>>()?;
    // Most options are about the job, wherever they stand; of one that is given twice the last one counts.
    let whole = read(parts.iter().flat_map(|(options, _)| options))?;
    if parts.iter().any(|(_, command)| command.is_empty()) {
        let which = if parts.len() > 1 { "no program is named on one side of `:`" } else { "no program is named" };
        return Err(Refusal::usage(format!("{which}; write mpirun [options] program [arguments]")));
    }
    let slots = hosts::slots(&whole.host, &whole.hostfile)?;
    let map = values::map_by(whole.map_by.as_deref())?;
    let most = match (whole.npernode.as_deref().map(values::ranks).transpose()?, map.per_node) {
        (Some(most), _) | (None, Some(most)) => Some(most),
        (None, None) => None,
    };
    let several = parts.len() > 1;
    let mut apps = Vec::new();
    for (words, command) in parts {
        let own = read(&words)?;
        let ranks = match own.np.as_deref() {
            Some(text) => values::ranks(text)?,
            None if several => 1,
            None => most.or(slots).unwrap_or(opal_core::sys::cores() as u32).clamp(1, RANKS_MAX),
        };
        apps.push(App { ranks, wdir: own.wdir, command });
    }
    check_total(&apps, most)?;
    let mut mca: Vec<(String, String)> =
        whole.mca.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    if let Some(handler) = &whole.initial_errhandler {
        mca.push(("mpi_initial_errhandler".to_owned(), handler.clone()));
    }
    params::check(&mca)?;
    let mut notes = Vec::new();
    let total = apps.iter().map(|app| app.ranks).sum();
    Ok(Job {
        export: whole
            .x
            .iter()
            .filter_map(|word| values::export(word, &mut notes).transpose())
            .collect::<Result<_, _>>()?,
        output: values::output(&whole)?,
        stdin: values::stdin(whole.stdin.as_deref(), total)?,
        binding: Binding::new(whole.bind_to.as_deref(), map.processors)?,
        report_bindings: whole.report_bindings,
        timeout_s: whole.timeout.as_deref().map(values::timeout).transpose()?,
        quiet: whole.quiet,
        verbose: whole.verbose,
        notes,
        apps,
        mca,
    })
}

fn read<'a>(words: impl IntoIterator<Item = &'a OsString>) -> Result<Options, Refusal> {
    let program = OsString::from("mpirun");
    Options::try_parse_from(std::iter::once(program).chain(words.into_iter().cloned())).map_err(|error| {
        match error.use_stderr() {
            false => {
                let _ = error.print();
                Refusal { status: 0, sentence: String::new() }
            }
            true => Refusal::usage(first_line(&error.to_string())),
        }
    })
}

fn check_total(apps: &[App], most: Option<u32>) -> Result<(), Refusal> {
    let total: u64 = apps.iter().map(|app| u64::from(app.ranks)).sum();
    if total > u64::from(RANKS_MAX) {
        return Err(Refusal::usage(format!("the programs have {total} ranks together; a job has at most {RANKS_MAX}")));
    }
    match most {
        Some(most) if total > u64::from(most) => Err(Refusal::usage(format!(
            "{total} ranks with at most {most} on each machine need several machines, which are not there yet; raise \
             -npernode or leave it out"
        ))),
        _ => Ok(()),
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
            assert_eq!(job(line).unwrap().ranks(), 3, "{line}");
        }
        let job = job("mpirun -mca btl sm,self --gmca x -1 --omca y 2 --tag-output -n 2 a -n 5 --mca").unwrap();
        let pairs = [("btl", "sm,self"), ("x", "-1"), ("y", "2")];
        assert_eq!(job.mca, pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(job.apps[0].command, ["a", "-n", "5", "--mca"]);
        assert!(job.output.tag && job.ranks() == 2);
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
        assert_eq!((ranks, job.ranks(), job.output.tag), (vec![2, 3, 1], 6, true));
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
            ("mpirun --bind-to sockets a", "sockets"),
            ("mpirun --map-by cores a", "cores"),
            ("mpirun --map-by core:PE=0 a", "PE=0"),
            ("mpirun --timeout 0 a", "--timeout 0"),
            ("mpirun --tag-output=yes a", "takes no value"),
            ("mpirun -n 1 a : -n 1", "`:`"),
            ("mpirun -n 1000 a : -n 1000 b", "2000 ranks"),
            ("mpirun -x =3 a", "-x =3"),
            ("mpirun --stdin 2 -n 2 a", "--stdin 2"),
            ("mpirun --stdin some a", "--stdin some"),
            ("mpirun --host elsewhere.invalid a", "elsewhere.invalid"),
            ("mpirun --host localhost:x a", "localhost:x"),
            ("mpirun --hostfile /no/such/file a", "/no/such/file"),
            ("mpirun -N 2 -n 3 a", "several machines"),
        ] {
            let refusal = job(line).unwrap_err();
            assert!(refusal.status == 2 && refusal.sentence.contains(words), "{line}: {refusal:?}");
            assert!(!refusal.sentence.contains('\n'));
        }
    }
}
