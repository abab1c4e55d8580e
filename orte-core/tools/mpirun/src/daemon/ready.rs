//! From orders to a plan: programs found on this host, places on its cores, variables of its ranks.

use super::below::tree;
use crate::cli::{self, App, Environment};
use crate::here::{KeeperEnvironment, Plan};
use crate::preload::{Program, Written};
use crate::prepare;
use crate::pty::Pty;
use crate::refusal::{Refusal, say};
use orte_core::oob::handshake::{job_of, secret_of_ranks};
use orte_core::oob::{Invitation, JobOrders, orders};
use rustix::fd::OwnedFd;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// What to start here. `input` is the standard input of the rank that reads it.
pub fn plan(
    invitation: &Invitation,
    node: u32,
    orders: JobOrders,
    input: Option<OwnedFd>,
) -> Result<(Plan, Kept), Refusal> {
    let directory = PathBuf::from(OsString::from_vec(orders.directory.clone()));
    std::env::set_current_dir(&directory).map_err(|error| {
        Refusal::usage(format!("the directory {}: {error}; --wdir names one that is there", directory.display()))
    })?;
    let environment = environment(&orders);
    let stdin = reads_here(&orders, node);
    let children = tree(&orders).children(node).collect();
    let mut kept = Kept::default();
    orders.files.iter().try_for_each(|file| kept.written.add(file))?;
    let path = environment.get(&OsString::from("PATH")).cloned();
    let mut executables = Vec::with_capacity(orders.apps.len());
    for mut one in orders.apps {
        let program = one.program.take();
        let app = app(one);
        executables.push(match program {
            Some(content) => {
                let program = Program::new(&app.command[0].to_string_lossy(), &content)?;
                let executable = prepare::preloaded(&app, program.path())?;
                kept.programs.push(program);
                executable
            }
            None => prepare::apps(std::slice::from_ref(&app), path.clone())?.remove(0),
        });
    }
    let ranks: Vec<u32> = (0..orders.nodes.len() as u32).filter(|rank| orders.nodes[*rank as usize] == node).collect();
    let words = cli::binding_of(&orders.binding, &orders.slots, &orders.nodes, node);
    let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    let (places, lines) = cli::places_here(&words, &ranks)?;
    // The agent passes standard error on.
    lines.iter().for_each(|line| say(&format!("{line} on {}", orders.names[node as usize])));
    let bindings = places.into_iter().map(|place| place.processors).collect();
    let plan = Plan {
        node,
        children,
        identity: (job_of(&invitation.secret), secret_of_ranks(&invitation.secret)),
        nodes: orders.nodes,
        names: orders.names,
        universe: orders.universe,
        bindings,
        stdin: reader(stdin),
        input,
        merge: orders.merge,
        pty: orders.pty.map(|(rows, columns)| Pty { rows: rows as u16, columns: columns as u16, until_init: false }),
        apps: executables,
        environment: KeeperEnvironment::Only(environment.into_iter().collect()),
        silence_ms: Some(invitation.silence_ms),
        ports: invitation.ports.clone(),
    };
    Ok((plan, kept))
}

/// What mpirun sent and ranks use, until they have ended.
#[derive(Default)]
pub struct Kept {
    programs: Vec<Program>,
    written: Written,
}

fn app(app: orders::App) -> App {
    let text = OsString::from_vec;
    App {
        ranks: app.ranks,
        wdir: app.directory.map(|path| PathBuf::from(text(path))),
        path: app.path.map(text),
        environment: Environment {
            is_empty: app.is_empty,
            changes: app.changes.into_iter().map(|(name, value)| (text(name), value.map(text))).collect(),
        },
        command: app.command.into_iter().map(text).collect(),
    }
}

/// mpirun's variables, but what says something of this host or of this login is this host's own.
fn environment(orders: &JobOrders) -> BTreeMap<OsString, OsString> {
    let is_own = |name: &OsString| OWN.contains(&name.as_bytes()) || name.as_bytes().starts_with(b"SSH_");
    let mut all: BTreeMap<OsString, OsString> = std::env::vars_os().filter(|(name, _)| is_own(name)).collect();
    for (name, value) in &orders.environment {
        let name = OsString::from_vec(name.clone());
        if !is_own(&name) {
            all.insert(name, OsString::from_vec(value.clone()));
        }
    }
    if let Some(path) = prepare::library_path(all.get(&OsString::from(prepare::LIBRARY_PATH)).cloned()) {
        all.insert(prepare::LIBRARY_PATH.into(), path);
    }
    all
}

/// Who of the ranks of this node reads standard input.
pub fn reads_here(orders: &JobOrders, node: u32) -> orders::Input {
    match orders.stdin {
        orders::Input::Rank(rank) if orders.nodes.get(rank as usize) != Some(&node) => orders::Input::None,
        stdin => stdin,
    }
}

/// Which of a daemon's ranks reads standard input.
fn reader(stdin: orders::Input) -> crate::cli::Stdin {
    match stdin {
        orders::Input::None => crate::cli::Stdin::None,
        orders::Input::Rank(rank) => crate::cli::Stdin::Rank(rank),
        orders::Input::All => crate::cli::Stdin::All,
    }
}

/// Variables of a host, or of a login on it.
const OWN: &[&[u8]] = &[
    b"HOME",
    b"HOST",
    b"HOSTNAME",
    b"USER",
    b"LOGNAME",
    b"SHELL",
    b"MAIL",
    b"DISPLAY",
    b"XAUTHORITY",
    b"XDG_RUNTIME_DIR",
    b"XDG_SESSION_ID",
    b"DBUS_SESSION_BUS_ADDRESS",
];
