//! Jobs of several ranks in one process, in virtual time, for many seeds: each rank has a thread and statics of its own, and one of them
//! runs at a time. Which one is next, what arrives in which order and when, and which faults btl/faulty makes, a seed says.
//!
//! Not covered: what processes share beside messages; sleeping.

#[path = "jobs/image.rs"]
mod image;
#[path = "jobs/ranks.rs"]
mod ranks;
#[path = "jobs/simulation.rs"]
mod simulation;
#[path = "jobs/world.rs"]
mod world;

#[path = "../src/calls.rs"]
mod calls;

use std::process::{Command, Output};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Parameters, which the ranks take from the environment of their process.
const OVER_WIRE: [(&str, &str); 2] = [("OMPI_MCA_btl", "^wire"), ("OMPI_MCA_btl_faulty_wraps", "wire")];
const CHECKED: (&str, &str) = ("OMPI_MCA_pml_ob1_checksum", "1");

#[test]
#[ignore = "the process that the other tests start; OMPI_TEST_JOB says what it does"]
fn process() {
    let Ok(words) = std::env::var("OMPI_TEST_JOB") else { panic!("OMPI_TEST_JOB says what to do: `3 77`") };
    if std::env::var_os(OVER_WIRE[1].0).is_none() {
        // By hand.
        let Output { status, stdout, stderr } = job(&words, &[CHECKED]);
        print!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert!(status.success());
        return;
    }
    let is_right = simulation::play(&words.split(' ').collect::<Vec<_>>());
    std::process::exit(i32::from(!is_right));
}

/// What a process does with these words and parameters; ends the test when time is over.
fn job(words: &str, parameters: &[(&str, &str)]) -> Output {
    let (tell, told) = mpsc::channel::<()>();
    thread::spawn(move || {
        if told.recv_timeout(DEADLINE).is_err_and(|error| error == mpsc::RecvTimeoutError::Timeout) {
            eprintln!("the job is not at its end after {DEADLINE:?}");
            std::process::exit(1);
        }
    });
    let mut program = Command::new(std::env::current_exe().expect("the system knows this program"));
    program.args(["--exact", "process", "--ignored", "--nocapture"]).env("OMPI_TEST_JOB", words);
    let output = program.envs(OVER_WIRE).envs(parameters.iter().copied()).output().expect("the program starts");
    drop(tell);
    output
}

/// What it prints.
fn lines(words: &str, parameters: &[(&str, &str)]) -> Vec<String> {
    let Output { status, stdout, stderr } = job(words, parameters);
    assert!(status.success(), "{words}: {status}: {}", String::from_utf8_lossy(&stderr));
    let lines = String::from_utf8_lossy(&stdout);
    lines.lines().filter(|line| line.contains(" passes")).map(str::to_owned).collect()
}

/// What it says where it must fail.
fn wrong(words: &str, parameters: &[(&str, &str)]) -> String {
    let Output { status, stderr, .. } = job(words, parameters);
    assert!(!status.success(), "{words} with {parameters:?} cannot fail");
    String::from_utf8_lossy(&stderr).into_owned()
}

#[test]
fn ranks_get_what_was_sent_in_its_order() {
    let trials: u64 = std::env::var("OMPI_TEST_TRIALS").map_or(1, |text| text.parse().expect("a number"));
    let mut sum = [0; 6];
    for (ranks, seeds) in [("2", 100), ("3", 150), ("5", 30)] {
        let lines = lines(&format!("{ranks} 0..{}", seeds * trials), &[CHECKED]);
        assert_eq!(lines.len() as u64, seeds * trials);
        lines.iter().for_each(|line| sum.iter_mut().zip(faults(line)).for_each(|(sum, one)| *sum += one));
    }
    // Each kind of fault was made; the program compares damaged messages with those that were noticed after each seed.
    assert!(sum.iter().all(|faults| *faults > 300), "{sum:?}");
}

#[test]
fn a_seed_alone_does_what_it_does_among_others() {
    let among = lines("3 40..60", &[CHECKED]);
    for seed in ["47", "58"] {
        let expected = among.iter().find(|line| line.starts_with(&format!("seed {seed}: ")));
        assert_eq!(lines(&format!("3 {seed}"), &[CHECKED]).first(), expected);
    }
}

#[test]
fn without_checksums_faults_are_seen() {
    let said = wrong("3 0..100", &[]);
    assert!(said.contains("again by: OMPI_TEST_JOB='3 "), "{said}");
}

#[test]
fn a_thousand_senders_do_not_fill_the_memory_of_one_receiver() {
    let lines = lines("crowd 1000", &[(UNEXPECTED, "8192")]);
    assert!(lines[0].contains("messages announced"), "{lines:?}");
}

#[test]
fn senders_that_are_not_told_to_wait_fill_it() {
    let said = wrong("crowd 50", &[(UNEXPECTED, "1048576")]);
    assert!(said.contains("bytes were unexpected at once, with a bound of"), "{said}");
}

fn faults(line: &str) -> Vec<u64> {
    let list = line.split_once("faults: [").and_then(|(_, rest)| rest.split_once(']')).expect("a list of faults").0;
    list.split(", ").map(|number| number.parse().expect("a number")).collect()
}

const UNEXPECTED: &str = "OMPI_MCA_pml_ob1_unexpected_bytes";
const DEADLINE: Duration = Duration::from_secs(300);
