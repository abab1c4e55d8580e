//! What a user of mpirun sees: output, environment, exit statuses, sentences.

mod rig;

use rig::{Run, run};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A directory that goes away.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("ompi-rs-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn file(&self, name: &str, content: &[u8], mode: u32) -> String {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Another program writes: a child that a test beside this one starts in the meantime would inherit the open
        // file, and who is to execute it would be told that it is busy.
        let mut writer = Command::new("sh");
        let mut writer = writer.args(["-c", "cat > \"$0\""]).arg(&path).stdin(Stdio::piped()).spawn().unwrap();
        writer.stdin.take().unwrap().write_all(content).unwrap();
        assert!(writer.wait().unwrap().success());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn sh(ranks: &str, script: &str) -> rig::Ended {
    run(&["-n", ranks, "sh", "-c", script])
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn ranks_know_who_they_are() {
    let script = "echo $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_SIZE $OMPI_COMM_WORLD_LOCAL_RANK \
                  $OMPI_COMM_WORLD_LOCAL_SIZE $OMPI_COMM_WORLD_NODE_RANK; test -e /proc/self/fd/$OMPI_RS_SEGMENT";
    let ended = sh("3", script);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
    assert_eq!(sorted(&ended.out), ["0 3 0 3 0", "1 3 1 3 1", "2 3 2 3 2"]);
}

#[test]
fn only_the_segment_and_the_next_output_are_inherited() {
    let list = "cd /proc/$$/fd && echo *";
    let before = Run::start_as(Command::new("sh").args(["-c", list])).end().out;
    let ended = sh("2", &format!("{list} $OMPI_RS_SEGMENT ${{OMPI_RS_OUTPUT%%,*}}"));
    for line in ended.out.lines() {
        let (rest, output) = line.rsplit_once(' ').unwrap();
        let (descriptors, segment) = rest.rsplit_once(' ').unwrap();
        let without: Vec<&str> =
            descriptors.split(' ').filter(|number| *number != segment && *number != output).collect();
        assert_eq!(without, before.trim_end().split(' ').collect::<Vec<_>>(), "{line}");
    }
}

#[test]
fn parameters_and_variables_reach_the_ranks() {
    let script = "echo $OMPI_MCA_btl $OMPI_RS_MCA_COMMAND_LINE $FLAVOUR";
    let ended =
        run(&["-n", "1", "-x", "FLAVOUR=a=b", "--mca", "btl", "sm,self", "-mca", "pml", "ob1", "sh", "-c", script]);
    assert_eq!((ended.out.as_str(), ended.err.as_str()), ("sm,self btl,pml a=b\n", ""));
    let ended = run(&["-n", "1", "-x", "SURELY_NOT_SET", "true"]);
    assert!(ended.status == Some(0) && ended.err.contains("SURELY_NOT_SET"));
}

#[test]
fn mistyped_parameters_are_found_where_a_table_exists() {
    let directory = Directory::new("params");
    let program = std::fs::read(env!("CARGO_BIN_EXE_mpirun")).unwrap();
    let mpirun = directory.file("bin/mpirun", &program, 0o755);
    directory.file("share/ompi-rs/params.json", br#"[{"name": "btl"}, {"name": "btl_sm_eager_limit"}]"#, 0o644);
    let try_name = |name: &str| {
        let ended = Run::start_as(Command::new(&mpirun).args(["-n", "1", "--mca", name, "1", "echo", "ran"])).end();
        (ended.status, ended.out, ended.err)
    };
    assert_eq!(try_name("btl_sm_eager_limit"), (Some(0), "ran\n".into(), String::new()));
    let (status, out, err) = try_name("btl_sm_eagre_limit");
    assert_eq!((status, out.as_str()), (Some(125), ""));
    assert!(err.contains("did you mean btl_sm_eager_limit?") && err.lines().count() == 1, "{err}");
}

#[test]
fn statuses() {
    assert_eq!(sh("2", "exit 0").status, Some(0));
    let ended = sh("3", "[ $OMPI_COMM_WORLD_RANK = 1 ] && exit 42; sleep 1020");
    assert_eq!(ended.status, Some(42));
    assert!(ended.err.contains("rank 1 ") && ended.err.contains("status 42"), "{}", ended.err);
    let ended = sh("2", "kill -ABRT $$");
    assert_eq!(ended.status, Some(134));
    assert_eq!(ended.err.matches("mpirun:").count(), 1, "{}", ended.err);
}

#[test]
fn programs_that_cannot_be_started() {
    let directory = Directory::new("programs");
    let plain = directory.file("plain", b"#!/bin/sh\n", 0o644);
    let garbage = directory.file("garbage", b"\x00\x01\x02 no program", 0o755);
    let orphan = directory.file("orphan", b"#!/no/such/interpreter\n", 0o755);
    for (program, status, words) in [
        ("surely-no-such-program", 127, "PATH"),
        ("./no/such/program", 127, "was not found"),
        (plain.as_str(), 126, "not executable"),
        ("/", 126, "directory"),
        (garbage.as_str(), 126, "no executable of this machine"),
        (orphan.as_str(), 127, "interpreter"),
    ] {
        let ended = run(&["-n", "4", program]);
        assert_eq!((ended.status, ended.out.as_str()), (Some(status), ""), "{program}: {}", ended.err);
        assert!(ended.err.contains(words) && ended.err.lines().count() == 1, "{program}: {}", ended.err);
    }
}

#[test]
fn wrong_command_lines() {
    for words in [&["--oversubscribed", "true"][..], &["-n", "0", "true"], &["--mca", "btl"], &["-n", "2"]] {
        let ended = run(words);
        assert_eq!((ended.status, ended.out.as_str(), ended.err.lines().count()), (Some(125), "", 1), "{}", ended.err);
    }
    let ended = run(&["--wdir", "/no/such/directory", "true"]);
    assert!(ended.status == Some(125) && ended.err.contains("/no/such/directory"), "{}", ended.err);
    assert!(run(&["--version"]).out.starts_with("mpirun"));
    assert!(run(&["--help"]).out.contains("--mca <NAME> <VALUE>"));
}

#[test]
fn options_that_scripts_use() {
    let words = ["--oversubscribe", "--allow-run-as-root", "--wdir", "/", "-np", "9", "sh", "-c", "pwd; echo $PWD"];
    let ended = run(&words);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
    assert_eq!(ended.out, "/\n".repeat(18));
    let ended =
        run(&["-n", "2", "--bind-to", "core", "--report-bindings", "grep", "Cpus_allowed_list", "/proc/self/status"]);
    assert_eq!(ended.err.matches("is bound to core").count(), 2, "{}", ended.err);
}

#[test]
fn the_timeout_ends_the_job() {
    let ended = run(&["-n", "2", "--timeout", "1", "sleep", "1021"]);
    assert_eq!(ended.status, Some(124));
    assert!(ended.err.contains("still ran after 1 s"), "{}", ended.err);
}

#[test]
fn a_stopped_rank_is_called_stopped() {
    let run = Run::start(&["-n", "2", "--timeout", "2", "sh", "-c", "exec sleep 103$OMPI_COMM_WORLD_RANK"]);
    rig::signal("STOP", run.wait_for("sleep 1031", 1)[0]);
    let ended = run.end();
    assert_eq!(ended.status, Some(124));
    let words = "rank 0 not in MPI_Init yet; rank 1 stopped (SIGCONT lets it go on), not in MPI_Init yet";
    assert!(ended.err.contains(words), "{}", ended.err);
}

#[test]
fn without_cleanup_all_that_failed_are_named() {
    let script = "test $OMPI_COMM_WORLD_RANK = 0 || exit 3";
    let ended = run(&["--disable-auto-cleanup", "-n", "5", "sh", "-c", script]);
    assert_eq!(ended.status, Some(3));
    let lines: Vec<&str> = ended.err.lines().filter(|line| line.contains("ended with status 3")).collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with("mpirun: rank ") && lines[1].starts_with("mpirun: ranks "),
        "{lines:?}"
    );
    let named = |rank: &str| lines.iter().any(|line| line.contains(rank));
    // The first one is any of them.
    assert!(lines[1].ends_with("ended with status 3, too.") && (named("1") && named("4")), "{lines:?}");
}

#[test]
fn too_few_descriptors_are_no_fault_of_the_program() {
    let mpirun = env!("CARGO_BIN_EXE_mpirun");
    for files in 5..14 {
        let script = format!("ulimit -n {files}; exec {mpirun} -n 4 true");
        let ended = Run::start_as(Command::new("sh").args(["-c", &script])).end();
        assert_eq!(ended.status, Some(125), "{files}: {}", ended.err);
        assert!(
            ended.err.contains("raise the limit with ulimit -n") && !ended.err.contains("program "),
            "{files}: {}",
            ended.err
        );
    }
}

#[test]
fn standard_input_goes_to_rank_0() {
    let script =
        "printf 'one\\ntwo\\n' | $0 -n 3 sh -c 'while read -r line; do echo $OMPI_COMM_WORLD_RANK $line; done'";
    let ended = Run::start_as(Command::new("sh").args(["-c", script, env!("CARGO_BIN_EXE_mpirun")])).end();
    assert_eq!((ended.out.as_str(), ended.status), ("0 one\n0 two\n", Some(0)));
}

#[test]
fn lines_are_never_broken_into() {
    // Each rank writes long lines of its own letter, in pieces, to both streams.
    let script = "letter=$(printf \\\\$(printf %03o $((65 + OMPI_COMM_WORLD_RANK)))); \
                  piece=$(head -c 30000 /dev/zero | tr '\\0' $letter); \
                  for line in 1 2 3 4 5; do printf %s $piece; printf %s $piece >&2; printf '%s\\n' $piece; echo $piece >&2; done";
    let shell = format!("exec {} -n 4 sh -c \"$0\" 2>&1", env!("CARGO_BIN_EXE_mpirun"));
    let ended = Run::start_as(Command::new("sh").args(["-c", &shell, script])).end();
    assert_eq!(ended.status, Some(0));
    assert_eq!(ended.out.lines().count(), 4 * 10);
    for line in ended.out.lines() {
        assert_eq!(line.len(), 60000);
        assert!(line.bytes().all(|byte| byte == line.as_bytes()[0]));
    }
}

#[test]
fn last_lines_without_newline_are_written() {
    assert_eq!(sh("1", "printf 'no newline'").out, "no newline");
    let ended = sh("2", "printf 'end'");
    assert_eq!(ended.out, "end\nend");
    let ended = run(&["-n", "2", "--tag-output", "sh", "-c", "echo a; printf b >&2"]);
    assert_eq!(sorted(&ended.out), ["[1,0]<stdout>: a", "[1,1]<stdout>: a"]);
    assert_eq!(sorted(&ended.err), ["[1,0]<stderr>: b", "[1,1]<stderr>: b"]);
}

#[test]
fn a_single_rank_may_prompt() {
    let mut run = Run::start(&["-n", "1", "sh", "-c", "printf 'name: '; sleep 1022"]);
    let mut prompt = [0; 6];
    run.child.stdout.as_mut().unwrap().read_exact(&mut prompt).unwrap();
    assert_eq!(&prompt, b"name: ");
    run.signal("TERM");
    assert_eq!(run.end().status, Some(143));
}

#[test]
fn a_slow_reader_stops_the_ranks_and_loses_nothing() {
    const BYTES: usize = 20 << 20;
    let script = format!("yes 0123456789abcde | head -c {}", BYTES / 2);
    let mut run = Run::start(&["-n", "2", "sh", "-c", &script]);
    std::thread::sleep(std::time::Duration::from_millis(700));
    let resident = resident_kib(run.child.id());
    assert!(resident < 20 << 10, "mpirun holds {resident} KiB while nobody reads");
    let mut total = 0;
    let mut chunk = vec![0; 1 << 20];
    let mut stdout = run.child.stdout.take().unwrap();
    loop {
        match stdout.read(&mut chunk).unwrap() {
            0 => break,
            read => total += read,
        }
    }
    assert_eq!(total, BYTES);
    assert!(run.child.wait().unwrap().success());
    run.assert_nothing_left();
}

#[test]
fn signals_are_heard_while_nobody_reads() {
    let run = Run::start(&["-n", "2", "sh", "-c", "exec yes 0123456789abcde"]);
    run.wait_for("yes", 2);
    std::thread::sleep(std::time::Duration::from_millis(300));
    run.signal("TERM");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(5);
    while run.processes().len() > 1 {
        assert!(std::time::Instant::now() < end, "{:?}", run.processes());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(run.end().status, Some(143));
}

#[test]
fn a_reader_that_leaves_ends_the_writers() {
    let mut run = Run::start(&["-n", "2", "sh", "-c", "exec yes"]);
    drop(run.child.stdout.take());
    let status = run.child.wait().unwrap();
    assert_eq!(status.code(), Some(141));
    run.assert_nothing_left();
}

fn resident_kib(pid: u32) -> usize {
    let status = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
