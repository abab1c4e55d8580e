//! Sessions: MPI without MPI_COMM_WORLD, as often as a program likes. MPI 5.0 §11.3.

use crate::environment::Threading;
use crate::info::Info;
use crate::life::{Life, OneThread};
use crate::topology::{Group, Owned, SimpleCommunicator};
use crate::{Error, ErrorHandler, Result, panics};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::marker::PhantomData;
use ompi_core::comm::{self, Hints};
use ompi_core::error::{Class, Fault};
use ompi_core::{info, init, session};

/// MPI in use by a part of a program, beside others and beside the world model.
///
/// ```
/// # use test_singleton as _;
/// use ompi::{SystemOperation, Threading, session::Session, traits::*};
///
/// for _ in 0..2 {
///     let session = Session::initialize(Threading::Single)?;
///     assert!(session.process_sets().iter().any(|name| name == "mpi://WORLD"));
///     let everybody = session.group("mpi://WORLD")?;
///     let library = session.communicator(&everybody, "org.example.library")?.expect("this process is in it");
///     let mut sum = 0;
///     library.all_reduce_into(&1, &mut sum, SystemOperation::sum())?;
///     assert_eq!(sum, library.size());
/// }
/// # Ok::<(), ompi::Error>(())
/// ```
///
/// Communicators and groups keep their session; it ends with the last of them.
#[derive(Debug)]
pub struct Session {
    life: Arc<Life>,
    level: Threading,
    here: OneThread,
}

impl Session {
    /// Begins one for so many threads.
    pub fn initialize(threading: Threading) -> Result<Session> {
        let hints = info::Info::of([("thread_level", threading.symbol())]);
        let handle = session::open(Some(&hints), init::initial_errhandler())?;
        panics::note();
        Ok(Session { life: Arc::new(Life::Session(handle)), level: threading, here: PhantomData })
    }

    /// The thread level in force.
    pub fn threading(&self) -> Threading {
        self.level
    }

    /// The names of the process sets that this process is in.
    pub fn process_sets(&self) -> Vec<String> {
        session::process_sets()
    }

    /// What is known of a process set: `mpi_size`. `Err(Arg)` if there is none of this name.
    pub fn process_set_info(&self, name: &str) -> Result<Info> {
        Ok(Info::of(session::set_info(name)?))
    }

    /// The processes of a set. `Err(Arg)` if there is none of this name.
    pub fn group(&self, process_set: &str) -> Result<Group> {
        let group = session::group(self.handle(), process_set)?;
        Ok(Group::of(Arc::new(group), self.life.clone()))
    }

    /// A communicator for a group of this session; all its members call with the same tag, which tells calls at the same
    /// time apart. `None` for the empty group. Its error handler ends the job until another one is set.
    pub fn communicator(&self, group: &Group, tag: &str) -> Result<Option<SimpleCommunicator>> {
        if group.inner().size() > 0 && group.inner().session() != self.handle() {
            let why = "it comes from the world model or another session; use one of Session::group";
            return Err(Error(Fault::new(Class::Group).argument("group").because(why)));
        }
        let (handler, hints) = (ErrorHandler::Fatal.handle(), Hints::default());
        let made = comm::create_from_group(group.inner(), tag.as_bytes(), handler, hints)?;
        Ok(made.map(|handle| SimpleCommunicator::of(Owned::made(handle, self.life.clone()))))
    }

    fn handle(&self) -> usize {
        match *self.life {
            Life::Session(handle) => handle,
            Life::World => unreachable!("a session's life is a session's"),
        }
    }
}
