//! What a loader says of the machine: the boot line, and which memory there is.
//!
//! PVH (Xen's public/arch-x86/hvm/start_info.h) is what QEMU and other machine monitors speak; multiboot2 (Multiboot2
//! Specification 2.0, 3.6) is what GRUB speaks, from a disk or from the network. Both leave everything below 4 GiB, in
//! memory that counts as free: it is read before any of that memory is used.
//!
//! | structure | offset | bytes | what |
//! |---|---|---|---|
//! | PVH start info | 0 | 4 | magic |
//! | | 4 | 4 | version |
//! | | 24 | 8 | address of the boot line |
//! | | 40 | 8 | address of the memory map |
//! | | 48 | 4 | its entries |
//! | its entry | 0 | 8 | address |
//! | | 8 | 8 | bytes |
//! | | 16 | 4 | kind |
//! | multiboot2 tag | 0 | 4 | kind |
//! | | 4 | 4 | bytes, these eight included |
//! | memory map's tag | 8 | 4 | bytes of an entry, which has the fields above and perhaps more |
//! | | 12 | 4 | version of an entry |
#![allow(unsafe_code)]

use crate::memory::Range;
use core::ops;
use memoffset::span_of;

/// A loader's account, readable until memory is given out.
#[derive(Clone, Copy, Debug)]
pub enum Loader {
    /// A `hvm_start_info` and its table.
    Pvh(&'static StartInfo),
    /// The boot information's tags.
    Multiboot2(Tags<'static>),
}

/// Xen's `hvm_start_info`, version 1.
#[derive(Debug)]
#[repr(C)]
pub struct StartInfo {
    magic: u32,
    version: u32,
    flags: u32,
    modules: u32,
    module_list: u64,
    boot_line: u64,
    rsdp: u64,
    memory_map: u64,
    memory_entries: u32,
    reserved: u32,
}

/// A range in either memory map: Xen's `hvm_memmap_table_entry`, multiboot2's entry.
#[derive(Clone, Copy)]
#[repr(C)]
struct Entry {
    address: u64,
    bytes: u64,
    kind: u32,
    reserved: u32,
}

/// What a multiboot2 tag begins with.
#[repr(C)]
struct Tag {
    kind: u32,
    bytes: u32,
}

/// What the memory map's tag begins with.
#[repr(C)]
struct MapTag {
    tag: Tag,
    entry_bytes: u32,
    entry_version: u32,
}

impl Loader {
    /// How it boots.
    pub fn name(&self) -> &'static str {
        match self {
            Loader::Pvh(_) => "PVH",
            Loader::Multiboot2(_) => "multiboot2",
        }
    }

    /// What lies at the address that the entry points in `boot.rs` left, whose lowest bit stands for multiboot2. `Err`
    /// with half a sentence.
    ///
    /// # Safety
    /// The address is a loader's, in memory that is mapped where it is.
    pub unsafe fn new(left: u32) -> Result<Loader, &'static str> {
        if left & MULTIBOOT2 != 0 {
            let at = (left & !MULTIBOOT2) as usize as *const u8;
            // SAFETY: the loader's structure, as the caller says, which begins with its length.
            let bytes = unsafe { at.cast::<u32>().read() } as usize;
            if !(TAGS..=INFORMATION_MAX).contains(&bytes) {
                return Err("the loader's multiboot2 information has no sensible length");
            }
            // SAFETY: so long it says that it is.
            return Ok(Loader::Multiboot2(Tags::new(unsafe { core::slice::from_raw_parts(at, bytes) })));
        }
        // SAFETY: the loader's structure, as the caller says.
        let info = unsafe { &*(left as usize as *const StartInfo) };
        match (info.magic, info.version) {
            (MAGIC, 1..) if info.memory_map != 0 => Ok(Loader::Pvh(info)),
            (MAGIC, _) => Err("the loader does not say where memory is (PVH start info without a memory map)"),
            _ => {
                Err("the loader left neither PVH start info nor multiboot2 information; boot this image with one that \
                      knows PVH or multiboot2")
            }
        }
    }

    /// The boot line, without the 0 at its end; `None` if it is longer than `most` bytes.
    pub fn line(&self, most: usize) -> Option<&'static [u8]> {
        match self {
            Loader::Pvh(info) if info.boot_line == 0 => Some(&[]),
            Loader::Pvh(info) => {
                let at = info.boot_line as usize as *const u8;
                // SAFETY: the loader's string, which ends with a 0; nothing is read behind it.
                let length = (0..=most).find(|offset| unsafe { at.wrapping_add(*offset).read() } == 0)?;
                // SAFETY: those bytes were just read.
                Some(unsafe { core::slice::from_raw_parts(at, length) })
            }
            Loader::Multiboot2(tags) => Some(tags.line()).filter(|line| line.len() <= most),
        }
    }

    /// The memory around an address, below 4 GiB.
    pub fn memory_around(&self, address: u64) -> Option<Range> {
        match self {
            Loader::Pvh(info) => (0..info.memory_entries as usize).find_map(|index| {
                let table = info.memory_map as usize as *const Entry;
                // SAFETY: the loader's table has so many entries of this kind.
                let entry = unsafe { table.wrapping_add(index).read() };
                around(entry.address, entry.bytes, entry.kind, address)
            }),
            Loader::Multiboot2(tags) => tags.memory_around(address),
        }
    }
}

/// Multiboot2's boot information: a length, then tags.
#[derive(Clone, Copy, Debug)]
pub struct Tags<'a>(&'a [u8]);

impl<'a> Tags<'a> {
    /// All of the information, its length included. Nothing below panics or reads beyond it, whatever it holds.
    pub fn new(information: &'a [u8]) -> Tags<'a> {
        Tags(information)
    }

    /// The boot line; empty if there is none.
    pub fn line(&self) -> &'a [u8] {
        let text = self.tag(LINE).and_then(|tag| tag.get(size_of::<Tag>()..)).unwrap_or(&[]);
        text.split(|byte| *byte == 0).next().unwrap_or(&[])
    }

    /// The memory around an address, below 4 GiB.
    pub fn memory_around(&self, address: u64) -> Option<Range> {
        let map = self.tag(MEMORY)?;
        let stride = u32::from_le_bytes(field(map, span_of!(MapTag, entry_bytes))?) as usize;
        if stride < span_of!(Entry, ..=kind).len() {
            return None;
        }
        map.get(size_of::<MapTag>()..)?.chunks_exact(stride).find_map(|entry| {
            let long = |span| Some(u64::from_le_bytes(field(entry, span)?));
            let kind = u32::from_le_bytes(field(entry, span_of!(Entry, kind))?);
            around(long(span_of!(Entry, address))?, long(span_of!(Entry, bytes))?, kind, address)
        })
    }

    /// The first tag of a kind.
    fn tag(&self, kind: u32) -> Option<&'a [u8]> {
        let mut rest = self.0.get(TAGS..)?;
        loop {
            let found = u32::from_le_bytes(field(rest, span_of!(Tag, kind))?);
            let bytes = u32::from_le_bytes(field(rest, span_of!(Tag, bytes))?) as usize;
            if found == kind {
                return rest.get(..bytes);
            }
            if found == END || bytes < size_of::<Tag>() {
                return None;
            }
            rest = rest.get(bytes.checked_next_multiple_of(8)?..)?;
        }
    }
}

fn field<const N: usize>(bytes: &[u8], span: ops::Range<usize>) -> Option<[u8; N]> {
    bytes.get(span)?.try_into().ok()
}

/// A range of a memory map, if it is memory and the address lies in it.
fn around(start: u64, bytes: u64, kind: u32, address: u64) -> Option<Range> {
    let end = start.saturating_add(bytes).min(4 << 30);
    (kind == RAM && start <= address && address < end).then_some(Range { start, end })
}

/// What `boot.rs` adds to the address of multiboot2 information.
const MULTIBOOT2: u32 = 1;
const MAGIC: u32 = 0x336e_c578;
/// Available memory, in both maps.
const RAM: u32 = 1;
/// Kinds of tags.
const END: u32 = 0;
const LINE: u32 = 1;
const MEMORY: u32 = 6;
/// Where tags begin.
const TAGS: usize = 8;
/// GRUB's information is a few KiB.
const INFORMATION_MAX: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn tag(kind: u32, content: &[u8]) -> Vec<u8> {
        let mut tag: Vec<u8> = [kind.to_le_bytes(), (8 + content.len() as u32).to_le_bytes()].concat();
        tag.extend_from_slice(content);
        tag.resize(tag.len().next_multiple_of(8), 0xee);
        tag
    }

    fn information() -> Vec<u8> {
        let entry = |start: u64, bytes: u64, kind: u64| [start, bytes, kind].map(u64::to_le_bytes).concat();
        let map = [
            [24u32.to_le_bytes(), 0u32.to_le_bytes()].concat(),
            entry(0, 0x9_fc00, 1),
            entry(0x10_0000, 0x70_0000, 1),
            entry(0x80_0000, 0x10_0000, 2),
            entry(0x1000_0000, 1 << 40, 1),
        ];
        let tags = [tag(2, b"GRUB\0"), tag(LINE, b"rank=0 size=1\0"), tag(MEMORY, &map.concat()), tag(END, b"")];
        let tags = tags.concat();
        [(8 + tags.len() as u32).to_le_bytes(), [0; 4]].concat().into_iter().chain(tags).collect()
    }

    #[test]
    fn fields_lie_where_the_table_says() {
        let start_info = [
            span_of!(StartInfo, magic),
            span_of!(StartInfo, version),
            span_of!(StartInfo, boot_line),
            span_of!(StartInfo, memory_map),
            span_of!(StartInfo, memory_entries),
            span_of!(StartInfo, ..),
        ];
        assert_eq!(start_info, [0..4, 4..8, 24..32, 40..48, 48..52, 0..56]);
        let entry = [span_of!(Entry, address), span_of!(Entry, bytes), span_of!(Entry, kind), span_of!(Entry, ..)];
        assert_eq!(entry, [0..8, 8..16, 16..20, 0..24]);
        assert_eq!((span_of!(Tag, kind), span_of!(Tag, bytes)), (0..4, 4..8));
        assert_eq!((span_of!(MapTag, entry_bytes), span_of!(MapTag, ..)), (8..12, 0..16));
    }

    #[test]
    fn tags_are_read() {
        let information = information();
        let tags = Tags::new(&information);
        assert_eq!(tags.line(), b"rank=0 size=1");
        assert_eq!(tags.memory_around(0x20_0000), Some(Range { start: 0x10_0000, end: 0x80_0000 }));
        assert_eq!(tags.memory_around(0x80_0000), None, "it is reserved");
        assert_eq!(tags.memory_around(0x2000_0000), Some(Range { start: 0x1000_0000, end: 4 << 30 }));
    }

    #[test]
    fn garbage_is_no_memory() {
        let whole = information();
        for length in 0..whole.len() {
            let tags = Tags::new(&whole[..length]);
            assert!(tags.line().len() <= 13);
            tags.memory_around(0x20_0000);
        }
        // A length that would never end the list, one that leads beyond it, and a stride that is none.
        for (at, value) in [(12, 0u32), (12, u32::MAX), (52, 0)] {
            let mut broken = whole.clone();
            broken[at..at + 4].copy_from_slice(&value.to_le_bytes());
            assert_eq!(Tags::new(&broken).memory_around(0x20_0000), None, "{at}");
        }
    }
}
