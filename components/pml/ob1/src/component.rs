//! Registration.

use crate::module::Ob1;
use crate::peers::endpoint;
use crate::progress as ob1_progress;
use crate::protocol::failure;
use crate::recv::batch;
use crate::{am_handlers, checksum, params, pvars, wire};
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
        let checks = checksum::is_on();
        let register = |(am, handler)| btl::register_handler(am, handler).map_err(|_| taken);
        if checks {
            am_handlers::checksum::all().try_for_each(register)?;
        } else {
            am_handlers::ALL
                .iter()
                .copied()
                .chain([(wire::CHECKED, am_handlers::checksum::refuse as btl::AmHandler)])
                .try_for_each(register)?;
            btl::register_drain(batch::fifo_pair).map_err(|_| taken)?;
            for (am, placement) in [(wire::FRAG, am_handlers::FRAGMENTS), (wire::EAGER, am_handlers::EAGER)] {
                btl::register_placement(am, placement).map_err(|_| taken)?;
            }
        }
        btl::on_failure(failure::peer_failed);
        btl::on_path_failure(failure::path_failed);
        btl::on_unknown_peer(endpoint::meet);
        progress::add_callback(ob1_progress::progress).map_err(|_| Declined("progress has no place left"))?;
        if checks {
            progress::add_callback(ob1_progress::repair).map_err(|_| Declined("progress has no place left"))?;
        }
        Ok((PRIORITY, &Ob1))
    }
}

const PRIORITY: i32 = 20;

opal_core::component! {
    /// Matching and protocols over any transports.
    pub static COMPONENT: Component = Component;
    in ompi_core::framework::pml, name "ob1", params params::ALL, pvars pvars::ALL
}
