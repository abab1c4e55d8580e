//! Options of other launchers: every one of their help pages is understood, or refused with what to write instead.

mod rig;

use rig::directory::Directory;
use rig::{Run, run, sorted};
use std::process::Command;

/// mpirun with this command line, parted at blanks.
fn line(text: &str) -> rig::Ended {
    run(&text.split(' ').collect::<Vec<_>>())
}

#[test]
fn every_option_of_other_launchers() {
    let directory = Directory::new("habits-table");
    let hosts = directory.file("hosts", "localhost slots=2\n");
    let ranks = directory.file("ranks", "rank 0=localhost slot=p0-0\n");
    let parameters = directory.file("parameters", "# nothing yet\nbtl = self,sm\n-x A=b\n");
    let mut findings = Vec::new();
    let mut count = 0;
    for row in include_str!("data/options.txt").lines().filter(|row| !row.is_empty() && !row.starts_with('#')) {
        let fields: Vec<&str> = row.split(" | ").collect();
        let [_, options, expected] = fields[..] else { panic!("{row}") };
        let filled = options.replace("HOSTS", &hosts).replace("RANKS", &ranks).replace("PARAMETERS", &parameters);
        let filled = filled.replace("FILE", &directory.path("file")).replace("DIR", &directory.path("folder"));
        let ended = line(&format!("{filled} true"));
        let lines = ended.err.lines().count();
        let right = match expected.split_once(": ") {
            None if expected == "works" => ended.status == Some(0) && lines == 0,
            Some(("says", words)) => ended.status == Some(0) && ended.err.contains(words),
            Some(("refused", words)) => ended.status == Some(125) && lines == 1 && ended.err.contains(words),
            _ => panic!("{row}"),
        };
        if !right {
            findings.push(format!("{row}\n    ended with {:?}: {}", ended.status, ended.err));
        }
        count += 1;
    }
    assert!(count > 230, "{count} rows");
    assert!(findings.is_empty(), "{} of {count} rows are wrong:\n{}", findings.len(), findings.join("\n"));
}

const SHOW: &str = "echo $OMPI_COMM_WORLD_RANK ${A-none} ${B-none}";

#[test]
fn variables_belong_to_their_program() {
    let program = ["sh", "-c", SHOW];
    let both = |first: &[&str], second: &[&str]| {
        let words = [first, &["-n", "1"], &program, &[":"], second, &["-n", "1"], &program].concat();
        let ended = run(&words);
        assert_eq!(ended.err, "", "{words:?}");
        ended.out
    };
    assert_eq!(sorted(&both(&["-x", "A=1"], &["-x", "B=2"])), ["0 1 none", "1 none 2"]);
    assert_eq!(sorted(&both(&["-genv", "A", "1"], &["-env", "A", "2"])), ["0 1 none", "1 2 none"]);
    assert_eq!(sorted(&both(&["-env", "A", "1"], &["-genv", "B", "2"])), ["0 1 2", "1 none 2"]);
}

#[test]
fn variables_that_are_passed() {
    let ran = |options: &str| {
        let script = format!(
            "A=1 AB=2 B=3 exec $0 -n 1 {options} /bin/sh -c 'echo ${{A-no}} ${{AB-no}} ${{B-no}} ${{OMPI_MCA_c-no}}'"
        );
        let ended = Run::start_as(Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_mpirun")])).end();
        assert_eq!(ended.err, "", "{options}");
        ended.out
    };
    for (options, shown) in [
        ("-mca c 4", "1 2 3 4\n"),
        ("-genvnone -mca c 4", "no no no 4\n"),
        ("-genvlist A,B", "1 no 3 no\n"),
        ("-envlist A", "1 no no no\n"),
        ("-genvnone -envall", "1 2 3 no\n"),
        ("-envnone -x 'A*'", "1 2 no no\n"),
        ("--unset-env 'A*'", "no no 3 no\n"),
        ("--prepend-env A 0 --append-env 'B[,]' 4", "0:1 2 3,4 no\n"),
    ] {
        assert_eq!(ran(options), shown, "{options}");
    }
}

#[test]
fn programs_are_looked_for_in_the_path_that_is_given() {
    let directory = Directory::new("habits-path");
    std::os::unix::fs::symlink("/bin/echo", directory.path("surely-here")).unwrap();
    let folder = directory.path("");
    assert_eq!(run(&["-n", "1", "-path", &folder, "surely-here", "x"]).out, "x\n");
    assert_eq!(run(&["-n", "1", "surely-here", "x"]).status, Some(127));
}

#[test]
fn programs_from_a_file() {
    let directory = Directory::new("habits-config");
    let text = "# two programs\n-n 2 -env A 'a b' sh -c 'echo $OMPI_APP_CTX $A'\n\n-n 1 \\\n  sh -c \"echo $OMPI_APP_CTX\" # the second\n";
    let file = directory.file("config", text);
    for option in ["-configfile", "--app"] {
        let ended = run(&["-l", option, &file]);
        assert_eq!(sorted(&ended.out), ["[0] 0 a b", "[1] 0 a b", "[2] 1"], "{}", ended.err);
    }
    let ended = run(&["-configfile", &file, "true"]);
    assert!(ended.status == Some(125) && ended.err.contains("one too many"), "{}", ended.err);
    let empty = directory.file("empty", "# nothing\n");
    assert!(run(&["-configfile", &empty]).err.contains("names no program"));
}

#[test]
fn parameters_from_a_file() {
    let directory = Directory::new("habits-tune");
    let file = directory.file("tune", "a_b = 1 # why\n--mca c_d 2\n-x A=3\n");
    let ended =
        run(&["--tune", &file, "-n", "1", "-mca", "a_b", "9", "sh", "-c", "echo $OMPI_MCA_a_b $OMPI_MCA_c_d $A"]);
    assert_eq!(ended.out, "9 2 3\n", "{}", ended.err);
    let file = directory.file("wrong", "one\n");
    assert!(run(&["--tune", &file, "true"]).err.contains("line 1"));
}

#[test]
fn labels_of_lines() {
    let both = ["sh", "-c", "echo o; echo e >&2"];
    let ran = |options: &str| {
        let ended = run(&[&options.split(' ').collect::<Vec<_>>()[..], &["-n", "1"], &both].concat());
        (ended.out, ended.err)
    };
    assert_eq!(ran("-l"), ("[0] o\n".into(), "[0] e\n".into()));
    assert_eq!(ran("-prepend-pattern <%r>"), ("<0>o\n".into(), "<0>e\n".into()));
    assert_eq!(ran("--output tag"), ("[1,0]<stdout>: o\n".into(), "[1,0]<stderr>: e\n".into()));
    let (out, err) = ran("--output merge");
    assert_eq!((out.as_str(), err.as_str()), ("o\ne\n", ""));
    assert!(ran("--output tag-detailed").0.ends_with(">: o\n"));
}

#[test]
fn files_by_pattern() {
    let directory = Directory::new("habits-pattern");
    let (out, err) = (directory.path("out.%r"), directory.path("err.%r"));
    let script = "echo o$OMPI_COMM_WORLD_RANK; echo e >&2";
    let ended = run(&["-n", "2", "-outfile-pattern", &out, "-errfile-pattern", &err, "sh", "-c", script]);
    assert_eq!((ended.out.as_str(), ended.err.as_str()), ("", ""));
    assert_eq!((directory.read("out.1"), directory.read("err.0")), ("o1\n".into(), "e\n".into()));
    let file = format!("file={}", directory.path("f"));
    let ended = run(&["-n", "2", "--output", &file, "sh", "-c", script]);
    assert_eq!((sorted(&ended.out), directory.read("f.0.out")), (vec!["o0", "o1"], "o0\n".into()));
}

#[test]
fn variables_stand_for_options() {
    let ran = |variables: &str, script: &str| {
        let script = format!("{variables} exec $0 -n 2 sh -c '{script}'");
        Run::start_as(Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_mpirun")])).end()
    };
    let ended = ran("MPIEXEC_TIMEOUT=1", "sleep 1051");
    assert_eq!(ended.status, Some(124), "{}", ended.err);
    assert_eq!(ran("MPIEXEC_UNIVERSE_SIZE=17", "echo $OMPI_UNIVERSE_SIZE").out, "17\n17\n");
    assert_eq!(sorted(&ran("MPIEXEC_PREFIX_DEFAULT=1", "echo a").out), ["0: a", "1: a"]);
    assert_eq!(sorted(&ran("MPIEXEC_PREFIX_STDOUT=%d:", "echo a").out), ["0:a", "1:a"]);
    let ended = ran("MPIEXEC_TIMEOUT=soon", "true");
    assert!(ended.status == Some(125) && ended.err.contains("MPIEXEC_TIMEOUT soon"), "{}", ended.err);
}

#[test]
fn a_rank_that_fails_need_not_end_the_job() {
    let script = "[ $OMPI_COMM_WORLD_RANK = 0 ] && exit 7; sleep 0.3; echo on";
    for option in ["-disable-auto-cleanup", "--continuous"] {
        let ended = run(&["-n", "2", option, "sh", "-c", script]);
        assert_eq!((ended.status, ended.out.as_str()), (Some(7), "on\n"), "{}", ended.err);
        assert!(ended.err.contains("rank 0 ") && ended.err.contains("status 7"), "{}", ended.err);
    }
}

#[test]
fn more_ranks_than_slots() {
    let ended = line("--host localhost:2 --nooversubscribe -n 3 true");
    assert!(ended.status == Some(125) && ended.err.contains("3 ranks are more than the 2 that fit"), "{}", ended.err);
    assert_eq!(line("--host localhost:2 --nooversubscribe -n 2 echo x").out, "x\nx\n");
    assert_eq!(line("--map-by ppr:3:node echo x").out, "x\nx\nx\n");
}

#[test]
fn what_mpirun_says_of_itself() {
    let directory = Directory::new("habits-pid");
    let ended = run(&["--report-pid", &directory.path("pid"), "-n", "1", "sh", "-c", "true"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(directory.read("pid").trim().parse::<u32>().is_ok());
    let version = run(&["--version"]).out;
    assert!(version.starts_with("mpirun (ompi-rs) ") && version.contains("MPI 5.0"), "{version}");
    assert_eq!(run(&["-info"]).out, version);
    let help = run(&["--help", "all"]).out;
    assert!(help.contains("--report-bindings") && help.contains("-disable-hostname-propagation"), "{help}");
    assert!(!run(&["--help"]).out.contains("-disable-hostname-propagation"));
    for topic in ["map-by", "--map-by", "map"] {
        let help = run(&["--help", topic]).out;
        assert!(help.contains("--map-by <") && !help.contains("--report-bindings"), "{topic}: {help}");
    }
    assert!(run(&["--help", "genvlist"]).out.contains("-genvlist"));
    assert!(run(&["--help", "nonsense"]).out.contains("No option has `nonsense` in its name"));
    let ended = run(&["--display", "map,bind", "--do-not-launch", "-n", "3", "sh", "-c", "echo ran"]);
    assert_eq!((ended.status, ended.out.as_str(), ended.err.lines().count()), (Some(0), "", 6), "{}", ended.err);
}

#[test]
fn mistyped_options_of_others() {
    for (typed, near) in
        [("--prepend-rnk", "--prepend-rank"), ("-genvnon", "--genvnone"), ("--displaymap", "--display-map")]
    {
        let ended = run(&[typed, "true"]);
        assert!(ended.status == Some(125) && ended.err.contains(&format!("did you mean {near}?")), "{}", ended.err);
    }
}

#[test]
fn full_disks() {
    let ran = |line: &str| Run::start_as(Command::new("sh").args(["-c", line, env!("CARGO_BIN_EXE_mpirun")])).end();
    let ended = ran("exec $0 -n 2 sh -c 'echo a; sleep 0.2; echo b; touch /dev/null' >/dev/full");
    assert_eq!(ended.status, Some(125), "{}", ended.err);
    assert!(ended.err.contains("standard output cannot be written: No space left"), "{}", ended.err);
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    let ended = ran("exec $0 -n 1 sh -c 'echo a; exit 3' >/dev/full");
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    for option in ["--version", "--help"] {
        let ended = ran(&format!("exec $0 {option} >/dev/full"));
        assert!(ended.status == Some(125) && ended.err.contains("No space left"), "{option}: {}", ended.err);
    }
    let ended = run(&["-n", "1", "-outfile-pattern", "/dev/full", "echo", "x"]);
    assert_eq!(ended.status, Some(125), "{}", ended.err);
    assert!(ended.err.contains("the file of rank 0 cannot be written"), "{}", ended.err);
}
