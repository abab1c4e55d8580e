//! Copies of this library in one process: a program that holds the archive loads a plug-in that holds another one.
//!
//! Each copy has state of its own, so a plug-in's copy knows nothing of the program's MPI_Init. The list of the process's
//! mappings shows the memory files of all copies by name; a copy in use always has one.

use super::read_file;
use rustix::fs::MemfdFlags;
use rustix::mm::{MapFlags, ProtFlags};

/// Where every name of a memory file of this library begins.
pub const FILE_PREFIX: &str = "ompi-rs ";

/// Maps a page of a memory file for the life of the process. For a process without a launcher's segment, whose mapping
/// says the same. Where the system refuses it, other copies notice nothing.
pub fn mark_in_use() {
    let name = [FILE_PREFIX, "in use"].concat();
    let Ok(file) = rustix::fs::memfd_create(&*name, MemfdFlags::CLOEXEC) else { return };
    if rustix::fs::ftruncate(&file, 1).is_ok() {
        // SAFETY: a new mapping at an address of the kernel's choice, which nobody reads or writes.
        let _ = unsafe { rustix::mm::mmap(core::ptr::null_mut(), 1, ProtFlags::READ, MapFlags::SHARED, &file, 0) };
    }
}

/// Whether a copy of this library is in use in this process. The caller's own copy is not, or it would find itself.
pub fn other_copy_in_use() -> bool {
    read_file("/proc/self/maps").is_some_and(|maps| shows_file(&maps, FILE_PREFIX))
}

fn shows_file(maps: &[u8], name: &str) -> bool {
    let file = ["/memfd:", name].concat();
    maps.windows(file.len()).any(|window| window == file.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_seen() {
        // Other tests of this process have files of the library, too.
        let is_marked = || read_file("/proc/self/maps").is_some_and(|maps| shows_file(&maps, "ompi-rs in use"));
        assert!(!is_marked());
        mark_in_use();
        assert!(is_marked() && other_copy_in_use());
        let line =
            |file: &str| std::format!("7f0000000000-7f0000001000 r--s 00000000 00:01 77 /memfd:{file} (deleted)");
        assert!(shows_file(line("ompi-rs segment").as_bytes(), FILE_PREFIX));
        assert!(!shows_file(line("another ompi-rs ").as_bytes(), FILE_PREFIX) && !shows_file(b"", FILE_PREFIX));
    }
}
