//! The mpirun of a process that nobody launched: started when it first asks for further jobs or names of ports. It stands in the
//! place of the mpirun that a user would have typed, without ranks of its own ([`crate::universe`]).
//!
//! Both share a socket. By it this process says that it is done with MPI. If it ends without that, so do the jobs that it started.

use crate::port::Channel;
use crate::universe::{Life, Ports};
use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use opal_core::sync::Mutex;
use opal_core::sys;
use rustix::fd::AsFd;
use rustix::fs::Access;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

/// The hidden first argument of such an mpirun.
pub const ARGUMENT: &str = "--ompi-rs-companion";

/// The companion, once there is one.
pub struct Companion {
    running: Mutex<Option<Running>>,
}

struct Running {
    channel: Channel,
    universe: String,
}

impl Companion {
    /// None yet.
    pub const fn new() -> Companion {
        Companion { running: Mutex::new(None) }
    }

    /// The port of this process's companion; starts it. `program` is its mpirun, if not empty. `Err` with a sentence.
    pub fn universe(&self, job: u64, program: &str) -> Result<String, String> {
        let mut running = self.running.lock();
        // One that was killed is started anew.
        if let Some(running) = running.as_mut()
            && running.channel.poll().is_ok()
        {
            return Ok(running.universe.clone());
        }
        let started = start(job, program)?;
        Ok(running.insert(started).universe.clone())
    }

    /// The port of the companion, if it runs.
    pub fn running(&self) -> Option<String> {
        self.running.lock().as_ref().map(|running| running.universe.clone())
    }

    /// Whether MPI is in use.
    pub fn set_in_use(&self, in_use: bool) {
        if let Some(running) = &mut *self.running.lock() {
            let life = if in_use { Life::InUse } else { Life::Done };
            // One that was killed has taken its jobs along.
            let _ = running.channel.send(&life.encode());
        }
    }
}

impl fmt::Debug for Companion {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Companion").finish_non_exhaustive()
    }
}

impl Default for Companion {
    fn default() -> Companion {
        Companion::new()
    }
}

fn start(job: u64, program: &str) -> Result<Running, String> {
    let program = find(program)?;
    let refused = |errno: Errno| format!("mpirun ({program}) cannot be started: {errno}");
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (own, its) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(refused)?;
    let (path, argument) = (text(&program)?, text(ARGUMENT)?);
    let status = sys::run_beside(&path, [c"mpirun", &argument], its.as_fd()).map_err(refused)?;
    // The end of the other side is to be seen.
    drop(its);
    let mut channel = Channel::over(own);
    let gone = |_| {
        format!(
            "{program}, which was started for that, ended with status {status}: is it the mpirun of this library? {ADVICE}"
        )
    };
    channel.send(&Life::Job(job).encode()).map_err(gone)?;
    let until_ns = sys::monotonic_ns() + PATIENCE_NS;
    loop {
        match channel.poll().map_err(gone)? {
            Some(frame) => {
                let wrong = |_| format!("{program} belongs to another version of this library; {ADVICE}");
                let Ports { universe, .. } = Ports::decode(&frame).map_err(wrong)?;
                return Ok(Running { channel, universe });
            }
            None if sys::monotonic_ns() > until_ns => {
                return Err(format!("{program}, which was started for that, does not answer; {ADVICE}"));
            }
            None => channel.pause(100),
        }
    }
}

/// The mpirun to start: what the user named, that beside the library, or the first one in PATH.
fn find(named: &str) -> Result<String, String> {
    if !named.is_empty() {
        return Ok(String::from(named));
    }
    let is_program = |path: &String| rustix::fs::access(path.as_str(), Access::EXEC_OK).is_ok();
    let beside = beside_library().into_iter();
    let path = sys::variable("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin");
    let in_path = path.split(':').filter(|folder| !folder.is_empty()).map(|folder| format!("{folder}/mpirun"));
    beside.chain(in_path).find(is_program).ok_or_else(|| {
        format!("nobody launched this process, and no mpirun lies beside the library or in PATH; {ADVICE}")
    })
}

/// Where the library is installed there is an mpirun in the folder beside its own.
fn beside_library() -> Option<String> {
    let maps = sys::read_file("/proc/self/maps")?;
    let maps = String::from_utf8_lossy(&maps);
    let library = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]))
        .find(|path| path.rsplit('/').next().is_some_and(|name| name.starts_with("libmpi_abi.so")))?;
    let folders: Vec<&str> = library.rsplitn(3, '/').collect();
    Some(format!("{}/bin/mpirun", folders.get(2)?))
}

fn text(words: &str) -> Result<CString, String> {
    CString::new(words).map_err(|_| format!("`{words}` is no path of a program"))
}

const ADVICE: &str =
    "start this program with `mpirun -n 1`, or name the library's mpirun with the parameter ess_singleton_launcher";
const PATIENCE_NS: u64 = 60_000_000_000;
