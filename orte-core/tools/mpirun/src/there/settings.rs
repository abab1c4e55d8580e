//! The parameters of plm and oob.

use crate::refusal::Refusal;
use opal_core::mca::Source;
use opal_core::mca::source::{self, Assignment};
use orte_core::framework::{oob, plm};
use std::time::Duration;

/// Their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// What starts daemons: `auto`, `ssh`, `rsh` or `slurm`.
    pub component: String,
    /// Somebody named an agent.
    pub has_agent: bool,
    /// How many hosts one logs in to; 0: mpirun to all.
    pub radix: u32,
    /// Further words for srun.
    pub slurm_arguments: String,
    /// The agents to look for, parted by colons.
    pub agent: String,
    /// Further words for it.
    pub arguments: String,
    /// How long a daemon may take to call.
    pub start: Duration,
    /// After so long without a sign of life a host is lost.
    pub silence: Duration,
    /// On which interfaces mpirun listens.
    pub include: String,
    /// And on which it does not.
    pub exclude: String,
    /// On which ports.
    pub ports: String,
}

impl Settings {
    /// Reads them: `mca` are those of the command line.
    pub fn new(mca: &[(String, String)]) -> Result<Settings, Refusal> {
        let mut said = source::collect();
        said.extend(mca.iter().map(|(name, value)| Assignment {
            name: String::leak(name.clone()),
            value: String::leak(value.clone()),
            source: Source::CommandLine,
        }));
        // Ranks say what is wrong with all others.
        said.retain(|assignment| NAMES.contains(&assignment.name));
        let problems = source::apply(&[&plm::FRAMEWORK, &oob::FRAMEWORK], &[], &said);
        if let Some(problem) = problems.into_iter().find(|problem| problem.fatal) {
            return Err(Refusal::usage(problem.text));
        }
        let first = |ours: &'static opal_core::mca::Param, theirs: &'static opal_core::mca::Param| {
            let is_said = ours.source() != Source::Default || theirs.text().is_empty();
            if is_said { ours.text() } else { theirs.text() }.to_owned()
        };
        let seconds = |param: &opal_core::mca::Param| Duration::from_secs(param.int().clamp(1, 1 << 20) as u64);
        let is_said = |param: &opal_core::mca::Param| param.source() != Source::Default;
        Ok(Settings {
            component: plm::COMPONENT.text().to_owned(),
            has_agent: is_said(&plm::SSH_AGENT) || is_said(&plm::RSH_AGENT),
            radix: plm::TREE_RADIX.int().clamp(0, 1 << 20) as u32,
            slurm_arguments: plm::SLURM_ARGS.text().to_owned(),
            agent: first(&plm::SSH_AGENT, &plm::RSH_AGENT),
            arguments: first(&plm::SSH_ARGS, &plm::RSH_ARGS),
            start: seconds(&plm::START_TIMEOUT_S),
            silence: seconds(&oob::TCP_SILENCE_TIMEOUT_S),
            include: oob::TCP_IF_INCLUDE.text().to_owned(),
            exclude: oob::TCP_IF_EXCLUDE.text().to_owned(),
            ports: oob::TCP_PORT.text().to_owned(),
        })
    }
}

const NAMES: [&str; 13] = [
    "oob_name_server",
    "plm",
    "plm_slurm_args",
    "plm_tree_radix",
    "plm_ssh_agent",
    "plm_ssh_args",
    "plm_rsh_agent",
    "plm_rsh_args",
    "plm_start_timeout_s",
    "oob_tcp_if_include",
    "oob_tcp_if_exclude",
    "oob_tcp_port",
    "oob_tcp_silence_timeout_s",
];
