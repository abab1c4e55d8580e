//! Preparations before the keeper starts: programs found, the ranks' environment, descriptors.

use crate::cli::{App, Job, PROCESS_SETS};
use crate::orders::Executable;
use crate::program;
use crate::refusal::Refusal;
use opal_core::mca::source;
use opal_core::sys;
use rustix::fs::OFlags;
use rustix::process::{Resource, Rlimit};
use std::ffi::OsString;
use std::fmt::Display;
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Looks for every program of a job where it will be started; `path` is the PATH of the ranks that begin with this host's
/// variables.
pub fn apps(apps: &[App], path: Option<OsString>) -> Result<Vec<Executable>, Refusal> {
    apps.iter().map(|one| app(one, path.clone())).collect()
}

/// Looks for the programs that run on this host; on others their daemons do.
pub fn all_apps(job: &Job) -> Result<Vec<Executable>, Refusal> {
    let runs_here = |app: usize| {
        let of_app = |rank: &usize| job.app_of(*rank as u32) == app;
        (0..job.nodes.len()).filter(of_app).any(|rank| job.nodes[rank] == 0)
    };
    let path = std::env::var_os("PATH");
    let found = job.apps.iter().enumerate().map(|(index, app)| match runs_here(index) {
        true => Ok(apps(std::slice::from_ref(app), path.clone())?.remove(0)),
        false => Ok(elsewhere(app)),
    });
    found.collect()
}

/// A program that runs on other hosts only, and may be there only.
fn elsewhere(app: &App) -> Executable {
    Executable {
        ranks: app.ranks,
        path: app.command[0].clone(),
        directory: OsString::new(),
        environment: app.environment.clone(),
        arguments: app.command.clone(),
    }
}

/// A program that is executed from this file, wherever it lies on other hosts.
pub fn preloaded(app: &App, file: OsString) -> Result<Executable, Refusal> {
    Ok(Executable { path: file, directory: directory(app)?.into(), ..elsewhere(app) })
}

fn app(app: &App, path: Option<OsString>) -> Result<Executable, Refusal> {
    let directory = directory(app)?;
    let path = program::find(&app.command[0], search(app, path), &directory)?;
    Ok(Executable { path: path.into(), directory: directory.into(), ..elsewhere(app) })
}

/// Where an app's ranks run; empty: in the current directory.
fn directory(app: &App) -> Result<PathBuf, Refusal> {
    let Some(wdir) = &app.wdir else { return Ok(PathBuf::new()) };
    let refuse = |error: std::io::Error| Refusal::usage(format!("--wdir {}: {error}", wdir.display()));
    let directory = std::path::absolute(wdir).map_err(refuse)?;
    let inside = rustix::fs::access(directory.join("."), rustix::fs::Access::EXEC_OK);
    inside.map_err(|errno| refuse(errno.into()))?;
    Ok(directory)
}

/// Where to look for a program: `--path`, then the PATH that its ranks get.
fn search(app: &App, path: Option<OsString>) -> Option<OsString> {
    let own = app.environment.value("PATH").map(OsString::from);
    let search = own.or(path);
    match (&app.path, search) {
        (Some(path), Some(search)) => {
            let mut both = path.clone();
            both.push(":");
            both.push(search);
            Some(both)
        }
        (path, search) => path.clone().or(search),
    }
}

/// What the ranks get beyond mpirun's own environment; the keeper adds what differs from rank to rank.
pub fn environment(job: &Job) -> Vec<(OsString, OsString)> {
    environment_of(job.mca.iter())
}

/// The same for further jobs: what names ranks of this one means nothing there.
pub fn environment_of_jobs(job: &Job) -> Vec<(OsString, OsString)> {
    environment_of(job.mca.iter().filter(|(name, _)| name != PROCESS_SETS))
}

fn environment_of<'a>(mca: impl Iterator<Item = &'a (String, String)> + Clone) -> Vec<(OsString, OsString)> {
    let mut pairs: Vec<(OsString, OsString)> = Vec::new();
    for (name, value) in mca.clone() {
        pairs.push((format!("{}{name}", source::PREFIX).into(), value.into()));
    }
    let names: Vec<&str> = mca.map(|(name, _)| name.as_str()).collect();
    pairs.push((source::COMMAND_LINE.into(), names.join(",").into()));
    pairs.extend(library_variables());
    pairs
}

/// What leads programs to the library.
pub fn library_variables() -> Vec<(OsString, OsString)> {
    library_path(std::env::var_os(LIBRARY_PATH)).map(|path| (LIBRARY_PATH.into(), path)).into_iter().collect()
}

/// The library beside this mpirun behind all others: for programs whose run path leads nowhere since the installation was
/// moved, and for those made for another MPI with the standard ABI.
pub fn library_path(path: Option<OsString>) -> Option<OsString> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?.parent()?.join("lib");
    if !folder.join("libmpi_abi.so.1").exists() {
        return None;
    }
    let path = path.filter(|path| !path.is_empty());
    let folders = path.iter().flat_map(|path| std::env::split_paths(path)).chain([folder]);
    // A folder with a colon in its name cannot stand in the variable.
    std::env::join_paths(folders).ok()
}

/// Where the loader looks for libraries.
pub const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// Two descriptors per rank may be more than the usual limit. Returns the user's limit, which the ranks get.
pub fn raise_descriptor_limit() -> Rlimit {
    let files = rustix::process::getrlimit(Resource::Nofile);
    // Refused only above the hard limit; then a large job says so when it runs out.
    let _ = rustix::process::setrlimit(Resource::Nofile, Rlimit { current: files.maximum, maximum: files.maximum });
    files
}

/// `--report-pid`.
pub fn report_pid(place: &Path) -> Result<(), Refusal> {
    let line = format!("{}\n", std::process::id());
    match place.to_str() {
        Some("-") => crate::refusal::print(&line),
        Some("+") => {
            sys::write_stderr(line.as_bytes());
            Ok(())
        }
        _ => {
            let refuse = |error: &dyn Display| Refusal::usage(format!("--report-pid {}: {error}", place.display()));
            let file = sys::create_trusted(place.as_os_str().as_bytes(), 0o666, OFlags::WRONLY);
            written(file.map_err(|why| refuse(&why))?.into(), &line).map_err(|error| refuse(&error))
        }
    }
}

/// Writes a text in the place of what a file holds.
fn written(mut file: File, text: &str) -> std::io::Result<()> {
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    file.write_all(text.as_bytes())
}
