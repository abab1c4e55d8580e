//! A file of a rank's output. It may be a terminal that somebody has stopped: that stops the rank, and never mpirun.

use std::fs::File;
use std::io::{ErrorKind, Result, Write};

/// One of them.
#[derive(Debug)]
pub struct OutputFile {
    /// It does not block.
    pub file: File,
    rank: u32,
    /// What it did not take yet: only terminals and the like take less than is written.
    waiting: Vec<u8>,
    /// It could not be written.
    pub is_lost: bool,
}

impl OutputFile {
    /// For the output of this rank.
    pub fn new(file: File, rank: u32) -> OutputFile {
        OutputFile { file, rank, waiting: Vec::new(), is_lost: false }
    }

    /// Writes what there is room for, and keeps the rest.
    pub fn write(&mut self, bytes: &[u8]) {
        if !self.is_lost {
            self.waiting.extend_from_slice(bytes);
            self.flush();
        }
    }

    /// Writes what there is room for now.
    pub fn flush(&mut self) {
        match self.put() {
            Ok(written) => _ = self.waiting.drain(..written),
            Err(error) => {
                crate::refusal::say(&format!(
                    "the file of rank {} cannot be written: {error}; it stays incomplete",
                    self.rank
                ));
                self.is_lost = true;
                self.waiting.clear();
            }
        }
    }

    /// Nothing waits.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    /// So much waits that the rank has to.
    pub fn is_full(&self) -> bool {
        self.waiting.len() > FULL
    }

    fn put(&self) -> Result<usize> {
        let mut rest = &self.waiting[..];
        while !rest.is_empty() {
            match (&self.file).write(rest) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.waiting.len() - rest.len())
    }
}

/// The rank is not read while this much waits.
const FULL: usize = 256 << 10;
