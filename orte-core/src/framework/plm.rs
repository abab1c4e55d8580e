//! plm, "process lifecycle management": how the daemons of a job's other hosts are started: by ssh, or by Slurm's srun.
//!
//! Its components are a part of mpirun, which alone uses these parameters. Ranks know their names, so that they do not warn of them.

use opal_core::mca::param::Change;
use opal_core::mca::{Framework, Kind, Layer, Param, Policy, Source, Value};
use opal_core::params;

/// `plm` itself.
pub static COMPONENT: Param = Param::new(
    "",
    Kind::Choice(&["auto", "ssh", "rsh", "slurm", "isolated"]),
    Value::Text("auto"),
    "",
    2,
    "What starts daemons on other hosts: slurm (srun), ssh or rsh (the agent of plm_ssh_agent), or auto, which is slurm in an \
     allocation of Slurm that holds all these hosts, and the manager's own agent in one of Grid Engine (qrsh) or LSF (blaunch), \
     unless an agent is named; isolated refuses jobs with processes on other hosts.",
)
.with_change(Change::Never);

params! {
    /// The program that starts a daemon on another host, with its options: it gets the host's name and a command line, and passes
    /// standard input on. Several are parted by a colon; the first one that is there is used.
    pub static SSH_AGENT: Text = Text("ssh:rsh"), "", level 2, change Never;
    /// Further options for the agent, before the name of the host.
    pub static SSH_ARGS: Text = Text(""), "", level 2, change Never;
    /// The same as plm_ssh_agent, under Open MPI's older name. plm_ssh_agent goes first where both are set.
    pub static RSH_AGENT: Text = Text(""), "", level 2, change Never;
    /// The same as plm_ssh_args, under Open MPI's older name.
    pub static RSH_ARGS: Text = Text(""), "", level 2, change Never;
    /// So many hosts mpirun speaks with by itself. Where there are more, each of their daemons speaks with so many further ones for mpirun,
    /// and so on. With ssh each logs in to those that it speaks with, so that hosts must let each other in. 0: mpirun does it for all.
    pub static TREE_RADIX: Int = Int(64), "hosts", level 3, change Never;
    /// Further options for srun, before the daemon.
    pub static SLURM_ARGS: Text = Text(""), "", level 2, change Never;
    /// How long a daemon may take to call back, with whatever the login does before it starts.
    pub static START_TIMEOUT_S: Int = Int(60), "s", level 3, change Never;
}

/// The framework.
pub static FRAMEWORK: Framework =
    Framework::new("plm", "Starting the daemons of other hosts.", Layer::Orte, 1, Policy::Parameters, |_| {})
        .with_params(&[
            &COMPONENT,
            &SSH_AGENT,
            &SSH_ARGS,
            &RSH_AGENT,
            &RSH_ARGS,
            &TREE_RADIX,
            &SLURM_ARGS,
            &START_TIMEOUT_S,
        ]);

/// How long a rank waits for what needs all daemons: what somebody set holds, otherwise these have their time first, so that mpirun says
/// which of them did not call.
pub fn after_start_s(own_s: u64, source: Source) -> u64 {
    let of_start_s = START_TIMEOUT_S.int().clamp(0, 1 << 20).unsigned_abs();
    match source {
        Source::Default => own_s.max(of_start_s + LATER_S),
        _ => own_s,
    }
}

/// mpirun, which waits for the daemons, is loaded at times.
const LATER_S: u64 = 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn daemons_that_do_not_call_are_told_of_first() {
        assert_eq!(after_start_s(60, Source::Default), 90);
        assert_eq!(after_start_s(100, Source::Default), 100);
        assert_eq!(after_start_s(60, Source::Environment), 60);
    }
}
