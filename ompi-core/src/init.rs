//! The life of MPI in this process: initialised, active, finalised.
//!
//! Order: components are proved and get their parameters, the environment says who we are, transports are opened,
//! addresses are exchanged, MPI_COMM_WORLD and MPI_COMM_SELF are made.

use crate::errhandler::Errhandler;
use crate::error::{Class, Fault, Result};
use crate::framework::{bml, pml};
use crate::process::{self, Process};
use crate::{addresses, attr, buffer, comm, datatype, executor};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::{btl, shmem, smsc};
use opal_core::mca::{self, Framework, image, source};
use opal_core::sync::{AtomicU32, Once, Ordering, raise_threads};
use opal_core::{message, params, progress, sys, wait};
use orte_core::framework::ess;

params! {
    /// Print at start, on rank 0, which components run and why the others do not.
    pub static SHOW_COMPONENTS: Bool = Bool(false), "", level 2;
}

const BEFORE: u32 = 0;
const STARTING: u32 = 1;
const ACTIVE: u32 = 2;
const FINALIZED: u32 = 3;

static STATE: AtomicU32 = AtomicU32::new(BEFORE);
static THREAD_LEVEL: AtomicU32 = AtomicU32::new(0);
static MAIN_THREAD: AtomicU32 = AtomicU32::new(0);

/// Parameters of MPI as a whole: `mpi_<name>`.
pub static FRAMEWORK: Framework =
    Framework::new("mpi", "MPI as a whole.", mca::Layer::Ompi, 1, mca::Policy::Parameters, |_| {}).with_params(ALL);

/// MPI_THREAD_*: what a caller asks for and gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum ThreadLevel {
    /// MPI_THREAD_SINGLE.
    Single = 0,
    /// MPI_THREAD_FUNNELED.
    Funneled = 1024,
    /// MPI_THREAD_SERIALIZED.
    Serialized = 2048,
    /// MPI_THREAD_MULTIPLE.
    Multiple = 4096,
}

impl ThreadLevel {
    /// The level of this number.
    pub fn from_int(number: i32) -> Option<ThreadLevel> {
        use ThreadLevel::*;
        [Single, Funneled, Serialized, Multiple].into_iter().find(|level| *level as i32 == number)
    }

    /// As the standard spells it.
    pub fn symbol(self) -> &'static str {
        match self {
            ThreadLevel::Single => "MPI_THREAD_SINGLE",
            ThreadLevel::Funneled => "MPI_THREAD_FUNNELED",
            ThreadLevel::Serialized => "MPI_THREAD_SERIALIZED",
            ThreadLevel::Multiple => "MPI_THREAD_MULTIPLE",
        }
    }
}

/// Whether calls that need MPI may be made.
#[inline(always)]
pub fn is_active() -> bool {
    STATE.load(Ordering::Relaxed) == ACTIVE
}

/// Whether MPI_Init was called and succeeded, finalised or not.
pub fn was_initialized() -> bool {
    STATE.load(Ordering::Relaxed) >= ACTIVE
}

/// Whether MPI_Finalize has completed.
pub fn is_finalized() -> bool {
    STATE.load(Ordering::Relaxed) == FINALIZED
}

/// The level in force.
pub fn thread_level() -> i32 {
    THREAD_LEVEL.load(Ordering::Relaxed) as i32
}

/// Whether the calling thread is the one that started MPI.
pub fn is_main_thread() -> bool {
    MAIN_THREAD.load(Ordering::Relaxed) == sys::thread_id()
}

/// For rows: refuses a call before MPI_Init and after MPI_Finalize.
#[inline(always)]
pub fn initialized() -> Result<()> {
    if is_active() { Ok(()) } else { Err(not_active()) }
}

/// For rows that may always be called.
#[inline(always)]
pub fn always() -> Result<()> {
    Ok(())
}

#[cold]
fn not_active() -> Fault {
    Fault::new(Class::Other).because(match STATE.load(Ordering::Relaxed) {
        FINALIZED => "it was called after MPI_Finalize",
        _ => "it was called before MPI_Init",
    })
}

/// The error handler before MPI is initialised: `mpi_initial_errhandler` as mpirun's info key of MPI 5.0 §11.8.1
/// will set it; until then the standard's default.
pub fn initial_errhandler() -> Errhandler {
    Errhandler::Fatal
}

/// All frameworks of all layers.
pub fn frameworks() -> Vec<&'static Framework> {
    let layers = [opal_core::framework::ALL, orte_core::framework::ALL, crate::framework::ALL];
    let mut all: Vec<_> = layers.into_iter().flatten().copied().collect();
    all.push(&FRAMEWORK);
    all
}

/// Proves the image and gives every parameter its value: the part of start-up that `ompi_info` needs, too.
pub fn configure() -> opal_core::Result<()> {
    static DONE: Once<opal_core::Result<()>> = Once::new();
    *DONE.call_once(|| {
        let frameworks = frameworks();
        image::verify(&frameworks)?;
        let mut fatal = false;
        for problem in source::apply(&frameworks, image::components(), &source::collect()) {
            message!("{}", problem.text);
            fatal |= problem.fatal;
        }
        if fatal { Err(opal_core::Error::Invalid) } else { Ok(()) }
    })
}

/// MPI_Init_thread.
pub fn init(wanted: ThreadLevel) -> Result<ThreadLevel> {
    if STATE.compare_exchange(BEFORE, STARTING, Ordering::SeqCst, Ordering::SeqCst).is_err() {
        let why =
            if is_finalized() { "MPI was finalised; it cannot start again" } else { "MPI is already initialised" };
        return Err(Fault::new(Class::Other).because(why));
    }
    if wanted == ThreadLevel::Multiple {
        raise_threads();
    }
    THREAD_LEVEL.store(wanted as u32, Ordering::Relaxed);
    MAIN_THREAD.store(sys::thread_id(), Ordering::Relaxed);
    let environment = match start() {
        Ok(environment) => environment,
        // What went wrong was said where it happened. Nothing works without the rest: end here, as mpirun expects.
        Err(error) => give_up(&format!("MPI_Init cannot start MPI ({error:?}); the lines above say why")),
    };
    STATE.store(ACTIVE, Ordering::SeqCst);
    environment.set_state(ess::State::Initialized);
    if SHOW_COMPONENTS.flag() && environment.identity().rank == 0 {
        show_components();
    }
    Ok(wanted)
}

fn start() -> opal_core::Result<&'static dyn ess::Module> {
    configure()?;
    opal_core::framework::open_static()?;
    datatype::open();
    let environment = ess::select()?;
    wait::watch_epoch(|| ess::selected().map_or(0, |environment| environment.epoch()));
    let inherited = environment.inherited();
    if inherited.is_some() {
        shmem::select(inherited)?;
    }
    wait::expect_local_ranks(environment.identity().local_size);
    if let Some(secret) = environment.secret() {
        let ess::Identity { job, rank, size, .. } = environment.identity();
        btl::set_realm(btl::Realm { number: job, index: rank, size, secret });
    }
    smsc::select(environment.launcher())?;
    bml::select()?;
    pml::select()?;
    let bml = bml::selected().ok_or(opal_core::Error::NotFound)?;
    environment.publish(&published(bml))?;
    process::open(processes(environment)?);
    comm::open(environment.identity())?;
    Ok(environment)
}

fn published(bml: &dyn bml::Module) -> Vec<u8> {
    let mut list = bml.addresses();
    if let Some(smsc::Selected { name, module }) = smsc::selected() {
        addresses::push(&mut list, &format!("{}/{name}", smsc::FRAMEWORK.name), &module.address());
    }
    list
}

fn processes(environment: &dyn ess::Module) -> opal_core::Result<Vec<Process>> {
    let me = environment.identity().rank;
    let here = environment.node_of(me);
    (0..environment.identity().size)
        .map(|rank| {
            let node = environment.node_of(rank);
            let addresses = environment.lookup(rank)?;
            Ok(Process { index: rank, node, is_self: rank == me, same_node: node == here, addresses })
        })
        .collect()
}

fn show_components() {
    let decisions = mca::select::decisions();
    for decision in &decisions {
        use mca::select::Verdict;
        let (framework, component) = (decision.framework, decision.component);
        match decision.verdict {
            Verdict::Chosen(Some(priority)) => {
                message!("component {framework}/{component}: chosen (priority {priority})")
            }
            Verdict::Chosen(None) => message!("component {framework}/{component}: chosen"),
            Verdict::Outbid(priority) => message!("component {framework}/{component}: outbid (priority {priority})"),
            Verdict::Declined(why) => message!("component {framework}/{component}: declined: {why}"),
            Verdict::Excluded => message!("component {framework}/{component}: left out by the selection list"),
        }
    }
    for info in image::components() {
        let (framework, component) = (info.framework.name, info.name);
        if decisions.iter().any(|decision| (decision.framework, decision.component) == (framework, component)) {
            continue;
        }
        match info.framework.policy {
            mca::Policy::Static => message!("component {framework}/{component}: built in"),
            _ => message!("component {framework}/{component}: linked, not needed here"),
        }
    }
}

/// MPI_Finalize: everything that was sent is delivered, then the others are awaited.
pub fn finalize() -> Result<()> {
    initialized()?;
    // As if MPI_COMM_SELF were freed, and with MPI still active (MPI 5.0 §11.2.4).
    attr::delete_all(attr::Kind::Comm, comm::SELF_HANDLE)?;
    attr::delete_all(attr::Kind::Comm, comm::WORLD_HANDLE)?;
    buffer::drop_all()?;
    executor::barrier(comm::world())?;
    drain()?;
    if let Some(environment) = ess::selected() {
        environment.barrier()?;
        environment.set_state(ess::State::Finalized);
    }
    STATE.store(FINALIZED, Ordering::SeqCst);
    Ok(())
}

/// Until nothing that was sent is still in this process: nobody makes progress afterwards.
fn drain() -> Result<()> {
    let Some(bml) = bml::selected() else { return Ok(()) };
    wait::until(|| {
        progress::flush();
        // A pass that moves something may have found room for what had waited above the transports.
        progress::pass() == 0 && bml.modules().iter().all(|module| module.is_drained())
    })
    .map_err(Fault::from)
}

/// Ends the job with a status and a message.
pub fn abort(status: i32, text: &str) -> ! {
    match ess::selected() {
        Some(environment) => environment.abort(status, text),
        None => give_up(text),
    }
}

fn give_up(text: &str) -> ! {
    message!("{text}");
    sys::exit(1)
}

/// MPI_Get_processor_name.
pub fn processor_name() -> String {
    sys::hostname()
}
