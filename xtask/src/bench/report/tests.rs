//! The pages of a small run.

use super::family::{FAMILIES, of};
use super::pages;
use crate::bench::result::{Contestant, Figure, Measured, SizeLine, Table};
use crate::bench::rows::Unit;
use crate::bench::{machine, rows};

fn figure(best: f64) -> Option<Figure> {
    Some(Figure { best: Some(best), median: Some(best * 1.1), clean: 9, disturbed: 1 })
}

fn line(size: u64, ours: f64, other: f64, aim: Option<f64>) -> SizeLine {
    SizeLine {
        size,
        label: None,
        figures: vec![figure(ours), figure(other)],
        raw: figure(0.05),
        best_peer: Some("other".to_owned()),
        ratio: Some(ours / other),
        baseline_ratio: None,
        aim,
    }
}

fn row(name: &str, unit: Unit, sizes: Vec<SizeLine>) -> Measured {
    Measured {
        name: name.to_owned(),
        title: "one way".to_owned(),
        ranks: 2,
        over: "bytes".to_owned(),
        crowded: false,
        rounds: 5,
        samples: 8,
        unit,
        sizes,
        failures: vec!["third: it crashed".to_owned()],
    }
}

fn table() -> Table {
    let contestant = |name: &str| Contestant { name: name.to_owned(), version: "1".to_owned(), settings: Vec::new() };
    let latency = vec![line(8, 0.1, 0.2, Some(0.6)), line(4096, 0.14, 0.2, Some(0.6)), line(64, 0.1, 0.2, None)];
    let rates = vec![line(8, 10.0, 40.0, None), line(512, 50.0, 40.0, None)];
    Table {
        format: 2,
        machine: machine::look(),
        seconds: 1.0,
        libraries: vec![contestant("ours"), contestant("other")],
        rows: vec![row("latency", Unit::Us, latency), row("tcp-rate", Unit::PerS, rates)],
    }
}

fn page(name: &str) -> String {
    let pages = pages(&table(), &["latency".to_owned()]);
    let found = pages.into_iter().find(|(file, _)| file == name);
    found.unwrap_or_else(|| panic!("no {name}")).1
}

#[test]
fn losses_and_wins_stand_apart() {
    let page = page("performance.md");
    let (losses, wins) = page.split_once("## Where it wins").expect("both sections");
    assert!(losses.contains("1 of 5 sizes are slower than the best other library."), "{page}");
    assert!(
        losses.contains("| [tcp-rate](performance/tcp.md#tcp-rate) | 8 | 10.00 M/s | 40.00 M/s (other) | 0.25 |"),
        "{page}"
    );
    assert!(!losses.contains("[latency]"), "{page}");
    let tcp = "| [TCP](performance/tcp.md) | 2 | 1 | 0.25 | 1.25 of tcp-rate, 512 |";
    let latency = "| [Latency](performance/latency.md) | 3 | 3 | 2.00 | 2.00 of latency, 64 |";
    let (first, second) = (wins.find(tcp), wins.find(latency));
    assert!(first.is_some() && first < second, "the least win first\n{page}");
}

#[test]
fn a_family_has_its_rows_and_its_notes() {
    let latency = page("performance/latency.md");
    assert!(latency.contains("## latency\n\nOne way, in µs; 5 turns of 8 samples.\n\n![latency](latency.svg)"));
    assert!(latency.contains("| 4 Ki | **0.140** 0.154 | **0.200** 0.220 | **0.050** 0.055 | 0.70 |"), "{latency}");
    assert!(latency.contains("Launches without figures: third.") && !latency.contains("it crashed"));
    assert!(latency.contains("## What was tried") && latency.contains("**Short messages.**"));
    assert!(!latency.contains("tcp-rate") && !latency.contains("**TCP.**"));
    let tcp = page("performance/tcp.md");
    assert!(tcp.contains("## tcp-rate") && tcp.contains("**TCP.**") && !tcp.contains("!["), "{tcp}");
}

#[test]
fn aims_are_reached_or_missed() {
    let page = page("performance/aims.md");
    let (missed, reached) = page.split_once("## Reached: 1").expect("both sections");
    assert!(
        missed.contains("## Missed: 1")
            && missed.contains("| latency | 4 Ki | 0.140 µs | 0.200 µs (other) | 0.70 | 0.60 |")
    );
    assert!(reached.contains("| latency | 8 | 0.100 µs | 0.200 µs (other) | 0.50 | 0.60 |"), "{page}");
}

#[test]
fn the_method_and_the_picture_have_their_files() {
    assert!(page("performance/method.md").contains("* **other**: 1\n\n## Method"));
    let picture = page("performance/overview.svg");
    assert!(picture.contains(">Latency</text>") && picture.contains(">TCP</text>") && !picture.contains(">Matching<"));
    assert_eq!(picture.matches("<circle").count(), 2);
    // TCP reaches from 0.25 to 1.25: a part of each color.
    assert_eq!((picture.matches(super::overview::LOSS).count(), picture.matches(super::overview::WIN).count()), (1, 2));
}

#[test]
fn every_row_has_a_family() {
    let rest = FAMILIES[FAMILIES.len() - 1].file;
    assert_eq!(of("something").file, rest);
    for name in rows::all().map(|row| row.name).chain(["mpi4py", "hpcc-2", "hpcc-hpl-4"]) {
        assert_ne!(of(name).file, rest, "{name}");
    }
    assert_eq!((of("neighbor-allgather-4").file, of("hpcc-4").file), ("neighborhoods", "programs"));
}
