//! The benchmark harness itself: that it measures, and that its page can be made of it. Not how fast anything is.

use super::{Session, Verdict, deadline};
use crate::bench::result::{Figure, Table};
use crate::failure::{At, Result, fail};
use crate::shell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `bench/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    session.case("bench/quick", |session| verdict(quick(session)));
    session.case("bench/report", |session| verdict(report(session)));
    session.case("bench/another-library-is-noticed", |session| verdict(noticed(session)));
    Ok(())
}

fn verdict(result: Result<String>) -> Verdict {
    result.map_or_else(Verdict::from, Verdict::Passed)
}

/// A few rows, with ours alone, sizes and counts chosen so that each must be there.
fn quick(session: &mut Session) -> Result<String> {
    let file = figures(session);
    let _ = std::fs::remove_file(&file);
    let (rows, sizes) = (["latency", "rate", "bandwidth", "tcp-latency", "barrier-2"], [8u64, 4096]);
    let words = ["--rows", &rows.join(","), "--sizes", "8,4k", "--rounds", "2", "--samples", "3", "--json"];
    run(session, &words, Some(&file))?;
    let table = read(&file)?;
    let version = table.libraries.first().map_or("", |library| library.version.as_str());
    if table.libraries.len() != 1 || !version.starts_with("ompi-rs") {
        return Err(fail(format!("measured {:?}", table.libraries)));
    }
    let measured: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
    if measured != rows {
        return Err(fail(format!("rows {measured:?}, wanted {rows:?}")));
    }
    for row in &table.rows {
        let wanted = if row.name == "latency" || row.name == "bandwidth" || row.name == "tcp-latency" {
            &sizes[..]
        } else {
            &sizes[..1]
        };
        if !row.sizes.iter().map(|line| line.size).eq(wanted.iter().copied()) {
            return Err(fail(format!("{}: sizes {:?}, wanted {wanted:?}", row.name, row.sizes)));
        }
        for line in &row.sizes {
            let figures = line.figures.iter().chain([&line.raw]);
            for figure in figures {
                let figure = figure.ok_or_else(|| fail(format!("{}, {}: no figure", row.name, line.size)))?;
                complete(&figure).map_err(|why| fail(format!("{}, {}: {why}", row.name, line.size)))?;
            }
        }
    }
    Ok(format!("{} rows", table.rows.len()))
}

/// Two rounds of three samples, none lost.
fn complete(figure: &Figure) -> std::result::Result<(), String> {
    match (figure.clean + figure.disturbed, figure.best, figure.median) {
        (6, Some(best), Some(median)) if figure.clean > 0 && best > 0.0 && median > 0.0 => Ok(()),
        // On a busy machine: then there is nothing to say, and nothing may be said.
        (6, None, None) if figure.clean == 0 => Ok(()),
        _ => Err(format!("{figure:?}")),
    }
}

/// The pages, with a curve, and without a path of this machine on them.
fn report(session: &mut Session) -> Result<String> {
    let (file, docs) = (session.scratch().join("bench/curve.json"), session.scratch().join("bench/docs"));
    let _ = std::fs::remove_dir_all(&docs);
    let words = ["--rows", "latency", "--sizes", "8,64,512,4k,16k", "--rounds", "3", "--samples", "20", "--json"];
    run(session, &words, Some(&file))?;
    let mut command = Command::new(own()?);
    command.args(["bench", "report"]).arg(&file).arg("--docs").arg(&docs);
    ended(session, &mut command)?;
    let root = session.tree.root.to_string_lossy().into_owned();
    for (file, wanted) in [
        ("performance.md", "](performance/latency.md)"),
        ("performance/latency.md", "## latency"),
        ("performance/latency.md", "![latency](latency.svg)"),
        ("performance/latency.md", "| 4 Ki |"),
        ("performance/method.md", "**ours**: ompi-rs"),
    ] {
        let page = shell::read(&docs.join(file))?;
        if !page.contains(wanted) {
            return Err(fail(format!("{file} has no `{wanted}`\n{page}")));
        }
        if page.contains(&root) {
            return Err(fail(format!("{file} names a folder of this machine\n{page}")));
        }
    }
    match shell::read(&docs.join("performance/latency.svg"))?.matches("polyline").count() {
        0 | 1 => Err(fail("performance/latency.svg should have a curve for each library, and has less than two")),
        _ => Ok(String::new()),
    }
}

/// A product whose mpirun starts the program on another library must not get figures.
fn noticed(session: &mut Session) -> Result<String> {
    let dist = session.library().map_err(fail)?.dist;
    let fake = session.scratch().join("bench/fake");
    let _ = std::fs::remove_dir_all(&fake);
    shell::folder(&fake.join("bin"))?;
    // The programs are compiled against the real library's shared form, which does not lie in the product.
    for tool in ["mpicc", "mpirun"] {
        let (path, real) = (fake.join("bin").join(tool), dist.join("bin").join(tool));
        shell::write(&path, &format!("#!/bin/sh\nOMPI_RS_LINK=shared exec {} \"$@\"\n", real.display()))?;
        shell::output(Command::new("chmod").arg("+x").arg(&path))?;
    }
    let mut command = Command::new(own()?);
    command.args(["bench", "--rows", "rate", "--rounds", "1", "--samples", "1", "--dist"]).arg(&fake);
    let log = session.scratch().join("bench/noticed.log");
    let ended = deadline::run(&mut command, LIMIT, &log)?;
    match ended.ended_with(1) && ended.out.contains("mapped, which is not below") {
        true => Ok(String::new()),
        false => Err(fail(format!(
            "xtask bench should refuse figures of a library that is not below --dist\n{}",
            ended.story()
        ))),
    }
}

fn run(session: &mut Session, words: &[&str], file: Option<&PathBuf>) -> Result<()> {
    let dist = session.library().map_err(fail)?.dist;
    let mut command = Command::new(own()?);
    command.arg("bench").args(words).args(file).arg("--dist").arg(dist);
    ended(session, &mut command)
}

fn ended(session: &Session, command: &mut Command) -> Result<()> {
    let ended = deadline::run(command, LIMIT, &session.scratch().join("bench/bench.log"))?;
    match ended.ended_with(0) {
        true => Ok(()),
        false => Err(fail(ended.story())),
    }
}

fn read(file: &Path) -> Result<Table> {
    serde_json::from_str(&shell::read(file)?).at(format!("read {}", file.display()))
}

fn figures(session: &Session) -> PathBuf {
    session.scratch().join("bench/quick.json")
}

fn own() -> Result<PathBuf> {
    std::env::current_exe().at("find my own program")
}

const LIMIT: Duration = Duration::from_secs(240);
