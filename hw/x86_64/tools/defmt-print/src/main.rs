//! `defmt-print IMAGE`: frames of defmt on standard input become lines on standard output.
//!
//! An image that logs by defmt sends numbers; the texts lie in its file, so that file must be the very one that runs. Bytes
//! that are no frames of it are counted, told at the end, and make the status 1; a file that cannot be used at all is told at
//! once, status 2.

use defmt_decoder::{DecodeError, Table};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(lost) => {
            eprintln!(
                "defmt-print: {lost} frames are none of this image: bytes were lost on the way, or another image runs than \
                 the one whose file was named"
            );
            ExitCode::from(1)
        }
        Err(why) => {
            eprintln!("defmt-print: {why}");
            ExitCode::from(2)
        }
    }
}

/// Returns how many frames could not be decoded.
fn run() -> Result<u64, String> {
    let path = std::env::args_os().nth(1).ok_or("say which image logs: defmt-print IMAGE < FRAMES")?;
    let shown = path.to_string_lossy();
    let image = std::fs::read(&path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let table =
        Table::parse(&image).map_err(|error| format!("{shown} was made for another decoder than this one: {error}"))?;
    let table =
        table.ok_or_else(|| format!("{shown} does not log by defmt; make it with `cargo xtask build --log defmt`"))?;
    print(&table, &mut std::io::stdin().lock(), &mut std::io::stdout().lock())
        .map_err(|error| format!("cannot pass lines on: {error}"))
}

fn print(table: &Table, frames: &mut impl Read, lines: &mut impl Write) -> std::io::Result<u64> {
    let crates = crates(table);
    let mut decoder = table.new_stream_decoder();
    let (mut lost, mut is_open, mut buffer) = (0, false, [0; 4096]);
    loop {
        let bytes = frames.read(&mut buffer)?;
        if bytes == 0 {
            // A frame that has begun ends with a 0.
            return Ok(lost + u64::from(is_open));
        }
        decoder.received(&buffer[..bytes]);
        is_open = buffer[bytes - 1] != 0;
        loop {
            match decoder.decode() {
                Ok(frame) => {
                    let time = frame.display_timestamp().map_or_else(String::new, |time| format!("{time} "));
                    let level = frame.level().map_or("", |level| level.as_str()).to_uppercase();
                    let name = crates.get(&frame.index()).map_or("", String::as_str);
                    writeln!(lines, "{time}{level} {name}: {}", frame.display_message())?;
                    lines.flush()?;
                }
                Err(DecodeError::UnexpectedEof) => break,
                Err(DecodeError::Malformed) => lost += 1,
            }
        }
    }
}

/// Which crate each text stands in: part of its symbol, which is written as JSON. `Table::indices` has the numbers of texts
/// with a level only, in the order of their symbols.
fn crates(table: &Table) -> BTreeMap<u64, String> {
    let text = |symbol: &str| {
        let symbol: serde_json::Value = serde_json::from_str(symbol).ok()?;
        let field = |name: &str| Some(symbol.get(name)?.as_str()?.to_owned());
        LEVELS.contains(&field("tag")?.as_str()).then(|| field("crate_name").unwrap_or_default())
    };
    let names = table.raw_symbols().filter_map(text);
    table.indices().map(|index| index as u64).zip(names).collect()
}

const LEVELS: [&str; 6] = ["defmt_println", "defmt_trace", "defmt_debug", "defmt_info", "defmt_warn", "defmt_error"];
