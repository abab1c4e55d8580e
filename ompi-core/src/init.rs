//! The life of MPI in this process: initialised, active, finalised.
//!
//! Order: components are proved and get their parameters, the environment says who we are, transports are opened,
//! addresses are exchanged, MPI_COMM_WORLD and MPI_COMM_SELF are made.

use crate::abi::fast_path;
use crate::error::{Class, Fault, Result};
use crate::framework::{bml, pml};
use crate::process::{self, Process};
use crate::{addresses, attr, buffer, comm, datatype, errhandler, executor};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::{btl, shmem, smsc};
use opal_core::mca::{self, Framework, image, source};
use opal_core::sync::{AtomicU32, Mutex, Once, Ordering, raise_threads};
use opal_core::{message, params, progress, sys, wait};
use orte_core::framework::ess;

params! {
    /// Print at start, on rank 0, which components run and why the others do not.
    pub static SHOW_COMPONENTS: Bool = Bool(false), "", level 2;
    /// The error handler of MPI_COMM_WORLD, of MPI_COMM_SELF and of calls that concern no object, until the program sets
    /// others: mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return.
    pub static INITIAL_ERRHANDLER: Text = Text("mpi_errors_are_fatal"), "", level 2;
}

const BEFORE: u32 = 0;
const STARTING: u32 = 1;
const ACTIVE: u32 = 2;
const FINALIZED: u32 = 3;

static STATE: AtomicU32 = AtomicU32::new(BEFORE);
// The world model and the sessions that use MPI now.
static USERS: AtomicU32 = AtomicU32::new(0);
static LIFE: Mutex<Life> = Mutex::new(Life { started: None, thread: 0 });
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

struct Life {
    // What came of the one start.
    started: Option<opal_core::Result<()>>,
    // The thread that entered first.
    thread: u32,
}

impl ThreadLevel {
    const ALL: [ThreadLevel; 4] =
        [ThreadLevel::Single, ThreadLevel::Funneled, ThreadLevel::Serialized, ThreadLevel::Multiple];

    /// The level that the standard spells like this.
    pub fn from_symbol(symbol: &str) -> Option<ThreadLevel> {
        ThreadLevel::ALL.into_iter().find(|level| level.symbol() == symbol)
    }

    /// The level of this number.
    pub fn from_int(number: i32) -> Option<ThreadLevel> {
        ThreadLevel::ALL.into_iter().find(|level| *level as i32 == number)
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

/// Whether calls that need MPI may be made: the world model is in use, or a session is.
#[inline(always)]
pub fn is_active() -> bool {
    USERS.load(Ordering::Relaxed) != 0
}

/// Whether MPI_COMM_WORLD and MPI_COMM_SELF may be used.
pub fn is_world_active() -> bool {
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

/// The handle of the error handler that is in force where nothing else was set: what `mpirun --initial-errhandler` says
/// (MPI 5.0 §9.3 and §11.5), else the standard's default.
pub fn initial_errhandler() -> usize {
    // Errors before MPI is started are handled like this, too.
    if configure().is_err() {
        return errhandler::FATAL;
    }
    match INITIAL_ERRHANDLER.text() {
        "mpi_errors_return" => errhandler::RETURN,
        "mpi_errors_abort" => errhandler::ABORT,
        _ => errhandler::FATAL,
    }
}

fn check_initial_errhandler() -> opal_core::Result<()> {
    let value = INITIAL_ERRHANDLER.text();
    if ["mpi_errors_return", "mpi_errors_abort", "mpi_errors_are_fatal"].contains(&value) {
        return Ok(());
    }
    message!(
        "mpi_initial_errhandler is `{value}`; it must be mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return"
    );
    Err(opal_core::Error::Invalid)
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
        if fatal { Err(opal_core::Error::Invalid) } else { check_initial_errhandler() }
    })
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
    STATE.store(ACTIVE, Ordering::SeqCst);
    if SHOW_COMPONENTS.flag() && identity.rank == 0 {
        show_components();
    }
    Ok(())
}

/// One user of MPI more, the world model or a session. The first one starts everything, which then stays: who comes
/// after the last one left finds it as it was, wired up.
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
    if USERS.fetch_add(1, Ordering::SeqCst) == 0
        && let Some(environment) = ess::selected()
    {
        environment.set_state(ess::State::Initialized);
    }
    fast_path::open();
    Ok(())
}

/// One user of MPI less; after the last one the process may end as it likes.
pub fn leave() {
    let _life = LIFE.lock();
    if USERS.fetch_sub(1, Ordering::SeqCst) > 1 {
        return;
    }
    fast_path::close();
    if let Some(environment) = ess::selected() {
        environment.set_state(ess::State::Finalized);
    }
}

fn start() -> opal_core::Result<()> {
    configure()?;
    mca::select::check_all(&frameworks(), image::components())?;
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
        btl::set_job(btl::Job { number: job, index: rank, size, secret });
    }
    smsc::select(environment.launcher())?;
    bml::select()?;
    pml::select()?;
    let bml = bml::selected().ok_or(opal_core::Error::NotFound)?;
    environment.publish(&published(bml))?;
    process::open(processes(environment));
    Ok(())
}

fn published(bml: &dyn bml::Module) -> Vec<u8> {
    let mut list = bml.addresses();
    if let Some(smsc::Selected { name, module }) = smsc::selected() {
        addresses::push(&mut list, &format!("{}/{name}", smsc::FRAMEWORK.name), &module.address());
    }
    list
}

fn processes(environment: &dyn ess::Module) -> Vec<Process> {
    let me = environment.identity().rank;
    let here = environment.node_of(me);
    (0..environment.identity().size)
        .map(|rank| {
            let node = environment.node_of(rank);
            Process::new(rank, node, rank == me, node == here)
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
            Verdict::LowerPriority(priority) => {
                message!("component {framework}/{component}: another component has a higher priority than {priority}")
            }
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
    if !is_world_active() {
        return Err(not_active());
    }
    // As if MPI_COMM_SELF were freed, and with MPI still active (MPI 5.0 §11.2.4).
    attr::delete_all(attr::Kind::Comm, comm::SELF_HANDLE)?;
    attr::delete_all(attr::Kind::Comm, comm::WORLD_HANDLE)?;
    buffer::drop_world()?;
    executor::barrier(comm::world())?;
    comm::world().coll().finish()?;
    drain()?;
    if let Some(environment) = ess::selected() {
        environment.barrier()?;
    }
    STATE.store(FINALIZED, Ordering::SeqCst);
    comm::close();
    leave();
    Ok(())
}

/// Until nothing that was sent is still in this process: nobody makes progress afterwards.
pub fn drain() -> Result<()> {
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

/// MPI_Get_library_version.
pub fn library_version() -> String {
    format!("ompi-rs {} (standard ABI {}.{})", env!("CARGO_PKG_VERSION"), 1, 0)
}

/// MPI_Get_processor_name.
pub fn processor_name() -> String {
    sys::hostname()
}
