//! Lists of words for the launcher itself: `--runtime-options` and `--display`.

use super::app::{App, app_of};
use super::hosts::Host;
use super::options::Options;
use super::output::nearest;
use super::values;
use crate::binding::{self, Place};
use crate::refusal::Refusal;
use crate::topology::{self, Topology};
use std::time::Duration;

/// What `--runtime-options` asks for, and options that start nothing.
#[derive(Debug, Default)]
pub struct Wishes {
    /// Start nothing.
    pub do_not_launch: bool,
    /// A rank that fails does not end the job.
    pub keep_going: bool,
    /// Say where each rank was when `--timeout` passed.
    pub stack_traces: bool,
    /// End the job after this time.
    pub timeout: Option<Duration>,
}

impl Wishes {
    /// Reads the options.
    pub fn new(options: &Options) -> Result<Wishes, Refusal> {
        let mut wishes = Wishes::default();
        for typed in options.runtime_options.iter().flat_map(|list| list.split(',')) {
            let (word, value) = typed.split_once('=').map_or((typed, None), |(word, value)| (word, Some(value)));
            let yes = value.is_none_or(|value| !["0", "f", "false", "n", "no"].contains(&&*value.to_ascii_lowercase()));
            let wrong = |what: &str| Refusal::usage(format!("--runtime-options {typed}: {what}"));
            match (nearest(word, WORDS), yes) {
                (Some("donotlaunch"), yes) => wishes.do_not_launch = yes,
                (Some("error-nonzero-status" | "abort-nonzero-status"), yes) => wishes.keep_going = !yes,
                (Some("continuous"), yes) => wishes.keep_going = yes,
                (Some("get-stack-traces"), yes) => wishes.stack_traces = yes,
                (Some("timeout"), _) => {
                    wishes.timeout = Some(values::duration("--runtime-options timeout", value.unwrap_or_default())?);
                }
                (Some("show-progress" | "report-state-on-timeout" | "aggregate-help" | "spawn-timeout"), _) => {}
                (Some(_), false) => {}
                (Some(_), true) => return Err(wrong("it is not there; leave it out")),
                (None, _) => return Err(wrong(&format!("one of {} is wanted", WORDS.join(", ")))),
            }
        }
        wishes.do_not_launch |= options.do_not_launch || options.explain;
        Ok(wishes)
    }
}

const WORDS: &[&str] = &[
    "donotlaunch",
    "error-nonzero-status",
    "abort-nonzero-status",
    "continuous",
    "get-stack-traces",
    "timeout",
    "show-progress",
    "report-state-on-timeout",
    "aggregate-help",
    "spawn-timeout",
    "notifyerrors",
    "autorestart",
    "recoverable",
    "exec-agent",
    "output-proctable",
    "stop-on-exec",
    "stop-in-init",
    "stop-in-app",
];

/// What `--display` and `--report-bindings` ask for.
#[derive(Debug, Default)]
pub struct Show {
    allocation: bool,
    map: bool,
    bind: bool,
    topo: bool,
    /// Nothing is started.
    is_dry: bool,
}

impl Show {
    /// Reads the options. `bind` is what `--bind-to` says, `is_dry` whether nothing is started.
    pub fn new(options: &Options, bind: bool, is_dry: bool) -> Result<Show, Refusal> {
        let mut show = Show { bind: bind || options.report_bindings, is_dry, ..Show::default() };
        for typed in options.display.iter().flat_map(|list| list.split(',')) {
            // Behind a colon stands how it is to be parsed: it is text.
            match nearest(typed.split(':').next().unwrap_or_default(), SHOWN) {
                Some("allocation") => show.allocation = true,
                Some("map" | "map-devel") => show.map = true,
                Some("bind" | "bindings" | "cpus") => show.bind = true,
                Some("topo") => show.topo = true,
                _ => {
                    return Err(Refusal::usage(format!("--display {typed}: allocation, map, bind or topo is wanted")));
                }
            }
        }
        Ok(if options.explain { show.all() } else { show })
    }

    /// All of it, but the machine.
    fn all(self) -> Show {
        Show { allocation: true, map: true, bind: true, ..self }
    }

    /// Whether daemons are to say where the ranks of their hosts may run.
    pub fn asks_daemons(&self) -> bool {
        self.bind && !self.is_dry
    }

    /// The lines.
    pub fn lines(
        &self,
        apps: &[App],
        places: &[Place],
        topology: &Topology,
        hosts: &[Host],
        (nodes, names): (&[u32], &[String]),
    ) -> Vec<String> {
        let mut lines = Vec::new();
        if self.allocation {
            lines.extend(hosts.iter().map(|host| {
                let name = if host.is_here { &names[0] } else { &host.name };
                format!("{name} has {} slots", host.room.slots)
            }));
        }
        if self.topo {
            lines.extend(topo(topology));
        }
        if self.map {
            for (rank, node) in nodes.iter().enumerate() {
                let app = app_of(apps.iter().map(|app| app.ranks), rank as u32);
                let program = apps[app].command[0].display();
                lines.push(format!("rank {rank} runs program {app} ({program}) on {}", names[*node as usize]));
            }
        }
        if self.bind {
            let here: Vec<u32> = (0..nodes.len() as u32).filter(|rank| nodes[*rank as usize] == 0).collect();
            lines.extend(binding::report(&here, places, topology));
        }
        if self.bind && self.is_dry {
            // Their cores are known to their daemons alone.
            lines.extend(names[1..].iter().map(|name| format!("ranks on {name} are bound there, by the same options")));
        }
        lines
    }
}

const SHOWN: &[&str] = &["allocation", "map", "map-devel", "bind", "bindings", "topo", "cpus"];

/// Each kind of unit with its processors.
fn topo(topology: &Topology) -> Vec<String> {
    use super::map::Unit::{Cache, Core, Numa, Package};
    let mut lines: Vec<String> = binding::confined(topology).into_iter().collect();
    for unit in [Package, Numa, Cache(3), Core] {
        // A machine may say nothing of its caches.
        for group in topology.groups(unit).unwrap_or_default() {
            let (name, number) = (topology::name(unit), group.number);
            lines.push(format!("{name} {number} has processors {}", topology::list(&group.processors)));
        }
    }
    lines
}
