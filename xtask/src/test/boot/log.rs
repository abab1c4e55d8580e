//! Logs of machines: as text, and in the full tier by frames of defmt, and settings that do not fit together.

use super::job::{RUN_LIMIT, image_with, judged, missing, started};
use crate::bare::log::{self, Log};
use crate::failure::{At, Result, fail};
use crate::test::{Session, Verdict, deadline};
use crate::{boot, shell};
use deadline::Ended;
use std::fs;
use std::path::Path;
use std::process::Command;

/// All of it.
pub fn cases(session: &mut Session) {
    session.case("boot/log@2", |session| logged(session, Log::Text));
    // defmt needs an image and a decoder of its own.
    if !session.options.all {
        return;
    }
    session.case("boot/log@2 defmt", |session| logged(session, Log::Defmt));
    session.case("boot/log_other_choice", |session| refused(session).unwrap_or_else(Verdict::from));
    session.case("boot/log_undecodable", |session| undecodable(session).unwrap_or_else(Verdict::from));
}

/// Both machines and their programs say on the second port what they do: the same in either choice, but for the part
/// that says it.
fn logged(session: &mut Session, how: Log) -> Verdict {
    let run = || {
        let image = image_with(session, PROGRAM, &[], how)?;
        started(session, &image, 2, &format!("log {how:?}"), None, |options| options.log = Some(how))
    };
    judged(run, |ended| {
        let failed = (!ended.ended_with(0)).then(String::new);
        let mut all = ["[1,0]", "[1,1]"].iter().flat_map(|tag| WANTED.iter().map(move |wanted| (tag, wanted)));
        let lacks = all.find(|(tag, words)| !ended.err.lines().any(|line| says(line, tag, words)));
        let missing = lacks.map(|(tag, words)| format!("{tag} did not log {words:?}\n"));
        let more = ended.err.contains("nobody asked for this").then(|| "a level that nobody asked for\n".to_owned());
        missing.or(more).or(failed)
    })
}

/// A line of a machine's log that has a time, the core, a level, and these words behind the part that says them.
fn says(line: &str, tag: &str, (level, words): &(&str, &str)) -> bool {
    let log = line.strip_prefix(tag).and_then(|rest| rest.split_once(">: log "));
    log.is_some_and(|(_, log)| {
        let (time, rest) = log.split_once(" core 0 ").unwrap_or_default();
        time.parse::<f64>().is_ok() && rest.starts_with(level) && rest.contains(&format!(": {words}"))
    })
}

/// An image of one choice with the other one on the command line.
fn refused(session: &mut Session) -> Result<Verdict> {
    if let Some(skipped) = missing() {
        return Ok(skipped);
    }
    for (made, wanted, words) in [
        (Log::Text, Log::Defmt, "logs text, no frames of defmt; say --log text"),
        (Log::Defmt, Log::Text, "logs by frames of defmt, which are no text; say --log defmt"),
    ] {
        let image = image_with(session, PROGRAM, &[], made)?;
        let mut options = boot::Options::new(&image, 1, RUN_LIMIT.as_secs() as u32, Vec::new());
        options.log = Some(wanted);
        match boot::command(&session.tree, &options, &image, None, session.progress) {
            Err(failure) if failure.text.contains(words) && failure.status == 2 => {}
            Err(failure) => {
                return Ok(Verdict::Failed(format!("expected was \"{words}\", the message is \"{}\"\n", failure.text)));
            }
            Ok(_) => {
                return Ok(Verdict::Failed(format!("an image with {made:?} was accepted with --log {wanted:?}\n")));
            }
        }
    }
    Ok(Verdict::Passed(String::new()))
}

/// The decoder with what is none of its image's, and with images that are none of its own.
fn undecodable(session: &mut Session) -> Result<Verdict> {
    if let Some(skipped) = missing() {
        return Ok(skipped);
    }
    let (text, frames) =
        (image_with(session, PROGRAM, &[], Log::Text)?, image_with(session, PROGRAM, &[], Log::Defmt)?);
    let older = session.scratch().join("boot/older.elf");
    fs::write(&older, renamed(&fs::read(&frames).at("read an image")?)?).at("write an image of an older version")?;
    let stream: &[u8] = b"\xff\xfe\x03 no frame\0rank 0 begins\n\0";
    for (image, input, status, words) in [
        (&frames, stream, 1, "2 frames are none of this image"),
        (&frames, &b"\x01"[..], 1, "1 frames are none of this image"),
        (&frames, &b""[..], 0, ""),
        (&text, stream, 2, "does not log by defmt"),
        (&older, stream, 2, "was made for another decoder than this one"),
    ] {
        let ended = decoded(session, image, input)?;
        if !ended.ended_with(status) || !ended.err.contains(words) {
            return Ok(Verdict::Failed(format!("wanted: status {status} and \"{words}\"\n{}", ended.story())));
        }
    }
    Ok(Verdict::Passed(String::new()))
}

/// An image that says that its frames have another version of defmt's format.
fn renamed(image: &[u8]) -> Result<Vec<u8>> {
    let at = image.windows(VERSION.len()).position(|bytes| bytes == VERSION);
    let at = at.ok_or_else(|| fail("the image names no version of defmt's format"))?;
    let mut renamed = image.to_vec();
    renamed[at + VERSION.len()] = b'0';
    Ok(renamed)
}

fn decoded(session: &Session, image: &Path, input: &[u8]) -> Result<Ended> {
    let folder = session.scratch().join("boot");
    let stream = folder.join("stream");
    shell::folder(&folder)?;
    fs::write(&stream, input).at("write a stream")?;
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$0\" \"$1\" < \"$2\""]);
    shell.arg(log::decoder(&session.tree, session.progress)?).arg(image).arg(&stream);
    deadline::run(&mut shell, RUN_LIMIT, &folder.join("decoder.log"))
}

const PROGRAM: &str = "tests/baremetal/log.rs";
/// In the symbol by which an image names the version of the format; the version follows.
const VERSION: &[u8] = b"_defmt_version_ = ";
/// Level and words.
const WANTED: &[(&str, &str)] = &[
    ("INFO", "booted by PVH; "),
    ("INFO", "32768 KiB of shared memory at 0x"),
    ("INFO", "a rank begins, with "),
    ("ERROR", "an error of rank "),
    ("WARN", "numbers: -7 18446744073709551615 0xfeed"),
    ("INFO", "words: one and true"),
    ("DEBUG", "the last level that is shown"),
    ("WARN", "by crate log: 2.50"),
    ("INFO", "the rank ends with status 0"),
];
