//! Registration; the port is opened here.

use crate::device::Device;
use crate::module::Wires;
use crate::params;
use alloc::sync::Arc;
use hw_fpga::NODES;
use ompi_core::comm::{Communicator, context};
use ompi_core::framework::coll;
use opal_core::mca::{self, Declined};
use opal_core::sync::Once;
use orte_core::framework::ess;

/// The component.
pub struct HwBarr {
    device: Once<Device>,
}

impl HwBarr {
    /// The port, for as long as the process lives.
    pub fn device(&self) -> Option<&Device> {
        self.device.get()
    }
}

impl mca::Component for HwBarr {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        if params::PORT.text() == "none" {
            return Err(Declined("coll_hwbarr_port names no port"));
        }
        let identity = ess::selected().ok_or(Declined("nobody says which rank this is"))?.identity();
        if identity.size as usize > NODES {
            return Err(Declined("the machine serves 60 nodes, and the job has more"));
        }
        let device = Device::open(identity)?;
        self.device.call_once(|| device);
        Ok(())
    }
}

impl coll::Component for HwBarr {
    fn query(&self, comm: &Communicator) -> Result<(i32, Arc<dyn coll::Module>), Declined> {
        let device = COMPONENT.device().ok_or(Declined("its port is not open"))?;
        if comm.is_inter() {
            return Err(Declined("it serves intracommunicators only"));
        }
        if comm.size() < 2 {
            return Err(Declined("one rank waits for nobody"));
        }
        if device.is_classic() && comm.context != context::WORLD {
            return Err(Declined("the classic machine serves MPI_COMM_WORLD only; see coll_hwbarr_mode"));
        }
        let priority = i32::try_from(params::PRIORITY.int()).unwrap_or(0);
        Ok((priority, Arc::new(Wires::new(device, comm))))
    }
}

opal_core::component! {
    /// MPI_Barrier over the wires of a parallel port.
    pub static COMPONENT: HwBarr = HwBarr { device: Once::new() };
    in ompi_core::framework::coll, name "hwbarr", params params::ALL
}
