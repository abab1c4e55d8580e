//! One package: how it is built with a library's wrappers, and run.

use crate::failure::Result;
use crate::shell;
use crate::test::debian::DebianSource;
use crate::test::{Verdict, deadline, programs};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A package and what is done with it.
pub struct PackagedProgram {
    pub source: DebianSource,
    /// What it is and in which languages.
    pub title: &'static str,
    /// What is run and what decides.
    pub what: &'static str,
    /// Programs and libraries that the build wants, and the packages that bring them.
    pub wants: &'static [(&'static str, &'static str)],
    /// A script of sh, run in the unpacked folder with the library's wrappers first in PATH. What it has made before may stay.
    pub build: &'static str,
    /// A script likewise, which gets the number of ranks and runs the program.
    pub run: &'static str,
    /// Where the package itself names the ranks of its tests, the most of them.
    pub ranks: &'static [u32],
    /// What is wrong with the output of that script, if anything is; otherwise what it did.
    pub check: fn(&str) -> std::result::Result<String, String>,
}

/// A library to build and run with: where its wrappers and its launcher are, under their usual names.
pub struct Tools {
    pub bin: PathBuf,
    /// For all that is run with it.
    pub environment: Vec<(String, String)>,
}

impl PackagedProgram {
    /// That of the test.
    pub fn name(&self) -> &'static str {
        self.source.package.trim_end_matches(|digit: char| digit.is_ascii_digit() || digit == '.')
    }

    /// The authors' number in the archive's name.
    pub fn version(&self) -> &'static str {
        let version = self.source.archive.split_once('_').map_or("", |(_, rest)| rest);
        let version = version.split_once(".orig").map_or(version, |(version, _)| version);
        version.split_once('+').map_or(version, |(version, _)| version)
    }

    /// Its source, unpacked into `home`, and built there.
    pub fn built(
        &self,
        tools: &Tools,
        home: &Path,
        target: &Path,
        log: &Path,
    ) -> std::result::Result<PathBuf, Verdict> {
        for (thing, package) in self.wants {
            if !is_there(thing)? {
                return Err(Verdict::Skipped(format!("{thing} is not there: apt-get install {package}")));
            }
        }
        let folder = self.source.unpacked_into(home, target)?;
        let built = deadline::run(&mut tools.script(self.build, &folder, 1), BUILD_LIMIT, &log.join("build"))?;
        match built.ended_with(0) {
            true => Ok(folder),
            false => Err(Verdict::Failed(format!("it does not build\n{}", built.story()))),
        }
    }

    /// Runs it; what it did, and for how long.
    pub fn ran(
        &self,
        tools: &Tools,
        folder: &Path,
        ranks: u32,
        log: &Path,
    ) -> std::result::Result<(String, Duration), Verdict> {
        let start = Instant::now();
        let ended =
            deadline::run(&mut tools.script(self.run, folder, ranks), RUN_LIMIT, &log.join(format!("run@{ranks}")))?;
        let took = start.elapsed();
        if !ended.ended_with(0) {
            return Err(Verdict::Failed(ended.story()));
        }
        match (self.check)(&ended.out) {
            Ok(did) => Ok((did, took)),
            Err(why) => Err(Verdict::Failed(format!("{why}\n{}", ended.story()))),
        }
    }
}

impl Tools {
    fn script(&self, text: &str, folder: &Path, ranks: u32) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("sh");
        command.args(["-e", "-c", text]).current_dir(folder);
        command.env("PATH", format!("{}:{path}", self.bin.display()));
        command.env("RANKS", ranks.to_string()).env("BIN", &self.bin);
        programs::own_choice(&mut command);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// A program in PATH, or a library or header that the compiler finds.
fn is_there(thing: &str) -> Result<bool> {
    if thing.ends_with(".h") {
        return Ok(Path::new("/usr/include").join(thing).is_file());
    }
    if !thing.ends_with(".so") {
        return Ok(shell::which(thing).is_some());
    }
    let place = shell::output(Command::new("gcc").arg(format!("-print-file-name={thing}")))?;
    Ok(PathBuf::from(place.trim()).is_absolute())
}

const BUILD_LIMIT: Duration = Duration::from_secs(3600);
const RUN_LIMIT: Duration = Duration::from_secs(1800);
