//! Registration. The receive segment is made here.

use crate::module::{MODULE, Sm};
use crate::raw::Shared;
use crate::rx_segment::RxSegment;
use crate::{params, pvars, wire};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use opal_core::framework::{btl, shmem};
use opal_core::mca::{self, Declined};
use opal_core::sys::{self, WakeSocket, WakeSocketName};
use opal_core::wait;

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        let place = shmem::inherited().ok_or(Declined("the launcher left no memory to share with other ranks"))?;
        if shmem::selected().is_none() {
            return Err(Declined("no component of framework shmem runs"));
        }
        if place.local_size < 2 {
            return Err(Declined("this rank is alone on its node"));
        }
        if place.local_size > wire::MAX_RANKS || place.local_rank >= place.local_size {
            return Err(Declined("the launcher's numbering of the node's ranks is out of range"));
        }
        Ok(())
    }
}

impl btl::Component for Component {
    fn serves_node(&self) -> bool {
        true
    }

    fn query(&self) -> Result<Vec<&'static dyn btl::Module>, Declined> {
        let gone = Declined("shared memory was there when the component opened and is not any more");
        let (shmem, place) = (shmem::selected().ok_or(gone)?, shmem::inherited().ok_or(gone)?);
        let segment = shmem
            .create(wire::segment_bytes(place.local_size))
            .map_err(|_| Declined("there is not enough shared memory for this rank's receive segment"))?;
        let wake_socket = WakeSocket::new().map(Arc::new);
        let socket_name = wake_socket.as_ref().map_or(WakeSocketName::default(), |socket| socket.name());
        let segment = RxSegment::new(Shared::of(segment), place.local_size, wake_socket, socket_name)
            .ok_or(Declined("the shared memory for this rank's receive segment is shorter than asked for"))?;
        // Before the first store to a peer, see `opal_core::wait`.
        let address = wire::Address {
            wire_id: wire::WIRE_ID,
            registered: sys::register_membarrier(),
            local_rank: place.local_rank,
            local_size: place.local_size,
            segment: shmem.address(),
            wake_socket: socket_name,
            network: sys::network_namespace(),
        };
        wait::add_sender(address.registered);
        let module = MODULE.call_once(|| Sm::new(segment, address, shmem));
        wait::set_waker(module.segment());
        btl::serve_node();
        Ok(vec![module])
    }
}

opal_core::component! {
    /// Shared memory on one node.
    pub static COMPONENT: Component = Component;
    in opal_core::framework::btl, name "sm", params params::ALL, pvars pvars::ALL
}
