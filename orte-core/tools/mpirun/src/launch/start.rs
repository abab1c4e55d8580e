//! How a job starts: what each host is told, and the keeper of this one.

use super::known::{Feed, Known, first_progress};
use super::{Phase, Running, stall};
use crate::cli::{App, Job, Stdin};
use crate::file_limit::without_file_limit;
use crate::files::Files;
use crate::here::{Here, KeeperEnvironment, Plan};
use crate::modex::Modex;
use crate::orders::Executable;
use crate::pty::{self, Pty};
use crate::refusal::{OWN, Refusal};
use crate::report::Measures;
use crate::stdin::Fan;
use crate::stdio::Streams;
use crate::there::There;
use crate::universe::Universe;
use crate::{preload, prepare, raw, signals, tree};
use orte_core::modex::JobMap;
use orte_core::oob::handshake::{job_of, of_job, secret_of_ranks};
use orte_core::oob::{Daemons, JobOrders, Secret, orders};
use orte_core::universe::Ports;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::Instant;

impl Running {
    pub(super) fn start(job: Job, apps: Vec<Executable>, universe: Universe) -> Result<Running, Refusal> {
        let failed = |error: &dyn std::fmt::Display| Refusal::system("starting the keeper process", error);
        let pty = pty::wanted(&job)?;
        let ranks = job.ranks();
        let files = Files::new(&job.output, ranks)?;
        job.report_pid.as_deref().map_or(Ok(()), prepare::report_pid)?;
        let limit = prepare::raise_descriptor_limit();
        let strangers = tree::below(&[]);
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(|errno| failed(&errno))?;
        let handled = signals::handled();
        let signals = raw::signal_descriptor(&handled).map_err(|error| failed(&error))?;
        raw::defer(&[libc::SIGXFSZ]).map_err(|error| failed(&error))?;
        let is_alone = job.names.len() == 1;
        let secret = secret(job.output.job)?;
        let variables = variables(&job, pty.is_some());
        // Logins take longest, so they begin first.
        let there = (!is_alone).then(|| daemons(&job, pty, &variables, (secret, universe.ports()))).transpose()?;
        let neighbors = there.as_ref().map_or_else(Vec::new, There::neighbors);
        let has_ranks = job.nodes.contains(&0);
        let here = match has_ranks {
            true => {
                let identity = (job_of(&secret), secret_of_ranks(&secret));
                let plan = plan(&job, &apps, identity, pty, variables, universe.ports());
                let plan = Plan { children: neighbors.clone(), ..plan };
                Some(Here::start(plan, handled, limit, strangers)?)
            }
            false => None,
        };
        let modex = (!has_ranks && job.names.len() != 2).then(|| wireup(&job, neighbors)).transpose()?;
        let deadline = job.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let (mut fan, feed) = readers(&job)?;
        let local = job.nodes.iter().filter(|node| **node == 0).count();
        fan.expect(if job.stdin == Stdin::All { local } else { 0 });
        Ok(Running {
            streams: Streams::new(ranks, job.names.clone(), &job.output),
            has_next_output: !job.output.merge && pty.is_some_and(|pty| pty.until_init),
            fan,
            feed,
            files,
            known: Known::new(&job.nodes, job.names.len()),
            pids: vec![None; ranks as usize],
            alive: vec![true; ranks as usize],
            ending: BTreeMap::new(),
            job_number: job_of(&secret),
            phase: Phase::Running,
            cause: None,
            also: Vec::new(),
            never_initialized: None,
            refusal: None,
            measures: Measures::default(),
            stall: stall::Stall::new(job.stall_s),
            inquiry: None,
            next_progress: there.is_some().then(|| Instant::now() + first_progress()),
            job,
            spoken: vec![false; apps.len()],
            apps,
            here,
            there,
            modex,
            universe,
            signals,
            deadline,
            has_spoken: false,
            other_mpi: None,
            looks: 0,
            next_look: Instant::now(),
        })
    }
}

/// What only the hosts of a job know; of the job with this number.
fn secret(number: u32) -> Result<Secret, Refusal> {
    let random = opal_core::sys::random().map_err(|errno| Refusal::system("making the job's secret", errno))?;
    Ok(of_job(random, number))
}

/// The variables of the keeper and of the daemons beyond those that mpirun has itself.
fn variables(job: &Job, has_pty: bool) -> Vec<(OsString, OsString)> {
    let mut variables = prepare::environment(job);
    if has_pty && !pty::is_seen(&job.output) {
        variables.extend(pty::PLAIN.map(|(name, value)| (name.into(), value.into())));
    }
    variables
}

/// What starts on this host.
fn plan(
    job: &Job,
    apps: &[Executable],
    identity: (u64, [u8; 32]),
    pty: Option<Pty>,
    variables: Vec<(OsString, OsString)>,
    ports: Ports,
) -> Plan {
    Plan {
        node: 0,
        children: Vec::new(),
        identity,
        nodes: job.nodes.clone(),
        names: job.names.clone(),
        universe: job.universe,
        bindings: job.places.iter().map(|place| place.processors.clone()).collect(),
        stdin: job.stdin,
        input: None,
        merge: job.output.merge,
        pty,
        apps: apps.to_vec(),
        environment: KeeperEnvironment::Own(variables),
        silence_ms: None,
        ports,
    }
}

/// Who gets copies of standard input here, and what is sent to other hosts.
fn readers(job: &Job) -> Result<(Fan, Feed), Refusal> {
    let mut fan = Fan::new();
    let feed = match job.stdin {
        Stdin::Rank(rank) => Feed::of_one(job.nodes[rank as usize]),
        Stdin::None => Feed::default(),
        Stdin::All => Feed::of_all(job.names.len() as u32, &mut fan)
            .map_err(|errno| Refusal::system("sending standard input to other hosts", errno))?,
    };
    Ok((fan, feed))
}

/// This host has no ranks, and joins in because it is the root of the tree.
fn wireup(job: &Job, children: Vec<u32>) -> Result<Modex, Refusal> {
    let ranks = 0..job.ranks();
    let map = JobMap {
        nodes: job.nodes.clone(),
        node_count: job.names.len() as u32,
        apps: ranks.map(|rank| job.app_of(rank) as u32).collect(),
        names: job.names.clone(),
    };
    without_file_limit(|| Modex::new(map, 0, children, None)).map_err(|why| Refusal { status: OWN, sentence: why })
}

/// Starts the daemons of the other hosts.
fn daemons(
    job: &Job,
    pty: Option<Pty>,
    variables: &[(OsString, OsString)],
    known: (Secret, Ports),
) -> Result<There, Refusal> {
    let (names, orders) = (job.names[1..].to_vec(), orders(job, pty, variables)?);
    There::start(names, orders, known, &job.mca, job.prefix.as_deref())
}

/// What the other hosts are told.
fn orders(job: &Job, pty: Option<Pty>, variables: &[(OsString, OsString)]) -> Result<JobOrders, Refusal> {
    let directory = std::env::current_dir()
        .map_err(|error| Refusal::system("finding the current directory, in which ranks start on all hosts", error))?;
    let own = std::env::vars_os().filter(|(name, _)| variables.iter().all(|(other, _)| other != name));
    let environment: Vec<orders::Variable> =
        own.chain(variables.iter().cloned()).map(|(name, value)| (name.into_vec(), value.into_vec())).collect();
    let copies = preload::read(job)?;
    Ok(JobOrders {
        nodes: job.nodes.clone(),
        names: job.names.clone(),
        universe: job.universe,
        binding: job.binding.clone(),
        slots: job.slots.clone(),
        stdin: match job.stdin {
            Stdin::Rank(rank) => orders::Input::Rank(rank),
            Stdin::None => orders::Input::None,
            Stdin::All => orders::Input::All,
        },
        merge: job.output.merge,
        pty: pty.map(|pty| (u32::from(pty.rows), u32::from(pty.columns))),
        directory: directory.as_os_str().as_bytes().to_vec(),
        environment,
        apps: job.apps.iter().zip(&copies.programs).map(|(one, program)| app(one, program.clone())).collect(),
        files: copies.files,
        daemons: Daemons::default(),
    })
}

fn app(app: &App, program: Option<orders::Content>) -> orders::App {
    let bytes = |word: &OsString| word.as_bytes().to_vec();
    orders::App {
        ranks: app.ranks,
        command: app.command.iter().map(bytes).collect(),
        directory: app.wdir.as_ref().map(|path| path.as_os_str().as_bytes().to_vec()),
        path: app.path.as_ref().map(bytes),
        is_empty: app.environment.is_empty,
        changes: app.environment.changes.iter().map(|(name, value)| (bytes(name), value.as_ref().map(bytes))).collect(),
        program,
    }
}
