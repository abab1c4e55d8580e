//! Bare metal: the few things that `hw` provides, as symbols that its boot crate defines.

use super::{Errno, FileOrder, OpenFlags};
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::CStr;

// Defined once by the boot crate; the linker refuses an image without them.
// SAFETY: the boot crate defines them with these very signatures.
unsafe extern "Rust" {
    /// `NAME=value` pairs made from the boot line, as mpirun's environment would hold them.
    #[link_name = "__opal_bare_environment_v1"]
    safe fn bare_environment() -> &'static [(&'static str, &'static str)];
    #[link_name = "__opal_bare_write_v1"]
    safe fn bare_write(bytes: &[u8]);
    #[link_name = "__opal_bare_exit_v1"]
    safe fn bare_exit(status: i32) -> !;
    #[link_name = "__opal_bare_monotonic_ns_v1"]
    safe fn bare_monotonic_ns() -> u64;
    #[link_name = "__opal_bare_nap_us_v1"]
    safe fn bare_nap_us(microseconds: u64);
}

/// Every pair of the boot line.
pub fn environment() -> Vec<(&'static str, &'static str)> {
    bare_environment().to_vec()
}

/// The value of one variable.
pub fn variable(name: &str) -> Option<&'static str> {
    bare_environment().iter().find(|(candidate, _)| *candidate == name).map(|(_, value)| *value)
}

/// Writes to the console.
pub fn write_stderr(bytes: &[u8]) {
    bare_write(bytes);
}

/// As above.
pub fn write_stdout(bytes: &[u8]) {
    bare_write(bytes);
}

/// There are no files.
pub fn write_file(_path: &str, _bytes: &[u8]) -> Result<(), &'static str> {
    Err("there are no files without an operating system")
}

/// There are no files.
pub fn may_write_file(_path: &str) -> Result<(), &'static str> {
    Err("there are no files without an operating system")
}

/// There are no files.
pub fn read_file(_path: &str) -> Option<Vec<u8>> {
    None
}

/// A file that is open: there are none.
#[derive(Clone, Copy, Debug)]
pub enum NoFile {}

impl NoFile {
    /// There are no files.
    pub fn open(_path: &CStr, _how: &OpenFlags) -> Result<NoFile, Errno> {
        Err(Errno::NOSYS)
    }

    /// There are no files.
    pub fn delete(_path: &CStr) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }

    /// There are no files.
    pub fn expect_order(&self, _order: FileOrder) {
        match *self {}
    }

    /// There are no files.
    pub fn size(&self) -> Result<u64, Errno> {
        match *self {}
    }

    /// There are no files.
    pub fn resize(&self, _bytes: u64) -> Result<(), Errno> {
        match *self {}
    }

    /// There are no files.
    pub fn reserve(&self, _bytes: u64) -> Result<(), Errno> {
        match *self {}
    }

    /// There are no files.
    pub fn sync(&self) -> Result<(), Errno> {
        match *self {}
    }

    /// There are no files.
    pub fn lock(&self, _from: u64, _bytes: u64, _alone: bool) -> Result<(), Errno> {
        match *self {}
    }

    /// There are no files.
    pub fn unlock(&self, _from: u64, _bytes: u64) -> Result<(), Errno> {
        match *self {}
    }
}

/// Gives a core that is shared with others back for a moment; on a core of its own, a pause.
pub fn yield_now() {
    match variable(CORES) {
        Some(_) => bare_nap_us(YIELD_US),
        None => core::hint::spin_loop(),
    }
}

/// Nothing forks here.
pub fn in_forked_children(_run: extern "C" fn()) {}

/// There is none: a rank is one thread here.
#[derive(Debug)]
pub enum NoThread {}

impl NoThread {
    /// Says so.
    pub fn start(_run: fn()) -> crate::Result<NoThread> {
        Err(crate::Error::Unsupported)
    }

    /// There is none.
    pub fn join(self) {
        match self {}
    }
}

/// A rank is one thread here.
pub fn let_threads_run(_for_ns: u64) {}

/// Leaves the core alone for about this long.
pub fn nap_us(microseconds: u64) {
    bare_nap_us(microseconds);
}

/// How many cores this rank may use: those of a host that the boot line names, else as many as one likes, since each
/// rank has its own.
pub fn cores() -> usize {
    host_cores().map_or(usize::MAX, |mask| mask.count_ones() as usize)
}

/// The cores of the host that a guest may run on, numbered as the host does.
pub fn host_cores() -> Option<u64> {
    u64::from_str_radix(variable(CORES)?, 16).ok().filter(|mask| *mask != 0)
}

/// Bytes of a page.
pub fn page_size() -> usize {
    4096
}

/// There are no processes.
pub fn pid() -> u32 {
    0
}

/// There is one thread in each memory.
pub fn thread_id() -> u32 {
    0
}

/// The node's name from the boot line.
pub fn hostname() -> String {
    String::from(variable("HOSTNAME").unwrap_or("bare"))
}

/// Nanoseconds since boot.
pub fn monotonic_ns() -> u64 {
    bare_monotonic_ns()
}

/// A console holds nothing back.
pub fn flush_output() {}

/// Ends this rank with a status.
pub fn exit(status: i32) -> ! {
    bare_exit(status)
}

/// What the boot line calls the cores of the host that guests share.
const CORES: &str = "CORES";
const YIELD_US: u64 = 20;

/// A machine without an operating system holds one copy of this library.
pub fn mark_in_use() {}

/// See [`mark_in_use`].
pub fn other_copy_in_use() -> bool {
    false
}
