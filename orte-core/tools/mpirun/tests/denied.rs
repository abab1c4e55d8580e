//! mpirun where the system refuses a call that it would like to use: old kernels, strict filters of containers.

mod rig;

use rig::{Run, signal};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The program that refuses.
fn deny() -> &'static PathBuf {
    static DENY: OnceLock<PathBuf> = OnceLock::new();
    DENY.get_or_init(|| {
        let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("deny");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rig/deny.c");
        let built = Command::new("cc").arg("-O").arg("-o").arg(&program).arg(source).status().unwrap();
        assert!(built.success(), "cc {source}");
        program
    })
}

/// mpirun with these words, without this system call.
fn without(call: i64, errno: i32, words: &[&str]) -> Run {
    let mut command = Command::new(deny());
    command.args([call.to_string(), errno.to_string(), env!("CARGO_BIN_EXE_mpirun").to_owned()]);
    Run::start_as(command.args(words))
}

#[test]
fn nothing_is_left_without_pidfds() {
    for (call, errno) in [
        (libc::SYS_pidfd_open, libc::ENOSYS),
        (libc::SYS_pidfd_open, libc::EPERM),
        (libc::SYS_pidfd_send_signal, libc::ENOSYS),
    ] {
        let run = without(call, errno, &["-n", "2", "sh", "-c", "setsid sleep 1031 & exec sleep 1032"]);
        for sleeper in ["sleep 1031", "sleep 1032"] {
            run.wait_for(sleeper, 2);
        }
        run.signal("TERM");
        let start = Instant::now();
        let ended = run.end();
        assert!(start.elapsed() < Duration::from_secs(8), "as long as if the ranks had heard nothing");
        assert_eq!(ended.status, Some(143), "{}", ended.err);
        assert!(ended.err.contains("2 ranks that still ran were sent SIGTERM and ended"), "{}", ended.err);
        assert_eq!(ended.err.lines().count(), 5, "{}", ended.err);
    }
}

#[test]
fn a_lost_keeper_leaves_nothing_without_pidfds() {
    let run =
        without(libc::SYS_pidfd_open, libc::ENOSYS, &["-n", "2", "sh", "-c", "setsid sleep 1033 & exec sleep 1034"]);
    for sleeper in ["sleep 1033", "sleep 1034"] {
        run.wait_for(sleeper, 2);
    }
    signal("KILL", run.wait_for("mpirun --ompi-rs-keeper", 1)[0]);
    assert_eq!(run.end().status, Some(137));
}

#[test]
fn what_cannot_run_says_so_in_a_sentence() {
    for (call, errno) in [
        (libc::SYS_poll, libc::EPERM),
        (libc::SYS_recvfrom, libc::EPERM),
        (libc::SYS_recvmsg, libc::ENOSYS),
        (libc::SYS_ppoll, libc::ENOSYS),
        (libc::SYS_memfd_create, libc::ENOSYS),
        (libc::SYS_signalfd4, libc::EPERM),
    ] {
        let ended = without(call, errno, &["-n", "2", "true"]).end();
        assert_eq!(ended.status, Some(125), "{call}: {}", ended.err);
        assert!((1..3).contains(&ended.err.lines().count()), "{call}: {}", ended.err);
        assert!(ended.err.lines().all(|line| line.starts_with("mpirun: ")), "{call}: {}", ended.err);
    }
}

#[test]
fn a_limit_on_the_size_of_files_is_no_silent_end() {
    let ran = |line: &str| Run::start_as(Command::new("bash").args(["-c", line, env!("CARGO_BIN_EXE_mpirun")])).end();
    let ended = ran("ulimit -f 8; exec $0 -n 2 true");
    assert_eq!(ended.status, Some(125), "{}", ended.err);
    assert!(ended.err.contains("the limit on the size of files is too low; raise it to "), "{}", ended.err);
    // What the user set for itself is for the ranks.
    let ended = ran("ulimit -S -f 8; exec $0 -n 1 bash -c 'ulimit -f'");
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), "8\n"), "{}", ended.err);
    let ended = ran("ulimit -S -f 8; exec $0 -n 1 bash -c 'head -c 20000 /dev/zero > \"${TMPDIR:-/tmp}/limit.$$\"; \
        status=$?; rm \"${TMPDIR:-/tmp}/limit.$$\"; exit $status'");
    assert_eq!(ended.status, Some(153), "{}", ended.err);
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("limit.{}", std::process::id()));
    for option in [format!("-outfile-pattern {}", place.display()), format!("> {}", place.display())] {
        let ended = ran(&format!("ulimit -S -f 8; exec $0 -n 1 {option} head -c 20000 /dev/zero"));
        std::fs::remove_file(&place).unwrap();
        assert_eq!(ended.status, Some(125), "{}", ended.err);
        assert!(ended.err.contains("cannot be written: File too large"), "{}", ended.err);
    }
}
