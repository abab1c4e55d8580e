//! BTL management layer: which transports reach which process.
#![allow(unsafe_code)] // linkme's expansion

use alloc::sync::Arc;
use opal_core::framework::btl;
use opal_core::mca;
use opal_core::sync::{AtomicBool, Once, Ordering};

/// One transport's way to one process.
#[derive(Clone, Copy)]
pub struct Path {
    /// The transport.
    pub module: &'static dyn btl::Module,
    /// Its number for the process.
    pub endpoint: btl::Endpoint,
}

/// The running BML.
pub trait Module: Sync {
    /// Collects the addresses of all transports of this process, to be published; a list of [`crate::addresses`].
    fn addresses(&self) -> alloc::vec::Vec<u8>;

    /// The addresses by which processes of other jobs reach this one, `name`; a list of [`crate::addresses`].
    fn addresses_beyond_job(&self, _name: btl::ProcessName) -> alloc::vec::Vec<u8> {
        alloc::vec::Vec::new()
    }

    /// A process of another job is left: nothing is on its way to it or from it, and nobody polls during this call. Another process
    /// may have its index afterwards.
    fn remove_process(&self, _process: u32) {}

    /// Connects the transports to a process, best path first. Messages that are matched travel only on the first.
    fn add_process(&self, process: &crate::process::Process) -> opal_core::Result<Arc<[Path]>>;

    /// Why [`Module::add_process`] found no path to this process: half a sentence that names the transports.
    fn why_unreachable(&self, process: &crate::process::Process) -> alloc::string::String {
        alloc::format!("no transport reaches {}", process.described())
    }

    /// What [`Module::add_process`] found for the process of this index; empty if it was not called yet.
    fn paths(&self, process: u32) -> Arc<[Path]>;

    /// The path to the memory of another process of the job ([`btl::RemoteCaps`]), for put and get; `None`: no transport has one. Where
    /// messages take another transport, this one is connected at the first call, for memory alone.
    fn memory_path(&self, _process: &crate::process::Process) -> opal_core::Result<Option<Path>> {
        Ok(None)
    }

    /// The name of a path's transport, as parameters spell it: `sm`. `None` for a path that is not from this module.
    fn transport_name(&self, path: &Path) -> Option<&'static str>;

    /// All modules, for progress.
    fn modules(&self) -> &'static [&'static dyn btl::Module];
}

/// A BML that may run.
pub trait Component: mca::Component {
    /// Priority and module.
    fn query(&self) -> core::result::Result<(i32, &'static dyn Module), mca::Declined>;
}

opal_core::framework! {
    /// BTL management layer: which transports reach which process.
    "bml", Ompi, version 1, OneOfMany, OMPI_BMLS: dyn Component
}

static SELECTED: Once<&'static dyn Module> = Once::new();

/// Chooses the component, once.
pub fn select() -> opal_core::Result<()> {
    let (_, module) = mca::select_one(&FRAMEWORK, &OMPI_BMLS, |component| component.query())?;
    SELECTED.call_once(|| module);
    Ok(())
}

/// The running BML, if chosen already.
pub fn selected() -> Option<&'static dyn Module> {
    SELECTED.get().copied()
}

/// What became of a transport's way to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The transport knows the process, and messages may take it.
    Connected,
    /// The process cannot be reached any more.
    Lost,
}

/// One transport's way to one process that came or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathEvent {
    /// What became of it.
    pub what: Change,
    /// The index of the process.
    pub process: u32,
    /// The transport, as [`Module::transport_name`] has it.
    pub transport: &'static str,
}

static OBSERVER: Once<fn(&PathEvent)> = Once::new();
static IS_OBSERVED: AtomicBool = AtomicBool::new(false);

/// Has this called for each way that comes or goes from now on, perhaps with locks held: it must send nothing. One observer is
/// enough: always the same function.
pub fn observe_paths(observer: fn(&PathEvent)) {
    OBSERVER.call_once(|| observer);
    IS_OBSERVED.store(true, Ordering::SeqCst);
}

/// The observer wants to hear no more.
pub fn ignore_paths() {
    IS_OBSERVED.store(false, Ordering::SeqCst);
}

/// Tells the observer, if there is one, of all ways to a process: for a PML that begins to use them, or that learns that a process
/// is lost.
pub fn tell_paths(what: Change, process: u32) {
    let observer = OBSERVER.get().filter(|_| IS_OBSERVED.load(Ordering::Relaxed));
    let Some((observer, module)) = observer.zip(selected()) else { return };
    for path in module.paths(process).iter() {
        if let Some(transport) = module.transport_name(path) {
            observer(&PathEvent { what, process, transport });
        }
    }
}
