//! Registration; the inbox is made here.

use crate::inbox::Inbox;
use crate::module::Sm;
use crate::raw::Shared;
use crate::{params, wire};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use opal_core::framework::{btl, shmem};
use opal_core::mca::{self, Declined};
use opal_core::sync::Once;
use opal_core::sys::{self, WakeSocket, WakeSocketName};
use opal_core::wait;

/// The component.
pub struct Component {
    module: Once<Sm>,
}

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
            .create(wire::inbox_bytes(place.local_size))
            .map_err(|_| Declined("there is not enough shared memory for this rank's inbox"))?;
        let door = WakeSocket::new().map(Arc::new);
        let door_name = door.as_ref().map_or(WakeSocketName::default(), |door| door.name());
        let inbox = Inbox::new(Shared::of(segment), place.local_size, door, door_name)
            .ok_or(Declined("the shared memory for this rank's inbox is shorter than asked for"))?;
        // Before the first store to a peer, see `opal_core::wait`.
        let address = wire::Address {
            wire_id: wire::WIRE_ID,
            registered: sys::register_membarrier(),
            local_rank: place.local_rank,
            local_size: place.local_size,
            inbox: shmem.address(),
            cores: sys::own_cores(),
            door: door_name,
            network: sys::network_namespace(),
        };
        wait::add_local_rank(&address.cores, address.registered);
        let module: &'static Sm = leak(Sm::new(inbox, address, shmem), &COMPONENT);
        wait::set_waker(module.inbox());
        btl::serve_node();
        Ok(vec![module])
    }
}

fn leak(module: Sm, component: &'static Component) -> &'static Sm {
    component.module.call_once(|| module)
}

/// Whether this is the address of the one module.
#[cfg(ompi_direct = "btl/sm")]
pub fn is_own(module: *const ()) -> bool {
    COMPONENT.module.get().is_some_and(|own| core::ptr::eq((&raw const *own).cast(), module))
}

opal_core::component! {
    /// Shared memory on one node.
    pub static COMPONENT: Component = Component { module: Once::new() };
    in opal_core::framework::btl, name "sm", params params::ALL
}
