//! Whoever is killed, no process of the job is left.

mod rig;

use rig::{Run, signal};
use std::process::Command;

/// A rank with a child, a grandchild in a session of its own and an orphan.
const FAMILY: &str = "setsid sleep 1001 & (sleep 1002 & ) ; sleep 1003";

fn family(ranks: &str) -> Run {
    let run = Run::start(&["-n", ranks, "sh", "-c", FAMILY]);
    for sleeper in ["sleep 1001", "sleep 1002", "sleep 1003"] {
        run.wait_for(sleeper, ranks.parse().unwrap());
    }
    run
}

fn keeper(run: &Run) -> i32 {
    run.wait_for("mpirun --ompi-rs-keeper", 1)[0]
}

#[test]
fn mpirun_is_killed() {
    let mut run = family("3");
    run.signal("KILL");
    run.child.wait().unwrap();
    run.assert_nothing_left();
}

#[test]
fn the_keeper_is_killed() {
    let run = family("3");
    signal("KILL", keeper(&run));
    let ended = run.end();
    assert_eq!(ended.status, Some(137));
    assert!(ended.err.contains("keeper process was ended by signal 9"), "{}", ended.err);
}

#[test]
fn a_rank_is_killed() {
    let run = Run::start(&["-n", "3", "sh", "-c", "echo $OMPI_COMM_WORLD_RANK $$; exec sleep 1004"]);
    let ranks = run.wait_for("sleep 1004", 3);
    signal("KILL", ranks[1]);
    let ended = run.end();
    assert_eq!(ended.status, Some(137));
    let line = ended.out.lines().find(|line| line.ends_with(&format!(" {}", ranks[1]))).unwrap();
    let rank = line.split(' ').next().unwrap();
    assert!(ended.err.contains(&format!("rank {rank} (process {} on ", ranks[1])), "{}", ended.err);
    assert!(ended.err.contains("signal 9"), "{}", ended.err);
    assert!(ended.err.contains("2 other ranks that still ran were sent SIGTERM and ended"), "{}", ended.err);
}

#[test]
fn mpirun_and_keeper_are_killed_at_once() {
    let mut run = Run::start(&["-n", "2", "sleep", "1005"]);
    run.wait_for("sleep 1005", 2);
    let both = [keeper(&run), run.child.id() as i32];
    // Stopped first, so that neither has time to notice that the other one is gone.
    both.into_iter().for_each(|pid| signal("STOP", pid));
    both.into_iter().for_each(|pid| signal("KILL", pid));
    run.child.wait().unwrap();
    run.assert_nothing_left();
}

#[test]
fn background_processes_end_with_the_job() {
    let ended = rig::run(&["-n", "2", "sh", "-c", "setsid sleep 1006 & echo started"]);
    assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(0), "started\nstarted\n", ""));
}

#[test]
fn signals_are_forwarded_and_end_the_job() {
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let script = format!("trap 'echo got {name}; exit 0' {name}; sleep 1007 & wait");
        let run = Run::start(&["-n", "2", "sh", "-c", &script]);
        run.wait_for("sleep 1007 ", 2);
        run.signal(name);
        let ended = run.end();
        assert_eq!(ended.status, Some(128 + number), "{}", ended.err);
        assert_eq!(ended.out, format!("got {name}\ngot {name}\n"), "{}", ended.err);
        assert!(ended.err.contains(&format!("got signal {number}")), "{}", ended.err);
    }
}

#[test]
fn user_signals_only_pass_through() {
    let script = "trap 'echo got USR1; exit 0' USR1; sleep 1008 & wait";
    let run = Run::start(&["-n", "2", "sh", "-c", script]);
    run.wait_for("sleep 1008 ", 2);
    run.signal("USR1");
    let ended = run.end();
    assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(0), "got USR1\ngot USR1\n", ""));
}

#[test]
fn who_ignores_the_request_is_killed() {
    // Ranks that ignore it from their first instruction on, because mpirun was started so.
    let script = "trap '' TERM; exec \"$0\" -n 3 sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] && exit 7; sleep 1011'";
    let ended = Run::start_as(Command::new("sh").args(["-c", script, env!("CARGO_BIN_EXE_mpirun")])).end();
    assert_eq!(ended.status, Some(7));
    assert!(ended.err.contains("2 other ranks") && ended.err.contains("had to be killed"), "{}", ended.err);
}

#[test]
fn children_from_before_are_spared() {
    let mpirun = env!("CARGO_BIN_EXE_mpirun");
    let script = format!("env -i sleep 1009 & echo $!; exec {mpirun} -n 2 sleep 1010");
    let mut run = Run::start_as(Command::new("sh").args(["-c", &script]));
    run.wait_for("sleep 1010", 2);
    signal("KILL", keeper(&run));
    let mut out = run.child.stdout.take().unwrap();
    run.child.wait().unwrap();
    run.assert_nothing_left();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(&mut out), &mut line).unwrap();
    let stranger = line.trim();
    let command = std::fs::read_to_string(format!("/proc/{stranger}/cmdline")).unwrap();
    assert_eq!(command, "sleep\x001009\0");
    signal("KILL", stranger.parse().unwrap());
}

/// Ranks that take a while to end when they are asked to.
const SLOW: &str = "trap 'sleep 1.5; echo saved; exit 0' TERM; sleep 1012 & wait";

#[test]
fn after_a_signal_ranks_have_time_to_save_their_files() {
    let run = Run::start(&["-n", "2", "sh", "-c", SLOW]);
    run.wait_for("sleep 1012", 2);
    run.signal("TERM");
    let ended = run.end();
    assert_eq!((ended.status, ended.out.as_str()), (Some(143), "saved\nsaved\n"), "{}", ended.err);
    assert!(
        ended.err.starts_with("mpirun: got signal 15 (SIGTERM, termination): the ranks have 10 s"),
        "{}",
        ended.err
    );
}

#[test]
fn a_second_signal_does_not_wait() {
    let run =
        Run::start(&["-n", "2", "--grace", "60", "sh", "-c", "trap '' INT; echo deaf; while :; do sleep 1014; done"]);
    run.wait_for("sleep 1014", 2);
    run.signal("INT");
    run.signal("TERM");
    let ended = run.end();
    assert_eq!((ended.status, ended.out.as_str()), (Some(130), "deaf\ndeaf\n"), "{}", ended.err);
    assert!(ended.err.contains("have 60 s") && ended.err.contains("2 did not end in time"), "{}", ended.err);
}

#[test]
fn the_time_to_end_is_an_option() {
    let run = Run::start(&["-n", "1", "--grace", "1", "sh", "-c", SLOW]);
    run.wait_for("sleep 1012", 1);
    run.signal("TERM");
    let ended = run.end();
    assert_eq!((ended.status, ended.out.as_str()), (Some(143), ""), "{}", ended.err);
    assert!(ended.err.contains("have 1 s to end (--grace)"), "{}", ended.err);
}

#[test]
fn the_time_to_end_may_be_for_ever() {
    let longest = u64::MAX.to_string();
    let run = Run::start(&["-n", "1", "--grace", &longest, "sh", "-c", SLOW]);
    run.wait_for("sleep 1012", 1);
    run.signal("TERM");
    let ended = run.end();
    assert_eq!((ended.status, ended.out.as_str()), (Some(143), "saved\n"), "{}", ended.err);
}
