//! Access modes of files. MPI 5.0 §14.2.1.

use crate::error::{Class, Fault, Result};
use alloc::format;

/// An access mode that was checked: the bits of MPI_MODE_*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amode(i32);

/// MPI_MODE_APPEND.
const APPEND: i32 = 1;
/// MPI_MODE_CREATE.
const CREATE: i32 = 2;
/// MPI_MODE_DELETE_ON_CLOSE.
const DELETE_ON_CLOSE: i32 = 4;
/// MPI_MODE_EXCL.
const EXCL: i32 = 8;
/// MPI_MODE_RDONLY.
const RDONLY: i32 = 16;
/// MPI_MODE_RDWR.
const RDWR: i32 = 32;
/// MPI_MODE_SEQUENTIAL.
const SEQUENTIAL: i32 = 64;
/// MPI_MODE_UNIQUE_OPEN.
const UNIQUE_OPEN: i32 = 128;
/// MPI_MODE_WRONLY.
const WRONLY: i32 = 256;

const ALL: i32 = APPEND | CREATE | DELETE_ON_CLOSE | EXCL | RDONLY | RDWR | SEQUENTIAL | UNIQUE_OPEN | WRONLY;

impl Amode {
    /// Refuses what the standard does.
    pub fn new(bits: i32) -> Result<Amode> {
        let has = |bit| bits & bit != 0;
        let accesses = [RDONLY, RDWR, WRONLY].into_iter().filter(|bit| has(*bit)).count();
        let why = match accesses {
            _ if bits & !ALL != 0 => format!("{:#x} is no MPI_MODE_ constant", bits & !ALL),
            1 if has(RDONLY) && (has(CREATE) || has(EXCL)) => {
                "MPI_MODE_RDONLY does not go with MPI_MODE_CREATE or MPI_MODE_EXCL".into()
            }
            1 if has(RDWR) && has(SEQUENTIAL) => "MPI_MODE_RDWR does not go with MPI_MODE_SEQUENTIAL".into(),
            1 => return Ok(Amode(bits)),
            0 => "one of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY is missing".into(),
            _ => "of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY there can be just one".into(),
        };
        Err(Fault::new(Class::Amode).argument("amode").because(why))
    }

    /// As C has it.
    pub fn bits(self) -> i32 {
        self.0
    }

    /// Whether the file may be read.
    pub fn reads(self) -> bool {
        self.0 & WRONLY == 0
    }

    /// Whether the file may be written.
    pub fn writes(self) -> bool {
        self.0 & RDONLY == 0
    }

    /// Whether the file is made if it is not there.
    pub fn creates(self) -> bool {
        self.0 & CREATE != 0
    }

    /// Whether it must not be there.
    pub fn is_exclusive(self) -> bool {
        self.0 & EXCL != 0
    }

    /// Whether only the shared file pointer may be used.
    pub fn is_sequential(self) -> bool {
        self.0 & SEQUENTIAL != 0
    }

    /// Whether the file goes when it is closed.
    pub fn deletes(self) -> bool {
        self.0 & DELETE_ON_CLOSE != 0
    }

    /// Whether nobody opens the file elsewhere while it is open.
    pub fn is_unique(self) -> bool {
        self.0 & UNIQUE_OPEN != 0
    }

    /// Whether all file pointers begin at the end.
    pub fn appends(self) -> bool {
        self.0 & APPEND != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_access_and_what_goes_with_it() {
        for bits in [RDONLY, RDWR, WRONLY | SEQUENTIAL, RDWR | CREATE | EXCL | APPEND | DELETE_ON_CLOSE | UNIQUE_OPEN] {
            assert_eq!(Amode::new(bits).map(Amode::bits).ok(), Some(bits));
        }
        for bits in [0, CREATE, RDONLY | RDWR, RDONLY | CREATE, RDONLY | EXCL, RDWR | SEQUENTIAL, RDWR | 512, -1] {
            assert_eq!(Amode::new(bits).unwrap_err().get(), Class::Amode as i32, "{bits:#x}");
        }
    }
}
