//! The job: who is where, and a component of framework ess that says so. Addresses lie in files.

use opal_core::framework::shmem::Inherited;
use opal_core::mca::{self, Declined};
use opal_core::{Error, Result};
use orte_core::framework::ess::{self, Identity, State};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Processes of the job.
pub const SIZE: u32 = 65_536;
/// Of them on each node.
pub const PER_NODE: u32 = 128;
/// How many of other nodes are spoken to.
pub const PEERS: u32 = 100;

/// One of those that are spoken to: each on a node of its own.
pub fn peer(index: u32) -> u32 {
    (index + 1) * 5 * PER_NODE + index
}

/// The node of a rank.
pub fn node_of(rank: u32) -> u32 {
    rank / PER_NODE
}

/// Which rank this process is.
struct Place {
    rank: u32,
    folder: PathBuf,
}

static PLACE: OnceLock<Place> = OnceLock::new();

/// Says it, once.
pub fn begin(rank: u32, folder: &Path) {
    assert!(PLACE.set(Place { rank, folder: folder.into() }).is_ok(), "once");
}

fn place() -> &'static Place {
    PLACE.get().expect("it was said")
}

impl Place {
    fn file(&self, rank: u32) -> PathBuf {
        self.folder.join(rank.to_string())
    }
}

struct Pretended;

impl mca::Component for Pretended {
    opal_core::component_info!();
}

impl ess::Component for Pretended {
    fn query(&self) -> core::result::Result<(i32, &'static dyn ess::Module), Declined> {
        Ok((1, &Pretended))
    }
}

impl ess::Module for Pretended {
    fn identity(&self) -> Identity {
        let rank = place().rank;
        Identity { job: 5, rank, size: SIZE, local_rank: rank % PER_NODE, local_size: PER_NODE }
    }

    fn node_of(&self, rank: u32) -> u32 {
        node_of(rank)
    }

    fn publish(&self, addresses: &[u8]) -> Result<()> {
        let (whole, part) = (place().file(place().rank), place().folder.join(format!("{}.part", place().rank)));
        std::fs::write(&part, addresses).and_then(|()| std::fs::rename(&part, &whole)).map_err(|_| Error::System)
    }

    fn lookup(&self, rank: u32) -> Result<Vec<u8>> {
        // The others of this node exist as addresses only.
        let rank = if node_of(rank) == node_of(place().rank) { place().rank } else { rank };
        let end = Instant::now() + Duration::from_secs(60);
        while Instant::now() < end {
            if let Ok(addresses) = std::fs::read(place().file(rank)) {
                return Ok(addresses);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(Error::Timeout)
    }

    fn barrier(&self, _meanwhile: &mut dyn FnMut()) -> Result<()> {
        Ok(())
    }

    fn inherited(&self) -> Option<Inherited> {
        None
    }

    fn set_state(&self, _state: State) {}

    fn epoch(&self) -> u32 {
        0
    }

    fn abort(&self, status: i32, text: &str) -> ! {
        panic!("aborted with {status}: {text}")
    }
}

opal_core::component! {
    /// The place of this process in a job that is larger than any machine here.
    pub static COMPONENT: Pretended = Pretended;
    in orte_core::framework::ess, name "pretended", params &[]
}
