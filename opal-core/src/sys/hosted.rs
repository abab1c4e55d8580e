//! Linux.

use crate::mca::source::Source;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char};
use rustix::fs::{Mode, OFlags};

/// What [`crate::mca::source::COMMAND_LINE`] lists counts as typed by the user here.
pub const COMMAND_LINE_SOURCE: Source = Source::CommandLine;

unsafe extern "C" {
    // The C library's own variable; the program's start-up code fills it before any of our code runs.
    static mut environ: *const *const c_char;
}

/// Every `NAME=value` of the environment that is UTF-8, as it was when asked.
///
/// Programs that change their environment in another thread at the same time do so at their own risk, as with getenv.
pub fn environment() -> Vec<(&'static str, &'static str)> {
    let mut all = Vec::new();
    // SAFETY: a plain read of the C library's pointer.
    let mut entry = unsafe { environ };
    while !entry.is_null() {
        // SAFETY: not null and within the NULL-terminated array.
        let text = unsafe { *entry };
        if text.is_null() {
            break;
        }
        // SAFETY: entries are NUL-terminated strings that live as long as the environment.
        let text: &'static CStr = unsafe { CStr::from_ptr(text) };
        if let Some(pair) = text.to_str().ok().and_then(|text| text.split_once('=')) {
            all.push(pair);
        }
        // SAFETY: the terminator was not reached.
        entry = unsafe { entry.add(1) };
    }
    all
}

/// The value of one environment variable.
pub fn variable(name: &str) -> Option<&'static str> {
    environment().into_iter().find(|(candidate, _)| *candidate == name).map(|(_, value)| value)
}

/// Writes all bytes to standard error; failures have nowhere to be told.
pub fn write_stderr(mut bytes: &[u8]) {
    // SAFETY: descriptor 2 is borrowed for this call; if it is closed the write fails and is given up.
    let stderr = unsafe { rustix::fd::BorrowedFd::borrow_raw(2) };
    while !bytes.is_empty() {
        match rustix::io::write(stderr, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => yield_now(),
            Err(_) => return,
        }
    }
}

/// The whole content of a small file, or `None` if it cannot be read.
pub fn read_file(path: &str) -> Option<Vec<u8>> {
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut bytes = Vec::new();
    let mut chunk = [0u8; 4096];
    loop {
        match rustix::io::read(&file, &mut chunk) {
            Ok(0) => return Some(bytes),
            Ok(read) => bytes.extend_from_slice(&chunk[..read]),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Gives the core to another runnable process.
pub fn yield_now() {
    rustix::thread::sched_yield();
}

/// Sleeps about this long; may return early.
pub fn nap_us(microseconds: u64) {
    let time = rustix::time::Timespec {
        tv_sec: (microseconds / 1_000_000) as i64,
        tv_nsec: (microseconds % 1_000_000 * 1000) as _,
    };
    let _ = rustix::thread::nanosleep(&time);
}

/// Number of cores this process may run on.
pub fn cores() -> usize {
    rustix::thread::sched_getaffinity(None).map_or(1, |set| set.count().max(1) as usize)
}

/// Bytes of a page. Asked of the C library: rustix reads the auxiliary vector itself and faults under valgrind.
pub fn page_size() -> usize {
    // SAFETY: sysconf has no preconditions.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

/// This process's id.
pub fn pid() -> u32 {
    rustix::process::getpid().as_raw_nonzero().get() as u32
}

/// The calling thread's id, unique in the system.
pub fn thread_id() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}

/// The name of this machine.
pub fn hostname() -> String {
    String::from_utf8_lossy(rustix::system::uname().nodename().to_bytes()).into_owned()
}

/// Nanoseconds of the monotonic clock.
pub fn monotonic_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Ends this process at once with a status; exit handlers of the program do not run.
pub fn exit(status: i32) -> ! {
    // SAFETY: _exit has no preconditions.
    unsafe { libc::_exit(status) }
}
