//! Registration.

use crate::module::Ob1;
use crate::progress as ob1_progress;
use crate::protocol::failure;
use crate::recv::batch;
use crate::{am_handlers, params, pvars, wire};
use ompi_core::framework::pml;
use opal_core::framework::btl;
use opal_core::mca::{self, Declined};
use opal_core::progress;

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();
}

impl pml::Component for Component {
    fn query(&self) -> Result<(i32, &'static dyn pml::Module), Declined> {
        let taken = Declined("another component handles its kinds of messages");
        let handlers: [(btl::AmId, btl::AmHandler); 7] = [
            (wire::EAGER, am_handlers::eager),
            (wire::SYNC, am_handlers::synchronous),
            (wire::RTS, am_handlers::rts),
            (wire::CONTROL, am_handlers::control),
            (wire::FRAG, am_handlers::fragment),
            (wire::RTS_DATA, am_handlers::rts_data),
            (wire::OOB, am_handlers::oob),
        ];
        for (am, handler) in handlers {
            btl::register_handler(am, handler).map_err(|_| taken)?;
        }
        btl::register_drain(batch::fifo_pair).map_err(|_| taken)?;
        for (am, placement) in [(wire::FRAG, am_handlers::FRAGMENTS), (wire::EAGER, am_handlers::EAGER)] {
            btl::register_placement(am, placement).map_err(|_| taken)?;
        }
        btl::on_failure(failure::peer_failed);
        progress::add_callback(ob1_progress::progress).map_err(|_| Declined("progress has no place left"))?;
        Ok((PRIORITY, &Ob1))
    }
}

const PRIORITY: i32 = 20;

opal_core::component! {
    /// Matching and protocols over any transports.
    pub static COMPONENT: Component = Component;
    in ompi_core::framework::pml, name "ob1", params params::ALL, pvars pvars::ALL
}
