//! Registration; the port is opened here.

use crate::device;
use crate::module::Wires;
use crate::params;
use crate::ports::{self, PortMap, PortRole};
use alloc::sync::Arc;
use ompi_core::comm::{Communicator, context};
use ompi_core::framework::coll::{self, About, Case, Function};
use opal_core::mca::{self, Declined};
use opal_core::verbose;
use orte_core::framework::ess;

/// The component.
pub struct HwBarr;

impl mca::Component for HwBarr {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        if params::PORT.text() == "none" {
            return Err(Declined("coll_hwbarr_port names no port"));
        }
        let identity = ess::selected().ok_or(Declined("nobody says which rank this is"))?.identity();
        // Another rank drives this one's port.
        let Some(node) = ports::drives(identity) else { return Ok(()) };
        if let Err(Declined(why)) = device::open(node) {
            verbose!(coll::FRAMEWORK, 10, "hwbarr has no port: {why}");
        }
        Ok(())
    }
}

impl coll::Component for HwBarr {
    fn about(&self, function: Function, case: Case) -> Option<About> {
        let priority = i32::try_from(params::PRIORITY.int()).unwrap_or(0);
        let choice = match params::PORT.text() {
            "none" => Err("coll_hwbarr_port names no port"),
            _ if case.ranks < 2 => Err("one rank waits for nobody"),
            _ => Ok(("wires", "where the port can be opened, when blocking")),
        };
        let about = About { priority, algorithms: &["wires"], counts: "none", forced: false, choice };
        (function == Function::Barrier).then_some(about)
    }

    fn query(&self, comm: &Communicator) -> Result<(i32, Arc<dyn coll::Module>), Declined> {
        if comm.is_inter() {
            return Err(Declined("it serves intracommunicators only"));
        }
        if comm.size() < 2 {
            return Err(Declined("one rank waits for nobody"));
        }
        if params::MODE.text() == "classic" && comm.context != context::WORLD {
            return Err(Declined("the classic machine serves MPI_COMM_WORLD only; see coll_hwbarr_mode"));
        }
        let ports = PortMap::of(comm)?;
        let device = device::opened()?;
        if device.is_none() && matches!(ports.role, PortRole::Drives(_)) {
            return Err(Declined("its port is not open"));
        }
        let priority = i32::try_from(params::PRIORITY.int()).unwrap_or(0);
        Ok((priority, Arc::new(Wires::new(device, ports))))
    }
}

opal_core::component! {
    /// MPI_Barrier over the wires of a parallel port.
    pub static COMPONENT: HwBarr = HwBarr;
    in ompi_core::framework::coll, name "hwbarr", params params::ALL
}
