//! `cargo xtask cluster`: test hosts on this machine, each with its own network, name, processes, /tmp and /dev/shm, and an sshd;
//! if wanted with Slurm.
//!
//! | part | what |
//! |---|---|
//! | `cluster/head.sh` | process 1 of the cluster: bridge, key, hosts; the node that one logs in to |
//! | `cluster/wire.sh`, `cluster/host.sh` | how a host is made, until it is an sshd |
//! | `cluster/slurm.sh` | the controller on the head, a daemon a host |
//! | `cluster/hosts.rs` | brings them up, enters them, takes them down |
//!
//! **Invariant:** nothing is made outside namespaces that end with one process, so that no cleaning up can be missed: whatever
//! is killed, the kernel removes networks, mounts and processes of the cluster with it.

pub mod hosts;

use crate::failure::Result;
use crate::tree::Tree;
use hosts::{Cluster, Life, Manager};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

/// Options of `cluster`.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Make test hosts h1, h2 … and a node `head` to start jobs from; they know each other by name and let each other in by ssh
    #[command(after_help = "Examples:\n  cargo xtask cluster up 4\n  cargo xtask cluster up 2 --slurm")]
    Up {
        /// How many hosts
        #[arg(default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=i64::from(hosts::MOST)))]
        hosts: u32,
        /// With Slurm: `exec head srun …` starts jobs on them
        #[arg(long)]
        slurm: bool,
    },
    /// Run a command on a host, in this folder and with this environment
    #[command(
        after_help = "Examples:\n  cargo xtask cluster exec head dist/bin/mpirun -n 2 ./hello\n  cargo xtask cluster exec h1 ip address"
    )]
    Exec {
        /// `head`, `h1`, `h2` …
        host: String,
        /// What to run there
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// List the hosts, and which of them run
    #[command(after_help = "Examples:\n  cargo xtask cluster status")]
    Status,
    /// End everything on the hosts, and remove them
    #[command(after_help = "Examples:\n  cargo xtask cluster down")]
    Down,
}

const EXAMPLES: &str = "Examples:
  cargo xtask cluster up 4                    four test hosts on this machine; needs root
  cargo xtask cluster up 2 --slurm            two of them, which srun on the head starts jobs on
  cargo xtask cluster exec head hostname      runs a command where jobs are started from
  cargo xtask cluster status                  the hosts, and which of them run
  cargo xtask cluster down                    ends and removes all of it";

/// `cargo xtask cluster`.
pub fn run(options: &Options) -> Result<()> {
    let tree = Tree::open()?;
    let place = place(&tree);
    match &options.action {
        Action::Up { hosts, slurm } => {
            let manager = if *slurm { Manager::Slurm } else { Manager::None };
            Cluster::up(&tree, &place, *hosts, manager, Life::UntilDown)?;
            println!("head and h1 to h{hosts} are up; `cargo xtask cluster exec head ssh h1` goes to the first one");
            if *slurm {
                println!("`cargo xtask cluster exec head srun -N {hosts} hostname` runs a job on all of them");
            }
        }
        Action::Exec { host, command } => {
            let mut entered = Cluster::running(&place)?.command(host, command)?;
            // Signals, terminal and exit status are the command's own from here on.
            let error = entered.exec();
            return Err(crate::failure::fail(format!("cannot run nsenter: {error}")));
        }
        Action::Status => print!("{}", Cluster::running(&place)?.status()?),
        Action::Down => {
            Cluster::running(&place)?.down()?;
            println!("nothing of the test hosts is left");
        }
    }
    Ok(())
}

fn place(tree: &Tree) -> PathBuf {
    tree.target.join("cluster")
}
