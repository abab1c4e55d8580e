//! `--preload-binary` and `--preload-files`: what mpirun reads for other hosts, and what a daemon makes of it.
//!
//! A program stays in the memory of the daemon. A file is written where it is missing, and removed at the end.

use crate::cli::Job;
use crate::prepare;
use crate::refusal::Refusal;
use orte_core::oob::orders::{Content, Preloaded};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::MemfdFlags;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is copied.
pub struct Copies {
    /// Of each program, if they are copied.
    pub programs: Vec<Option<Content>>,
    /// The files.
    pub files: Vec<Preloaded>,
}

/// Reads what the other hosts of a job get.
pub fn read(job: &Job) -> Result<Copies, Refusal> {
    let mut left = MOST;
    let mut programs = vec![None; job.apps.len()];
    if job.preload_binary {
        for (program, executable) in programs.iter_mut().zip(prepare::apps(&job.apps, std::env::var_os("PATH"))?) {
            *program = Some(content("--preload-binary", Path::new(&executable.path), &mut left)?);
        }
    }
    let mut files = Vec::new();
    for path in &job.preload_files {
        let content = content("--preload-files", path, &mut left)?;
        let mode = std::fs::metadata(path).map_or(0o600, |data| data.permissions().mode() & 0o777);
        files.push(Preloaded { path: path.as_os_str().as_bytes().to_vec(), mode, content });
    }
    Ok(Copies { programs, files })
}

fn content(option: &str, path: &Path, left: &mut u64) -> Result<Content, Refusal> {
    let failed = |error: std::io::Error| Refusal::usage(format!("{option}: {}: {error}", path.display()));
    let data = std::fs::metadata(path).map_err(failed)?;
    if !data.is_file() {
        return Err(Refusal::usage(format!("{option}: {} is no regular file", path.display())));
    }
    *left = left.checked_sub(data.len()).ok_or_else(|| {
        let most = MOST >> 20;
        Refusal::usage(format!(
            "{option}: with {} more than {most} MiB are to be copied; use a file system of all hosts",
            path.display()
        ))
    })?;
    std::fs::read(path).map(Arc::new).map_err(failed)
}

/// A program that a daemon was sent. It can be executed as long as this is held.
pub struct Program {
    file: OwnedFd,
}

impl Program {
    /// In memory: no file system has to allow it, and nothing is left.
    pub fn new(name: &str, content: &[u8]) -> Result<Program, Refusal> {
        let failed = |error: &dyn std::fmt::Display| Refusal::system("keeping a program that mpirun sent", error);
        let file = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC).map_err(|errno| failed(&errno))?;
        let mut file = std::fs::File::from(file);
        file.write_all(content).map_err(|error| failed(&error))?;
        // A file that is open for writing cannot be executed.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, rustix::fs::Mode::empty()).map_err(|errno| failed(&errno))?;
        Ok(Program { file })
    }

    /// What the keeper executes: a name of this process's descriptor, which scripts can be read through, too.
    pub fn path(&self) -> OsString {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()).into()
    }
}

/// Files that a daemon wrote; they are removed when this is dropped.
#[derive(Default)]
pub struct Written(Vec<PathBuf>);

impl Written {
    /// Writes those that are missing. One that is there must be the same.
    pub fn add(&mut self, file: &Preloaded) -> Result<(), Refusal> {
        let path = PathBuf::from(OsString::from_vec(file.path.clone()));
        let failed = |error: std::io::Error| Refusal::usage(format!("--preload-files: {}: {error}", path.display()));
        let mut options = std::fs::OpenOptions::new();
        match options.write(true).create_new(true).mode(file.mode).open(&path) {
            Ok(mut made) => {
                self.0.push(path.clone());
                made.write_all(&file.content).map_err(failed)
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                match std::fs::read(&path).is_ok_and(|there| there == **file.content) {
                    true => Ok(()),
                    false => Err(Refusal::usage(format!(
                        "--preload-files: {} is there already, and is another one; remove it",
                        path.display()
                    ))),
                }
            }
            Err(error) => Err(failed(error)),
        }
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        for path in &self.0 {
            // A rank may have removed it.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Orders of a host are one message.
const MOST: u64 = 32 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_in_memory_runs() {
        let program = Program::new("said", b"#!/bin/sh\necho it runs\n").unwrap();
        let output = std::process::Command::new(program.path()).output().unwrap();
        assert_eq!(output.stdout, b"it runs\n");
    }

    #[test]
    fn files_are_written_and_removed() {
        let path = std::env::temp_dir().join(format!("ompi-rs-preload-{}", std::process::id()));
        let file = |content: &[u8]| Preloaded {
            path: path.as_os_str().as_bytes().to_vec(),
            mode: 0o640,
            content: Arc::new(content.to_vec()),
        };
        let mut written = Written::default();
        written.add(&file(b"data")).unwrap();
        let mut other = Written::default();
        other.add(&file(b"data")).unwrap();
        assert!(other.add(&file(b"other")).unwrap_err().sentence.contains("is another one"));
        drop(other);
        assert_eq!(std::fs::read(&path).unwrap(), b"data");
        drop(written);
        assert!(!path.exists());
    }
}
