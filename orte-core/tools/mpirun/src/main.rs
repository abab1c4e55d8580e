//! mpirun: starts the ranks of a job on this host and others, carries their output, and leaves nothing behind.
//!
//! ```text
//!  mpirun ──────────── keeper ── ranks          this host
//!     ├─ ssh ┄ daemon ─ keeper ── ranks         another one
//!     └─ ssh ┄ daemon ─ keeper ── ranks
//!                 └─ ssh ┄ daemon ─ keeper ── ranks
//! ```
//!
//! *mpirun* (this file, [`launch`]) reads the command line, forwards output and decides when the job ends. The *keeper*
//! ([`keeper`]), a child of it and this same program, is the parent of all *ranks* of the host. Both are child subreapers and
//! share a socket; when either of them dies, the other one sees its end of the socket close and kills the ranks and all their
//! children ([`here`]). On every other host a *daemon* ([`daemon`]), this same program again, stands in mpirun's place. It is
//! started by ssh or another agent ([`there`], [`children`]), calls whoever started it by TCP, and gets its orders there ([`link`]). A
//! daemon that loses the one above it kills what is on its host; mpirun ends the job when it loses a daemon. For a process that
//! nobody launched mpirun is a *companion* ([`companion`]), which starts the jobs that it asks for.
//!
//! **Invariant:** one thread in each process; nothing but `raw` is unsafe.

use refusal::{Refusal, say};
use std::process::ExitCode;

mod agent;
mod binding;
mod calls;
mod children;
mod cli;
mod companion;
mod cycle;
mod daemon;
mod doing;
mod file_limit;
mod files;
mod here;
mod keeper;
mod launch;
mod link;
mod manual;
mod modex;
mod name_server;
mod orders;
mod other_mpi;
mod outcome;
mod own_host;
mod params;
mod preload;
mod prepare;
mod program;
mod pty;
mod rankfile;
mod raw;
mod refusal;
mod report;
mod segment;
mod signals;
mod status;
mod stdin;
mod stdio;
mod tag;
mod there;
mod threads;
mod topology;
mod tree;
mod universe;
mod wire;

// The tool links opal-core but opens no component of its own.
opal_core::image![];

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(refusal::panicked));
    raw::hear_of_children();
    let arguments: Vec<_> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == orders::ARGUMENT) {
        return keeper::run(&arguments[2..]);
    }
    if arguments.get(1).is_some_and(|first| first == daemon::ARGUMENT) {
        return daemon::run();
    }
    if arguments.get(1).is_some_and(|first| first == orte_core::companion::ARGUMENT) {
        return companion::run();
    }
    if arguments.get(1).is_some_and(|first| first == manual::ARGUMENT) {
        return ended(refusal::print(&manual::lines(cli::command())).map(|()| 0));
    }
    // Until the ranks run nobody takes them; they are kept until then.
    if let Err(error) = raw::defer(&signals::passed_on()) {
        return ended(Err(Refusal::system("keeping signals for the ranks", error)));
    }
    if arguments.get(1).is_some_and(|first| first == universe::ARGUMENT) {
        return further_job(&arguments);
    }
    match cli::name_server(&arguments) {
        Ok(None) => {}
        Ok(Some((file, mca))) => return ended(name_server::run(&file, &mca).map(|()| 0)),
        Err(refusal) => return ended(Err(refusal)),
    }
    ended(cli::parse(&arguments).and_then(|job| launch::run(job, None)))
}

/// The mpirun of a job that ranks of another one asked for: why it does not start is their business.
fn further_job(arguments: &[std::ffi::OsString]) -> ExitCode {
    let Some(member) = arguments.get(2).and_then(universe::Member::adopt) else {
        say(&format!("{} is for mpirun itself; run mpirun --help", universe::ARGUMENT));
        return ExitCode::from(refusal::OWN);
    };
    let separator = arguments.get(3).cloned().unwrap_or_default();
    let number = arguments.get(4).and_then(|number| number.to_str()?.parse().ok()).unwrap_or_default();
    let words: Vec<_> = arguments.iter().take(1).chain(arguments.iter().skip(5)).cloned().collect();
    ended(match cli::parse_parted(&words, &separator) {
        Ok(mut job) => {
            job.output.job = number;
            launch::run(job, Some(member))
        }
        Err(refusal) => Err(universe::Universe::Member(member).told(refusal)),
    })
}

fn ended(result: Result<u8, Refusal>) -> ExitCode {
    match result {
        Ok(status) => ExitCode::from(status),
        Err(refusal) => {
            if !refusal.sentence.is_empty() {
                say(&refusal.sentence);
            }
            ExitCode::from(refusal.status)
        }
    }
}
