//! mpirun on one side, ess and shmem on the other: this program starts itself as the ranks of real jobs.
#![allow(unsafe_code)] // words of the shared receive segments

mod rig;

use opal_core::framework::shmem;
use opal_core::mca::{Framework, image, source};
use opal_core::{Error, sys};
use orte_core::framework::ess::{self, Module, State};
use rig::{Ended, Run};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

opal_core::image![
    opal_core::framework::atomics,
    ess_env,
    ess_singleton,
    shmem_memfd,
    memcpy_portable,
    memory_none,
    timer_clock
];

/// What a rank does, by the variable SCENARIO. As a test of its own it is a singleton.
#[test]
#[ignore = "no case of its own: the rank that the other tests have mpirun start with --ignored"]
fn a_rank() {
    let frameworks: Vec<&'static Framework> =
        opal_core::framework::ALL.iter().chain(orte_core::framework::ALL).copied().collect();
    image::verify(&frameworks).unwrap();
    let problems = source::apply(&frameworks, image::components(), &source::collect());
    assert!(problems.is_empty(), "{problems:?}");
    let Ok(ess) = ess::select() else { sys::exit(9) };
    let rank = ess.identity().rank;
    match sys::variable("SCENARIO").unwrap_or("wireup") {
        "wireup" if ess.inherited().is_some() => {
            wire_up(ess);
            assert_eq!((ess.app_number(), ess.universe_size().is_some()), (Some(0), true));
        }
        "wireup" => wire_up(ess),
        "apps" => {
            println!("\nrank {rank} runs program {:?}", ess.app_number());
            ess.set_state(State::Initialized);
            ess.barrier(&mut || {}).unwrap();
            ess.set_state(State::Finalized);
        }
        "silent" if rank == 0 => {
            assert_eq!(ess.lookup(1), Err(Error::Timeout));
            ess.abort(3, "rank 1 is silent")
        }
        "lookup" if rank == 0 => {
            assert_eq!(ess.lookup(1), Err(Error::Unreachable));
            assert!(ess.epoch() > 0);
            println!("\nrank 1 is lost");
        }
        "barrier" if rank == 0 => {
            assert_eq!(ess.barrier(&mut || {}), Err(Error::Unreachable));
            println!("\nrank 1 is lost");
        }
        "lookup" | "barrier" => sys::exit(5),
        "abort" if rank == 1 => ess.abort(7, "the sky\nfalls"),
        "silent" | "abort" => std::thread::sleep(std::time::Duration::from_secs(1040)),
        "fatal" if rank == 1 => ess.abort(55, "MPI_Op_create failed: no\n  this version"),
        "fatal" => std::thread::sleep(std::time::Duration::from_secs(1042)),
        // Long enough to be found running, short enough to end by itself.
        "late" if rank == 0 => {
            ess.set_state(State::Initialized);
            ess.barrier(&mut || {}).unwrap();
            ess.set_state(State::Finalized);
            std::thread::sleep(std::time::Duration::from_millis(30));
            println!("\nrank 0 is done");
        }
        "late" => {
            ess.set_state(State::Initialized);
            ess.barrier(&mut || {}).unwrap();
            ess.set_state(State::Finalized);
            sys::exit(6)
        }
        // As the others, but it stays until it is killed.
        "stay" => {
            wire_up(ess);
            std::thread::sleep(std::time::Duration::from_secs(1043));
        }
        "noticed" if rank == 0 => {
            ess.publish(&std::process::id().to_le_bytes()).unwrap();
            std::thread::sleep(std::time::Duration::from_secs(1044))
        }
        "noticed" => notice(ess),
        "called" => ess.abort(7, "called MPI_Abort on MPI_COMM_WORLD with error code 7"),
        "not finalized" => {
            ess.set_state(State::Initialized);
            sys::exit(0)
        }
        other => panic!("no scenario {other}"),
    }
}

fn wire_up(ess: &'static dyn Module) {
    let me = ess.identity();
    ess.set_state(State::Initialized);
    let alone = ess.inherited().is_none();
    let Ok(()) = shmem::select(ess.inherited()) else {
        assert!(alone && me.size == 1);
        println!("\nalone");
        return;
    };
    assert!(rustix_cloexec(ess.inherited().unwrap().descriptor), "children of a rank inherit the segment");
    let memory = shmem::selected().unwrap();
    let own = memory.create(1 << 20).unwrap();
    ess.publish(&memory.address()).unwrap();
    assert_eq!(ess.publish(b"again"), Err(Error::Exists));
    for peer in 0..me.size {
        assert_eq!(ess.node_of(peer), ess.node_of(me.rank));
        let address = ess.lookup(peer).unwrap().try_into().unwrap();
        let segment = memory.attach(&address).unwrap();
        word(&segment, me.rank).store(1000 * peer + me.rank + 1, Ordering::Release);
        memory.detach(segment);
    }
    ess.barrier(&mut || {}).unwrap();
    for peer in 0..me.size {
        assert_eq!(word(&own, peer).load(Ordering::Acquire), 1000 * me.rank + peer + 1);
    }
    for _ in 0..50 {
        ess.barrier(&mut || {}).unwrap();
    }
    memory.detach(own);
    assert_eq!(ess.epoch(), 0);
    ess.set_state(State::Finalized);
    println!("\nrank {} of {} is done", me.rank, me.size);
}

/// Rank 0 dies and this rank aborts because of it, while mpirun or its keeper hears of neither for a while: as if the
/// news came over a connection, faster than they.
fn notice(ess: &'static dyn Module) -> ! {
    let rank_0 = i32::from_le_bytes(ess.lookup(0).unwrap().try_into().unwrap());
    let keeper = std::os::unix::process::parent_id() as i32;
    let stat = std::fs::read_to_string(format!("/proc/{keeper}/stat")).unwrap();
    let mpirun = stat.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().parse().unwrap();
    let deaf = if sys::variable("DEAF") == Some("keeper") { keeper } else { mpirun };
    rig::signal("STOP", deaf);
    rig::signal("KILL", rank_0);
    // Longer than mpirun takes to look for aborts, shorter than it waits for ranks to end.
    let wake = format!("(sleep 0.6; kill -s CONT {deaf}) &");
    assert!(Command::new("sh").args(["-c", &wake]).status().unwrap().success());
    ess.abort(58, "MPI_Barrier failed: a peer is gone")
}

fn word(segment: &shmem::Segment, index: u32) -> &AtomicU32 {
    assert!(4 * (index as usize + 1) <= segment.bytes);
    // SAFETY: inside the mapping, aligned, and every access in these tests is atomic.
    unsafe { AtomicU32::from_ptr(segment.base.cast::<u32>().wrapping_add(index as usize)) }
}

fn rustix_cloexec(descriptor: i32) -> bool {
    let flags = std::fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).unwrap();
    let flags = flags.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
    u32::from_str_radix(flags.trim(), 8).unwrap() & 0o2000000 != 0
}

fn rank_command() -> Vec<String> {
    let own = std::env::current_exe().unwrap();
    [own.to_str().unwrap(), "--exact", "a_rank", "--ignored", "--nocapture"].map(String::from).to_vec()
}

/// A job of this program; `before` are further words for mpirun.
fn job(ranks: &str, scenario: &str, before: &[&str]) -> Ended {
    let scenario = format!("SCENARIO={scenario}");
    let mut words = vec!["-n", ranks, "-x", &scenario];
    words.extend_from_slice(before);
    let command = rank_command();
    words.extend(command.iter().map(String::as_str));
    rig::run(&words)
}

/// This program without mpirun.
fn alone(variables: &[(&str, &str)]) -> Ended {
    let words = rank_command();
    Run::start_as(Command::new(&words[0]).args(&words[1..]).envs(variables.iter().copied())).end()
}

#[test]
fn ranks_find_each_other() {
    for ranks in ["1", "2", "5", "16"] {
        let ended = job(ranks, "wireup", &[]);
        assert_eq!(ended.status, Some(0), "{}{}", ended.out, ended.err);
        assert_eq!(ended.out.matches("is done").count().to_string(), ranks);
    }
}

#[test]
fn a_shell_may_stand_between() {
    let ended = job("3", "wireup", &["sh", "-c", "\"$0\" \"$@\"; exit $?"]);
    assert_eq!((ended.status, ended.out.matches("is done").count()), (Some(0), 3), "{}", ended.err);
}

#[test]
fn a_silent_rank_is_named_after_the_deadline() {
    let ended = job("2", "silent", &["--mca", "ess_env_lookup_timeout_s", "1"]);
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    assert!(ended.err.contains("rank 0] rank 1 did not say its addresses within 1 s"), "{}", ended.err);
    assert!(ended.err.contains(" ended the job: rank 1 is silent\n"), "{}", ended.err);
}

#[test]
fn a_lost_rank_is_not_waited_for() {
    for scenario in ["lookup", "barrier"] {
        // Ranks inherit that SIGTERM is ignored; else mpirun would end rank 0 before it can notice.
        let script = "trap '' TERM; exec \"$0\" -n 2 -x SCENARIO=$1 \"$2\" \"$3\" \"$4\" \"$5\" \"$6\"";
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_mpirun"), scenario]).args(rank_command());
        let ended = Run::start_as(&mut command).end();
        assert_eq!(ended.status, Some(5), "{}", ended.err);
        assert!(ended.out.contains("rank 1 is lost"), "{scenario}: {}{}", ended.out, ended.err);
    }
}

#[test]
fn each_rank_knows_its_program() {
    let own = rank_command();
    let own = own.iter().map(String::as_str);
    let mut words = vec!["-n", "2", "-genv", "SCENARIO", "apps"];
    words.extend(own.clone());
    words.extend([":", "-n", "1"]);
    words.extend(own);
    let ended = rig::run(&words);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    for line in ["rank 0 runs program Some(0)", "rank 1 runs program Some(0)", "rank 2 runs program Some(1)"] {
        assert!(ended.out.contains(line), "{line}: {}", ended.out);
    }
}

#[test]
fn an_abort_is_told_once() {
    for shell in [&[][..], &["sh", "-c", "\"$0\" \"$@\"; sleep 1041"]] {
        let ended = job("3", "abort", shell);
        assert_eq!(ended.status, Some(7), "{}", ended.err);
        assert_eq!(ended.err.matches("ended the job: the sky\n  falls\n").count(), 1, "{}", ended.err);
        assert!(ended.err.contains("rank 1 ") && !ended.err.contains("MPI_Abort"), "{}", ended.err);
        // Rank 1 itself is none of the others, whether or not a shell keeps it alive.
        assert!(ended.err.contains("The 2 other ranks that still ran"), "{}", ended.err);
    }
}

#[test]
fn an_error_handler_is_no_abort_call() {
    let ended = job("2", "fatal", &[]);
    assert_eq!(ended.status, Some(55), "{}", ended.err);
    assert!(ended.err.contains(") ended the job: MPI_Op_create failed: no\n  this version\n"), "{}", ended.err);
    assert!(ended.err.contains("The 1 other rank that still ran was sent SIGTERM"), "{}", ended.err);
    let ended = job("2", "called", &[]);
    assert_eq!(ended.status, Some(7), "{}", ended.err);
    assert!(ended.err.contains(") called MPI_Abort on MPI_COMM_WORLD with error code 7.\n"), "{}", ended.err);
    // Both called it: nobody else was there to be ended.
    assert!(!ended.err.contains("2 other ranks"), "{}", ended.err);
}

#[test]
fn who_died_is_named_and_not_who_noticed() {
    for deaf in ["DEAF=mpirun", "DEAF=keeper"] {
        let ended = job("2", "noticed", &["-x", deaf]);
        assert_eq!(ended.status, Some(137), "{}", ended.err);
        assert!(ended.err.contains("rank 0 (") && ended.err.contains("signal 9"), "{}", ended.err);
        assert!(!ended.err.contains("MPI_Barrier"), "{}", ended.err);
    }
}

#[test]
fn output_of_finished_ranks_is_not_lost() {
    let ended = job("2", "late", &[]);
    assert_eq!(ended.status, Some(6), "{}", ended.err);
    assert!(ended.out.contains("rank 0 is done"), "{}{}", ended.out, ended.err);
    assert!(!ended.err.contains("still ran"), "{}", ended.err);
}

/// What a job could leave beside processes: files of the system's shared memory, and in TMPDIR. Sockets without a file end with
/// the last process that has them open.
fn traces(directory: &Path) -> BTreeSet<String> {
    let list = |path: &Path| {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| entry.path().display().to_string()).collect::<Vec<_>>()
    };
    // Other people's files come and go; ours would carry the project's name.
    let shared = list(Path::new("/dev/shm")).into_iter().filter(|name| name.contains("ompi"));
    shared.chain(list(directory)).collect()
}

#[test]
fn whoever_is_killed_nothing_is_left() {
    let directory = std::env::temp_dir().join(format!("ompi-rs-wireup-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let before = traces(&directory);
    for victims in [&["rank"][..], &["mpirun"], &["keeper"], &["mpirun", "keeper"], &["mpirun", "keeper", "rank"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mpirun"));
        command.args(["-n", "3", "-x", "SCENARIO=stay"]).args(rank_command()).env("TMPDIR", &directory);
        let mut run = Run::start_as(&mut command);
        let mut lines = BufReader::new(run.child.stdout.take().unwrap()).lines();
        for _ in 0..3 {
            assert!(lines.any(|line| line.unwrap().ends_with("is done")), "{victims:?}: a rank is missing");
        }
        let pids: Vec<i32> = victims.iter().map(|victim| of(&run, victim)).collect();
        // Stopped first, so that none has time to notice that another one is gone.
        pids.iter().for_each(|pid| rig::signal("STOP", *pid));
        // A rank may be gone with its keeper before its turn comes.
        pids.iter().for_each(|pid| _ = Command::new("kill").args(["-s", "KILL", &pid.to_string()]).status());
        run.child.wait().unwrap();
        run.assert_nothing_left();
        let left: Vec<String> = traces(&directory).difference(&before).cloned().collect();
        assert!(left.is_empty(), "{victims:?} killed: {left:?}");
    }
    std::fs::remove_dir_all(directory).unwrap();
}

fn of(run: &Run, victim: &str) -> i32 {
    match victim {
        "mpirun" => run.child.id() as i32,
        "keeper" => run.wait_for("mpirun --ompi-rs-keeper", 1)[0],
        _ => run.wait_for(&rank_command()[0], 3)[0],
    }
}

#[test]
fn to_end_without_finalize_is_a_failure() {
    let ended = job("2", "not finalized", &[]);
    assert_eq!(ended.status, Some(1));
    assert!(ended.err.contains("without calling MPI_Finalize"), "{}", ended.err);
}

#[test]
fn nobody_is_alone_by_mistake() {
    let ended = alone(&[]);
    assert!(ended.status == Some(0) && ended.out.contains("alone"), "{}{}", ended.out, ended.err);
    for (variables, words) in [
        (&[("OMPI_COMM_WORLD_SIZE", "4")][..], "OMPI_COMM_WORLD_SIZE is 4"),
        (&[("OMPI_RS_SEGMENT", "7")], "OMPI_RS_JOB is not"),
        (&[("OMPI_RS_SEGMENT", "x"), ("OMPI_RS_JOB", "1")], "OMPI_COMM_WORLD_RANK is not"),
    ] {
        let ended = alone(variables);
        assert!(ended.status == Some(9) && ended.err.contains(words), "{words}: {}", ended.err);
    }
}

#[test]
fn a_wrong_segment_is_refused() {
    for (change, words) in [
        ("OMPI_RS_JOB=1", "belongs to job"),
        ("OMPI_RS_SEGMENT=0", "names descriptor 0, which is not this job's segment"),
        ("OMPI_RS_SEGMENT=99", "names descriptor 99, which is not open"),
        ("OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_LOCAL_SIZE=3", "it holds 2 ranks"),
        ("OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_RANK is 2 but"),
    ] {
        let script = format!("{change} exec \"$0\" \"$@\"");
        let ended = job("2", "wireup", &["sh", "-c", &script]);
        assert_eq!(ended.status, Some(9), "{change}: {}", ended.err);
        assert!(ended.err.contains(words) && ended.err.contains("start the program with"), "{change}: {}", ended.err);
    }
}
