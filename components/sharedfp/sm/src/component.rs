//! Registration, and where the word lies.

use crate::module::{Alone, DETACH_COUNT, InPool};
use alloc::boxed::Box;
use core::ffi::CStr;
use ompi_core::comm::Communicator;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::file::exchange;
use ompi_core::framework::sharedfp::{self, Module};
use ompi_core::process;
use ompi_core::shared_pool::{self, Neighbor, Shared, Wanted};
use opal_core::mca::{self, Declined};
use opal_core::sync::AtomicU64;

/// The component.
pub struct SmComponent;

impl mca::Component for SmComponent {
    opal_core::component_info!();
}

impl sharedfp::Component for SmComponent {
    fn query(&self, comm: &Communicator) -> core::result::Result<i32, Declined> {
        match comm.size() == 1 || leader(comm).is_some() {
            true => Ok(20),
            false => Err(Declined("not all processes of the file share memory")),
        }
    }

    fn make(&self, comm: &Communicator, _path: &CStr) -> Result<Option<Box<dyn Module>>> {
        if comm.size() == 1 {
            return Ok(Some(Box::new(Alone(AtomicU64::new(0)))));
        }
        let leader = leader(comm).ok_or(Class::Intern)?;
        let pool = if comm.rank == 0 { leader.own_shared_pool() } else { leader.shared_pool() }.ok_or(Class::Intern)?;
        // 0: none; else one more than the offset.
        let taken = match comm.rank {
            0 => shared_pool::take(pool, wanted(comm)).map_or(0, |offset| offset as u64 + 1),
            _ => 0,
        };
        let [word] = exchange(comm, [taken])?[0];
        let Some(offset) = word.checked_sub(1) else { return Ok(None) };
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let shared = Shared::of(pool, offset, BYTES).ok_or_else(|| {
            Fault::new(Class::Intern).because("rank 0 gave an offset that its shared pool does not have")
        })?;
        Ok(Some(Box::new(InPool { shared, taken_at: (comm.rank == 0).then_some(offset) })))
    }
}

/// The process whose pool holds the word, as this one reaches it; at rank 0 itself another one, which all have to share memory
/// with.
fn leader(comm: &Communicator) -> Option<Neighbor> {
    let members = comm.group.members();
    let others = members.iter().filter(|member| !process::get(*member).is_self);
    let mut reached = others.map(Neighbor::of);
    match comm.rank {
        0 => reached.try_fold(None, |_, neighbor| neighbor.map(Some))?,
        _ => Neighbor::of(members.at(0)),
    }
}

fn wanted(comm: &Communicator) -> Wanted {
    Wanted { bytes: BYTES, spare: 0, zeros: BYTES, detach_count: DETACH_COUNT, users: comm.size() as u64 }
}

opal_core::component! {
    /// A shared file pointer in memory that the processes share.
    pub static COMPONENT: SmComponent = SmComponent;
    in ompi_core::framework::sharedfp, name "sm", params &[]
}

/// The pointer, and in a cache line of its own the count of those who have left.
const BYTES: usize = 128;
