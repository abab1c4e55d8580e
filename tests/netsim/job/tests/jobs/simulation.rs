//! The jobs that a process plays.

use crate::calls::{CROWD, TRAFFIC};
use crate::image::Library;
use crate::ranks::{Outcome, Ranks};

/// Plays what the words say: `3 0..100` the seeds from 0 to 99 with three ranks, `3 77` one seed, a line for each; `crowd 1000` a thousand
/// ranks that send to one. Whether all is right; if not, it says how to play the job again.
pub fn play(words: &[&str]) -> bool {
    let library = Box::leak(Box::new(Library::load()));
    match words {
        ["crowd", senders] => crowd(library, number(senders) as u32),
        [ranks, seeds] => traffic(library, number(ranks) as u32, seeds),
        _ => panic!("`RANKS SEED`, `RANKS FIRST..END` or `crowd SENDERS` instead of {words:?}"),
    }
}

fn traffic(library: &'static Library, size: u32, seeds: &str) -> bool {
    let (first, end) = match seeds.split_once("..") {
        Some((first, end)) => (number(first), number(end)),
        None => (number(seeds), number(seeds) + 1),
    };
    (first..end).all(|seed| {
        let again = again(&format!("{size} {seed}"));
        let ranks = Ranks { size, room: ROOM, seed, program: TRAFFIC, again: again.clone() };
        let Outcome { lines, passes, now_ns } = ranks.run(library);
        let mut sum = [0; 8];
        lines.iter().for_each(|line| sum.iter_mut().zip(line.split(' ')).for_each(|(sum, one)| *sum += number(one)));
        let (faults, damaged, sent_again) = (&sum[..6], sum[6], sum[7]);
        println!("seed {seed}: passes: {passes}, ns: {now_ns}, faults: {faults:?}, sent again: {sent_again}");
        if damaged != faults[0] {
            eprintln!("{} messages were damaged, and {damaged} were noticed; again by: {again}", faults[0]);
        }
        damaged == faults[0]
    })
}

fn crowd(library: &'static Library, senders: u32) -> bool {
    let again = again(&format!("crowd {senders}"));
    let ranks = Ranks { size: senders + 1, room: ROOM_OF_CROWDS, seed: 1, program: CROWD, again };
    let Outcome { lines, passes, .. } = ranks.run(library);
    let announced: u64 = lines[1..].iter().map(|line| number(line)).sum();
    println!(
        "{senders} senders, {passes} passes, at most {} bytes unexpected at once, {announced} messages announced",
        lines[0]
    );
    // Else nobody was told to wait.
    announced > 0
}

fn again(words: &str) -> String {
    format!("OMPI_TEST_JOB='{words}' cargo test -p test-netsim-job -- --ignored --nocapture")
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("a number instead of {text}"))
}

/// Messages from one rank to another that are on the way at once.
const ROOM: usize = 32;
const ROOM_OF_CROWDS: usize = 8;
