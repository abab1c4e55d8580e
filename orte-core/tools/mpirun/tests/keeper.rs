//! A keeper that does not answer: stopped, or stopped again and again. And what else a timeout must not wait for.

mod rig;

use rig::directory::Directory;
use rig::{Run, signal};
use std::process::Command;
use std::time::{Duration, Instant};

fn keeper(run: &Run) -> i32 {
    run.wait_for("mpirun --ompi-rs-keeper", 1)[0]
}

/// A job whose keeper is stopped.
fn stopped(words: &[&str], sleeper: &str, ranks: usize) -> Run {
    let run = Run::start(words);
    run.wait_for(sleeper, ranks);
    signal("STOP", keeper(&run));
    run
}

/// Stops a process again and again until it is gone.
fn stop_for_ever(pid: i32) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        let end = Instant::now() + Duration::from_secs(60);
        while Instant::now() < end && rustix::process::kill_process(pid, rustix::process::Signal::STOP).is_ok() {
            std::thread::yield_now();
        }
    })
}

#[test]
fn signals_end_a_job_whose_keeper_is_stopped() {
    for (name, status) in [("INT", 130), ("TERM", 143)] {
        let run = stopped(&["-n", "2", "sleep", "1021"], "sleep 1021", 2);
        run.signal(name);
        let ended = run.end();
        assert_eq!(ended.status, Some(status), "{}", ended.err);
        assert!(
            ended.err.contains("2 ranks that still ran were sent") && ended.err.contains("and ended"),
            "{}",
            ended.err
        );
    }
}

#[test]
fn a_timeout_ends_a_job_whose_keeper_is_stopped() {
    let ended = stopped(&["--timeout", "2", "-n", "2", "sleep", "1022"], "sleep 1022", 2).end();
    assert_eq!(ended.status, Some(124), "{}", ended.err);
}

#[test]
fn the_death_of_a_rank_is_noticed_although_the_keeper_was_stopped() {
    let run = stopped(&["-n", "2", "sleep", "1023"], "sleep 1023", 2);
    signal("KILL", run.wait_for("sleep 1023", 2)[0]);
    let ended = run.end();
    assert_eq!(ended.status, Some(137), "{}", ended.err);
    assert!(ended.err.contains("was ended by signal 9"), "{}", ended.err);
}

#[test]
fn a_stopped_keeper_ends_with_mpirun() {
    let mut run = Run::start(&["-n", "2", "sh", "-c", "setsid sleep 1024 & sleep 1025"]);
    for sleeper in ["sleep 1024", "sleep 1025"] {
        run.wait_for(sleeper, 2);
    }
    let keeper = keeper(&run);
    // mpirun as well, so that it cannot let the keeper go on before it dies.
    run.signal("STOP");
    signal("STOP", keeper);
    run.signal("KILL");
    run.child.wait().unwrap();
    run.assert_nothing_left();
}

#[test]
fn a_keeper_that_never_answers_is_killed() {
    let run = Run::start(&["-n", "2", "--grace", "1", "sh", "-c", "setsid sleep 1026 & exec sleep 1027"]);
    for sleeper in ["sleep 1026", "sleep 1027"] {
        run.wait_for(sleeper, 2);
    }
    let keeper = keeper(&run);
    let stopper = stop_for_ever(keeper);
    run.signal("TERM");
    let ended = run.end();
    stopper.join().unwrap();
    assert_eq!(ended.status, Some(143), "{}", ended.err);
}

/// A tracer that holds it at its exit makes a process that no signal ends, as one does that hangs inside the system.
#[test]
fn a_keeper_that_cannot_be_killed_is_given_up() {
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let mut run = Run::start(&["-n", "1", "--grace", "1", "sleep", "1029"]);
    run.wait_for("sleep 1029", 1);
    let keeper = keeper(&run);
    // PTRACE_SEIZE with PTRACE_O_TRACEEXIT.
    let script = "import ctypes, sys, time; c = ctypes.CDLL(None, use_errno=True); \
                  print(c.ptrace(0x4206, int(sys.argv[1]), 0, 0x40), flush=True); time.sleep(100)";
    let mut tracer = Command::new("python3");
    let mut tracer =
        tracer.args(["-c", script, &keeper.to_string()]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(tracer.stdout.take().unwrap()), &mut said).unwrap();
    let stopper = stop_for_ever(keeper);
    for _ in 0..3 {
        run.signal("TERM");
        std::thread::sleep(Duration::from_millis(300));
    }
    let end = Instant::now() + Duration::from_secs(40);
    let status = loop {
        match run.child.try_wait().unwrap() {
            Some(status) => break status.code(),
            None => assert!(Instant::now() < end, "mpirun waits for its keeper"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    tracer.kill().unwrap();
    tracer.wait().unwrap();
    stopper.join().unwrap();
    if said.trim() == "0" {
        let ended = run.end();
        assert!(status == Some(143) && ended.err.contains("it hangs inside the system"), "{status:?} {}", ended.err);
    }
}

/// A debugger that has stopped a process, and waits for it until it ends, as gdb does.
struct Debugger(std::process::Child);

impl Debugger {
    /// `None` where there is no python3.
    fn holds(pid: i32) -> Option<Debugger> {
        // PTRACE_SEIZE and PTRACE_INTERRUPT.
        let script = "import ctypes, os, sys; c = ctypes.CDLL(None); pid = int(sys.argv[1]); \
                      said = c.ptrace(0x4206, pid, 0, 0) | c.ptrace(0x4207, pid, 0, 0); \
                      said or os.waitpid(pid, 0); print(said, flush=True); said or os.waitpid(pid, 0)";
        let mut child = Command::new("python3");
        let child = child.args(["-c", script, &pid.to_string()]).stdout(std::process::Stdio::piped()).spawn();
        let mut child = child.ok()?;
        let mut said = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut said).unwrap();
        assert_eq!(said.trim(), "0", "ptrace is refused");
        Some(Debugger(child))
    }

    fn end(mut self) {
        assert!(self.0.wait().unwrap().success());
    }
}

#[test]
fn a_keeper_that_a_debugger_holds_is_killed() {
    let run = Run::start(&["-n", "1", "--grace", "1", "sleep", "1030"]);
    run.wait_for("sleep 1030", 1);
    let Some(debugger) = Debugger::holds(keeper(&run)) else { return };
    run.signal("TERM");
    let ended = run.end();
    debugger.end();
    assert_eq!(ended.status, Some(143), "{}", ended.err);
    assert!(ended.err.contains("does not answer and is killed"), "{}", ended.err);
}

#[test]
fn a_rank_that_a_debugger_holds_is_named() {
    let run = Run::start(&["--timeout", "4", "-n", "1", "sleep", "1031"]);
    let Some(debugger) = Debugger::holds(run.wait_for("sleep 1031", 1)[0]) else { return };
    let ended = run.end();
    debugger.end();
    assert_eq!(ended.status, Some(124), "{}", ended.err);
    assert!(ended.err.contains("rank 0 held by a debugger, not in MPI_Init yet"), "{}", ended.err);
}

/// Every user of the machine can read the arguments of every process.
#[test]
fn arguments_of_the_keeper_tell_nothing_of_the_job() {
    let run = Run::start(&["-n", "1", "sh", "-c", "sleep 1028 # secret"]);
    run.wait_for("sh -c sleep 1028 # secret", 1);
    let command = std::fs::read(format!("/proc/{}/cmdline", keeper(&run))).unwrap();
    let words: Vec<String> =
        command.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    assert_eq!((&words[0][..], &words[1][..], words.len()), ("mpirun", "--ompi-rs-keeper", 4), "{words:?}");
    assert!(words[2].parse::<u32>().is_ok_and(|number| number < 100) && words[3].is_empty(), "{words:?}");
    run.signal("TERM");
    assert_eq!(run.end().status, Some(143));
}

/// Whoever reads mpirun's output may do so slowly, but not beyond a time that was asked for.
#[test]
fn a_timeout_does_not_wait_for_a_reader() {
    let words = ["--timeout", "2", "-n", "1", "head", "-c", "1000000", "/dev/zero"];
    let status = Run::start(&words).end_within(Duration::from_secs(20), "waits for somebody to read its output");
    assert_eq!(status, Some(124));
}

/// A process in vfork cannot be stopped until its child executes something; this child waits for a writer of a pipe first.
#[test]
fn the_timeout_ends_a_rank_that_hangs_inside_the_system() {
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let directory = Directory::new("keeper-hangs");
    let pipe = directory.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let script = "import os, sys; opens = (os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0); \
                  os.posix_spawn('/bin/true', ['true'], {}, file_actions=[opens])";
    let mut run = Run::start(&["-n", "1", "--timeout", "2", "python3", "-c", script, &pipe]);
    assert_eq!(run.end_within(Duration::from_secs(20), "waits for a rank to stop"), Some(124));
}

#[test]
fn ends_of_ranks_are_heard_where_sigchld_was_ignored() {
    let mut command = Command::new("env");
    let words = ["--ignore-signal=CHLD", env!("CARGO_BIN_EXE_mpirun"), "-n", "2", "true"];
    let ended = Run::start_as(command.args(words)).end();
    assert_eq!(ended.status, Some(0), "{}", ended.err);
}
