//! Thousands of seeds, and that a seed alone does what it does among others.

use std::process::{Command, Output};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// What the program prints for these seeds.
fn netsim(seeds: &str) -> Vec<String> {
    let Output { status, stdout, stderr } = within(&mut Command::new(env!("CARGO_BIN_EXE_netsim")), seeds);
    let (out, said) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{status}: {said}\n{}", out.lines().last().unwrap_or_default());
    out.lines().map(str::to_owned).collect()
}

/// Ends the test when time is over: a seed that never ends is a mistake, too.
fn within(program: &mut Command, seeds: &str) -> Output {
    let (tell, told) = mpsc::channel::<()>();
    thread::spawn(move || {
        if told.recv_timeout(DEADLINE).is_err_and(|error| error == mpsc::RecvTimeoutError::Timeout) {
            eprintln!("netsim is not at its end after {DEADLINE:?}");
            std::process::exit(1);
        }
    });
    let output = program.arg(seeds).output().expect("the program starts");
    drop(tell);
    output
}

fn faults(line: &str) -> Vec<u64> {
    let list = line.split_once("faults: [").and_then(|(_, rest)| rest.split_once(']')).expect("a list of faults").0;
    list.split(", ").map(|number| number.parse().expect("a number")).collect()
}

#[test]
fn messages_arrive_as_the_model_says() {
    let trials: u64 = std::env::var("OMPI_TEST_TRIALS").map_or(1, |text| text.parse().expect("a number"));
    let seeds = 2000 * trials;
    let lines = netsim(&format!("0..{seeds}"));
    assert_eq!(lines.len() as u64, seeds);
    let mut sum = [0; 6];
    lines.iter().for_each(|line| sum.iter_mut().zip(faults(line)).for_each(|(sum, one)| *sum += one));
    // Each kind of fault was made, and 10,000 changed bits were found: the program compares both numbers after each seed.
    assert!(sum.iter().all(|faults| *faults > 1000), "{sum:?}");
    assert!(sum[0] >= 10_000, "only {} bits were changed", sum[0]);
}

#[test]
fn a_seed_alone_does_what_it_does_among_others() {
    let among = netsim("40..60");
    for seed in [47, 58] {
        let alone = netsim(&seed.to_string());
        let expected = among.iter().find(|line| line.starts_with(&format!("seed {seed}: ")));
        assert_eq!(alone.first(), expected, "seed {seed}");
    }
}

const DEADLINE: Duration = Duration::from_secs(300);
