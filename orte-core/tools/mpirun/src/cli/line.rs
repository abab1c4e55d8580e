//! The words of a command line, with those of the files that it names in their places, divided into programs.

use super::app::App;
use super::counts::Counts;
use super::environment::Environment;
use super::options::{self, Options, read};
use super::split::{self, Part};
use super::{foreign, option_files, values};
use crate::refusal::{self, Refusal};
use crate::status;
use orte_core::oob::compact::JOB_MAX;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The words of a command line and of the files that it names.
pub struct Line {
    /// Options that hold for every program: those of `--tune` files, and what stands beside `--configfile`.
    pub common: Vec<OsString>,
    /// What stands between colons.
    pub parts: Vec<Part>,
}

impl Line {
    /// Reads words and files, and answers `--help`.
    pub fn new(arguments: &[OsString], separator: &OsStr) -> Result<Line, Refusal> {
        let words = arguments.get(1..).unwrap_or(&[]);
        let mut line = Line { common: Vec::new(), parts: Vec::new() };
        for part in words.split(|word| word == separator) {
            line.add(split::split(part)?, true)?;
        }
        if let Some(topic) = line.parts.iter().find_map(|part| part.help.as_ref()) {
            return Err(help(&topic.to_string_lossy()));
        }
        if line.parts.iter().all(|part| part.command.is_empty()) {
            // `--version` and `--status` need no program.
            let options = read(line.parts.iter().flat_map(|part| &part.options))?;
            if let Some(pid) = &options.status {
                status::ask(pid)?;
                return Err(Refusal::nothing_to_do());
            }
        }
        if line.parts.iter().any(|part| part.command.is_empty()) {
            let which =
                if line.parts.len() > 1 { "no program is named on one side of `:`" } else { "no program is named" };
            return Err(Refusal::usage(format!("{which}; write mpirun [options] program [arguments]")));
        }
        Ok(line)
    }

    /// Of a line with `--name-server` and no program the file and the parameters.
    pub fn name_server(arguments: &[OsString]) -> Result<Option<(PathBuf, Vec<String>)>, Refusal> {
        if !arguments.iter().any(|word| word.to_string_lossy().contains("-name-server")) {
            return Ok(None);
        }
        let part = split::split(arguments.get(1..).unwrap_or(&[]))?;
        if !part.command.is_empty() || part.help.is_some() {
            return Ok(None);
        }
        let options = read(&part.options)?;
        Ok(options.name_server.map(|file| (file, options.mca)))
    }

    fn add(&mut self, mut part: Part, may_name_files: bool) -> Result<(), Refusal> {
        // Read on its own only to see the files: what is wrong is found when all is read.
        let named = |option: &str| part.options.iter().any(|word| word == option);
        if !named("--configfile") && !named("--tune") {
            self.parts.push(part);
            return Ok(());
        }
        let options = read(&part.options)?;
        if !may_name_files {
            return Err(Refusal::usage("--configfile and --tune: a file cannot name a further file"));
        }
        for file in &options.tune {
            let tuned = split::split(&option_files::tuned(file)?)?;
            if let Some(word) = tuned.command.first() {
                let (file, word) = (file.display(), word.display());
                return Err(Refusal::usage(format!("--tune {file}: `{word}` is no option")));
            }
            self.common.splice(0..0, tuned.options);
        }
        let Some(file) = &options.configfile else {
            self.parts.push(part);
            return Ok(());
        };
        if let Some(program) = part.command.first() {
            let program = program.display();
            return Err(Refusal::usage(format!("--configfile names the programs, so {program} is one too many")));
        }
        self.common.append(&mut part.options);
        for words in option_files::programs(file)? {
            for words in words.split(|word| word == ":") {
                self.add(split::split(words)?, false)?;
            }
        }
        Ok(())
    }

    /// What `--pset` says of each program.
    pub fn process_sets(&self) -> Result<Vec<Vec<String>>, Refusal> {
        self.parts.iter().map(|part| Ok(read(&part.options)?.pset)).collect()
    }

    /// The programs; `whole` are the options of all together.
    pub fn apps(&self, whole: &Options, counts: &Counts, notes: &mut Vec<String>) -> Result<Vec<App>, Refusal> {
        let app = |part: &Part| {
            let own = read(self.common.iter().chain(&part.options))?;
            let ranks = match own.np.as_deref() {
                Some(text) => values::ranks(text)?,
                None if self.parts.len() > 1 => 1,
                None => counts.default.clamp(1, JOB_MAX),
            };
            let environment = Environment::new(whole, &own, notes)?;
            Ok(App { ranks, wdir: own.wdir, path: own.path, environment, command: part.command.clone() })
        };
        self.parts.iter().map(app).collect()
    }
}

/// Prints the help; with topic `all` also the options of other launchers, with another one the options that have it in their
/// names.
fn help(topic: &str) -> Refusal {
    let about = topic.trim_start_matches('-');
    let mut text = match about {
        "" | "all" | "full" => options::command().render_long_help().to_string(),
        _ => options_about(about)
            .unwrap_or_else(|| format!("No option has `{about}` in its name; mpirun --help lists all, and --help all those of other launchers.\n")),
    };
    if ["all", "full"].contains(&about) {
        text += "\n\nOptions of other launchers, and what is done with them:\n";
        text += &foreign::help(|_| true);
    }
    refusal::print(&text).err().unwrap_or_else(Refusal::nothing_to_do)
}

/// The help of the options that have this in their names.
fn options_about(topic: &str) -> Option<String> {
    let mut some = false;
    let command = options::command().mut_args(|option| {
        let named =
            option.get_long_and_visible_aliases().is_some_and(|names| names.iter().any(|name| name.contains(topic)));
        some |= named;
        option.hide(!named)
    });
    let command = command.about(None).long_about(None).after_help(None).help_template("{options}");
    let command = command.disable_help_flag(true).disable_version_flag(true);
    let own = if some { command.clone().render_long_help().to_string() } else { String::new() };
    let theirs = foreign::help(|name| name.contains(topic));
    let between = if theirs.is_empty() { "" } else { "\nOptions of other launchers:\n" };
    (some || !theirs.is_empty()).then(|| format!("{own}{between}{theirs}"))
}
