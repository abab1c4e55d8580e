//! A job of one.

#[cfg(not(ompi_bare))]
use crate::params::LAUNCHER;
#[cfg(not(ompi_bare))]
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::shmem::Inherited;
use opal_core::sync::{Mutex, Once};
use opal_core::{Error, Result, message};
#[cfg(not(ompi_bare))]
use orte_core::companion::Companion;
use orte_core::framework::ess::{Identity, Module, State};
use orte_core::job;

/// Rank 0 of 1.
pub struct Singleton {
    published: Mutex<Option<Vec<u8>>>,
    job: Once<u64>,
    #[cfg(not(ompi_bare))]
    companion: Companion,
}

impl Singleton {
    /// Nothing is published yet.
    pub const fn new() -> Singleton {
        Singleton {
            published: Mutex::new(None),
            job: Once::new(),
            #[cfg(not(ompi_bare))]
            companion: Companion::new(),
        }
    }
}

impl Singleton {
    /// Tells this job from others that run now, here and on other hosts, where process ids may be the same.
    fn job(&self) -> u64 {
        *self.job.call_once(|| {
            #[cfg(not(ompi_bare))]
            let random = u64::from_ne_bytes(opal_core::sys::random().unwrap_or_default());
            // Machines without an operating system meet nobody.
            #[cfg(ompi_bare)]
            let random = 0_u64;
            job::numbered(random ^ u64::from(opal_core::sys::pid()) << 32, 1)
        })
    }
}

impl Module for Singleton {
    fn identity(&self) -> Identity {
        Identity { job: self.job(), rank: 0, size: 1, local_rank: 0, local_size: 1 }
    }

    fn node_of(&self, _rank: u32) -> u32 {
        0
    }

    fn publish(&self, addresses: &[u8]) -> Result<()> {
        match self.published.lock().replace(Vec::from(addresses)) {
            None => Ok(()),
            Some(_) => Err(Error::Exists),
        }
    }

    fn lookup(&self, rank: u32) -> Result<Vec<u8>> {
        if rank != 0 {
            return Err(Error::Invalid);
        }
        // Nobody else could publish later, so there is nothing to wait for.
        self.published.lock().clone().ok_or_else(|| {
            message!("rank 0 looks up its own addresses before it published them");
            Error::Timeout
        })
    }

    fn barrier(&self, _meanwhile: &mut dyn FnMut()) -> Result<()> {
        Ok(())
    }

    fn inherited(&self) -> Option<Inherited> {
        None
    }

    #[cfg(not(ompi_bare))]
    fn universe(&self) -> core::result::Result<String, String> {
        self.companion.universe(self.identity().job, LAUNCHER.text())
    }

    #[cfg(not(ompi_bare))]
    fn running_universe(&self) -> Option<String> {
        self.companion.running()
    }

    /// There is no launcher to tell unless one was started.
    fn set_state(&self, state: State) {
        #[cfg(not(ompi_bare))]
        self.companion.set_in_use(state == State::Initialized);
        #[cfg(ompi_bare)]
        let _ = state;
    }

    fn epoch(&self) -> u32 {
        0
    }

    fn abort(&self, status: i32, text: &str) -> ! {
        message!("this process ended itself with status {status}: {text}");
        // The system keeps eight bits; a failure must stay one.
        opal_core::sys::exit(if status != 0 && status & 0xff == 0 { 1 } else { status })
    }
}
