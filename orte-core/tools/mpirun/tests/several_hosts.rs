//! Jobs over several hosts: an agent of the tests stands in for ssh and starts the daemons on this machine. `cluster/ssh…` of
//! `cargo xtask test` is the same with ssh and test hosts.

mod rig;

use rig::directory::Directory;
use rig::{Ended, Run, signal, sorted};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const HOSTS: [&str; 2] = ["--host", "a.invalid:2,b.invalid:2"];

/// An agent that runs this script, where `$1` is the host and `$2` what to run there.
struct Agent {
    directory: Directory,
}

impl Agent {
    fn new(name: &str) -> Agent {
        Agent::with(name, "exec sh -c \"$2\"")
    }

    fn with(name: &str, script: &str) -> Agent {
        let directory = Directory::new(&format!("hosts-{name}"));
        let path = directory.file("agent", &format!("#!/bin/sh\ncd {}\n{script}\n", directory.path("")));
        assert!(Command::new("chmod").args(["+x", &path]).status().unwrap().success());
        Agent { directory }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("env");
        command.args(["--default-signal=HUP,INT,QUIT,TERM,USR1,USR2", env!("CARGO_BIN_EXE_mpirun")]);
        command.args(["--mca", "plm_ssh_agent", &self.directory.path("agent")]).args(words);
        command
    }

    fn start(&self, words: &[&str]) -> Run {
        Run::start_as(&mut self.command(words))
    }

    fn run(&self, words: &[&str]) -> Ended {
        self.start(&[&HOSTS[..], words].concat()).end()
    }

    /// What comes out when this goes in.
    fn fed(&self, input: &[u8], words: &[&str]) -> Vec<u8> {
        let mut command = self.command(&[&HOSTS[..], words].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_vec());
        // A job that ends before it has read all closes the pipe.
        let writer = std::thread::spawn(move || _ = stdin.write_all(&input));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        assert!(output.status.success());
        output.stdout
    }
}

fn contains(ended: &Ended, words: &[&str]) {
    for words in words {
        assert!(ended.err.contains(words), "`{words}` is missing in {}", ended.err);
    }
}

#[test]
fn ranks_are_numbered_over_the_hosts() {
    let agent = Agent::new("numbers");
    let script =
        "echo $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_SIZE $OMPI_COMM_WORLD_LOCAL_RANK $OMPI_COMM_WORLD_LOCAL_SIZE";
    let ended = agent.run(&["sh", "-c", script]);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
    assert_eq!(sorted(&ended.out), ["0 4 0 2", "1 4 1 2", "2 4 0 2", "3 4 1 2"]);
    let ended = agent.start(&["--host", "localhost:1,a.invalid:2", "--map-by", "node", "sh", "-c", script]).end();
    assert_eq!(sorted(&ended.out), ["0 3 0 1", "1 3 0 2", "2 3 1 2"]);
}

/// The first host that looks for the program ends the job while others call: what is wrong is said, and only that.
#[test]
fn a_program_that_is_on_no_host_is_what_is_said() {
    // As with ssh, nothing is heard of a daemon whose agent has ended.
    let agent = Agent::with("nosuch", "exec sh -c \"exec $2\"");
    for round in 0..10 {
        let ended = agent.start(&["--host", "a.invalid,b.invalid,c.invalid", "./nosuch"]).end();
        assert_eq!(ended.status, Some(127), "round {round}: {}", ended.err);
        contains(&ended, &[".invalid: program ./nosuch was not found"]);
        assert!(!ended.err.contains("by TCP"), "round {round}: {}", ended.err);
    }
}

/// MPICH's options for the program that starts daemons.
#[test]
fn hydras_launcher_is_the_agent() {
    let agent = Agent::new("launcher");
    for option in ["-launcher-exec", "-bootstrap-exec"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mpirun"));
        command.args([option, &agent.directory.path("agent"), "--host", "a.invalid", "echo", "x"]);
        let ended = Run::start_as(&mut command).end();
        assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(0), "x\n", ""), "{option}");
    }
}

#[test]
fn labels_name_the_host() {
    let ended = Agent::new("labels").run(&["--prepend-pattern", "%h %r: ", "echo", "x"]);
    assert_eq!(sorted(&ended.out), ["a.invalid 0: x", "a.invalid 1: x", "b.invalid 2: x", "b.invalid 3: x"]);
}

#[test]
fn variables_and_directory_are_those_of_mpirun() {
    let agent = Agent::new("variables");
    let mut command = agent.command(&[&HOSTS[..], &["-x", "B=2", "sh", "-c", "echo $A $B $HOSTNAME; pwd"]].concat());
    command.env("A", "1").env("HOSTNAME", "here").current_dir("/usr");
    // The agent is of another host, whose name is its own.
    std::fs::write(agent.directory.path("agent"), "#!/bin/sh\nHOSTNAME=$1 exec sh -c \"$2\"\n").unwrap();
    let ended = Run::start_as(&mut command).end();
    assert_eq!(
        sorted(&ended.out),
        ["/usr", "/usr", "/usr", "/usr", "1 2 a.invalid", "1 2 a.invalid", "1 2 b.invalid", "1 2 b.invalid"]
    );
}

#[test]
fn standard_input_reaches_who_reads_it() {
    let agent = Agent::new("input");
    let numbers: Vec<u8> = (0..200_000).flat_map(|number: u32| format!("{number}\n").into_bytes()).collect();
    assert!(agent.fed(&numbers, &["cat"]) == numbers, "rank 0 reads all of it");
    assert!(agent.fed(&numbers, &["--stdin", "3", "cat"]) == numbers, "rank 3 reads all of it");
    assert_eq!(agent.fed(&numbers, &["--stdin", "none", "cat"]), b"");
    let four = agent.fed(&numbers, &["--stdin", "all", "sh", "-c", "cksum"]);
    let lines = String::from_utf8(four).unwrap();
    let first = lines.lines().next().unwrap().to_owned();
    assert_eq!(lines.lines().filter(|line| *line == first).count(), 4, "{lines}");
    assert!(first.ends_with(&format!(" {}", numbers.len())), "{first}");
    // Nobody waits for input that nobody reads.
    assert_eq!(agent.fed(&numbers[..60_000], &["true"]), b"");
}

#[test]
fn much_output_arrives_whole_while_its_reader_is_slow() {
    let agent = Agent::new("output");
    let mut run = agent.start(&[&HOSTS[..], &["seq", "1000000"]].concat());
    let mut output = run.child.stdout.take().unwrap();
    let (mut lines, mut chunk) = (0, vec![0; 1 << 16]);
    loop {
        let read = output.read(&mut chunk).unwrap();
        lines += chunk[..read].iter().filter(|byte| **byte == b'\n').count();
        if read == 0 {
            break;
        }
        std::thread::sleep(Duration::from_micros(300));
    }
    assert_eq!((lines, run.child.wait().unwrap().code()), (4_000_000, Some(0)));
    run.assert_nothing_left();
}

#[test]
fn statuses_and_reasons_name_the_host() {
    let agent = Agent::new("statuses");
    let of_rank_3 = |what: &str| format!("[ $OMPI_COMM_WORLD_RANK = 3 ] && {what}; exec sleep 2001");
    let ended = agent.run(&["sh", "-c", &of_rank_3("exit 7")]);
    assert_eq!(ended.status, Some(7));
    contains(&ended, &["rank 3 (process ", " on b.invalid) ended with status 7", "3 other ranks"]);
    let ended = agent.run(&["sh", "-c", &of_rank_3("kill -9 $$")]);
    assert_eq!(ended.status, Some(137));
    contains(&ended, &["rank 3 (process ", " on b.invalid) was ended by signal 9"]);
    let ended = agent.run(&["--timeout", "1", "sleep", "2002"]);
    assert_eq!(ended.status, Some(124));
    contains(&ended, &["ranks 0-3 not in MPI_Init yet"]);
}

#[test]
fn signals_reach_all_hosts() {
    let agent = Agent::new("signals");
    let script =
        "trap 'echo got it; exit 0' TERM; trap 'echo usr; sleep 2010 &' USR1; while :; do sleep 2003 & wait; done";
    let run = agent.start(&[&HOSTS[..], &["sh", "-c", script]].concat());
    run.wait_for("sleep 2003", 4);
    run.signal("USR1");
    run.wait_for("sleep 2010", 4);
    run.signal("TERM");
    let ended = run.end();
    assert_eq!(ended.status, Some(143));
    assert_eq!(sorted(&ended.out), ["got it", "got it", "got it", "got it", "usr", "usr", "usr", "usr"]);
}

/// Kills the first process whose command line begins so; what mpirun makes of it, within two seconds.
fn killed(agent: &Agent, name: &str, words: &str, options: &[&str]) -> Ended {
    let run = agent.start(&[&HOSTS[..], options, &["sh", "-c", "setsid sleep 2004 & sleep 2005"]].concat());
    run.wait_for("sleep 2004", 4);
    run.wait_for("sleep 2005", 4);
    // Shells that start a daemon have its line as an argument.
    let is_it =
        |line: &str| line.starts_with(words) || (words == DAEMON && line.ends_with(DAEMON) && !line.contains("sh "));
    let found = run.processes().into_iter().find(|(_, line)| is_it(line.trim_end())).unwrap();
    let start = Instant::now();
    signal(name, found.0);
    let ended = run.end();
    assert!(start.elapsed() < Duration::from_secs(6), "it took {:?}", start.elapsed());
    ended
}

const DAEMON: &str = "/mpirun --ompi-rs-daemon";

#[test]
fn a_daemon_is_killed() {
    let ended = killed(&Agent::new("daemon"), "KILL", DAEMON, &[]);
    assert_eq!(ended.status, Some(1));
    contains(&ended, &[".invalid was lost: its daemon ended, or the network to it did", "2 other ranks"]);
}

#[test]
fn the_keeper_of_a_daemon_is_killed() {
    let ended = killed(&Agent::new("keeper"), "KILL", "mpirun --ompi-rs-keeper", &[]);
    assert_eq!(ended.status, Some(137));
    contains(&ended, &["the keeper process on ", ".invalid was ended by signal 9", "2 other ranks"]);
}

#[test]
fn an_agent_is_killed() {
    // The shell stays, as ssh does.
    let agent = Agent::with("agent", "sh -c \"$2\"; exit $?");
    let ended = killed(&agent, "KILL", "/bin/sh ", &[]);
    assert_eq!(ended.status, Some(1));
    contains(&ended, &[".invalid was lost: its agent (process ", "ended with signal 9"]);
}

#[test]
fn a_stopped_daemon_counts_as_silent() {
    let ended = killed(&Agent::new("silent"), "STOP", DAEMON, &["--mca", "oob_tcp_silence_timeout_s", "1"]);
    assert_eq!(ended.status, Some(1));
    contains(&ended, &[".invalid was lost: nothing was heard of it for 1 s", "oob_tcp_silence_timeout_s"]);
}

#[test]
fn a_stopped_mpirun_is_no_reason_to_end_the_job() {
    let agent = Agent::new("stopped");
    let options = ["--mca", "oob_tcp_silence_timeout_s", "1"];
    let script = "while [ ! -e go ]; do sleep 0.01; done; echo went on";
    let mut command = agent.command(&[&HOSTS[..], &options, &["sh", "-c", script]].concat());
    let run = Run::start_as(command.current_dir(agent.directory.path("")));
    run.wait_for(&format!("sh -c {script}"), 4);
    run.signal("STOP");
    // Twice the time after which a silent host is lost.
    std::thread::sleep(Duration::from_secs(2));
    run.signal("CONT");
    agent.directory.file("go", "");
    let ended = run.end();
    assert_eq!((ended.status, ended.out.lines().count(), ended.err.as_str()), (Some(0), 4, ""));
}

#[test]
fn mpirun_is_killed() {
    let agent = Agent::new("mpirun");
    let mut run = agent.start(&[&HOSTS[..], &["sh", "-c", "setsid sleep 2006 & sleep 2007"]].concat());
    run.wait_for("sleep 2006", 4);
    run.wait_for("sleep 2007", 4);
    run.signal("KILL");
    run.child.wait().unwrap();
    run.assert_nothing_left();
}

#[test]
fn what_a_host_lacks_is_said_with_its_name() {
    let agent = Agent::new("lacks");
    let ended = agent.run(&["no-such-program"]);
    assert_eq!(ended.status, Some(127));
    contains(&ended, &[".invalid: program no-such-program was not found in PATH"]);
    let ended = agent.run(&["--wdir", "/no/such/directory", "true"]);
    assert_eq!(ended.status, Some(125));
    contains(&ended, &[".invalid: --wdir /no/such/directory"]);
    let ended = agent.run(&["--prefix", "/no/such", "true"]);
    assert_eq!(ended.status, Some(125));
    contains(&ended, &["/no/such/bin/mpirun", ".invalid: no daemon started there", "status 127", "--prefix DIR"]);
    let ended = Agent::with("refuses", "echo connection refused >&2; exit 255").run(&["true"]);
    assert_eq!(ended.status, Some(125));
    contains(&ended, &["connection refused\n", ".invalid: no daemon started there: agent ended with status 255"]);
    let ended = Agent::with("hangs", "exec sleep 2008").run(&["--mca", "plm_start_timeout_s", "1", "true"]);
    assert_eq!(ended.status, Some(125));
    contains(&ended, &[".invalid: its daemon did not call within 1 s (--mca plm_start_timeout_s)"]);
    let ended = Agent::with("no-input", "exec sh -c \"$2\" < /dev/null").run(&["true"]);
    assert_eq!(ended.status, Some(125));
    contains(&ended, &["kubectl exec without -i"]);
}

#[test]
fn a_daemon_of_another_version_names_both() {
    let agent = Agent::with("version", "sed '1s/mpirun [^ ]*/mpirun 9.9.9/' | sh -c \"$2\"");
    let ended = agent.run(&["true"]);
    assert_eq!(ended.status, Some(125));
    contains(&ended, &[env!("CARGO_PKG_VERSION"), "9.9.9", "install the same on both", "no daemon started there"]);
}

/// An agent that keeps the invitation and waits until the test lets it go on.
const HOLDS: &str = "cat > invitation.$1; while [ ! -e go ]; do sleep 0.01; done; sh -c \"$2\" < invitation.$1";

fn invitation(agent: &Agent, host: &str) -> String {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let text = std::fs::read_to_string(agent.directory.path(&format!("invitation.{host}"))).unwrap_or_default();
        if text.ends_with("end\n") {
            return text;
        }
        assert!(Instant::now() < end, "no invitation: {text}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn field<'a>(invitation: &'a str, name: &str) -> &'a str {
    invitation.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim()
}

#[test]
fn strangers_at_the_door_do_no_harm() {
    let agent = Agent::with("strangers", HOLDS);
    let run = agent.start(&[&HOSTS[..], &["echo", "fine"]].concat());
    let text = invitation(&agent, "a.invalid");
    let address: SocketAddr = field(&text, "addresses").split(' ').next().unwrap().parse().unwrap();
    // Garbage, a call with a wrong proof, half a call, and nothing at all.
    let call = orte_core::oob::Calling::new([7; 32], 1, [1; 32]).call().to_vec();
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &call, &call[..20], b""] {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(bytes).unwrap();
        if bytes.len() != 20 && !bytes.is_empty() {
            stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            // Closed: an end, or a reset where something was not read.
            assert!(!matches!(stream.read(&mut [0; 16]), Ok(1..)));
        }
    }
    agent.directory.file("go", "");
    let ended = run.end();
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), "fine\nfine\nfine\nfine\n"));
    contains(&ended, &["what came is no call of a daemon; the job goes on", "it does not know the secret of this job"]);
}

/// Of a range mpirun takes a port that is free, and says so where there is none.
#[test]
fn mpirun_listens_on_the_ports_that_it_is_given() {
    let agent = Agent::with("ports", HOLDS);
    let start = |range: &str| agent.start(&[&HOSTS[..], &["--mca", "oob_tcp_port", range, "echo", "fine"]].concat());
    let all: Vec<u16> = {
        let run = agent.start(&[&HOSTS[..], &["echo", "fine"]].concat());
        let ports = ports(&invitation(&agent, "a.invalid"));
        run.signal("TERM");
        run.end();
        ports
    };
    // Free a moment ago.
    let port = all[0];
    std::fs::remove_file(agent.directory.path("invitation.a.invalid")).unwrap();
    let run = start(&format!("{port}-{port}"));
    assert!(ports(&invitation(&agent, "a.invalid")).iter().all(|its| *its == port));
    let second = start(&port.to_string()).end();
    assert_ne!(second.status, Some(0));
    contains(&second, &[&format!("all ports of oob_tcp_port {port}-{port} are in use")]);
    agent.directory.file("go", "");
    let ended = run.end();
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), "fine\nfine\nfine\nfine\n"));
    let wrong = start("5100-5000").end();
    contains(&wrong, &["oob_tcp_port: `5100-5000` is no range of ports; write one such as 5000-5100"]);
}

fn ports(invitation: &str) -> Vec<u16> {
    let addresses = field(invitation, "addresses").split(' ');
    addresses.map(|text| text.parse::<SocketAddr>().unwrap().port()).collect()
}

/// In the allocation of a resource manager, by its variables and files alone: its hosts, its slots, and the program by which it starts
/// others. Scripts stand in for these programs, and for ssh.
#[test]
fn allocations_bring_their_agents() {
    let agent = Agent::with("managed", "echo the agent of the tests must not run >&2; exit 1");
    let place = |name: &str, script: &str| {
        let path = agent.directory.file(name, &format!("#!/bin/sh\n{script}\n"));
        assert!(Command::new("chmod").args(["+x", &path]).status().unwrap().success());
    };
    place("qrsh", "[ $# = 3 ] && [ \"$1\" = -inherit ] || exit 9; echo qrsh $2 >&2; exec sh -c \"$3\"");
    place("blaunch", "[ $# = 2 ] || exit 9; echo blaunch $1 >&2; exec sh -c \"$2\"");
    place("ssh", "echo ssh $1 >&2; exec sh -c \"$2\"");
    let slots =
        agent.directory.file("slots", "a.invalid 1 all.q@a.invalid UNDEFINED\nb.invalid 2 all.q@b.invalid <NULL>\n");
    let nodes = agent.directory.file("nodes", "a.invalid\nb.invalid\nb.invalid\n");
    let engine = [("JOB_ID", "7"), ("PE_HOSTFILE", &slots)];
    let lsf = [("LSB_JOBID", "7"), ("LSB_MCPU_HOSTS", "a.invalid 1 b.invalid 2")];
    let pbs = [("PBS_JOBID", "7"), ("PBS_NODEFILE", &nodes)];
    let path = format!("{}:{}", agent.directory.path(""), std::env::var("PATH").unwrap());
    for (variables, words, said) in [
        (engine, &[][..], &["qrsh a.invalid", "qrsh b.invalid"][..]),
        (lsf, &[], &["blaunch a.invalid", "blaunch b.invalid"]),
        (pbs, &[], &["ssh a.invalid", "ssh b.invalid"]),
        // A host of somebody else's, and a choice.
        (engine, &["--host", "b.invalid:2,c.invalid:1"], &["ssh b.invalid", "ssh c.invalid"]),
        (lsf, &["--mca", "plm", "ssh"], &["ssh a.invalid", "ssh b.invalid"]),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mpirun"));
        command.args(words).args(["sh", "-c", "echo $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE"]);
        let ended = Run::start_as(command.env("PATH", &path).envs(variables)).end();
        assert_eq!((ended.status, sorted(&ended.err)), (Some(0), said.to_vec()), "{variables:?}");
        assert_eq!(sorted(&ended.out), ["0 of 3", "1 of 3", "2 of 3"]);
    }
}

/// Somebody at a terminal is told whom a long launch waits for.
#[test]
fn a_long_launch_is_said_at_a_terminal() {
    let agent = Agent::with("long", HOLDS);
    let flags = rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY;
    let terminal = rustix::pty::openpt(flags).unwrap();
    rustix::pty::unlockpt(&terminal).unwrap();
    let name = rustix::pty::ptsname(&terminal, Vec::new()).unwrap();
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
    let stderr = rustix::fs::open(&*name, flags, rustix::fs::Mode::empty()).unwrap();
    let mut command = agent.command(&[&HOSTS[..], &["true"]].concat());
    let mut child = command.stdin(Stdio::null()).stderr(stderr).spawn().unwrap();
    drop(command);
    let (mut said, mut chunk) = (Vec::new(), [0; 4096]);
    let words = "waiting for the daemons of 2 of 2 hosts: a.invalid, b.invalid";
    let end = Instant::now() + Duration::from_secs(20);
    while !String::from_utf8_lossy(&said).contains(words) {
        let mut poll = [rustix::event::PollFd::new(&terminal, rustix::event::PollFlags::IN)];
        let timeout = rustix::event::Timespec { tv_sec: 1, tv_nsec: 0 };
        if rustix::event::poll(&mut poll, Some(&timeout)).unwrap() > 0 {
            let read = rustix::io::read(&terminal, &mut chunk).unwrap();
            said.extend_from_slice(&chunk[..read]);
        }
        assert!(Instant::now() < end, "it says: {}", String::from_utf8_lossy(&said));
    }
    agent.directory.file("go", "");
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_secret_is_neither_in_arguments_nor_in_variables() {
    let agent = Agent::with("secret", HOLDS);
    let run = agent.start(&[&HOSTS[..], &["sleep", "2009"]].concat());
    let text = invitation(&agent, "b.invalid");
    let secret = field(&text, "secret").as_bytes();
    assert_eq!(secret.len(), 64);
    agent.directory.file("go", "");
    run.wait_for("sleep 2009", 4);
    let processes = run.processes();
    assert!(processes.iter().filter(|(_, line)| line.contains(DAEMON)).count() >= 2, "{processes:?}");
    for (pid, line) in processes {
        for file in ["cmdline", "environ"] {
            let bytes = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            assert!(!bytes.windows(secret.len()).any(|window| window == secret), "{file} of {line} holds the secret");
        }
    }
    run.signal("TERM");
    assert_eq!(run.end().status, Some(143));
}

#[test]
fn a_daemon_without_the_secret_is_refused() {
    let agent = Agent::with("no-secret", "sed 's/^secret ..../secret 0000/' | sh -c \"$2\"");
    let ended = agent.run(&["true"]);
    assert_eq!(ended.status, Some(125));
    contains(&ended, &["it does not know the secret of this job", "no daemon started there"]);
    assert!(ended.out.is_empty());
}

/// What an operator of Kubernetes leaves to mpirun: a file of hosts and an agent like `kubectl exec -i`, by variables alone.
#[test]
fn variables_name_hosts_and_agent() {
    for (file, agent) in [
        ("OMPI_MCA_orte_default_hostfile", "OMPI_MCA_plm_rsh_agent"),
        ("PRTE_MCA_prte_default_hostfile", "OMPI_MCA_plm_ssh_agent"),
    ] {
        let stand_in = Agent::with(
            "operator",
            "[ \"$1\" = pod-1.invalid ] || [ \"$1\" = pod-2.invalid ] || exit 3\nexec sh -c \"$2\"",
        );
        let hosts = stand_in.directory.file("hosts", "pod-1.invalid slots=1\npod-2.invalid slots=2\n");
        let mut command = Command::new(env!("CARGO_BIN_EXE_mpirun"));
        command.env(file, hosts).env(agent, stand_in.directory.path("agent"));
        let ended =
            Run::start_as(command.args(["sh", "-c", "echo $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_LOCAL_SIZE"])).end();
        assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""), "{file}");
        assert_eq!(sorted(&ended.out), ["0 1", "1 2", "2 2"]);
    }
}
