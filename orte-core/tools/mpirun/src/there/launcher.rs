//! plm: what starts the daemons of the other hosts. Ssh has an agent for each host, Slurm one for all of them.

use super::managed;
use super::settings::Settings;
use super::slurm::Slurm;
use super::ssh::Agents;
use crate::agent::Agent;
use crate::refusal::Refusal;
use orte_core::oob::Daemons;
use orte_core::routed::Tree;
use std::path::Path;

/// What was chosen.
pub enum Launcher {
    /// ssh, or whatever `plm_ssh_agent` names.
    Ssh(Agents),
    /// srun.
    Slurm(Slurm),
}

// As images for containers set it for Open MPI.
fn isolated(hosts: &[String]) -> Refusal {
    Refusal::usage(format!(
        "the job has processes on {}, and parameter plm is isolated: no daemon is started on another host; --mca plm auto, or \
         OMPI_MCA_plm out of the environment, allows it",
        hosts.join(", ")
    ))
}

impl Launcher {
    /// As `--mca plm` says, or as the hosts suggest. `prefix` is where ompi-rs lies on them, if not where it lies here.
    pub fn new(settings: &Settings, hosts: &[String], prefix: Option<&Path>) -> Result<Launcher, Refusal> {
        let slurm = match settings.component.as_str() {
            "auto" => !settings.has_agent && super::slurm::holds(hosts),
            "isolated" => return Err(isolated(hosts)),
            component => component == "slurm",
        };
        Ok(match slurm {
            true => Launcher::Slurm(Slurm::new(settings, hosts, prefix)?),
            false => Launcher::Ssh(Agents::new(&managed::with_agent(settings, hosts), prefix)?),
        })
    }

    /// How many daemons one starts and speaks with; 0: mpirun does it for all.
    pub fn radix(&self) -> u32 {
        match self {
            Launcher::Ssh(agents) => agents.radix(),
            Launcher::Slurm(slurm) => slurm.radix(),
        }
    }

    /// Whether one agent starts the daemons of all hosts, wherever they stand in the tree.
    pub fn starts_all(&self) -> bool {
        matches!(self, Launcher::Slurm(_))
    }

    /// Starts the daemons that are mpirun's own in the tree, all at once. `invitation` is for those that have these places among the
    /// hosts.
    pub fn start(
        &self,
        hosts: &[String],
        tree: Tree,
        invitation: impl Fn(&[usize]) -> String,
    ) -> Result<Vec<Agent>, Refusal> {
        match self {
            Launcher::Slurm(slurm) => {
                let all: Vec<usize> = (0..hosts.len()).collect();
                Ok(vec![slurm.start(hosts, &invitation(&all))?])
            }
            Launcher::Ssh(agents) => {
                let mut started: Vec<Agent> = Vec::with_capacity(hosts.len());
                for place in tree.children(0).map(|node| node as usize - 1) {
                    match agents.start(&hosts[place], &invitation(&[place])) {
                        Ok(agent) => started.push(agent),
                        Err(refusal) => {
                            started.iter_mut().for_each(Agent::end);
                            return Err(refusal);
                        }
                    }
                }
                Ok(started)
            }
        }
    }

    /// Which of the agents that mpirun started is that of a node, which is mpirun's child in the tree.
    pub fn agent_of(&self, node: u32) -> usize {
        match self {
            // The first nodes are mpirun's own.
            Launcher::Ssh(_) => node as usize - 1,
            Launcher::Slurm(_) => 0,
        }
    }

    /// What daemons need to start further ones, but for the interfaces.
    pub fn of_daemons(&self) -> Daemons {
        match self {
            Launcher::Ssh(agents) => agents.of_daemons(),
            Launcher::Slurm(_) => Daemons::default(),
        }
    }

    /// What starts daemons on these hosts, as a sentence.
    pub fn explain(&self, hosts: &[String]) -> String {
        match self {
            Launcher::Ssh(agents) => {
                let first = &hosts[0];
                format!("a daemon on each of {} is started by plm/ssh: {}", hosts.join(", "), agents.line(first))
            }
            Launcher::Slurm(slurm) => format!(
                "daemons on {} are started by plm/slurm with one srun, because they are in this allocation of Slurm: {}",
                hosts.join(", "),
                slurm.program().display()
            ),
        }
    }

    /// The agent's program, for messages.
    pub fn name(&self) -> &str {
        match self {
            Launcher::Ssh(agents) => agents.name(),
            Launcher::Slurm(_) => super::slurm::PROGRAM,
        }
    }

    /// What to type to see whether the agent reaches a host.
    pub fn check_line(&self, host: &str) -> String {
        match self {
            Launcher::Ssh(agents) => format!("{} {host} true", agents.name()),
            Launcher::Slurm(slurm) => slurm.check_line(host),
        }
    }

    /// What may be wrong where an agent ended with this status before the daemon called.
    pub fn hint(&self, host: &str, status: i32) -> String {
        let exit = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
        match (self, exit) {
            (Launcher::Slurm(slurm), _) => format!(
                "what srun said stands above; try `{}`, and see whether ompi-rs is there as {} (--prefix DIR names another place)",
                slurm.check_line(host),
                slurm.program().display()
            ),
            (Launcher::Ssh(agents), Some(255)) => {
                format!("what {} said stands above; try `{}`", agents.name(), self.check_line(host))
            }
            (Launcher::Ssh(agents), Some(126 | 127)) => {
                format!("is ompi-rs there as {}? --prefix DIR names another place", agents.command())
            }
            _ => "what was said there stands above".to_owned(),
        }
    }
}
