//! `--output-filename`: what each rank writes, in files of its own, in Open MPI's layout: `DIR/1/rank.N/stdout` and
//! `stderr`, where `N` has as many digits as the number of ranks.

use crate::refusal::Refusal;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The directory of a job.
#[derive(Debug)]
pub struct Files {
    directory: PathBuf,
    digits: usize,
}

impl Files {
    /// Makes `directory/1`.
    pub fn new(directory: &Path, ranks: u32) -> Result<Files, Refusal> {
        let files = Files { directory: directory.join("1"), digits: ranks.to_string().len() };
        std::fs::create_dir_all(&files.directory)
            .map_err(|error| Refusal::usage(format!("--output-filename {}: {error}", directory.display())))?;
        Ok(files)
    }

    /// Makes the files of a rank, empty: for standard output and error.
    pub fn create(&self, rank: u32) -> Result<[File; 2], Refusal> {
        let folder = self.directory.join(format!("rank.{rank:0digits$}", digits = self.digits));
        let refuse = |error| Refusal::usage(format!("--output-filename: {}: {error}", folder.display()));
        std::fs::create_dir_all(&folder).map_err(refuse)?;
        let file = |name| File::create(folder.join(name)).map_err(refuse);
        Ok([file("stdout")?, file("stderr")?])
    }
}
