//! Sessions: MPI 5.0 §11.3. Each keeps MPI in use until it is finalised; process sets are what it can make groups of.
//!
//! **Invariant:** the tables here are locked at every thread level: MPI 5.0 §11.6 lets any thread open a session.

use crate::buffer::{self, Owner};
use crate::error::{Class, Fault, Result};
use crate::group::Group;
use crate::handle::Table;
use crate::info::Info;
use crate::init::{self, ThreadLevel};
use crate::{errhandler, process};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::sync::{AtomicUsize, Ordering};
use orte_core::framework::ess;

/// MPI_SESSION_NULL.
pub const NULL: usize = 0x120;

static DYNAMIC: Table<Session> = Table::new();

/// A session in use.
pub struct Session {
    /// Its thread level.
    pub level: ThreadLevel,
    /// The handle of the error handler in force.
    pub errhandler: AtomicUsize,
}

/// MPI_Session_init.
pub fn open(info: Option<&Info>, errhandler: usize) -> Result<usize> {
    let level = match info.and_then(|info| info.get(THREAD_LEVEL)) {
        None => ThreadLevel::Single,
        Some(name) => ThreadLevel::from_symbol(&name).ok_or_else(|| {
            let why = format!("{THREAD_LEVEL} is `{name}`, which is no MPI_THREAD_ level");
            Fault::new(Class::InfoValue).argument("info").because(why)
        })?,
    };
    errhandler::check(errhandler, errhandler::Kind::Session)?;
    init::enter(level).map_err(|error| {
        Fault::new(Class::Other).because(format!("MPI cannot start ({error:?}); the lines above say why"))
    })?;
    errhandler::retain(errhandler);
    let session = Session { level, errhandler: AtomicUsize::new(errhandler) };
    let none = || Fault::new(Class::NoMem).because("all session handles are in use");
    DYNAMIC.insert(Arc::new(session)).ok_or_else(none).inspect_err(|_| init::leave())
}

/// MPI_Session_finalize: what was sent leaves. Objects made with the session's help are the user's to free.
pub fn close(handle: usize) -> Result<()> {
    let session = DYNAMIC.get(handle).ok_or_else(|| Fault::new(Class::Session).argument("session"))?;
    buffer::drop_owner(Owner::Session(handle))?;
    init::drain()?;
    if DYNAMIC.remove(handle).is_none() {
        let why = "another thread finalises it at the same time";
        return Err(Fault::new(Class::Session).argument("session").because(why));
    }
    drop(session);
    init::leave();
    Ok(())
}

/// The session behind a handle.
pub fn get(handle: usize) -> Option<Arc<Session>> {
    DYNAMIC.get(handle)
}

impl Session {
    /// MPI_Session_get_info.
    pub fn info(&self) -> Info {
        Info::of([(THREAD_LEVEL, self.level.symbol()), MEMORY_KINDS])
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        errhandler::release(self.errhandler.load(Ordering::Relaxed));
    }
}

/// The kinds of memory in which buffers may lie, whatever was asked for, and the key under which sessions, communicators and
/// MPI_INFO_ENV say so. MPI 5.0 §11.4.3.
pub const MEMORY_KINDS: (&str, &str) = ("mpi_memory_alloc_kinds", "mpi,system");

const THREAD_LEVEL: &str = "thread_level";

const WORLD: &str = "mpi://WORLD";
const SELF: &str = "mpi://SELF";
/// The ranks of one program of the command line, by its number.
const APP: &str = "mpirun://app/";
/// The ranks of one node, by its number.
const NODE: &str = "mpirun://node/";

/// The names of the process sets that this process is in. Indices stay what they are.
pub fn process_sets() -> Vec<String> {
    let mut names = Vec::from([String::from(WORLD), String::from(SELF)]);
    if let Some(app) = ess::selected().and_then(|environment| environment.app_number()) {
        names.push(format!("{APP}{app}"));
    }
    names.push(format!("{NODE}{}", process::me().node));
    names
}

/// The processes of a set, this one being in it or not; `None` for an unknown name.
pub fn members(name: &str) -> Option<Box<[u32]>> {
    let all = 0..process::count() as u32;
    let number = |prefix: &str| name.strip_prefix(prefix)?.parse::<u32>().ok();
    let members: Box<[u32]> = if name.eq_ignore_ascii_case(WORLD) {
        all.collect()
    } else if name.eq_ignore_ascii_case(SELF) {
        Box::new([process::me().index])
    } else if let Some(node) = number(NODE) {
        all.filter(|index| process::get(*index).node == node).collect()
    } else {
        let (app, environment) = (number(APP)?, ess::selected()?);
        all.filter(|index| environment.app_of(*index) == Some(app)).collect()
    };
    (!members.is_empty()).then_some(members)
}

/// Whether this process is in a set.
pub fn is_member(name: &str) -> bool {
    members(name).is_some_and(|members| members.contains(&process::me().index))
}

/// MPI_Group_from_session_pset.
pub fn group(session: usize, name: &str) -> Result<Group> {
    Ok(Group::new(known(name)?, process::me().index).in_session(session))
}

/// MPI_Session_get_pset_info.
pub fn set_info(name: &str) -> Result<Info> {
    Ok(Info::of([("mpi_size", &format!("{}", known(name)?.len()))]))
}

fn known(name: &str) -> Result<Box<[u32]>> {
    members(name).ok_or_else(|| {
        let why = format!("there is no process set `{name}`; MPI_Session_get_nth_pset names those of this process");
        Fault::new(Class::Arg).argument("pset_name").because(why)
    })
}
