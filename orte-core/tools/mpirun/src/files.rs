//! What each rank writes, in files of its own: Open MPI's `--output-filename` and MPICH's `--outfile-pattern`.

use crate::cli::{Output, OutputFiles};
use crate::refusal::Refusal;
use crate::tag;
use std::fs::File;
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
            std::fs::create_dir_all(path.join("1"))
                .map_err(|error| Refusal::usage(format!("--output-filename {}: {error}", path.display())))?;
        }
        Ok(Some(files))
    }

    /// Makes the files of a rank, empty, where there are to be any: for standard output and error.
    pub fn create(&self, rank: u32, pid: u32) -> Result<[Option<File>; 2], Refusal> {
        let number = format!("{rank:0digits$}", digits = self.digits);
        let mut names = [None, None];
        if let Some(OutputFiles { path, is_directory, .. }) = &self.output.files {
            names = match is_directory {
                true => ["stdout", "stderr"].map(|name| Some(path.join("1").join(format!("rank.{number}")).join(name))),
                false => ["out", "err"].map(|end| Some(PathBuf::from(format!("{}.{number}.{end}", path.display())))),
            };
        }
        for (name, pattern) in names.iter_mut().zip(&self.output.instead) {
            if let Some(pattern) = pattern {
                *name = Some(tag::filled(pattern, rank, pid).into());
            }
        }
        let [output, error] = names;
        Ok([create(output)?, create(error)?])
    }
}

fn create(name: Option<PathBuf>) -> Result<Option<File>, Refusal> {
    let Some(name) = name else { return Ok(None) };
    let refuse = |error| Refusal::usage(format!("the file for output {}: {error}", name.display()));
    if let Some(folder) = name.parent().filter(|folder| *folder != Path::new("")) {
        std::fs::create_dir_all(folder).map_err(refuse)?;
    }
    File::create(&name).map(Some).map_err(refuse)
}
