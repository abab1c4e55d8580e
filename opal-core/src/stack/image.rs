//! A process as it is looked at: its memory and the files that are mapped there.

use crate::sys;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};

/// A process, through the system's files about it.
pub struct Process {
    memory: OwnedFd,
    maps: OwnedFd,
}

/// A file that is mapped as code.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// Where its beginning is mapped.
    pub base: u64,
    /// Its path.
    path: [u8; PATH_BYTES],
    length: usize,
}

impl Process {
    /// This process.
    pub fn own() -> Option<Process> {
        Process::open("/proc/self/mem", "/proc/self/maps")
    }

    /// From the paths of its `mem` and `maps`.
    pub fn open(memory: &str, maps: &str) -> Option<Process> {
        let open = |path| rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok();
        Some(Process { memory: open(memory)?, maps: open(maps)? })
    }

    /// Fills `bytes` from an address; false if not all of it is memory.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        let wanted = bytes.len();
        rustix::io::pread(&self.memory, bytes, address).is_ok_and(|read| read == wanted)
    }

    /// Eight bytes at an address.
    pub fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes).then(|| u64::from_le_bytes(bytes))
    }

    /// Four bytes at an address.
    pub fn half(&self, address: u64) -> Option<u32> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes).then(|| u32::from_le_bytes(bytes))
    }

    /// Two bytes at an address.
    pub fn quarter(&self, address: u64) -> Option<u16> {
        let mut bytes = [0; 2];
        self.read(address, &mut bytes).then(|| u16::from_le_bytes(bytes))
    }

    /// One byte at an address.
    pub fn byte(&self, address: u64) -> Option<u8> {
        let mut bytes = [0];
        self.read(address, &mut bytes).then_some(bytes[0])
    }

    /// The file whose code an address lies in.
    pub fn image(&self, address: u64) -> Option<Image> {
        // The first mapping of a file that stands before the address begins with the file.
        let mut candidate: Option<Image> = None;
        let mut found = None;
        self.each_line(|line| {
            let Some(mapping) = Mapping::parse(line) else { return true };
            if mapping.offset == 0 && !mapping.path.is_empty() {
                candidate = Image::new(mapping.start, mapping.path);
            }
            if !(mapping.start..mapping.end).contains(&address) {
                return true;
            }
            found = candidate.filter(|image| mapping.is_code && image.path() == mapping.path);
            false
        });
        found
    }

    /// Passes each line of `maps` until `take` returns false.
    fn each_line(&self, mut take: impl FnMut(&[u8]) -> bool) {
        let mut chunk = [0; 4096];
        let (mut offset, mut held) = (0, 0);
        loop {
            let read = match rustix::io::pread(&self.maps, &mut chunk[held..], offset) {
                Ok(read) if read > 0 => read,
                _ => return,
            };
            offset += read as u64;
            let filled = held + read;
            let mut begin = 0;
            while let Some(length) = chunk[begin..filled].iter().position(|byte| *byte == b'\n') {
                if !take(&chunk[begin..begin + length]) {
                    return;
                }
                begin += length + 1;
            }
            chunk.copy_within(begin..filled, 0);
            held = filled - begin;
            // A line that does not fit is given up.
            held = if held == chunk.len() { 0 } else { held };
        }
    }
}

impl Image {
    pub(super) fn new(base: u64, path: &[u8]) -> Option<Image> {
        let mut own = [0; PATH_BYTES];
        own.get_mut(..path.len())?.copy_from_slice(path);
        Some(Image { base, path: own, length: path.len() })
    }

    /// Its path, as the system names it.
    pub fn path(&self) -> &[u8] {
        &self.path[..self.length]
    }

    /// The last part of its path.
    pub fn name(&self) -> &str {
        let name = self.path().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        core::str::from_utf8(name).unwrap_or("?")
    }

    /// What is added to the addresses in the file.
    pub fn bias(&self, process: &Process) -> Option<u64> {
        let first = self.headers(process)?.find(|header| header.kind == LOAD)?;
        Some(self.base.wrapping_sub(first.address - first.address % sys::page_size() as u64))
    }

    /// Where its `.eh_frame_hdr` lies.
    pub fn unwind_table(&self, process: &Process) -> Option<u64> {
        let header = self.headers(process)?.find(|header| header.kind == EH_FRAME)?;
        Some(self.bias(process)?.wrapping_add(header.address))
    }

    fn headers<'a>(&self, process: &'a Process) -> Option<impl Iterator<Item = Header> + use<'a>> {
        let base = self.base;
        let (magic, class) = (process.half(base)?, process.byte(base + 4)?);
        if magic != u32::from_le_bytes(*b"\x7fELF") || class != 2 {
            return None;
        }
        let table = base.checked_add(process.word(base + 32)?)?;
        let (size, count) = (u64::from(process.quarter(base + 54)?), u64::from(process.quarter(base + 56)?));
        let header = move |index| {
            let at = table + index * size;
            Some(Header { kind: process.half(at)?, address: process.word(at + 16)? })
        };
        Some((0..count).map_while(header))
    }
}

/// What of a program header matters here.
struct Header {
    kind: u32,
    address: u64,
}

/// A line of `maps`: `start-end rwxp offset device inode path`.
struct Mapping<'a> {
    start: u64,
    end: u64,
    offset: u64,
    is_code: bool,
    path: &'a [u8],
}

impl Mapping<'_> {
    fn parse(line: &[u8]) -> Option<Mapping<'_>> {
        let mut fields = line.splitn(6, |byte| *byte == b' ');
        let mut range = fields.next()?.splitn(2, |byte| *byte == b'-');
        let (start, end) = (hexadecimal(range.next()?)?, hexadecimal(range.next()?)?);
        let is_code = fields.next()?.contains(&b'x');
        let offset = hexadecimal(fields.next()?)?;
        Some(Mapping { start, end, offset, is_code, path: fields.nth(2)?.trim_ascii_start() })
    }
}

fn hexadecimal(text: &[u8]) -> Option<u64> {
    u64::from_str_radix(core::str::from_utf8(text).ok()?, 16).ok()
}

const PATH_BYTES: usize = 512;
const LOAD: u32 = 1;
const EH_FRAME: u32 = 0x6474_e550;
