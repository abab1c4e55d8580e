//! Parameters and registration.

use crate::client::Client;
use crate::connection::Connection;
use crate::traces::Traces;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use opal_core::mca::{self, Declined};
use opal_core::sync::Once;
use opal_core::{message, sys};
use orte_core::direct::{Direct, Place};
use orte_core::environment::SEGMENT;
use orte_core::framework::ess;

opal_core::params! {
    /// How long to wait for the process manager and for the other ranks at start-up before giving up.
    pub static TIMEOUT_S: Size = Int(60), "s", level 6;
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
            false => Err(Declined("no process manager left PMI_FD or PMI_PORT without PMI_JOBID")),
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
    let connection = Connection::open(&traces)?;
    let (client, rank, size) = Client::start(connection, &traces, patience_s)?;
    if matches!(traces, Traces::Port { .. }) && rank == 0 {
        message!(
            "ess/pmi1: every user of this machine can connect to the process manager's port and read the secret of this job; start \
             it without -pmi-port where other users are"
        );
    }
    sys::mark_in_use();
    opal_core::log::set_prefix(format!("{}:{} rank {rank}", sys::hostname(), sys::pid()));
    let place = Place {
        rank,
        nodes: client.nodes(size)?,
        app: client.app_number(),
        universe: client.universe_size(),
        is_spawned: sys::variable(SPAWNED).is_some_and(|value| value != "0"),
        patience: (patience_s, "ess_pmi1_timeout_s"),
    };
    Direct::open(Box::new(client), place)
}

opal_core::component! {
    /// Identity and wire-up from a process manager that speaks PMI-1, such as Hydra.
    pub static COMPONENT: Component = Component { module: Once::new() };
    in orte_core::framework::ess, name "pmi1", params ALL
}

const PRIORITY: i32 = 40;
/// Set by Hydra for processes that others asked it for.
const SPAWNED: &str = "PMI_SPAWNED";
