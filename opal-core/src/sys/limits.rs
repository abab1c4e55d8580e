//! How much a process may have.

use rustix::process::Resource;

/// Longest file that this process may make; a longer one would end it (SIGXFSZ).
pub fn most_file_bytes() -> u64 {
    rustix::process::getrlimit(Resource::Fsize).current.unwrap_or(u64::MAX)
}

/// Bytes of addresses that this process may have; `None`: no limit is set.
pub fn most_address_space() -> Option<u64> {
    rustix::process::getrlimit(Resource::As).current
}

/// Bytes of memory of this machine.
pub fn physical_memory() -> u64 {
    let info = rustix::system::sysinfo();
    (info.totalram as u64).saturating_mul(u64::from(info.mem_unit).max(1))
}
