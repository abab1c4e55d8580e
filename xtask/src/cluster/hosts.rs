//! Test hosts: up, into them, down.

use crate::failure::{At, Result, fail, refuse};
use crate::shell;
use crate::tree::Tree;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A cluster that was brought up.
#[derive(Debug)]
pub struct Cluster {
    folder: PathBuf,
    hosts: u32,
    /// The process outside of the namespaces whose end is theirs.
    outer: Outer,
}

/// How long a cluster lives if nobody takes it down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// As long as the machine.
    UntilDown,
    /// Not longer than the thread that brought it up, for tests.
    OfThisThread,
}

/// What starts jobs on the hosts, beside sshd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manager {
    /// Nothing.
    None,
    /// A controller on the head, a daemon a host.
    Slurm,
}

/// A process that a number alone does not name: numbers are used again.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Outer {
    id: u32,
    /// In clock ticks after the machine's start.
    started: u64,
}

impl Cluster {
    /// Makes a cluster whose files lie in `folder`. Everything in it answers when this returns.
    pub fn up(tree: &Tree, folder: &Path, hosts: u32, manager: Manager, life: Life) -> Result<Cluster> {
        if let Ok(running) = Cluster::running(folder) {
            let count = running.hosts;
            return Err(refuse(format!(
                "there are {count} test hosts already; take them down with `cargo xtask cluster down` first"
            )));
        }
        if let Some(why) = lacks(tree).or_else(|| lacks_for(manager)) {
            return Err(fail(why));
        }
        remove(folder)?;
        shell::folder(folder)?;
        let log = folder.join("log");
        let file = std::fs::File::create(&log).at(format!("create {}", log.display()))?;
        let again = file.try_clone().at("copy a descriptor")?;
        let mut command = command(tree, folder, hosts, manager, life);
        let mut child = command.stdin(Stdio::null()).stdout(file).stderr(again).spawn().at("run unshare")?;
        match ready(&mut child, folder, hosts, manager) {
            Ok(()) => Cluster::running(folder),
            Err(why) => {
                let said = shell::read(&log).unwrap_or_default();
                if let Ok(cluster) = Cluster::running(folder) {
                    cluster.down()?;
                }
                let _ = child.wait();
                Err(fail(format!("the test hosts did not come up: {why}\n{}", said.trim_end())))
            }
        }
    }

    /// The cluster whose files lie in `folder`.
    pub fn running(folder: &Path) -> Result<Cluster> {
        let none = || refuse("there are no test hosts; `cargo xtask cluster up 2` makes some");
        let stat = std::fs::read_to_string(folder.join(PROCESS)).map_err(|_| none())?;
        let outer = Outer::parse(&stat).ok_or_else(none)?;
        let hosts = shell::read(&folder.join(HOSTS)).ok().and_then(|text| text.trim().parse().ok()).ok_or_else(none)?;
        if !outer.is_alive() {
            return Err(none());
        }
        Ok(Cluster { folder: folder.to_path_buf(), hosts, outer })
    }

    /// A command that runs `line` on a host, in the folder of this process.
    pub fn command<S: AsRef<OsStr>>(&self, host: &str, line: &[S]) -> Result<Command> {
        let is_host = host.strip_prefix('h').and_then(|number| number.parse::<u32>().ok());
        if host != HEAD && !is_host.is_some_and(|number| (1..=self.hosts).contains(&number)) {
            return Err(refuse(format!("there is no host `{host}`: there are {HEAD} and h1 to h{}", self.hosts)));
        }
        let here = std::env::current_dir().at("tell the current folder")?;
        let mut command = Command::new("nsenter");
        command.args(enter(self.outer.id)).arg(format!("--wdns={}", here.display()));
        if host != HEAD {
            // Numbers of hosts are those of the head's namespace, so the second step begins there.
            command.args(["sh", "-c", STEP, host]);
        }
        command.args(line);
        Ok(command)
    }

    /// One line a host: name, address, whether it runs.
    pub fn status(&self) -> Result<String> {
        let mut status = format!("{HEAD:6}10.78.0.254   up\n");
        for number in 1..=self.hosts {
            let host = format!("h{number}");
            let outcome = shell::outcome(&mut self.command(&host, &["true"])?, LIMIT)?;
            let state = if outcome.status.success() { "up" } else { "down" };
            let address = format!("10.78.0.{number}");
            status += &format!("{host:6}{address:14}{state}\n");
        }
        Ok(status)
    }

    /// Ends everything in it and removes its files.
    pub fn down(&self) -> Result<()> {
        let id = self.outer.id;
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        // The only child is process 1 of the namespaces. Its parent is told of its end when all others there have ended.
        for process in children.split_whitespace() {
            kill(process)?;
        }
        let end = Instant::now() + LIMIT;
        while self.outer.is_alive() {
            if Instant::now() > end {
                return Err(fail(format!("process {id} of the test hosts does not end; see /proc/{id}/stack")));
            }
            std::thread::sleep(NAP);
        }
        remove(&self.folder)
    }

    /// How many hosts, without the head.
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// The process whose end is the cluster's.
    pub fn outer(&self) -> u32 {
        self.outer.id
    }
}

impl Outer {
    /// From what /proc/N/stat says.
    fn parse(stat: &str) -> Option<Outer> {
        let (id, _) = stat.split_once(' ')?;
        // Behind the name, which may hold anything, the 20th field is the start.
        let started = stat.rsplit(')').next()?.split_whitespace().nth(19)?;
        Some(Outer { id: id.parse().ok()?, started: started.parse().ok()? })
    }

    fn is_alive(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id)).unwrap_or_default();
        let is_zombie = stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
        !is_zombie && Outer::parse(&stat).as_ref() == Some(self)
    }
}

/// Why this machine can have no test hosts, and what to do about it; `None` if it can.
pub fn lacks(tree: &Tree) -> Option<String> {
    if let Some(why) = lacks_program("test hosts need", &NEEDED) {
        return Some(why);
    }
    for hidden in ["/tmp", "/run", "/dev/shm"] {
        if tree.root.starts_with(hidden) || tree.target.starts_with(hidden) {
            return Some(format!(
                "this tree or its target folder lies in {hidden}, and each test host has a {hidden} of its own; move it"
            ));
        }
    }
    let tried = shell::outcome(
        Command::new("unshare").args(NAMESPACES).args(["ip", "link", "add", "tried", "type", "bridge"]),
        LIMIT,
    );
    match tried {
        Ok(outcome) if outcome.status.success() => None,
        Ok(outcome) => Some(format!(
            "this system makes no test hosts: {}; they need root, and in a container the capabilities SYS_ADMIN and NET_ADMIN",
            outcome.stderr.trim()
        )),
        Err(failure) => Some(failure.text),
    }
}

/// As `lacks`, for what the manager needs beside it.
pub fn lacks_for(manager: Manager) -> Option<String> {
    if manager == Manager::None {
        return None;
    }
    let install = "apt-get install --no-install-recommends";
    let plugin = || {
        let folders = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
        let found = folders.into_iter().any(|folder| folder.path().join(PMI2).is_file());
        (!found).then(|| format!("test hosts with Slurm need its plugin mpi/pmi2: {install} slurm-wlm-basic-plugins"))
    };
    let folder = || {
        let is_there = Path::new("/etc/slurm").is_dir();
        (!is_there)
            .then(|| format!("test hosts with Slurm need the folder /etc/slurm of its package: {install} slurm-client"))
    };
    lacks_program("test hosts with Slurm need", &NEEDED_FOR_SLURM).or_else(plugin).or_else(folder)
}

fn lacks_program(who: &str, needed: &[(&str, &str)]) -> Option<String> {
    let is_there = |program: &str| shell::which(program).is_some() || Path::new("/usr/sbin").join(program).is_file();
    let (program, package) = needed.iter().find(|(program, _)| !is_there(program))?;
    Some(format!("{who} {program}: apt-get install --no-install-recommends {package}"))
}

/// Leaves its number and start in the folder before anything is made, and becomes the process whose end is the cluster's.
fn command(tree: &Tree, folder: &Path, hosts: u32, manager: Manager, life: Life) -> Command {
    let mut command = Command::new("setsid");
    if life == Life::OfThisThread {
        command.args(["setpriv", "--pdeathsig", "KILL"]);
    }
    command.args(["sh", "-c", FIRST, "cluster"]).arg(folder).arg(hosts.to_string());
    command.arg("unshare").args(NAMESPACES).arg("sh").arg(tree.root.join("xtask/src/cluster/head.sh"));
    command.arg(folder).arg(hosts.to_string()).arg(match manager {
        Manager::None => "none",
        Manager::Slurm => "slurm",
    });
    command
}

/// Waits until each host's sshd listens, which writes the file with its number then, and until the manager can start jobs.
fn ready(child: &mut Child, folder: &Path, hosts: u32, manager: Manager) -> std::result::Result<(), String> {
    let end = Instant::now() + LIMIT;
    loop {
        let host = (1..=hosts).find(|number| !folder.join(format!("h{number}.sshd")).exists());
        let missing = match host {
            Some(number) => format!("the sshd of h{number} does not listen"),
            None if manager == Manager::Slurm && !folder.join(SLURM).exists() => "Slurm starts no jobs".to_owned(),
            None => return Ok(()),
        };
        if let Ok(Some(status)) = child.try_wait() {
            return Err(format!("process 1 of their namespaces ended with {status}"));
        }
        if Instant::now() > end {
            return Err(format!("{missing} after {} s", LIMIT.as_secs()));
        }
        std::thread::sleep(NAP);
    }
}

fn enter(outer: u32) -> Vec<String> {
    let mut arguments = vec![format!("--target={outer}"), format!("--pid=/proc/{outer}/ns/pid_for_children")];
    arguments.extend(["--mount", "--net", "--uts", "--ipc"].map(str::to_owned));
    arguments
}

/// Ends one process at once; one that has ended already is no failure.
fn kill(process: &str) -> Result<()> {
    Command::new("kill").args(["-KILL", process]).stderr(Stdio::null()).status().at("run kill").map(drop)
}

fn remove(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).at(format!("remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Most hosts of a cluster.
pub const MOST: u32 = 64;
/// The node that jobs are started from.
const HEAD: &str = "head";
/// In the folder: what /proc says of the outer process.
const PROCESS: &str = "process";
/// In the folder: how many hosts.
const HOSTS: &str = "hosts";
const FIRST: &str =
    r#"read -r stat <"/proc/$$/stat" && echo "$2" >"$1/hosts" && echo "$stat" >"$1/process" && shift 2 && exec "$@""#;
/// From the head into a host, whose number the head knows.
const STEP: &str = r#"pid=$(cat "/run/cluster/$0.pid") && [ -e "/proc/$pid/ns" ] || { echo "host $0 is down" >&2; exit 1; }
exec nsenter "--target=$pid" "--pid=/proc/$pid/ns/pid_for_children" --mount --net --uts --ipc "--wdns=$PWD" "$@""#;
const NAMESPACES: [&str; 8] = ["--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc"];
/// In the folder: every node of Slurm is idle.
const SLURM: &str = "slurm";
/// Below a folder of /usr/lib.
const PMI2: &str = "slurm-wlm/mpi_pmi2.so";
const NEEDED_FOR_SLURM: [(&str, &str); 4] =
    [("slurmctld", "slurmctld"), ("slurmd", "slurmd"), ("srun", "slurm-client"), ("munged", "munge")];
const NEEDED: [(&str, &str); 8] = [
    ("unshare", "util-linux"),
    ("nsenter", "util-linux"),
    ("setpriv", "util-linux"),
    ("setsid", "util-linux"),
    ("ip", "iproute2"),
    ("ssh", "openssh-client"),
    ("ssh-keygen", "openssh-client"),
    ("sshd", "openssh-server"),
];
/// For all hosts to come up, and for all to end: both take less than a second on an idle machine, Slurm four.
const LIMIT: Duration = Duration::from_secs(30);
const NAP: Duration = Duration::from_millis(10);
