//! Processes of other jobs: starting them, meeting them at a port, and parting from them. MPI 5.0 §11.8 to §11.10.
//!
//! ```no_run
//! # let universe = test_singleton::universe();
//! use ompi::dynamic::{Command, spawn};
//! use ompi::traits::*;
//!
//! match universe.parent() {
//!     // The workers.
//!     Some(parent) => {
//!         let (task, _) = parent.process_at_rank(0).receive::<u64>()?;
//!         parent.process_at_rank(0).send(&(task * task))?;
//!         parent.disconnect()?;
//!     }
//!     // The program that the user started.
//!     None => {
//!         let program = std::env::current_exe().unwrap();
//!         let command = Command::new(program.to_str().unwrap(), 3).arg("--worker").arg(7);
//!         let workers = spawn(&universe.myself(), 0, [command])?;
//!         for rank in 0..workers.remote_size() {
//!             workers.process_at_rank(rank).send(&(rank as u64))?;
//!             assert_eq!(workers.process_at_rank(rank).receive::<u64>()?.0, (rank * rank) as u64);
//!         }
//!         workers.disconnect()?;
//!     }
//! }
//! # Ok::<(), ompi::Error>(())
//! ```
//!
//! Two jobs that know of each other by a name:
//!
//! ```no_run
//! # let universe = test_singleton::universe();
//! use ompi::dynamic::{Port, accept, connect, lookup};
//! use ompi::traits::*;
//!
//! let world = universe.world();
//! let other = if std::env::args().any(|word| word == "--serve") {
//!     let port = Port::open(&world)?;
//!     port.publish(&world, "ocean")?;
//!     accept(&world, 0, Some(&port))?
//! } else {
//!     connect(&world, 0, &lookup(&world, "ocean")?)?
//! };
//! other.disconnect()?;
//! # Ok::<(), ompi::Error>(())
//! ```

use crate::Result;
use crate::info::Info;
use crate::topology::{Communicator, InterCommunicator, IntraCommunicator, Owned, Rank};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use ompi_core::dynamic::{self, Program};
use ompi_core::error::Fault;

/// A program to start, with its arguments.
pub struct Command(Program);

impl Command {
    /// So many processes of a program, which is looked for as mpirun does.
    pub fn new(program: &str, processes: Rank) -> Command {
        let command = program.as_bytes().to_vec();
        Command(Program { command, arguments: Vec::new(), maxprocs: processes, info: None })
    }

    /// One more argument, as it is written out: a number, a text, whatever the program will parse.
    pub fn arg(mut self, argument: impl fmt::Display) -> Command {
        self.0.arguments.push(argument.to_string().into_bytes());
        self
    }

    /// Hints: `wdir`, `host`, `soft`, `env` and others that docs/architecture/jobs.md lists.
    pub fn info(mut self, hints: &Info) -> Command {
        self.0.info = Some(Arc::new(hints.inner().duplicate()));
        self
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = core::iter::once(&self.0.command).chain(&self.0.arguments);
        let words: Vec<_> = words.map(|word| String::from_utf8_lossy(word)).collect();
        f.debug_struct("Command").field("words", &words).field("processes", &self.0.maxprocs).finish()
    }
}

/// Starts a job and meets its processes, who find this group by [`Universe::parent`](crate::Universe::parent). Collective; `commands`
/// count at rank `root` only. With the hint `soft` there may be fewer processes than asked for:
/// [`InterCommunicator::remote_size`] tells.
///
/// # Panics
/// If `root` is no rank of the communicator.
pub fn spawn<C>(comm: &C, root: Rank, commands: impl IntoIterator<Item = Command>) -> Result<InterCommunicator>
where
    C: IntraCommunicator + ?Sized,
{
    let root = place(comm, root);
    let programs = || Ok(commands.into_iter().map(|command| command.0).collect());
    let (made, _) = dynamic::spawn(comm.owned().comm(), root, programs);
    met(comm.owned(), "spawn", made)
}

/// An address at which other jobs can call; closed when it is dropped.
#[derive(Debug)]
pub struct Port(String);

impl Port {
    /// A new one of this process's. An error is one of `comm`.
    pub fn open<C: Communicator + ?Sized>(comm: &C) -> Result<Port> {
        comm.owned().checked("Port::open", dynamic::open_port()).map(Port)
    }

    /// What others need to [`connect`].
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Lets other jobs of the user find it by a name. An error is one of `comm`.
    pub fn publish<C: Communicator + ?Sized>(&self, comm: &C, service: &str) -> Result<()> {
        comm.owned().checked("Port::publish", dynamic::publish(service, &self.0))
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        // Nobody else can have closed it.
        let closed = dynamic::close_port(&self.0);
        debug_assert!(closed.is_ok());
    }
}

/// Withdraws a name.
pub fn unpublish<C: Communicator + ?Sized>(comm: &C, service: &str) -> Result<()> {
    comm.owned().checked("unpublish", dynamic::unpublish(service))
}

/// The text of the port that has this name.
pub fn lookup<C: Communicator + ?Sized>(comm: &C, service: &str) -> Result<String> {
    comm.owned().checked("lookup", dynamic::lookup(service))
}

/// Waits at a port for a group that calls [`connect`]. Collective; `port` counts at rank `root` only.
///
/// # Panics
/// If `root` is no rank of the communicator, or has no port.
pub fn accept<C>(comm: &C, root: Rank, port: Option<&Port>) -> Result<InterCommunicator>
where
    C: IntraCommunicator + ?Sized,
{
    let root = place(comm, root);
    let text = || Ok(port.expect("the root has a port").0.clone());
    met(comm.owned(), "accept", dynamic::accept(comm.owned().comm(), root, text))
}

/// Meets a group that waits in [`accept`]. Collective; `port` counts at rank `root` only.
///
/// # Panics
/// If `root` is no rank of the communicator.
pub fn connect<C>(comm: &C, root: Rank, port: &str) -> Result<InterCommunicator>
where
    C: IntraCommunicator + ?Sized,
{
    let root = place(comm, root);
    met(comm.owned(), "connect", dynamic::connect(comm.owned().comm(), root, || Ok((String::from(port), None))))
}

fn met(owned: &Owned, function: &'static str, made: core::result::Result<usize, Fault>) -> Result<InterCommunicator> {
    let handle = owned.checked(function, made)?;
    Ok(InterCommunicator::of(Owned::made(handle, owned.life().clone())))
}

fn place<C: Communicator + ?Sized>(comm: &C, root: Rank) -> usize {
    assert!((0..comm.size()).contains(&root), "the communicator has no rank {root}");
    root as usize
}
