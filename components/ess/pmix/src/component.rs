//! Parameters and registration.

use crate::client::Client;
use crate::raw::Library;
use crate::traces::Traces;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use opal_core::mca::{self, Declined};
use opal_core::sync::Once;
use opal_core::sys;
use orte_core::direct::{Direct, Place};
use orte_core::environment::SEGMENT;
use orte_core::framework::ess;

opal_core::params! {
    /// How long to wait for the process manager and for the other ranks at start-up before giving up.
    pub static TIMEOUT_S: Size = Int(60), "s", level 6;
    /// The library that speaks PMIx with the manager, as the system's loader finds it.
    pub static LIBRARY: Text = Text("libpmix.so.2"), "", level 6;
}

/// The component.
pub struct Component {
    module: Once<Direct>,
}

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        if sys::variable(SEGMENT).is_some() {
            return Err(Declined("this project's mpirun started this process"));
        }
        match Traces::are_there(sys::variable) {
            true => Ok(()),
            false => Err(Declined("no process manager left PMIX_NAMESPACE and PMIX_RANK")),
        }
    }
}

impl ess::Component for Component {
    fn query(&self) -> Result<(i32, &'static dyn ess::Module), Declined> {
        // The process is about to end, so the sentence may stay for ever.
        let module = open().map_err(|sentence| Declined(Box::leak(Box::from(sentence))))?;
        Ok((PRIORITY, COMPONENT.module.call_once(|| module)))
    }
}

fn open() -> Result<Direct, String> {
    let traces = Traces::decode(sys::variable)?;
    let patience_s = TIMEOUT_S.int().unsigned_abs();
    let library = Library::open(LIBRARY.text(), &traces.version)?;
    let (client, size) = Client::start(library, &traces, patience_s)?;
    sys::mark_in_use();
    let rank = traces.rank;
    opal_core::log::set_prefix(format!("{}:{} rank {rank}", sys::hostname(), sys::pid()));
    let place = Place {
        rank,
        nodes: client.nodes(size)?,
        app: client.app_number(rank),
        universe: client.universe_size(),
        is_spawned: false,
        patience: (patience_s, "ess_pmix_timeout_s"),
    };
    Direct::open(Box::new(client), place)
}

opal_core::component! {
    /// Identity and wire-up from a process manager that speaks PMIx, such as Slurm's `srun --mpi=pmix` or Open MPI's mpirun.
    pub static COMPONENT: Component = Component { module: Once::new() };
    in orte_core::framework::ess, name "pmix", params ALL
}

/// Above ess/pmi2: a manager that leaves both protocols' variables means the newer one.
const PRIORITY: i32 = 45;
