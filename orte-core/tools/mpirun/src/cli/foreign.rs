//! Options of other launchers (Open MPI's, MPICH's Hydra, Intel MPI's, the standard's mpiexec) that this one has under
//! another name, accepts and ignores, or refuses: a table.

use crate::refusal::Refusal;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// An option of another launcher.
pub struct Foreign {
    /// Its names without dashes, parted by blanks.
    pub names: &'static str,
    /// How many words follow it.
    pub values: usize,
    /// What becomes of it.
    pub meaning: Meaning,
}

/// What becomes of an option.
pub enum Meaning {
    /// These words stand for it; `$1` and `$2` are its values.
    Same(&'static [&'static str]),
    /// These words stand for it if its value is one of these, else it is not there: what to do instead.
    Chosen(&'static [&'static str], &'static [&'static str], &'static str),
    /// It changes nothing: why.
    Needless(&'static str),
    /// It is not there: what to do instead.
    Refused(&'static str),
}

/// The option of this name.
pub fn find(name: &str) -> Option<&'static Foreign> {
    TABLE.iter().find(|foreign| foreign.names.split(' ').any(|known| known == name))
}

/// Every name, for the nearest one to a mistyped word.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().flat_map(|foreign| foreign.names.split(' '))
}

/// Of each option that has a name which is wanted, two lines of `--help all`.
pub fn help(wanted: impl Fn(&str) -> bool) -> String {
    let line = |foreign: &Foreign| {
        let names: Vec<String> = foreign.names.split(' ').map(|name| format!("-{name}")).collect();
        let meaning = match foreign.meaning {
            Meaning::Same(words) => words.join(" "),
            Meaning::Chosen(values, words, instead) => {
                format!("{} if it is {}; else refused: {instead}", words.join(" "), values.join(" or "))
            }
            Meaning::Needless(why) => format!("accepted: {why}"),
            Meaning::Refused(instead) => format!("refused: {instead}"),
        };
        format!("  {}{}\n          {meaning}\n", names.join(", "), " VALUE".repeat(foreign.values))
    };
    TABLE.iter().filter(|foreign| foreign.names.split(' ').any(&wanted)).map(line).collect()
}

impl Foreign {
    /// The words of our own that stand for it; `typed` is how it was written.
    pub fn translate(&self, typed: &str, values: &[OsString]) -> Result<Vec<OsString>, Refusal> {
        match self.meaning {
            Meaning::Same(words) => Ok(words.iter().map(|word| filled(word, values)).collect()),
            Meaning::Chosen(known, words, _)
                if values.first().is_some_and(|value| known.iter().any(|one| value == one)) =>
            {
                Ok(words.iter().map(|word| filled(word, values)).collect())
            }
            Meaning::Chosen(_, _, instead) => {
                let value = values.first().map_or_else(String::new, |value| format!(" {}", value.display()));
                Err(Refusal::usage(format!("option {typed}{value} is not there: {instead}")))
            }
            Meaning::Needless(_) => Ok(Vec::new()),
            Meaning::Refused(instead) => Err(Refusal::usage(format!("option {typed} is not there: {instead}"))),
        }
    }
}

/// A word of the table with the values in their places.
fn filled(word: &str, values: &[OsString]) -> OsString {
    let mut bytes = Vec::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('$') {
        bytes.extend_from_slice(before.as_bytes());
        let (number, after) = after.split_at(1);
        let value = number.parse::<usize>().ok().and_then(|number| values.get(number - 1));
        bytes.extend_from_slice(value.map_or(&[], |value: &OsString| OsStr::as_bytes(value)));
        rest = after;
    }
    bytes.extend_from_slice(rest.as_bytes());
    OsString::from_vec(bytes)
}

const fn same(names: &'static str, values: usize, words: &'static [&'static str]) -> Foreign {
    Foreign { names, values, meaning: Meaning::Same(words) }
}

const fn chosen(
    names: &'static str,
    values: &'static [&'static str],
    words: &'static [&'static str],
    instead: &'static str,
) -> Foreign {
    Foreign { names, values: 1, meaning: Meaning::Chosen(values, words, instead) }
}

const fn needless(names: &'static str, values: usize, why: &'static str) -> Foreign {
    Foreign { names, values, meaning: Meaning::Needless(why) }
}

const fn refused(names: &'static str, values: usize, instead: &'static str) -> Foreign {
    Foreign { names, values, meaning: Meaning::Refused(instead) }
}

const TABLE: &[Foreign] = &[
    // How many ranks, and where.
    same("pernode", 0, &["--npernode", "1"]),
    same("npersocket", 1, &["--map-by", "ppr:$1:package"]),
    same("ppr", 1, &["--map-by", "ppr:$1"]),
    same("bycore", 0, &["--map-by", "core"]),
    same("byslot", 0, &["--map-by", "slot"]),
    same("bynode rr", 0, &["--map-by", "node"]),
    same("grr", 1, &["--ppn", "$1"]),
    same("cpus-per-proc cpus-per-rank", 1, &["--map-by", "core:PE=$1"]),
    same("bind-to-core", 0, &["--bind-to", "core"]),
    same("bind-to-socket", 0, &["--bind-to", "package"]),
    same("use-hwthread-cpus", 0, &["--map-by", ":HWTCPUS"]),
    same("hosts", 1, &["--host", "$1"]),
    same("f machine hostlist", 1, &["--hostfile", "$1"]),
    needless("add-host add-hostfile", 1, "no host joins a running job; --host and --hostfile name all"),
    refused("nolocal skip-launch-node", 0, "ranks run where --host or --hostfile says; leave this machine out there"),
    same("rf", 1, &["--rankfile", "$1"]),
    refused("rankmap", 1, "--map-by and --rank-by order the ranks, --rankfile gives each its place"),
    refused("membind", 1, "memory lies where it is first touched; --bind-to numa keeps a rank near it"),
    refused("gpus-per-proc ngpus-per-proc", 1, "no devices are given out; let the program choose by its local rank"),
    refused("gpu-support", 1, "messages from the memory of devices are not there; copy them to the host first"),
    // The environment.
    same("set-env", 1, &["-x", "$1"]),
    refused("genvexcl", 1, "write --genvall and --unset-env NAME"),
    // Output.
    same("l", 0, &["--prepend-rank"]),
    needless("ordered-output", 0, "lines are always whole"),
    same("display-map display-devel-map display-diffable-map", 0, &["--display", "map"]),
    same("display-allocation display-devel-allocation", 0, &["--display", "allocation"]),
    same("display-topo", 0, &["--display", "topo"]),
    same("print-rank-map", 0, &["--display", "map"]),
    same("print-all-exitcodes", 0, &["--verbose"]),
    same("output-directory", 1, &["--output-filename", "$1"]),
    same("info", 0, &["--version"]),
    refused("xml xml-file", 0, "output is text; --output tag names each line's rank"),
    refused(
        "stream-buffering",
        1,
        "mpirun passes on whole lines as they come; stdbuf changes what the program holds back",
    ),
    refused("xterm", 1, "write mpirun -n 2 xterm -e program"),
    refused(
        "display-comm display-comm-finalize",
        0,
        "write --mca bml_base_verbose 20, which says which transport reaches whom",
    ),
    refused("output-proctable report-uri", 1, "no tool can ask mpirun; --verbose names each rank's process"),
    refused("s", 1, "it means one thing in Open MPI and another in Intel MPI; write --stdin N|all|none"),
    // Ends.
    needless("report-state-on-timeout", 0, "--timeout always says what each rank was doing"),
    same("continuous", 0, &["--disable-auto-cleanup"]),
    needless("cleanup", 0, "nothing is left behind"),
    needless("spawn-timeout", 1, "--timeout holds for the start, too"),
    needless("disable-recovery silent-abort", 0, "a rank that fails ends the job"),
    needless("report-child-jobs-separately", 0, "a job has no child jobs"),
    refused("enable-recovery", 0, "failed ranks are not started again; --disable-auto-cleanup lets the others go on"),
    refused("max-restarts", 1, "failed ranks are not started again"),
    refused("with-ft", 1, "fault tolerance is not there; --disable-auto-cleanup lets the other ranks go on"),
    refused(
        "forward-signals",
        1,
        "SIGUSR1, SIGTSTP and SIGCONT are always passed on, SIGUSR2 to programs that take it, others end the job",
    ),
    // Debuggers and tools.
    refused(
        "debug tv gdb ddd stop-on-exec stop-in-init stop-in-app",
        0,
        "write mpirun -n 2 xterm -e gdb --args program",
    ),
    refused("debugger", 1, "write mpirun -n 2 xterm -e gdb --args program"),
    refused("gtool gtoolfile", 1, "write the tool before the program: mpirun -n 2 valgrind program"),
    refused("profile aps mps check_mpi", 0, "nothing is traced; write the tool before the program"),
    refused("report-events", 1, "no tool can ask mpirun; --verbose says what happens"),
    // The standard's mpiexec.
    needless("soft", 1, "the number after -n is always there"),
    refused("file", 1, "its format is every launcher's own; write --configfile FILE"),
    // Other machines and their daemons.
    same("launcher-exec bootstrap-exec", 1, &["--mca", "plm_ssh_agent", "$1"]),
    chosen(
        "launcher bootstrap",
        &["ssh", "rsh"],
        &["--mca", "plm_ssh_agent", "$1"],
        "ssh and rsh start daemons, -launcher-exec names another program; leave it out on one machine (fork) and in an allocation",
    ),
    needless("rmk", 1, "a resource manager is known by its variables"),
    refused("launch-agent", 1, "the daemon is mpirun itself; --prefix DIR says where it lies on other hosts"),
    needless("max-vm-size branch-count", 1, "each host with ranks has one daemon, which calls mpirun itself"),
    needless("tmpdir", 1, "there is no session directory"),
    needless("pmix-prefix app-pmix-prefix", 1, "PMIx is not used"),
    needless("topolib", 1, "the system says what the machine looks like"),
    needless("demux", 1, "it changes nothing that could be seen"),
    needless("localhost hydra-pmi-hostname", 1, "this machine is known by its names and addresses"),
    needless("keepalive singleton", 1, "it is for the launcher's own use"),
    needless("enable-x disable-x", 0, "the agent's own settings say it; --mca plm_ssh_args \"-X\" is ssh's"),
    needless("order-nodes", 1, "hosts are taken in the order in which --host and --hostfile name them"),
    needless("hybrid-hosts", 0, "hosts are taken in the order in which --host and --hostfile name them"),
    needless("novm", 0, "each host with ranks has one daemon"),
    needless("pmi-port", 0, "ranks inherit what they need"),
    needless("disable-hostname-propagation use-regexp", 0, "it changes nothing that could be seen"),
    needless("hetero-nodes homo-nodes uniform-nodes", 0, "each host is looked at by its own daemon"),
    needless("do-not-resolve", 0, "names of hosts are left to the agent"),
    needless("enable-instant-on-support fwd-mpirun-port", 0, "daemons get the way to mpirun by standard input"),
    needless(
        "leave-session-attached debug-daemons debug-daemons-file",
        0,
        "daemons stay attached, and what they say is passed on",
    ),
    needless("noprefix no-app-prefix set-sid no-ready-msg show-progress", 0, "it changes nothing that could be seen"),
    needless("personality", 1, "there is one"),
    needless("d debug-devel test-suicide", 0, "--verbose says what mpirun does"),
    needless("hnp", 1, "mpirun is its own head node"),
    needless("cartofile", 1, "the system says what the machine looks like"),
    same("iface", 1, &["--mca", "btl_tcp_if_include", "$1"]),
    refused(
        "dvm system-server system-server-first system-server-only",
        0,
        "no server runs jobs; mpirun starts each itself",
    ),
    refused("daemonize", 0, "write mpirun ... &"),
    same("ompi-server", 1, &["--mca", "oob_name_server", "$1"]),
    needless(
        "nameserver",
        1,
        "jobs of one user on one host know each other's names without a server; for others there is mpirun --name-server",
    ),
    refused("set-cwd-to-session-dir", 0, "there is no session directory; write --wdir DIR"),
    refused("index-argv-by-rank", 0, "every rank of a program gets the same arguments; part them by `:`"),
    // Parameters.
    same("gomca", 2, &["--mca", "$1", "$2"]),
    same("prtemca pmixmca gpmixmca", 2, &["--mca", "$1", "$2"]),
    same("am amca", 1, &["--tune", "$1"]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn values_stand_in_their_places() {
        let values = [OsString::from("a"), OsString::from("b=c")];
        assert_eq!(filled("ppr:$1:node", &values), "ppr:a:node");
        assert_eq!(filled("$2", &values), "b=c");
        assert_eq!(filled("plain", &values), "plain");
    }

    #[test]
    fn each_name_stands_once_and_is_none_of_ours() {
        let mut seen = BTreeSet::new();
        for name in names() {
            assert!(seen.insert(name), "{name} stands twice");
            assert!(!super::super::options::is_known(name), "{name} is an option of ours, too");
        }
    }
}
