//! Linux.

use super::Errno;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};

unsafe extern "C" {
    // The C library's own variable; the program's start-up code fills it before any of our code runs.
    static mut environ: *const *const c_char;
    static mut stdout: *mut libc::FILE;
    fn ftrylockfile(file: *mut libc::FILE) -> c_int;
    fn funlockfile(file: *mut libc::FILE);
    fn __fbufsize(file: *mut libc::FILE) -> usize;
    fn __flbf(file: *mut libc::FILE) -> c_int;
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
pub fn write_stderr(bytes: &[u8]) {
    write_all(2, bytes);
}

/// Writes all bytes to standard output, past what the C library holds of it; a failure is given up.
pub fn write_stdout(bytes: &[u8]) {
    write_all(1, bytes);
}

fn write_all(number: i32, mut bytes: &[u8]) {
    // SAFETY: the descriptor is borrowed for this call; if it is closed the write fails and is given up.
    let stream = unsafe { rustix::fd::BorrowedFd::borrow_raw(number) };
    while !bytes.is_empty() {
        match rustix::io::write(stream, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => yield_now(),
            Err(_) => return,
        }
    }
}

/// Waits until what was written to standard error was read at its other end, if that is a pipe; at most so long.
///
/// For the last words of a process whose manager drops its pipes as soon as it hears that the job is to end.
pub fn await_reader_of_stderr(at_most_ms: u64) {
    // SAFETY: descriptor 2 is borrowed for this call; if it is closed the call fails.
    let stderr = unsafe { rustix::fd::BorrowedFd::borrow_raw(2) };
    let pipe = rustix::fs::fstat(stderr)
        .is_ok_and(|found| rustix::fs::FileType::from_raw_mode(found.st_mode) == rustix::fs::FileType::Fifo);
    let end = monotonic_ns() + at_most_ms * 1_000_000;
    let mut unread: libc::c_int = 0;
    // SAFETY: FIONREAD writes one int to the place given.
    while pipe && unsafe { libc::ioctl(2, libc::FIONREAD, &raw mut unread) } == 0 && unread > 0 && monotonic_ns() < end
    {
        nap_us(200);
    }
}

/// Random bytes of the system, for secrets and nonces: at most 256, which it gives whole or not at all.
pub fn random<const N: usize>() -> rustix::io::Result<[u8; N]> {
    const { assert!(N <= 256) };
    let mut bytes = [0; N];
    let read = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    if read == N { Ok(bytes) } else { Err(rustix::io::Errno::IO) }
}

/// Writes a whole file, in the place of one that is there.
pub fn write_file(path: &str, mut bytes: &[u8]) -> Result<(), Errno> {
    let file = open_to_write(path, OFlags::CREATE | OFlags::TRUNC)?;
    while !bytes.is_empty() {
        match rustix::io::write(&file, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(Errno(errno.raw_os_error())),
        }
    }
    Ok(())
}

/// Whether a file could be written, as far as it can be known before. One that is there stays as it is, and none is left behind.
pub fn may_write_file(path: &str) -> Result<(), Errno> {
    // A pipe without a reader is none that cannot be written.
    match open_to_write(path, OFlags::NONBLOCK) {
        Err(Errno::NOENT) => {}
        Err(errno) if errno.0 == rustix::io::Errno::NXIO.raw_os_error() => return Ok(()),
        other => return other.map(drop),
    }
    match open_to_write(path, OFlags::CREATE | OFlags::EXCL) {
        Ok(_made) => rustix::fs::unlink(path).map_err(|errno| Errno(errno.raw_os_error())),
        // Somebody else made it meanwhile.
        Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(errno),
    }
}

fn open_to_write(path: &str, how: OFlags) -> Result<rustix::fd::OwnedFd, Errno> {
    let opened = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC | how, Mode::from_raw_mode(0o666));
    opened.map_err(|errno| Errno(errno.raw_os_error()))
}

/// The whole content of a small file of the system's own (`/proc`, `/sys`), or `None` if it cannot be read. Others are for
/// [`read_trusted`](super::read_trusted).
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

/// Has each child that this process forks from now on run this at its beginning, in the forking thread's copy: it may
/// touch atomics and nothing else.
pub fn in_forked_children(run: extern "C" fn()) {
    // SAFETY: a function that lives as long as the process. A failure, for lack of memory, leaves children unguarded.
    unsafe { libc::pthread_atfork(None, None, Some(run)) };
}

/// Has each fork from now on run these: in the forking thread before it, and after it there and in the child. `false` if there is no memory
/// to note them.
pub fn around_forks(before: extern "C" fn(), in_parent: extern "C" fn(), in_child: extern "C" fn()) -> bool {
    // SAFETY: functions that live as long as the process.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) == 0 }
}

/// A number of the calling thread's, unique in this process, which its copy in a child of fork has, too.
pub fn thread_mark() -> usize {
    // SAFETY: no preconditions.
    unsafe { libc::__errno_location() }.addr()
}

/// The calling thread's id, unique in the system.
pub fn thread_id() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}

/// Waits until each other thread of this process either was seen asleep in the system or has computed for `for_ns` from now on: what
/// it was amid without a system call is then over.
pub fn let_threads_run(for_ns: u64) {
    let own = thread_id();
    let others = threads().into_iter().filter(|thread| *thread != own);
    let began: Vec<(u32, u64)> = others.filter_map(|thread| Some((thread, computed_ns(thread)?))).collect();
    for (thread, began) in began {
        // Without a clock the thread has ended.
        while is_amid(thread) && computed_ns(thread).is_some_and(|now| now.saturating_sub(began) < for_ns) {
            nap_us(50);
        }
    }
}

/// The ids of this process's threads; none where the system does not tell.
fn threads() -> Vec<u32> {
    let mut all = Vec::new();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(folder) = rustix::fs::open("/proc/self/task", flags, Mode::empty()) else { return all };
    let mut room = [core::mem::MaybeUninit::uninit(); 4096];
    let mut entries = rustix::fs::RawDir::new(folder, &mut room);
    while let Some(Ok(entry)) = entries.next() {
        all.extend(entry.file_name().to_str().ok().and_then(|name| name.parse::<u32>().ok()));
    }
    all
}

/// Whether a thread may be anywhere in its code: not one that sleeps in a system call or has ended. The state of proc(5)
/// follows the program's name in parentheses: running, on a fault, stopped.
fn is_amid(thread: u32) -> bool {
    let stat = read_file(&alloc::format!("/proc/self/task/{thread}/stat")).unwrap_or_default();
    let after_name = stat.iter().rposition(|byte| *byte == b')').unwrap_or(0);
    matches!(stat.get(after_name + 2), Some(b'R' | b'D' | b'T' | b't'))
}

/// The processor time of a thread of this process, or `None` if it has ended.
fn computed_ns(thread: u32) -> Option<u64> {
    // linux/posix-timers.h: the id's complement above three bits, which say "of a thread, as the scheduler counts".
    let clock = (!(thread as i32)) << 3 | 4 | 2;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable.
    let result = unsafe { libc::clock_gettime(clock, &mut time) };
    (result == 0).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
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

/// Writes what the C library holds back of standard output: the beginning of a line. Nothing if another thread is writing there,
/// or if nobody takes it now: a process that is to end must not wait.
pub fn flush_output() {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the number is asked about, and nothing else; if it is not open the system says so.
    let number = unsafe { rustix::fd::BorrowedFd::borrow_raw(libc::STDOUT_FILENO) };
    let mut output = [PollFd::from_borrowed_fd(number, PollFlags::OUT)];
    if !rustix::event::poll(&mut output, Some(&now)).is_ok_and(|ready| ready == 1) {
        return;
    }
    // SAFETY: the C library sets it before any of our code runs; the copy of the pointer is what its own functions use.
    let file = unsafe { stdout };
    // SAFETY: standard output is a file of the C library's for the life of the process.
    if file.is_null() || unsafe { ftrylockfile(file) } != 0 {
        return;
    }
    // What cannot be written is lost, as it would be without this.
    // SAFETY: as above, and this thread holds its lock.
    let _ = unsafe { libc::fflush(file) };
    // SAFETY: this thread locked it.
    unsafe { funlockfile(file) };
}

/// Makes a pipe standard output, if that is the terminal of this file system and number; standard error, too, where it is the same
/// terminal. The pipe's own number is closed. Nothing happens if the number is not that of this pipe.
///
/// The C library has a buffer for each line then, as it has for a terminal, unless the program chose otherwise. What it holds back is
/// the beginning of a line, whose end follows in the pipe.
pub fn replace_output(pipe: i32, inode: u64, terminal: [u64; 2]) {
    // SAFETY: the numbers are asked about, and nothing else; if one is not open the system says so.
    let stat = |number: i32| rustix::fs::fstat(unsafe { rustix::fd::BorrowedFd::borrow_raw(number) });
    let is_fifo = |mode| rustix::fs::FileType::from_raw_mode(mode) == rustix::fs::FileType::Fifo;
    if !stat(pipe).is_ok_and(|stat| is_fifo(stat.st_mode) && stat.st_ino == inode) {
        return;
    }
    let is_terminal = |number: i32| stat(number).is_ok_and(|stat| [stat.st_dev, stat.st_rdev] == terminal);
    // SAFETY: the C library sets it before any of our code runs; the copy of the pointer is what its own functions use.
    let file = unsafe { stdout };
    // Another thread may be writing, for as long as it likes: then the terminal stays.
    // SAFETY: standard output is a file of the C library's for the life of the process.
    if is_terminal(libc::STDOUT_FILENO) && !file.is_null() && unsafe { ftrylockfile(file) } == 0 {
        if is_terminal(libc::STDERR_FILENO) {
            // SAFETY: both are open. A failure leaves the terminal.
            unsafe { libc::dup2(pipe, libc::STDERR_FILENO) };
        }
        // SAFETY: as above.
        unsafe { libc::dup2(pipe, libc::STDOUT_FILENO) };
        // SAFETY: this thread holds its lock, for all three.
        let is_untouched = unsafe { __fbufsize(file) } == 0;
        // SAFETY: as above.
        if is_untouched || unsafe { __flbf(file) } != 0 {
            // SAFETY: as above; without a buffer it keeps its own.
            unsafe { libc::setvbuf(file, core::ptr::null_mut(), libc::_IOLBF, 0) };
        }
        // SAFETY: this thread locked it.
        unsafe { funlockfile(file) };
    }
    // SAFETY: the number is that of the pipe, which mpirun left open for this process alone.
    unsafe { libc::close(pipe) };
}

/// Ends this process at once with a status; exit handlers of the program do not run.
pub fn exit(status: i32) -> ! {
    // SAFETY: _exit has no preconditions.
    unsafe { libc::_exit(status) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    #[test]
    fn threads_that_compute_have_run_on_and_others_are_not_waited_for() {
        static OVER: AtomicBool = AtomicBool::new(false);
        static BUSY: AtomicU32 = AtomicU32::new(0);
        let sleeper = std::thread::spawn(|| {
            while !OVER.load(Ordering::Relaxed) {
                std::thread::park_timeout(std::time::Duration::from_millis(100));
            }
        });
        let busy = std::thread::spawn(|| {
            BUSY.store(thread_id(), Ordering::Relaxed);
            while !OVER.load(Ordering::Relaxed) {
                core::hint::spin_loop();
            }
        });
        while BUSY.load(Ordering::Relaxed) == 0 {
            yield_now();
        }
        let busy_id = BUSY.load(Ordering::Relaxed);
        assert!(threads().contains(&busy_id) && threads().contains(&thread_id()));
        let before = computed_ns(busy_id).unwrap();
        let_threads_run(3_000_000);
        assert!(computed_ns(busy_id).unwrap() - before >= 3_000_000);
        OVER.store(true, Ordering::Relaxed);
        busy.join().unwrap();
        sleeper.join().unwrap();
    }
}
