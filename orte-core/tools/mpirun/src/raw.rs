//! The only unsafe code: signals as a descriptor, and what happens between fork and exec.
#![allow(unsafe_code)]

pub mod mpir;

use orte_core::environment::Wireup;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use rustix::io::FdFlags;
use rustix::process::{Pid, Resource, Rlimit, Signal};
use rustix::thread::CpuSet;
use std::ffi::{CString, c_char};
use std::io::{Error, Result};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Blocks these signals in this process and returns a descriptor that reads them.
pub fn signal_descriptor(signals: &[i32]) -> Result<OwnedFd> {
    let set = block(signals)?;
    // SAFETY: -1 asks for a new descriptor; `set` is initialized.
    let descriptor = unsafe { libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
    match descriptor {
        -1 => Err(Error::last_os_error()),
        // SAFETY: just opened, and nobody else owns it.
        _ => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
    }
}

/// Blocks these signals for good: what they tell comes as the error of a call as well. Processes that this one starts do
/// not have them blocked.
pub fn defer(signals: &[i32]) -> Result<()> {
    block(signals).map(|_| ())
}

/// The next signal, whether the terminal sent it to the whole foreground group, and the process that did.
pub fn next_signal(descriptor: &OwnedFd) -> Option<(i32, bool, u32)> {
    let mut bytes = [0; size_of::<libc::signalfd_siginfo>()];
    let read = rustix::io::read(descriptor, &mut bytes).ok()?;
    if read != bytes.len() {
        return None;
    }
    // SAFETY: plain integers, of any content; the kernel filled all of them.
    let info: libc::signalfd_siginfo = unsafe { core::mem::transmute(bytes) };
    Some((info.ssi_signo as i32, info.ssi_code == libc::SI_KERNEL, info.ssi_pid))
}

/// Stops this process until it gets SIGCONT, as Ctrl-Z would.
pub fn stop() {
    // SAFETY: no preconditions; a signal that stops is no danger to memory.
    unsafe { libc::raise(libc::SIGSTOP) };
}

/// The time as people read it here: `Fri Nov 20 14:47:05 2026`.
pub fn local_time() -> String {
    let seconds = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs()) as libc::time_t;
    // SAFETY: all zeros is a valid tm.
    let mut broken: libc::tm = unsafe { core::mem::zeroed() };
    // SAFETY: both are valid for the call; null means failure and leaves 1900.
    unsafe { libc::localtime_r(&seconds, &mut broken) };
    let mut text = [0u8; 64];
    // SAFETY: as many bytes as are said, a terminated format, a tm that was filled.
    let length =
        unsafe { libc::strftime(text.as_mut_ptr().cast(), text.len(), c"%a %b %e %H:%M:%S %Y".as_ptr(), &broken) };
    String::from_utf8_lossy(&text[..length]).into_owned()
}

/// Ends of children are told from now on, also if whoever started this process ignored SIGCHLD: then the system tells nobody.
pub fn hear_of_children() {
    // SAFETY: a signal number, and no function of ours.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Whether this process was started with the signal ignored, as nohup does.
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: all zeros is a valid sigaction.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    // SAFETY: asks only; `action` is writable.
    let result = unsafe { libc::sigaction(signal, core::ptr::null(), &mut action) };
    result == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// The standard library ends a program without a word if the system refuses poll, before `main` is called.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = check_poll;

extern "C" fn check_poll() {
    // SAFETY: no descriptors are passed.
    if unsafe { libc::poll(core::ptr::null_mut(), 0, 0) } != 0
        && Error::last_os_error().raw_os_error() != Some(libc::EINTR)
    {
        opal_core::sys::write_stderr(
            b"mpirun: the system refuses the call poll, without which mpirun cannot run; look at the filters (seccomp) of this container or service\n",
        );
        opal_core::sys::exit(i32::from(crate::refusal::OWN));
    }
}

/// Starts the keeper: it inherits these descriptors, and is deaf to the signals that mpirun forwards.
pub fn spawn_keeper(command: &mut Command, inherit: Vec<RawFd>, deaf_to: Vec<i32>, files: Rlimit) -> Result<Child> {
    let mpirun = rustix::process::getpid();
    let prepare = move || {
        // Should mpirun die while the keeper is stopped, the keeper must go on to notice it.
        rustix::process::set_parent_process_death_signal(Some(Signal::CONT))?;
        if rustix::process::getppid() != Some(mpirun) {
            return Err(Error::from_raw_os_error(libc::ESRCH));
        }
        block(&deaf_to)?;
        rustix::process::setrlimit(Resource::Nofile, files)?;
        inherit.iter().copied().try_for_each(inherit_across_exec)
    };
    // SAFETY: between fork and exec this makes system calls only, and allocates nothing.
    unsafe { command.pre_exec(prepare) };
    command.spawn()
}

/// How a rank's process begins.
pub struct Start {
    /// The file to execute.
    pub path: CString,
    /// Its arguments, the first being its name.
    pub arguments: Vec<CString>,
    /// `NAME=value` each.
    pub environment: Vec<CString>,
    /// The segment, and what leads to other hosts.
    pub inherit: Vec<RawFd>,
    /// The processors to run on; empty: all.
    pub processors: Vec<usize>,
    /// The limit on descriptors that the user had.
    pub files: Rlimit,
}

/// Starts a rank. `command` says where its standard streams go; what is executed stands in `start`, and by execve alone:
/// the C library would hand a file of the wrong format to a shell.
pub fn spawn_rank(command: &mut Command, start: Start) -> Result<Child> {
    let keeper = rustix::process::getpid();
    let arguments = pointers(&start.arguments);
    let environment = pointers(&start.environment);
    let become_rank = move || {
        // Should mpirun and keeper both be killed at once, at least the ranks themselves go too.
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid() != Some(keeper) {
            return Err(Error::from_raw_os_error(libc::ESRCH));
        }
        if !start.processors.is_empty() {
            let mut set = CpuSet::new();
            start.processors.iter().for_each(|processor| set.set(*processor));
            rustix::thread::sched_setaffinity(None, &set)?;
        }
        unblock_all()?;
        rustix::process::setrlimit(Resource::Nofile, start.files)?;
        start.inherit.iter().copied().try_for_each(inherit_across_exec)?;
        let (arguments, environment) = (arguments.as_ptr(), environment.as_ptr());
        // SAFETY: NUL-terminated strings in NULL-terminated arrays; `start` keeps them until here.
        unsafe { libc::execve(start.path.as_ptr(), arguments, environment) };
        Err(Error::last_os_error())
    };
    // SAFETY: between fork and exec this makes system calls only, and allocates nothing.
    unsafe { command.pre_exec(become_rank) };
    command.spawn()
}

/// A process that is stopped to be looked at; it goes on when this is dropped.
pub struct Stopped {
    pid: i32,
}

impl Stopped {
    /// Stops a process that does not hang inside the system; `None` if the system forbids it.
    pub fn new(pid: i32) -> Option<Stopped> {
        // SAFETY: no memory is passed; the process stays as it is.
        if unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, 0, 0) } != 0 {
            return None;
        }
        let stopped = Stopped { pid };
        // SAFETY: as above.
        if unsafe { libc::ptrace(libc::PTRACE_INTERRUPT, pid, 0, 0) } != 0 {
            return None;
        }
        let (mut status, mut waited, end) = (0, 0, Instant::now() + STOPS);
        // One that just began to hang inside the system is let go when this process ends.
        while waited == 0 && Instant::now() < end {
            opal_core::sys::nap_us(50);
            // SAFETY: `status` is writable.
            waited = unsafe { libc::waitpid(pid, &mut status, libc::__WALL | libc::WNOHANG) };
        }
        (waited == pid && libc::WIFSTOPPED(status)).then_some(stopped)
    }

    /// Its registers, by the numbers of the AMD64 ABI.
    pub fn registers(&self) -> opal_core::stack::Registers {
        // SAFETY: all zeros is a valid user_regs_struct.
        let mut regs: libc::user_regs_struct = unsafe { core::mem::zeroed() };
        // SAFETY: `regs` is writable; a failure leaves zeros, from which no walk starts.
        unsafe { libc::ptrace(libc::PTRACE_GETREGS, self.pid, 0, &mut regs) };
        [
            regs.rax, regs.rdx, regs.rcx, regs.rbx, regs.rsi, regs.rdi, regs.rbp, regs.rsp, regs.r8, regs.r9, regs.r10,
            regs.r11, regs.r12, regs.r13, regs.r14, regs.r15, regs.rip,
        ]
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // SAFETY: no memory is passed.
        unsafe { libc::ptrace(libc::PTRACE_DETACH, self.pid, 0, 0) };
    }
}

/// How long the system may take to stop a process.
const STOPS: Duration = Duration::from_secs(1);

/// Takes over a descriptor that mpirun left to its keeper under this number; closed when a rank is executed.
pub fn adopt(number: RawFd) -> Result<OwnedFd> {
    if number < 3 {
        return Err(Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: not -1; only asked whether it is open.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    rustix::io::fcntl_setfd(borrowed, FdFlags::CLOEXEC)?;
    // SAFETY: open, and the keeper calls this once per number at its start, before it opens anything.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Closes every descriptor above this one: a program has left them open that knows nothing of this process.
pub fn close_all_above(number: RawFd) {
    // SAFETY: no memory is passed; nothing above `number` was opened by this process. Before Linux 5.9 they stay open.
    unsafe { libc::syscall(libc::SYS_close_range, number + 1, libc::c_uint::MAX, 0) };
}

/// Goes on in a child of this process, whose parent is about to end: true there, false here.
pub fn part_from_parent() -> Result<bool> {
    // SAFETY: this process has one thread, so its memory is whole in the child, too.
    match unsafe { libc::fork() } {
        -1 => Err(Error::last_os_error()),
        child => Ok(child == 0),
    }
}

/// Closes these when something is executed, unless that is said otherwise between fork and exec.
pub fn keep_from_children(wireup: &Wireup) -> Result<()> {
    for number in [wireup.map, wireup.addresses, wireup.wake_socket] {
        if number < 3 {
            return Err(Error::from_raw_os_error(libc::EBADF));
        }
        // SAFETY: not -1; only asked whether it is open.
        let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
        rustix::io::fcntl_setfd(borrowed, FdFlags::CLOEXEC)?;
    }
    Ok(())
}

/// Starts an agent of plm. Keys of the terminal are for mpirun, which tells the daemons; when mpirun dies, so does the agent.
pub fn spawn_agent(command: &mut Command) -> Result<Child> {
    let mpirun = rustix::process::getpid();
    let prepare = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid() != Some(mpirun) {
            return Err(Error::from_raw_os_error(libc::ESRCH));
        }
        for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGTSTP] {
            // SAFETY: to ignore a signal runs no code; ssh leaves alone what it finds ignored.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
        Ok(())
    };
    // SAFETY: between fork and exec this makes system calls only, and allocates nothing.
    unsafe { command.pre_exec(prepare) };
    command.spawn()
}

/// Waits for any child without blocking: its id and wait status.
pub fn reap() -> Result<Option<(Pid, i32)>> {
    let mut status = 0;
    // SAFETY: `status` is writable.
    match unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) } {
        -1 => Err(Error::last_os_error()),
        pid => Ok(Pid::from_raw(pid).map(|pid| (pid, status))),
    }
}

/// A NULL-terminated array of C strings that someone else keeps alive.
struct Pointers(Vec<*const c_char>);

// SAFETY: addresses of immutable strings.
unsafe impl Send for Pointers {}
// SAFETY: as above.
unsafe impl Sync for Pointers {}

impl Pointers {
    fn as_ptr(&self) -> *const *const c_char {
        self.0.as_ptr()
    }
}

fn pointers(strings: &[CString]) -> Pointers {
    Pointers(strings.iter().map(|string| string.as_ptr()).chain([core::ptr::null()]).collect())
}

fn inherit_across_exec(number: RawFd) -> Result<()> {
    // SAFETY: the callers pass numbers of descriptors that they own and keep open.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    Ok(rustix::io::fcntl_setfd(borrowed.as_fd(), FdFlags::empty())?)
}

/// mpirun and keeper read signals from descriptors; a rank gets them as any program does.
fn unblock_all() -> Result<()> {
    // SAFETY: all zeros is a valid sigset_t, the empty one.
    let none: libc::sigset_t = unsafe { core::mem::zeroed() };
    // SAFETY: `none` is initialized; the old mask is not wanted.
    match unsafe { libc::sigprocmask(libc::SIG_SETMASK, &none, core::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

fn block(signals: &[i32]) -> Result<libc::sigset_t> {
    // SAFETY: all zeros is a valid sigset_t; sigemptyset says so again.
    let mut set: libc::sigset_t = unsafe { core::mem::zeroed() };
    // SAFETY: `set` is writable.
    unsafe { libc::sigemptyset(&mut set) };
    for signal in signals {
        // SAFETY: `set` is initialized; an unknown signal is refused.
        unsafe { libc::sigaddset(&mut set, *signal) };
    }
    // SAFETY: `set` is initialized; the old mask is not wanted.
    match unsafe { libc::sigprocmask(libc::SIG_BLOCK, &set, core::ptr::null_mut()) } {
        0 => Ok(set),
        _ => Err(Error::last_os_error()),
    }
}

/// The number of a descriptor, for passing it on by inheritance.
pub fn number(descriptor: &OwnedFd) -> RawFd {
    descriptor.as_raw_fd()
}
