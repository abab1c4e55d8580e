//! MPI_Comm_spawn and MPI_Comm_spawn_multiple: mpirun starts a job, whose processes connect to a port of the root's.

use super::call::hear;
use super::launcher::{self, poll};
use super::meet::{Exchanged, meet};
use super::soft;
use super::wait::Rests;
use crate::comm::Communicator;
use crate::error::{Class, Fault, Result};
use crate::info::Info;
use crate::parameters::{CONNECT_TIMEOUT_S, INITIAL_HANDLERS};
use crate::process;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::sync::Mutex;
use opal_core::sys;
use orte_core::framework::ess;
use orte_core::port::{self, Channel, Listener};
use orte_core::universe::{self, Answer, Request, SpawnApp, SpawnRequest, Spawner};

/// One of the programs to start.
pub struct Program {
    /// What to execute.
    pub command: Vec<u8>,
    /// Its arguments, without its name.
    pub arguments: Vec<Vec<u8>>,
    /// How many processes.
    pub maxprocs: i32,
    /// Hints.
    pub info: Option<Arc<Info>>,
}

/// Of the processes that were asked for: the handle, if they run, and an error code for each.
pub type Spawned = (Result<usize>, Vec<i32>);

/// Starts processes. `programs` is asked at the root only.
pub fn spawn(comm: &Communicator, root: usize, programs: impl FnOnce() -> Result<Vec<Program>>) -> Spawned {
    let met = meet(comm, root, |roster| match programs() {
        Err(fault) => Exchanged::of(Err(fault)),
        Ok(programs) => start(&programs, roster),
    });
    let codes = |notes: Vec<u64>| notes.into_iter().map(|code| code as u32 as i32).collect();
    match met {
        Ok((handle, notes)) => (Ok(handle), codes(notes)),
        // They run, and cannot be reached, or ended before they were.
        Err((fault, notes)) if fault.get() == Class::ProcAborted as i32 => {
            let fault = Fault::new(Class::Spawn).because(String::from(fault.reason()));
            (Err(fault), notes.iter().map(|_| Class::Spawn as i32).collect())
        }
        Err((fault, notes)) => (Err(fault), codes(notes)),
    }
}

/// The root's part. The notes are the error codes.
fn start(programs: &[Program], roster: &[u8]) -> Exchanged {
    let all_failed = |fault| {
        let asked = programs.iter().map(|program| program.maxprocs.max(0) as usize).sum();
        Exchanged { notes: alloc::vec![Class::Spawn as u64; asked], roster: Err(fault) }
    };
    let apps: Result<Vec<SpawnApp>> = programs.iter().map(app).collect();
    let apps = match apps {
        Ok(apps) => apps,
        Err(fault) => return all_failed(fault),
    };
    let mut notes = Vec::new();
    for (program, app) in programs.iter().zip(&apps) {
        let code = |number: u32| if number < app.ranks { 0 } else { Class::Spawn as u64 };
        notes.extend((0..program.maxprocs as u32).map(code));
    }
    match run(apps, roster) {
        Ok(theirs) => Exchanged { notes, roster: Ok(theirs) },
        Err(fault) => all_failed(fault),
    }
}

fn run(apps: Vec<SpawnApp>, roster: &[u8]) -> Result<Vec<u8>> {
    if let Some(spawner) = ess::selected().and_then(|environment| environment.spawner()) {
        return by_manager(spawner, apps, roster);
    }
    let asked = |fault: Fault| failed(fault.reason().into());
    let mpirun = launcher::universe().map_err(asked)?;
    let (is_near, is_far_reaching) = port::reach(&mpirun).unwrap_or((true, false));
    let mut listener = Listener::open().map_err(failed)?;
    if is_far_reaching || apps.iter().any(names_hosts) {
        listener.listen_far().map_err(failed)?;
    }
    let directory = universe::directory(is_near).map_err(failed)?;
    let by = process::name(process::me().index).job;
    let words = for_processes(&apps);
    let spawn = SpawnRequest { port: listener.text(), directory, by, apps };
    // Open until the processes of both jobs have met: from then on the end of one is no error of this call.
    let mut mpirun = launcher::call(&mpirun, &Request::Spawn(spawn)).map_err(asked)?;
    hear(&Mutex::new(listener), roster, Rests::waiting_for(words), || look(&mut mpirun))
}

/// Another project's manager starts the job. It says nothing of processes that end before they have met those that asked for them, so that
/// these wait for so long only.
fn by_manager(spawner: &dyn Spawner, apps: Vec<SpawnApp>, roster: &[u8]) -> Result<Vec<u8>> {
    let mut listener = Listener::open().map_err(failed)?;
    listener.listen_far().map_err(failed)?;
    let directory = universe::directory(false).map_err(failed)?;
    let by = process::name(process::me().index).job;
    let words = for_processes(&apps);
    spawner.spawn(&SpawnRequest { port: listener.text(), directory, by, apps }).map_err(failed)?;
    let seconds = CONNECT_TIMEOUT_S.size() as u64;
    let until_ns = sys::monotonic_ns().saturating_add(seconds.saturating_mul(1_000_000_000));
    hear(&Mutex::new(listener), roster, Rests::waiting_for(words), || match sys::monotonic_ns() < until_ns {
        true => Ok(()),
        false => Err(failed(format!(
            "the processes that the manager started did not come out of MPI_Init within {seconds} s (mpi_connect_timeout_s sets how long to wait)"
        ))),
    })
}

/// What goes on after `waits for`.
fn for_processes(apps: &[SpawnApp]) -> impl Fn() -> String + use<> {
    let ranks: u32 = apps.iter().map(|app| app.ranks).sum();
    let program = apps.first().and_then(|app| app.command.first()).cloned().unwrap_or_default();
    move || format!("{ranks} processes that it spawns ({}) to call MPI_Init", String::from_utf8_lossy(&program))
}

fn failed(why: String) -> Fault {
    Fault::new(Class::Spawn).because(why)
}

/// Whether its ranks may run on other hosts.
fn names_hosts(app: &SpawnApp) -> bool {
    app.options.iter().any(|option| HOSTS.iter().any(|name| name.as_bytes() == option))
}

/// Whether to go on waiting for the job.
fn look(mpirun: &mut Channel) -> Result<()> {
    match poll(mpirun) {
        Ok(None | Some(Answer::Started(_))) => Ok(()),
        Ok(Some(Answer::Refused(why) | Answer::Ended(why))) => Err(Fault::new(Class::Spawn).because(why)),
        Ok(Some(Answer::Done | Answer::Port(_) | Answer::Status(..) | Answer::Stalled(_))) => Err(Class::Intern.into()),
        Err(fault) => Err(Fault::new(Class::Spawn).because(fault.reason())),
    }
}

/// A program as mpirun's command line has it.
fn app(program: &Program) -> Result<SpawnApp> {
    let wrong = |argument, why: String| Fault::new(Class::Arg).argument(argument).because(why);
    if program.maxprocs < 1 {
        return Err(wrong("maxprocs", format!("{} is not positive", program.maxprocs)));
    }
    if program.command.is_empty() {
        return Err(Fault::new(Class::Spawn).argument("command").because("it is an empty text"));
    }
    let maxprocs = program.maxprocs as u32;
    let (mut ranks, mut options) = (maxprocs, Vec::new());
    if let Some(info) = &program.info {
        let mut option = |name: &str, value: String| options.extend([name.as_bytes().to_vec(), value.into_bytes()]);
        for (key, name) in OPTIONS {
            if let Some(value) = info.get(key) {
                if value.trim().is_empty() {
                    let why = format!("the value of key {key} is empty; leave the key out, or say what it is to be");
                    return Err(Fault::new(Class::InfoValue).argument("info").because(why));
                }
                option(name, value);
            }
        }
        if info.get("ompi_non_mpi").is_some_and(|value| is_true(&value)) {
            let why = "the key ompi_non_mpi asks for processes that never call MPI_Init, and each is waited for until it does; start \
                       such programs by the system, as with posix_spawn";
            return Err(Fault::new(Class::Spawn).argument("info").because(why));
        }
        // One a line, as Open MPI has it.
        for variable in info.get("env").iter().flat_map(|list| list.lines()).filter(|line| !line.is_empty()) {
            option("-x", String::from(variable));
        }
        if info.get("pernode").is_some_and(|value| is_true(&value)) {
            option("--npernode", String::from("1"));
        }
        if let Some(handler) = info.get("mpi_initial_errhandler") {
            if !INITIAL_HANDLERS.contains(&handler.as_str()) {
                let why =
                    format!("mpi_initial_errhandler is `{handler}`; it must be one of {}", INITIAL_HANDLERS.join(", "));
                return Err(Fault::new(Class::Spawn).argument("info").because(why));
            }
            options.extend(["--initial-errhandler", &handler].map(|word| word.as_bytes().to_vec()));
        }
        if let Some(text) = info.get("soft") {
            ranks =
                soft::best(&text, maxprocs).map_err(|why| Fault::new(Class::Spawn).argument("info").because(why))?;
        }
    }
    let command = core::iter::once(&program.command).chain(&program.arguments).cloned().collect();
    Ok(SpawnApp { ranks, options, command })
}

/// As info values of Open MPI's keys spell it.
fn is_true(value: &str) -> bool {
    ["true", "yes", "1"].iter().any(|word| value.trim().eq_ignore_ascii_case(word))
}

/// Info keys (MPI 5.0 §11.8.4, and Open MPI's) and the options of mpirun that mean the same.
const OPTIONS: [(&str, &str); 12] = [
    ("arch", "--arch"),
    ("wdir", "--wdir"),
    ("wd", "--wdir"),
    ("path", "--path"),
    ("file", "--tune"),
    ("host", "--host"),
    ("hostfile", "--hostfile"),
    ("add-host", "--add-host"),
    ("add-hostfile", "--add-hostfile"),
    ("map_by", "--map-by"),
    ("bind_to", "--bind-to"),
    ("npernode", "--npernode"),
];

/// Those of them by which ranks may come to other hosts.
const HOSTS: [&str; 5] = ["--host", "--hostfile", "--add-host", "--add-hostfile", "--tune"];
