//! Files of each rank's output: Open MPI's `--output-filename` and MPICH's `--outfile-pattern`.

use crate::cli::{Output, OutputFiles};
use crate::refusal::Refusal;
use crate::tag;
use opal_core::sys;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::OFlags;
use std::fmt::Display;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The files of a job.
#[derive(Debug)]
pub struct Files {
    output: Output,
    /// Of the number of ranks: all names have as many.
    digits: usize,
}

impl Files {
    /// Makes the directory that all ranks share; `None` if no files were asked for.
    pub fn new(output: &Output, ranks: u32) -> Result<Option<Files>, Refusal> {
        if output.files.is_none() && output.instead.iter().all(Option::is_none) {
            return Ok(None);
        }
        let files = Files { output: output.clone(), digits: ranks.to_string().len() };
        if let Some(OutputFiles { path, is_directory: true, .. }) = &output.files {
            std::fs::create_dir_all(path.join(output.job.to_string()))
                .map_err(|error| Refusal::usage(format!("--output-filename {}: {error}", path.display())))?;
        }
        Ok(Some(files))
    }

    /// Makes the files of a rank, empty, where there are to be any: for standard output and error.
    pub fn create(&self, rank: u32, pid: u32, host: &str) -> Result<[Option<File>; 2], Refusal> {
        let number = format!("{rank:0digits$}", digits = self.digits);
        let mut names = [None, None];
        let job = self.output.job.to_string();
        if let Some(OutputFiles { path, is_directory, .. }) = &self.output.files {
            names = match is_directory {
                true => {
                    ["stdout", "stderr"].map(|name| Some(path.join(&job).join(format!("rank.{number}")).join(name)))
                }
                false if self.output.job == 1 => {
                    ["out", "err"].map(|end| Some(PathBuf::from(format!("{}.{number}.{end}", path.display()))))
                }
                false => {
                    ["out", "err"].map(|end| Some(PathBuf::from(format!("{}.{job}.{number}.{end}", path.display()))))
                }
            };
        }
        for (name, pattern) in names.iter_mut().zip(&self.output.instead) {
            if let Some(pattern) = pattern {
                *name = Some(tag::filled(self.output.job, pattern, rank, pid, host).into());
            }
        }
        let [output, error] = names;
        Ok([self.create_one(output)?, self.create_one(error)?])
    }

    fn create_one(&self, name: Option<PathBuf>) -> Result<Option<File>, Refusal> {
        let Some(name) = name else { return Ok(None) };
        let refuse = |error: &dyn Display| Refusal::usage(format!("the file for output {}: {error}", name.display()));
        // Of the user's own folders links are followed; of those that mpirun makes there, none is.
        let own = self.output.files.iter().filter(|files| files.is_directory).map(|files| files.path.as_path());
        let outer = own.chain(name.parent()).find(|outer| name.starts_with(outer)).unwrap_or(Path::new(""));
        let outer = if outer == Path::new("") { Path::new(".") } else { outer };
        std::fs::create_dir_all(outer).map_err(|error| refuse(&error))?;
        let mut folder: OwnedFd = File::open(outer).map_err(|error| refuse(&error))?.into();
        let inner = name.strip_prefix(outer).unwrap_or(&name);
        for part in inner.parent().into_iter().flat_map(Path::components) {
            folder = sys::folder_trusted_in(folder.as_fd(), part.as_os_str().as_bytes()).map_err(|why| refuse(&why))?;
        }
        let last = name.file_name().unwrap_or_default().as_bytes();
        let file = sys::create_trusted_in(folder.as_fd(), last, 0o666, OFlags::WRONLY).map_err(|why| refuse(&why))?;
        let file = File::from(file);
        let is_regular = file.metadata().is_ok_and(|data| data.is_file());
        if is_regular {
            file.set_len(0).map_err(|error| refuse(&error))?;
        } else {
            let flags = rustix::fs::fcntl_getfl(&file).map_err(|errno| refuse(&errno))?;
            rustix::fs::fcntl_setfl(&file, flags | OFlags::NONBLOCK).map_err(|errno| refuse(&errno))?;
        }
        Ok(Some(file))
    }
}
