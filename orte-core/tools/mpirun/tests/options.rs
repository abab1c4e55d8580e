//! Every option as people type it.

mod rig;

use rig::directory::Directory;
use rig::{Run, run, signal, sorted};
use std::io::{Read, Write};
use std::process::Command;
use std::time::{Duration, Instant};

const WHO: &str = "echo $OMPI_APP_CTX $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_SIZE $0";

#[test]
fn several_programs_are_one_job() {
    let ended =
        run(&["-n", "2", "sh", "-c", WHO, "one", ":", "sh", "-c", WHO, "two", ":", "-np", "1", "sh", "-c", WHO]);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
    assert_eq!(sorted(&ended.out), ["0 0 4 one", "0 1 4 one", "1 2 4 two", "2 3 4 sh"]);
}

#[test]
fn each_program_has_its_directory() {
    let show = "echo $OMPI_COMM_WORLD_RANK $PWD; pwd";
    let ended = run(&["-wd", "/", "sh", "-c", show, ":", "--wdir", "/proc", "sh", "-c", show]);
    assert_eq!(sorted(&ended.out), ["/", "/proc", "0 /", "1 /proc"], "{}", ended.err);
}

#[test]
fn a_program_of_several_that_is_missing_is_named() {
    let ended = run(&["-n", "2", "true", ":", "surely-no-such-program"]);
    assert!(ended.status == Some(127) && ended.err.contains("surely-no-such-program"), "{}", ended.err);
}

#[test]
fn hosts_of_this_machine() {
    for host in ["localhost:3", "localhost:1,127.0.0.1:2"] {
        assert_eq!(run(&["--host", host, "echo", "x"]).out, "x\nx\nx\n", "{host}");
    }
    let own = String::from_utf8(Command::new("uname").arg("-n").output().unwrap().stdout).unwrap();
    assert_eq!(run(&["-H", own.trim(), "echo", "x"]).out, "x\n");
    // On other hosts an agent starts ranks; this one fails.
    for hosts in ["node17.invalid", "localhost,node17.invalid"] {
        let ended = run(&["--mca", "plm_ssh_agent", "false", "-host", hosts, "true"]);
        assert_eq!((ended.status, ended.err.lines().count()), (Some(125), 1), "{}", ended.err);
        assert!(ended.err.contains("host node17.invalid: no daemon started there: false ended"), "{}", ended.err);
    }
}

/// A segment has places for 1024 ranks, and each host has a segment.
#[test]
fn a_job_may_be_larger_than_a_host() {
    let explained = |hosts: &str, ranks: &str| run(&["--host", hosts, "-n", ranks, "--explain", "true"]);
    let ended = explained("a.invalid:1000,b.invalid:1000", "2000");
    assert!(ended.status == Some(0) && ended.err.contains("there are 2000 ranks"), "{}{}", ended.out, ended.err);
    for (hosts, ranks, words) in [
        ("a.invalid:2000,b.invalid:9", "2000", "2000 ranks would run on a.invalid; a host has at most 1024"),
        ("localhost:2000", "2000", "2000 ranks together; a host has at most 1024"),
        ("a.invalid,b.invalid", "1048577", "whole number from 1 to 1048576"),
    ] {
        let ended = explained(hosts, ranks);
        assert!(ended.status == Some(125) && ended.err.contains(words), "{}{}", ended.out, ended.err);
    }
}

#[test]
fn hostfiles() {
    let directory = Directory::new("options-hosts");
    let file = directory.path("hosts");
    std::fs::write(&file, "# here\nlocalhost slots=2 max_slots=9\n").unwrap();
    assert_eq!(run(&["--hostfile", &file, "echo", "x"]).out, "x\nx\n");
    assert_eq!(run(&["-machinefile", &file, "-n", "3", "echo", "x"]).out, "x\nx\nx\n");
    let ended = run(&["--hostfile", &file, "-n", "10", "true"]);
    assert!(ended.status == Some(125) && ended.err.contains("max_slots of the hosts allow: 9"), "{}", ended.err);
    // As Open MPI: a slot for each line.
    std::fs::write(&file, "localhost\n127.0.0.1\nlocalhost\n").unwrap();
    assert_eq!(run(&["--hostfile", &file, "echo", "x"]).out, "x\nx\nx\n");
    std::fs::write(&file, "# nobody\n").unwrap();
    let ended = run(&["--hostfile", &file, "true"]);
    assert!(ended.status == Some(125) && ended.err.contains("hosts names no host"), "{}", ended.err);
    assert_eq!(run(&["--default-hostfile", &file, "-n", "1", "echo", "x"]).out, "x\n");
    std::fs::write(&file, "localhost\nnode17.invalid slots=many\n").unwrap();
    let ended = run(&["--hostfile", &file, "true"]);
    assert!(ended.status == Some(125) && ended.err.contains("line 2"), "{}", ended.err);
    std::fs::write(&file, "localhost slots=1\nnode17.invalid slots=2\n").unwrap();
    let ended = run(&["--hostfile", &file, "--display", "map,allocation", "--do-not-launch", "true"]);
    for line in ["node17.invalid has 2 slots", "rank 2 runs program 0 (true) on node17.invalid"] {
        assert!(ended.err.contains(line), "{}", ended.err);
    }
}

#[test]
fn ranks_per_node() {
    assert_eq!(run(&["-npernode", "3", "echo", "x"]).out, "x\nx\nx\n");
    assert_eq!(run(&["-N", "3", "-n", "2", "echo", "x"]).out, "x\nx\n");
    assert_eq!(run(&["--map-by", "ppr:2:node:OVERSUBSCRIBE", "echo", "x"]).out, "x\nx\n");
    // As MPICH: so many on each machine, in turn.
    assert_eq!(run(&["-ppn", "1", "-n", "2", "echo", "x"]).out, "x\nx\n");
    assert_eq!(run(&["-ppn", "3", "echo", "x"]).out, "x\nx\nx\n");
    let ended = run(&["-N", "1", "-n", "2", "true"]);
    assert!(ended.status == Some(125) && ended.err.contains("more machines"), "{}", ended.err);
}

#[test]
fn what_is_accepted_for_scripts() {
    let words = ["--oversubscribe", "--allow-run-as-root", "--prefix", "/opt/mpi", "--map-by", "slot", "-n", "3"];
    for more in [&["--map-by", "core"][..], &["--map-by", "node"], &["--map-by", "none"], &["--bind-to", "none"]] {
        let all: Vec<&str> = words.iter().chain(more).chain(&["echo", "x"]).copied().collect();
        let ended = run(&all);
        assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(0), "x\nx\nx\n", ""), "{more:?}");
    }
    let ended =
        run(&["-n", "1", "--gmca", "a_b", "1", "--omca", "c_d", "2", "sh", "-c", "echo $OMPI_MCA_a_b $OMPI_MCA_c_d"]);
    assert_eq!(ended.out, "1 2\n", "{}", ended.err);
}

/// Processors that this test may use.
fn allowed(text: &str) -> Vec<usize> {
    let list = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        first.parse::<usize>().unwrap()..=last.parse().unwrap()
    };
    list.trim().split(',').flat_map(range).collect()
}

#[test]
fn binding() {
    let mine = allowed(&std::fs::read_to_string("/proc/self/status").unwrap());
    for (words, name) in [
        (&["--bind-to", "hwthread"][..], "hardware thread"),
        (&["--bind-to", "core"], "core"),
        (&["--bind-to", "socket"], "socket"),
        (&["--bind-to", "numa"], "NUMA node"),
    ] {
        let show = ["--report-bindings", "-n", "2", "grep", "Cpus_allowed_list", "/proc/self/status"];
        let all: Vec<&str> = words.iter().chain(&show).copied().collect();
        let ended = run(&all);
        assert_eq!(ended.err.matches(&format!(" is bound to {name} ")).count(), 2, "{}", ended.err);
        for line in ended.out.lines() {
            // What is reported is what the system says.
            let set = allowed(line);
            let list: Vec<String> = set.iter().map(usize::to_string).collect();
            assert!(ended.err.contains(&format!("(processors {})", list.join(","))), "{line} {}", ended.err);
            assert!(set.iter().all(|processor| mine.contains(processor)));
            assert!(name != "hardware thread" || set.len() == 1, "{line}");
        }
    }
    // A cache is what the system says it is, or refused: never something near it.
    let ended = run(&["--report-bindings", "-n", "1", "--bind-to", "l3cache", "true"]);
    match std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/level") {
        Ok(_) => assert!(ended.err.contains("is bound to L3 cache"), "{}", ended.err),
        Err(_) => assert!(ended.status == Some(125) && ended.err.contains("l3cache"), "{}", ended.err),
    }
    let ended = run(&["--report-bindings", "-n", "2", "true"]);
    assert_eq!(ended.err.matches("is not bound").count(), 2, "{}", ended.err);
    let ended = run(&["--report-bindings", "--map-by", "slot:PE=1", "-n", "1", "true"]);
    assert!(ended.err.contains("rank 0 is bound to core "), "{}", ended.err);
    if mine.len() > 1 {
        let words = [
            "--bind-to",
            "hwthread",
            "--map-by",
            "core:PE=2",
            "-n",
            "1",
            "grep",
            "Cpus_allowed_list",
            "/proc/self/status",
        ];
        assert_eq!(allowed(&run(&words).out).len(), 2);
    }
}

#[test]
fn more_ranks_than_cores_to_bind_to() {
    let ended = run(&["-n", "300", "--bind-to", "core", "true"]);
    assert_eq!((ended.status, ended.err.lines().count()), (Some(0), 1), "{}", ended.err);
    assert!(ended.err.contains("300 ranks") && ended.err.contains(":overload-allowed"), "{}", ended.err);
    for options in [&["--bind-to", "core:overload-allowed"][..], &["--bind-to", "core", "--oversubscribe"]] {
        let ended = run(&[&["-n", "300"], options, &["true"]].concat());
        assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
    }
}

#[test]
fn an_outer_taskset_is_respected_and_reported() {
    let mine = allowed(&std::fs::read_to_string("/proc/self/status").unwrap());
    let Some(last) = mine.last().filter(|_| mine.len() > 1).map(usize::to_string) else { return };
    let ran = |options: &[&str]| {
        let mpirun = ["-c", &last, env!("CARGO_BIN_EXE_mpirun"), "--report-bindings", "-n", "2"];
        let show = ["grep", "Cpus_allowed_list", "/proc/self/status"];
        Run::start_as(Command::new("taskset").args(mpirun).args(options).args(show)).end()
    };
    let ended = ran(&["--bind-to", "hwthread:overload-allowed"]);
    let bound = format!("is bound to hardware thread {last} (processors {last})");
    assert_eq!(ended.err.matches(&bound).count(), 2, "{}", ended.err);
    assert!(ended.err.contains(&format!("started with processors {last} of ")), "{}", ended.err);
    assert!(ended.out.lines().all(|line| line.ends_with(&format!("\t{last}"))), "{}", ended.out);
    let ended = ran(&["--cpu-set", "0"]);
    assert!(ended.status == Some(125) && ended.err.contains("processor 0 cannot be used"), "{}", ended.err);
    assert_eq!(ran(&[]).err.matches("is not bound and may use processors").count(), 2);
}

#[test]
fn ranks_by_list() {
    let mine = allowed(&std::fs::read_to_string("/proc/self/status").unwrap());
    let show = ["grep", "Cpus_allowed_list", "/proc/self/status"];
    let first = mine[0].to_string();
    for options in [&["--cpu-set", &first][..], &["--cpu-list", &first], &["--map-by", &format!("pe-list={first}")]] {
        let ended = run(&[options, &["-n", "2"], &show].concat());
        assert_eq!(ended.out, format!("Cpus_allowed_list:\t{first}\n").repeat(2), "{}", ended.err);
    }
    let directory = Directory::new("options-rankfile");
    let file = directory.path("ranks");
    let last = mine[mine.len() - 1];
    std::fs::write(&file, format!("# two\nrank 1=localhost slot=p{first}\nrank 0=localhost slot=p{last}\n")).unwrap();
    let ended = run(&[&["--rankfile", &file, "--tag-output"][..], &show].concat());
    let (zero, one) =
        (format!("[1,0]<stdout>: Cpus_allowed_list:\t{last}"), format!("[1,1]<stdout>: Cpus_allowed_list:\t{first}"));
    assert_eq!(sorted(&ended.out), [zero.as_str(), &one], "{}", ended.err);
    let ended = run(&["--rankfile", &file, "-n", "3", "true"]);
    assert!(ended.status == Some(125) && ended.err.contains("--rankfile"), "{}", ended.err);
}

/// Ranks take the places that a list names in its order, and units in turn or one after the other.
#[test]
fn the_order_of_places() {
    let mine = allowed(&std::fs::read_to_string("/proc/self/status").unwrap());
    let places = |options: &[&str]| {
        let ended = run(&[options, &["--tag-output", "grep", "Cpus_allowed_list", "/proc/self/status"]].concat());
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        let lines: Vec<String> = sorted(&ended.out).into_iter().map(str::to_owned).collect();
        lines.iter().map(|line| line.split_whitespace().last().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (first, last) = (mine[0].to_string(), mine[mine.len() - 1].to_string());
    assert_eq!(places(&["-n", "2", "--map-by", &format!("pe-list={last},{first}:ordered")]), [last, first]);
    let four = ["-n", "4", "--map-by", "core", "--bind-to", "core:overload-allowed"];
    let (in_turn, filled) = (places(&four), places(&[&four[..], &["--rank-by", "fill"]].concat()));
    // On one core all are the same.
    assert_eq!(in_turn[0] != in_turn[1], mine.len() > 1 && filled[0] != filled[3], "{in_turn:?} {filled:?}");
    assert_eq!(filled[0], filled[1], "{filled:?}");
}

/// Options that are taken and forgotten would pass the table of other launchers' options.
#[test]
fn options_have_their_effect() {
    let directory = Directory::new("effect");
    let ended = run(&["-n", "2", "--usize", "1", "true"]);
    assert!(ended.status == Some(125) && ended.err.contains("has 2 ranks already"), "{}", ended.err);
    let mine = allowed(&std::fs::read_to_string("/proc/self/status").unwrap());
    assert_eq!(run(&["--map-by", "ppr:2:hwthread", "echo", "x"]).out.lines().count(), 2 * mine.len());
    let hosts = directory.path("hosts");
    std::fs::write(&hosts, "localhost slots=5\n").unwrap();
    for (options, ranks) in [(&["--host", "localhost:2"][..], 2), (&[], 5)] {
        let ended = run(&[options, &["--default-hostfile", &hosts, "echo", "x"]].concat());
        assert_eq!(ended.out.lines().count(), ranks, "{options:?} {}", ended.err);
    }
    let show = ["-n", "1", "sh", "-c", "echo mark=$OMPI_TEST_MARK"];
    assert_eq!(run(&[&["-genvlist", "PATH"][..], &show].concat()).out, "mark=\n");
    let ended = run(&[&["-genvlist", "PATH", "-envall"][..], &show].concat());
    assert_ne!(ended.out, "mark=\n", "{}", ended.err);
    let out = directory.path("out");
    let ended = run(&["-n", "1", "--output", &format!("dir={out}:nocopy"), "echo", "only there"]);
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), ""), "{}", ended.err);
    assert_eq!(directory.read("out/1/rank.0/stdout"), "only there\n");
    // The other rank goes on when the first has failed: it waits until that one is gone.
    let pid = directory.path("pid");
    let script = format!(
        "if [ $OMPI_COMM_WORLD_RANK = 0 ]; then echo $$ > {pid}.new; mv {pid}.new {pid}; exit 7; fi; \
         while ! [ -s {pid} ] || kill -0 $(cat {pid}) 2> {pid}.err; do sleep 0.01; done; sleep 0.2; echo on"
    );
    let ended = run(&["-n", "2", "--runtime-options", "error-nonzero-status=0", "sh", "-c", &script]);
    assert_eq!((ended.status, ended.out.as_str()), (Some(7), "on\n"), "{}", ended.err);
}

#[test]
fn lines_with_the_time() {
    let year = String::from_utf8(Command::new("date").arg("+%Y").output().unwrap().stdout).unwrap();
    let ended = run(&["-n", "2", "--timestamp-output", "echo", "x"]);
    for line in ended.out.lines() {
        let (time, rest) = line.split_once('<').unwrap();
        assert!(time.ends_with(year.trim()) && time.len() == "Fri Nov 20 14:47:05 2026".len(), "{line}");
        assert_eq!(rest, "stdout>: x");
    }
    let ended = run(&["-n", "1", "--timestamp-output", "--tag-output", "echo", "x"]);
    assert!(ended.out.ends_with("[1,0]<stdout>: x\n"), "{}", ended.out);
}

#[test]
fn output_goes_into_files() {
    let directory = Directory::new("options-files");
    let out = directory.path("out");
    let script = "echo out $OMPI_COMM_WORLD_RANK; echo err >&2; printf end";
    let ended = run(&["-n", "2", "--tag-output", "--output-filename", &out, "sh", "-c", script]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    for rank in ["0", "1"] {
        assert_eq!(directory.read(&format!("out/1/rank.{rank}/stdout")), format!("out {rank}\nend"));
        assert_eq!(directory.read(&format!("out/1/rank.{rank}/stderr")), "err\n");
    }
    assert_eq!(ended.out.lines().count(), 4, "{}", ended.out);
    let ended = run(&["-n", "10", "--output-filename", &format!("{out}:nocopy"), "sh", "-c", script]);
    assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(0), "", ""));
    assert_eq!(directory.read("out/1/rank.09/stdout"), "out 9\nend");
    let ended = run(&["-n", "1", "--output-filename", "/proc/1/no", "true"]);
    assert!(ended.status == Some(125) && ended.err.contains("/proc/1/no"), "{}", ended.err);
}

/// mpirun reading from a pipe; what it wrote.
fn fed(options: &str, input: &str) -> rig::Ended {
    let script = format!(
        "printf '{input}' | $0 {options} sh -c 'while read -r line; do echo $OMPI_COMM_WORLD_RANK $line; done'"
    );
    Run::start_as(Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_mpirun")])).end()
}

#[test]
fn standard_input_goes_where_it_is_sent() {
    for (options, lines) in [
        ("-n 3", &["0 a", "0 b"][..]),
        ("-n 3 --stdin 2", &["2 a", "2 b"]),
        ("-n 3 --stdin none", &[]),
        ("-n 2 -stdin all", &["0 a", "0 b", "1 a", "1 b"]),
    ] {
        let ended = fed(options, "a\\nb\\n");
        assert_eq!((ended.status, sorted(&ended.out)), (Some(0), lines.to_vec()), "{options}: {}", ended.err);
    }
}

#[test]
fn all_get_all_of_a_long_input() {
    // Far more than the pipes hold; rank 0 stops reading early and must not hold up the others.
    let count = "head -c 3000000 /dev/zero | $0 -n 3 --stdin all sh -c \
                 'if [ $OMPI_COMM_WORLD_RANK = 0 ]; then head -c 10 | wc -c; else wc -c; fi'";
    let ended = Run::start_as(Command::new("sh").args(["-c", count, env!("CARGO_BIN_EXE_mpirun")])).end();
    assert_eq!((ended.status, sorted(&ended.out)), (Some(0), vec!["10", "3000000", "3000000"]), "{}", ended.err);
}

#[test]
fn prompts_appear_with_several_ranks() {
    let script = "[ $OMPI_COMM_WORLD_RANK = 1 ] || { printf 'name: '; read -r name; echo hello $name; }";
    let directory = Directory::new("options-prompt");
    let fifo = directory.path("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    // A pipe that this test can write to stands for the terminal.
    let shell = ["-c", "exec \"$@\" <>\"$0\"", &fifo, env!("CARGO_BIN_EXE_mpirun"), "-n", "2", "sh", "-c", script];
    let mut run = Run::start_as(Command::new("sh").args(shell));
    let mut prompt = [0; 6];
    run.child.stdout.as_mut().unwrap().read_exact(&mut prompt).unwrap();
    assert_eq!(&prompt, b"name: ");
    std::fs::OpenOptions::new().write(true).open(&fifo).unwrap().write_all(b"you\n").unwrap();
    let ended = run.end();
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), "hello you\n"), "{}", ended.err);
}

#[test]
fn quiet_and_verbose() {
    let ended = run(&["-q", "-n", "2", "-x", "SURELY_NOT_SET", "sh", "-c", "exit 5"]);
    assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(5), "", ""));
    let ended = run(&["-q", "surely-no-such-program"]);
    assert!(ended.status == Some(127) && ended.err.contains("surely-no-such-program"), "{}", ended.err);
    let ended = run(&["-v", "-n", "2", "true"]);
    for words in
        ["rank 0 is process ", "rank 1 is process ", "rank 0 ended with status 0", "rank 1 ended with status 0"]
    {
        assert!(ended.err.contains(words), "{words} is missing in {}", ended.err);
    }
}

#[test]
fn by_its_other_name() {
    let directory = Directory::new("options-mpiexec");
    let mpiexec = directory.path("mpiexec");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_mpirun"), &mpiexec).unwrap();
    let ended = Run::start_as(Command::new(&mpiexec).args(["-n", "2", "echo", "x"])).end();
    assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(0), "x\nx\n", ""));
    assert!(Run::start_as(Command::new(&mpiexec).arg("--version")).end().out.starts_with("mpirun "));
}

/// The state of a process: the letter in /proc.
fn state(pid: i32) -> char {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    text.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('?')
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < end, "{what} did not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_job_stops_and_goes_on() {
    let run = Run::start(&["-n", "2", "sleep", "1031"]);
    let ranks = run.wait_for("sleep 1031", 2);
    let mpirun = run.child.id() as i32;
    run.signal("TSTP");
    wait_until("a stop", || ranks.iter().chain([&mpirun]).all(|pid| state(*pid) == 'T'));
    run.signal("CONT");
    wait_until("an end of the stop", || ranks.iter().chain([&mpirun]).all(|pid| state(*pid) != 'T'));
    signal("TERM", mpirun);
    assert_eq!(run.end().status, Some(143));
}

#[test]
fn both_user_signals_pass_through() {
    for name in ["USR1", "USR2"] {
        let script = format!("trap 'echo got {name}; exit 0' {name}; sleep 1032 & wait");
        let run = Run::start(&["-n", "2", "sh", "-c", &script]);
        run.wait_for("sleep 1032 ", 2);
        run.signal(name);
        let ended = run.end();
        assert_eq!((ended.status, ended.out), (Some(0), format!("got {name}\ngot {name}\n")));
    }
}

#[test]
fn statuses_of_signals() {
    for (name, number) in [("SEGV", 11), ("KILL", 9), ("FPE", 8), ("TERM", 15)] {
        let ended = run(&["-n", "1", "sh", "-c", &format!("kill -s {name} $$")]);
        assert_eq!(ended.status, Some(128 + number), "{}", ended.err);
    }
}
