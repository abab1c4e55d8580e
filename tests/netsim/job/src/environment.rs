//! A component of framework ess: each rank is alone on its node, and the simulation has what they publish.

use crate::host;
use opal_core::framework::shmem::Inherited;
use opal_core::mca::{self, Declined};
use opal_core::{Error, Result};
use orte_core::framework::ess::{self, Identity, Module, State};
use std::sync::atomic::{AtomicU32, Ordering};

/// The component, and its module.
pub struct Simulated {
    barriers: AtomicU32,
}

impl mca::Component for Simulated {
    fn info(&self) -> &'static mca::Info {
        &INFO
    }
}

impl ess::Component for Simulated {
    fn query(&self) -> core::result::Result<(i32, &'static dyn Module), Declined> {
        opal_core::log::set_prefix(format!("rank {}", host::rank()));
        Ok((100, &COMPONENT))
    }
}

impl Module for Simulated {
    fn identity(&self) -> Identity {
        Identity { job: 1, rank: host::rank(), size: host::size(), local_rank: 0, local_size: 1 }
    }

    fn node_of(&self, rank: u32) -> u32 {
        rank
    }

    fn publish(&self, addresses: &[u8]) -> Result<()> {
        host::publish(addresses);
        Ok(())
    }

    fn lookup(&self, rank: u32) -> Result<Vec<u8>> {
        if rank >= host::size() {
            return Err(Error::Invalid);
        }
        loop {
            if let Some(found) = host::published(rank) {
                return Ok(found);
            }
            host::pass();
        }
    }

    fn barrier(&self, meanwhile: &mut dyn FnMut()) -> Result<()> {
        host::barrier(self.barriers.fetch_add(1, Ordering::Relaxed), meanwhile);
        Ok(())
    }

    fn inherited(&self) -> Option<Inherited> {
        None
    }

    fn set_state(&self, _state: State) {}

    fn epoch(&self) -> u32 {
        0
    }

    fn abort(&self, status: i32, message: &str) -> ! {
        host::fail(&format!("ended the job with status {status}: {message}"))
    }
}

opal_core::component! {
    /// A rank of the simulation.
    pub static COMPONENT: Simulated = Simulated { barriers: AtomicU32::new(0) };
    in orte_core::framework::ess, name "simulated", params &[]
}
