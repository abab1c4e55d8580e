//! The life of MPI in this process: initialised, active, finalised.
//!
//! Order: components are proved and get their parameters, the environment says which rank this process is, transports
//! are opened, addresses are exchanged, MPI_COMM_WORLD and MPI_COMM_SELF are made.

use crate::abi::fast_path;
use crate::error::{Class, Fault, Result};
use crate::framework::{bml, pml};
use crate::process;
use crate::{addresses, attr, buffer, comm, datatype, dynamic, executor, file, inspect, report};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::{btl, memory, netif, rcache, shmem, smsc};
use opal_core::mca::{self, image};
use opal_core::sync::{Mutex, Ordering, raise_threads};
use opal_core::{progress, sys, wait};
use orte_core::framework::ess;

mod abort;
mod configure;
mod crash_report;
mod lost;
mod show_components;
mod state;
mod tool;

pub use crate::parameters::{INITIAL_ERRHANDLER, SHOW_COMPONENTS};
use abort::give_up;
pub use abort::{abort, abort_some, abort_unstarted};
pub use configure::{FRAMEWORK, configure, frameworks, initial_errhandler};
pub use orte_core::framework::ess::lost_peer;
use show_components::show_components;
use state::{
    ACTIVE, BEFORE, FINALIZED, FORKED, HIGHEST_LEVEL, MAIN_THREAD, STARTING, STATE, THREAD_LEVEL, USERS, not_active,
};
pub use state::{
    ThreadLevel, always, initialized, is_active, is_finalized, is_main_thread, is_world_active, level_in_force,
    thread_level, tool_initialized, was_initialized,
};
pub use tool::{close_tool, open_tool};

static LIFE: Mutex<Life> = Mutex::new(Life { started: None, thread: 0 });

struct Life {
    // What came of the one start.
    started: Option<opal_core::Result<()>>,
    // The thread that entered first.
    thread: u32,
}

/// MPI_Init_thread.
pub fn init(wanted: ThreadLevel) -> Result<ThreadLevel> {
    if STATE.compare_exchange(BEFORE, STARTING, Ordering::SeqCst, Ordering::SeqCst).is_err() {
        let why =
            if is_finalized() { "MPI was finalised; it cannot start again" } else { "MPI is already initialised" };
        return Err(Fault::new(Class::Other).because(why));
    }
    THREAD_LEVEL.store(wanted as u32, Ordering::Relaxed);
    MAIN_THREAD.store(sys::thread_id(), Ordering::Relaxed);
    match enter(wanted).and_then(|()| open_world()) {
        Ok(()) => Ok(wanted),
        // A wrong parameter or component: one sentence was said, and there is nothing to add.
        Err(opal_core::Error::Invalid) => sys::exit(2),
        // What went wrong was said where it happened. Nothing works without the rest: end here, as mpirun expects.
        Err(error) => give_up(&format!("MPI_Init cannot start MPI ({error:?}); the lines above say why")),
    }
}

fn open_world() -> opal_core::Result<()> {
    let identity = ess::selected().ok_or(opal_core::Error::NotFound)?.identity();
    comm::open(identity)?;
    dynamic::open(ess::selected().and_then(|environment| environment.parent()))?;
    STATE.store(ACTIVE, Ordering::SeqCst);
    if SHOW_COMPONENTS.flag() && identity.rank == 0 {
        show_components();
    }
    report::paths::at_init().map_err(|_| opal_core::Error::Unreachable)
}

/// One user of MPI more, the world model or a session. The first one starts everything, which then stays: a user that
/// comes after the last one left finds it as it was, wired up.
pub fn enter(wanted: ThreadLevel) -> opal_core::Result<()> {
    let mut life = LIFE.lock();
    let thread = sys::thread_id();
    // Two users with a thread each may call at the same time, whatever the level of either is.
    if wanted == ThreadLevel::Multiple || life.thread != 0 && life.thread != thread {
        raise_threads();
    }
    life.thread = if life.thread == 0 { thread } else { life.thread };
    match life.started {
        Some(started) => started?,
        None => {
            let started = start();
            life.started = Some(started);
            started?;
        }
    }
    HIGHEST_LEVEL.fetch_max(wanted as u32, Ordering::Relaxed);
    if USERS.fetch_add(1, Ordering::SeqCst) == 0
        && let Some(environment) = ess::selected()
    {
        environment.set_state(ess::State::Initialized);
    }
    if report::listen::is_on() {
        fast_path::count();
    }
    fast_path::open();
    Ok(())
}

/// Whether MPI was ever started: what is read at the start has been read.
pub fn has_started() -> bool {
    LIFE.lock().started.is_some()
}

/// One user of MPI less; after the last one the process may end as it likes.
pub fn leave() {
    let _life = LIFE.lock();
    if USERS.fetch_sub(1, Ordering::SeqCst) > 1 {
        return;
    }
    report::stats::at_leave();
    report::trace::at_leave();
    file::abandon_all();
    fast_path::close();
    if let Some(bml) = bml::selected() {
        bml.modules().iter().for_each(|module| module.finish());
    }
    smsc::close();
    if let Some(environment) = ess::selected() {
        environment.set_state(ess::State::Finalized);
    }
}

/// Runs in each child that this rank forks. Memory, connections and numbers of messages there are copies of the rank's, or
/// shared with it: any call would disturb both.
extern "C" fn forked() {
    STATE.store(FORKED, Ordering::Relaxed);
    USERS.store(0, Ordering::Relaxed);
    fast_path::close_in_child();
}

fn start() -> opal_core::Result<()> {
    configure()?;
    mca::select::check_all(&frameworks(), image::components())?;
    opal_core::framework::open_static()?;
    datatype::open();
    netif::open()?;
    let environment = ess::select()?;
    if environment.identity().size > 1 {
        sys::in_forked_children(forked);
    }
    wait::watch_epoch(|| ess::selected().map_or(0, |environment| environment.epoch()));
    wait::ask_who_is_needed(lost::only_needs_living);
    wait::when_lost_in_job(lost::tell_ended);
    wait::tell_sleeps(report::waits::tell);
    crash_report::enable(environment.identity().rank);
    if let Some(note) = memory::noted().filter(|_| environment.identity().rank == 0) {
        opal_core::message!("{note}");
    }
    let inherited = environment.inherited();
    if inherited.is_some() {
        shmem::select(inherited)?;
    }
    wait::expect_local_ranks(environment.identity().local_rank, environment.identity().local_size);
    if let Some(secret) = environment.secret() {
        let ess::Identity { job, rank, size, local_size, .. } = environment.identity();
        btl::set_job(btl::Job { number: job, index: rank, size, one_node: local_size == size, secret });
    }
    btl::name_hosts(process::known_host);
    btl::watch_processes(lost::has_ended);
    smsc::select(environment.launcher())?;
    rcache::select()?;
    bml::select()?;
    pml::select()?;
    inspect::open();
    let bml = bml::selected().ok_or(opal_core::Error::NotFound)?;
    environment.publish(&published(bml))?;
    let ess::Identity { job, rank, size, .. } = environment.identity();
    process::open(job, rank, size, node_of);
    // The others have what they need of this rank, should it end the job here.
    report::stats::at_start();
    report::trace::at_start();
    Ok(())
}

fn published(bml: &dyn bml::Module) -> Vec<u8> {
    let mut list = bml.addresses();
    process::publish_cores(&mut list);
    process::publish_host(&mut list);
    for smsc::Selected { name, module } in smsc::selected() {
        addresses::push(&mut list, &format!("{}/{name}", smsc::FRAMEWORK.name), &module.address());
    }
    list
}

fn node_of(rank: u32) -> u32 {
    ess::selected().map_or(0, |environment| environment.node_of(rank))
}

/// MPI_Finalize: everything that was sent is delivered, then the others are awaited.
pub fn finalize() -> Result<()> {
    if !is_world_active() {
        return Err(not_active());
    }
    // As if MPI_COMM_SELF were freed, and with MPI still active (MPI 5.0 §11.2.4).
    attr::delete_all(attr::KeyvalKind::Comm, comm::SELF_HANDLE)?;
    attr::delete_all(attr::KeyvalKind::Comm, comm::WORLD_HANDLE)?;
    buffer::drop_world()?;
    report::paths::at_finalize()?;
    report::stats::at_finalize()?;
    report::trace::at_finalize()?;
    executor::barrier(comm::world())?;
    comm::world().coll().finish()?;
    drain()?;
    if let Some(environment) = ess::selected() {
        // One that lost the last answer of this process asks for it again, and comes then.
        environment.barrier(&mut || _ = progress::pass())?;
    }
    STATE.store(FINALIZED, Ordering::SeqCst);
    comm::close();
    leave();
    Ok(())
}

/// Until nothing that was sent is still in this process: nobody makes progress afterwards. Processes of the own job have received what was
/// sent to them, as a barrier says. Those of other jobs may still have to, also where the request was freed (MPI 5.0 §11.2.2).
pub fn drain() -> Result<()> {
    let Some(bml) = bml::selected() else { return Ok(()) };
    let is_last = USERS.load(Ordering::SeqCst) == 1;
    wait::until(|| {
        progress::flush();
        // A pass that moves something may have found room for what had waited above the transports.
        progress::pass() == 0
            && pml::selected().is_drained()
            && (!is_last || pml::selected().is_done_beyond_job())
            && bml.modules().iter().all(|module| module.is_drained())
    })
    .map_err(Fault::from)
}

/// MPI_Get_library_version.
pub fn library_version() -> String {
    format!("ompi-rs {} (standard ABI {}.{})", env!("CARGO_PKG_VERSION"), 1, 0)
}

/// MPI_Get_processor_name.
pub fn processor_name() -> String {
    sys::hostname()
}
