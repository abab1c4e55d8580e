//! Registration.

use crate::am_handlers as arrive;
use crate::module::Ob1;
use crate::params;
use crate::peers::backlog as outgoing;
use crate::recv::batch as drain;
use crate::{state, wire};
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
        let receivers: [(btl::AmId, btl::Receiver); 8] = [
            (wire::EAGER, arrive::eager),
            (wire::SYNCHRONOUS, arrive::synchronous),
            (wire::ASK, arrive::ask),
            (wire::CLEAR, arrive::clear),
            (wire::FRAGMENT, arrive::fragment),
            (wire::ACKNOWLEDGE, arrive::acknowledge),
            (wire::SHARED, arrive::shared),
            (wire::NOTE, arrive::note),
        ];
        for (am, receiver) in receivers {
            btl::register(am, receiver).map_err(|_| taken)?;
        }
        btl::register_drain(drain::fifo_pair).map_err(|_| taken)?;
        for (am, landing) in [(wire::FRAGMENT, arrive::FRAGMENTS), (wire::EAGER, arrive::WHOLE)] {
            btl::register_placement(am, landing).map_err(|_| taken)?;
        }
        btl::on_failure(state::peer_failed);
        progress::add_callback(outgoing::progress).map_err(|_| Declined("progress has no place left"))?;
        Ok((PRIORITY, &Ob1))
    }
}

const PRIORITY: i32 = 20;

opal_core::component! {
    /// Matching and protocols over any transports.
    pub static COMPONENT: Component = Component;
    in ompi_core::framework::pml, name "ob1", params params::ALL
}
