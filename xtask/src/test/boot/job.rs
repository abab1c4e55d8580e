//! Images of the tests, made once, and jobs of guests that run them.

use crate::bare::log::Log;
use crate::failure::Result;
use crate::test::session::deadline::{self, Ended};
use crate::test::{Session, Verdict};
use crate::{bare, boot, build, shell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Runs something if anything can be booted here; `wrong` says what is wrong with its end.
pub fn judged(run: impl FnOnce() -> Result<Ended>, wrong: impl FnOnce(&Ended) -> Option<String>) -> Verdict {
    if let Some(skipped) = missing() {
        return skipped;
    }
    match run() {
        Ok(ended) => match wrong(&ended) {
            None => Verdict::Passed(String::new()),
            Some(why) => Verdict::Failed(why + &ended.story()),
        },
        Err(failure) => failure.into(),
    }
}

/// The image of a program, made once.
pub fn image(session: &Session, source: &str, flags: &[&str]) -> Result<PathBuf> {
    image_with(session, source, flags, Log::Text)
}

/// The image of a program that logs so, made once.
pub fn image_with(session: &Session, source: &str, flags: &[&str], log: Log) -> Result<PathBuf> {
    static MADE: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let name = format!("{source} {} {log:?}", flags.join(" "));
    if let Some(image) = made.get(&name) {
        return Ok(image.clone());
    }
    // What CI tests is the toolchain that is everywhere.
    let options = build::Options { bare_fallback: true, log, ..build::Options::default() };
    let image = bare::make(&session.tree, &session.tree.root.join(source), flags, &options, session.progress)?;
    made.insert(name, image.clone());
    Ok(image)
}

pub fn launch(session: &Session, image: &Path, ranks: u32, arguments: &[String]) -> Result<Ended> {
    let stem = image.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    started(session, image, ranks, &format!("{stem}@{ranks}"), None, |options| options.arguments = arguments.to_vec())
}

/// A job of guests with options that `set` makes; `hosted` runs beside them.
pub fn started(
    session: &Session,
    image: &Path,
    ranks: u32,
    log: &str,
    hosted: Option<&Path>,
    set: impl FnOnce(&mut boot::Options),
) -> Result<Ended> {
    let mut options = boot::Options::new(image, ranks, RUN_LIMIT.as_secs() as u32, Vec::new());
    set(&mut options);
    let mut limit = RUN_LIMIT;
    if options.arguments.iter().any(|word| word == "hang") {
        (limit, options.timeout) = (HANG, HANG.as_secs() as u32);
    }
    let mut command = boot::command(&session.tree, &options, image, hosted, session.progress)?;
    deadline::run(&mut command, limit + GRACE, &session.scratch().join(format!("boot/{log}.log")))
}

/// Why nothing can be booted here.
pub fn missing() -> Option<Verdict> {
    let qemu = shell::which(boot::QEMU).is_none();
    qemu.then(|| Verdict::Skipped(format!("{} is not there; install qemu-system-x86", boot::QEMU)))
}

/// A run takes seconds where nobody else wants the cores; eight guests on two busy cores may take a minute.
pub const RUN_LIMIT: Duration = Duration::from_secs(240);
/// For a run that is to hang.
const HANG: Duration = Duration::from_secs(8);
/// From mpirun's deadline to its end.
pub const GRACE: Duration = Duration::from_secs(20);
