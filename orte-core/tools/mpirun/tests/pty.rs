//! Standard output of the ranks is a pseudo terminal: lines come at once and whole, and no byte changes.

mod rig;

use rig::{Run, run, signal};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// O_NOCTTY of Linux on x86_64.
const NO_TERMINAL: i32 = 0o400;
const OFF: [&str; 3] = ["--mca", "iof_pty", "0"];

fn python(before: &[&str], script: &str) -> rig::Ended {
    run(&[before, &["-n", "1", "python3", "-c", script]].concat())
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[test]
fn a_line_comes_while_the_program_goes_on() {
    if !is_there("python3") {
        return;
    }
    // It ends only after its first line was read.
    let script = "import sys; print('first'); sys.stdin.read(); print('last')";
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpirun"));
    command.args(["-n", "2", "python3", "-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while lines.next().unwrap().unwrap() != "first" {}
    child.stdin.take().unwrap().write_all(b"x").unwrap();
    assert!(lines.any(|line| line.unwrap() == "last"));
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_parameter_switches_it_off() {
    let kind = "test -t 1 && echo terminal || echo none; test -t 2 && echo terminal || echo none";
    assert_eq!(run(&["-n", "1", "sh", "-c", kind]).out, "terminal\nnone\n");
    assert_eq!(run(&[&OFF[..], &["-n", "1", "sh", "-c", kind]].concat()).out, "none\nnone\n");
    assert_eq!(run(&["--merge-stderr-to-stdout", "-n", "1", "sh", "-c", kind]).out, "terminal\nterminal\n");
    let ended = run(&["-x", "OMPI_MCA_iof_pty=0", "-n", "1", "sh", "-c", kind]);
    assert_eq!(ended.out, "terminal\nnone\n", "a variable of the ranks is none of mpirun's");
    let ended = run(&["--mca", "iof_pty", "maybe", "-n", "1", "true"]);
    assert!(ended.status == Some(125) && ended.err.contains("iof_pty"), "{}", ended.err);
}

#[test]
fn no_colours_go_into_files() {
    let script = "echo $TERM $NO_COLOR";
    assert_eq!(run(&["-n", "1", "sh", "-c", script]).out, "dumb 1\n");
    assert_eq!(run(&["-x", "TERM=vt100", "-n", "1", "sh", "-c", script]).out, "vt100 1\n");
    let off = Run::start_as(
        Command::new(env!("CARGO_BIN_EXE_mpirun")).args(OFF).args(["-n", "1", "sh", "-c", script]).env("TERM", "xterm"),
    );
    assert_eq!(
        off.end().out.trim_end(),
        ["xterm", &std::env::var("NO_COLOR").unwrap_or_default()].join(" ").trim_end()
    );
}

#[test]
fn every_byte_arrives_as_it_was_written() {
    if !is_there("python3") {
        return;
    }
    let script = "import os\nfor _ in range(200): os.write(1, bytes(range(256)))";
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpirun"));
    let ended = command.args(["-n", "1", "python3", "-c", script]).output().unwrap();
    let all: Vec<u8> = (0..=255).collect();
    assert_eq!(ended.stdout, all.repeat(200));
}

#[test]
fn it_controls_nobody() {
    if !is_there("python3") {
        return;
    }
    let script = "import os; os.setsid()\ntry: os.open('/dev/tty', os.O_RDWR)\nexcept OSError: print('none')";
    assert_eq!(python(&[], script).out, "none\n");
}

#[test]
fn nothing_is_lost_at_the_end() {
    // More than one read takes, into a file only, and a child that keeps the terminal open.
    let script = "sleep 1071 & head -c 10000 /dev/zero | tr '\\0' x; echo; kill -9 $$";
    for _ in 0..20 {
        let ended = run(&["-n", "2", "sh", "-c", script]);
        let line = "x".repeat(10000) + "\n";
        assert_eq!(ended.status, Some(137));
        assert!(ended.out.contains(&line), "{} bytes came", ended.out.len());
    }
}

/// Somebody outside the job who got hold of a rank's output, and goes on writing there.
#[test]
fn a_stranger_that_writes_on_keeps_no_job_alive() {
    for number in [1, 2] {
        let mut run = Run::start(&["-n", "1", "sleep", "1076"]);
        let path = format!("/proc/{}/fd/{number}", run.wait_for("sleep 1076", 1)[0]);
        let end = Arc::new(AtomicBool::new(false));
        let strangers: Vec<_> = (0..2)
            .map(|_| {
                let mut output = File::options().write(true).custom_flags(NO_TERMINAL).open(&path).unwrap();
                // A terminal has no such size.
                _ = rustix::pipe::fcntl_setpipe_size(&output, 1 << 20);
                let end = end.clone();
                // Until mpirun closes the other end, or is killed.
                std::thread::spawn(move || while !end.load(Relaxed) && output.write_all(&[b'x'; 65536]).is_ok() {})
            })
            .collect();
        let (mut out, mut err) = (run.child.stdout.take().unwrap(), run.child.stderr.take().unwrap());
        let readers = [
            std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()).unwrap()),
            std::thread::spawn(move || std::io::copy(&mut err, &mut std::io::sink()).unwrap()),
        ];
        signal("KILL", run.wait_for("sleep 1076", 1)[0]);
        let status = run.end_within(Duration::from_secs(10), "reads what a stranger writes");
        assert_eq!(status, Some(137));
        end.store(true, Relaxed);
        strangers.into_iter().for_each(|thread| thread.join().unwrap());
        let read: u64 = readers.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert!(read > 0, "the strangers wrote nothing");
    }
}

#[test]
fn a_rank_may_close_its_output() {
    let ended = run(&["-n", "2", "sh", "-c", "echo a; exec 1>&-; echo b >&2"]);
    assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(0), "a\na\n", "b\nb\n"));
}

#[test]
fn who_writes_what_nobody_reads_is_told_as_by_a_pipe() {
    for before in [&[][..], &OFF] {
        let mut run = Run::start(&[before, &["-n", "2", "sh", "-c", "exec yes"]].concat());
        drop(run.child.stdout.take());
        assert_eq!(run.child.wait().unwrap().code(), Some(141), "{before:?}");
        run.assert_nothing_left();
    }
}
