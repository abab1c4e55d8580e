//! Jobs over more hosts than mpirun speaks with (`plm_tree_radix`): what is said passes through the daemons between. An agent of
//! the tests stands in for ssh. `cluster/tree…` of `cargo xtask test` is the same with ssh and test hosts.

mod rig;

use rig::directory::Directory;
use rig::{Ended, Run, signal, sorted};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Hosts in a row: mpirun speaks with a, which speaks with b, which speaks with c.
const ROW: [&str; 5] = ["--host", "a.invalid:2,b.invalid:1,c.invalid:1", "--mca", "plm_tree_radix", "1"];

/// The agent; it notes the process of each host's daemon in a file of the host's name.
struct Agent {
    directory: Directory,
}

impl Agent {
    fn new(name: &str) -> Agent {
        let directory = Directory::new(&format!("tree-{name}"));
        let here = directory.path("");
        let path = directory.file("agent", &format!("#!/bin/sh\ncd {here}\necho $$ >$1\nexec sh -c \"exec $2\"\n"));
        assert!(Command::new("chmod").args(["+x", &path]).status().unwrap().success());
        Agent { directory }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("env");
        command.args(["--default-signal=HUP,INT,QUIT,TERM,USR1,USR2", env!("CARGO_BIN_EXE_mpirun")]);
        command.args(["--mca", "plm_ssh_agent", &self.directory.path("agent")]).args(ROW).args(words);
        command
    }

    fn run(&self, words: &[&str]) -> Ended {
        Run::start_as(&mut self.command(words)).end()
    }

    fn daemon(&self, host: &str) -> i32 {
        let file = self.directory.path(&format!("{host}.invalid"));
        std::fs::read_to_string(file).unwrap().trim().parse().unwrap()
    }

    /// Strikes the daemon of a host while ranks sleep: how the job ended, and that nothing is left of it.
    fn struck(&self, host: &str, with: &str, words: &[&str]) -> Ended {
        let directory = self.directory.path("");
        let program = ["--wdir", &directory, "sh", "-c", "echo $$ >rank.$OMPI_COMM_WORLD_RANK; exec sleep 60"];
        let run = Run::start_as(&mut self.command(&[words, &program].concat()));
        let end = Instant::now() + Duration::from_secs(30);
        let ranks: Vec<i32> = (0..4)
            .map(|rank| {
                let file = self.directory.path(&format!("rank.{rank}"));
                loop {
                    let text = std::fs::read_to_string(&file).unwrap_or_default();
                    match text.strip_suffix('\n') {
                        Some(pid) => break pid.parse().unwrap(),
                        None => assert!(Instant::now() < end, "rank {rank} starts"),
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
            })
            .collect();
        signal(with, self.daemon(host));
        let ended = run.end();
        let mut pids = ranks;
        pids.extend(["a", "b", "c"].map(|host| self.daemon(host)));
        let end = Instant::now() + Duration::from_secs(10);
        while pids.iter().any(|pid| std::path::Path::new(&format!("/proc/{pid}")).exists()) {
            assert!(Instant::now() < end, "of {pids:?} all end: {}", ended.err);
            std::thread::sleep(Duration::from_millis(5));
        }
        ended
    }
}

#[test]
fn ranks_start_on_all_hosts_and_are_heard() {
    let agent = Agent::new("start");
    let ended = agent.run(&["--prepend-pattern", "%h %r: ", "sh", "-c", "echo $OMPI_COMM_WORLD_LOCAL_SIZE"]);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
    assert_eq!(sorted(&ended.out), ["a.invalid 0: 2", "a.invalid 1: 2", "b.invalid 2: 1", "c.invalid 3: 1"]);
}

#[test]
fn input_reaches_the_last_host_and_much_output_comes_back() {
    let agent = Agent::new("input");
    let mut command = agent.command(&["--stdin", "3", "cat"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let input: Vec<u8> = (0..400_000u32).flat_map(|number| format!("{number}\n").into_bytes()).collect();
    let (mut stdin, bytes) = (child.stdin.take().unwrap(), input.clone());
    let writer = std::thread::spawn(move || stdin.write_all(&bytes).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    assert!(output.stdout == input, "{} bytes of {}", output.stdout.len(), input.len());
}

#[test]
fn the_end_of_a_rank_is_told_with_its_host() {
    let ended = Agent::new("status").run(&["sh", "-c", "[ $OMPI_COMM_WORLD_RANK != 3 ] || exit 7; sleep 60"]);
    assert_eq!(ended.status, Some(7), "{}", ended.err);
    assert!(ended.err.contains("c.invalid"), "{}", ended.err);
}

/// The message names the daemon that died, and not those behind it, which end by themselves.
#[test]
fn a_daemon_between_is_killed() {
    let ended = Agent::new("killed").struck("b", "KILL", &[]);
    assert!(ended.status != Some(0) && ended.err.contains("host b.invalid"), "{}", ended.err);
    assert!(!ended.err.contains("host c.invalid"), "{}", ended.err);
}

#[test]
fn a_daemon_between_is_stopped() {
    let ended = Agent::new("stopped").struck("b", "STOP", &["--mca", "oob_tcp_silence_timeout_s", "2"]);
    assert!(ended.status != Some(0) && ended.err.contains("b.invalid"), "{}", ended.err);
    assert!(ended.err.contains("its daemon is stopped"), "{}", ended.err);
}

#[test]
fn what_the_last_host_lacks_is_said_with_its_name() {
    let agent = Agent::new("lacks");
    let script = "#!/bin/sh\n[ $1 != c.invalid ] || exit 9\nexec sh -c \"exec $2\"\n";
    std::fs::write(agent.directory.path("agent"), script).unwrap();
    let ended = agent.run(&["true"]);
    let words = "host c.invalid: no daemon started there: agent on b.invalid ended with status 9";
    assert!(ended.status != Some(0) && ended.err.contains(words), "{}", ended.err);
}
