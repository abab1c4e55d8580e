//! The name of the function that holds an address, from the symbols of its file.

use super::image::{Image, Process};
use core::fmt;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};

/// A name and how far behind its beginning the address is.
#[derive(Clone, Copy, Debug)]
pub struct Name {
    text: [u8; NAME_BYTES],
    length: usize,
    /// Bytes behind its beginning.
    pub offset: u64,
}

impl Name {
    /// The name as the file has it, cut if it is long.
    pub fn text(&self) -> &str {
        core::str::from_utf8(&self.text[..self.length]).unwrap_or("?")
    }

    /// Looks it up; `None` if the file has no symbols there.
    pub fn find(process: &Process, image: &Image, address: u64) -> Option<Name> {
        let wanted = address.wrapping_sub(image.bias(process)?);
        let mut path = [0; 513];
        path.get_mut(..image.path().len())?.copy_from_slice(image.path());
        let path = core::ffi::CStr::from_bytes_until_nul(&path).ok()?;
        // Something else may have that name by now: a pipe, which blocks the process that opens it.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File(rustix::fs::open(path, flags, Mode::empty()).ok()?);
        let sections = file.number::<8>(40)?;
        let (size, count) = (file.number::<2>(58)?, file.number::<2>(60)?);
        let kinds = [SYMTAB, DYNSYM];
        kinds.into_iter().find_map(|kind| {
            let section = |index: u64| sections + index * size;
            let table = (0..count).map(section).find(|at| file.number::<4>(at + 4) == Some(kind))?;
            let names = file.number::<8>(section(file.number::<4>(table + 40)?) + 24)?;
            file.nearest(file.number::<8>(table + 24)?, file.number::<8>(table + 32)?, names, wanted)
        })
    }
}

/// A Rust function's path as Rust writes it, without the hash that the compiler adds; any other name as the file has it.
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", rustc_demangle::demangle(self.text()))
    }
}

struct File(OwnedFd);

impl File {
    fn number<const N: usize>(&self, at: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        let read = rustix::io::pread(&self.0, &mut bytes[..N], at).ok()?;
        (read == N).then(|| u64::from_le_bytes(bytes))
    }

    /// The function around an address in a table of symbols. Of several names MPI's own is taken: `MPI_Send` is
    /// `PMPI_Send`, too.
    fn nearest(&self, table: u64, bytes: u64, names: u64, wanted: u64) -> Option<Name> {
        let mut best: Option<(u64, u64)> = None;
        let mut chunk = [0; 24 * 128];
        let mut at = 0;
        // What a file says of its length may be anything.
        let bytes = bytes.min(TABLE_BYTES);
        while at < bytes {
            let room = chunk.len().min((bytes - at) as usize);
            let read = rustix::io::pread(&self.0, &mut chunk[..room], table + at).ok().filter(|read| *read >= 24)?;
            for symbol in chunk[..read - read % 24].chunks_exact(24) {
                let number = |range: core::ops::Range<usize>| {
                    symbol[range].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
                };
                let (name, kind, value, size) = (number(0..4), symbol[4] & 0xf, number(8..16), number(16..24));
                if kind != FUNCTION || wanted < value || wanted - value >= size.max(1) {
                    continue;
                }
                if best.is_none_or(|(_, name)| !self.is_mpi(names + name)) {
                    best = Some((value, name));
                }
            }
            at += (read - read % 24) as u64;
        }
        let (value, name) = best?;
        let mut text = [0; NAME_BYTES];
        let read = rustix::io::pread(&self.0, &mut text, names + name).ok()?;
        let length = text[..read].iter().position(|byte| *byte == 0).unwrap_or(read);
        Some(Name { text, length, offset: wanted - value })
    }

    fn is_mpi(&self, name: u64) -> bool {
        self.number::<4>(name) == Some(u64::from(u32::from_le_bytes(*b"MPI_")))
    }
}

const SYMTAB: u64 = 2;
const DYNSYM: u64 = 11;
const FUNCTION: u8 = 2;
/// With generic arguments Rust's are long.
const NAME_BYTES: usize = 1024;
/// Of 40 million symbols.
const TABLE_BYTES: u64 = 1 << 30;
