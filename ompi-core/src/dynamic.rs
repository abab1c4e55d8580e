//! Processes of other jobs: MPI_Comm_spawn, ports and names. MPI 5.0 §11.8 to §11.10.
//!
//! Two groups meet through their roots, over one connection between two processes ([`orte_core::port`]). Each root sends a *roster* ([`comm::roster`]):
//! who the members of its group are, how to reach them, and which context number each of them has reserved. From then on
//! everything goes over transports, as for any intercommunicator.
//!
//! | file | what |
//! |---|---|
//! | `meet` | the collective part: gather the roster, have the root exchange it, make the intercommunicator |
//! | `call` | the root's part: accept, connect, join |
//! | `launcher` | what mpirun is asked for: names and further jobs |
//! | `spawn` | the request for a job, and what becomes of it |
//! | `soft` | how many processes would do |
//! | `wait` | waiting over a connection |

mod call;
mod launcher;
mod meet;
mod soft;
mod spawn;
mod wait;

pub use call::{accept, close_port, connect, join, open_port};
pub use launcher::{end, lookup, parted, publish, unpublish};
pub use spawn::{Program, spawn};

use crate::comm;
use crate::error::Result;
use alloc::string::String;
use meet::{Exchanged, meet};
use opal_core::message;
use opal_core::sync::{AtomicUsize, Ordering};

/// Meets the processes that had this job started, if any did: during MPI_Init, when MPI_COMM_WORLD is there.
pub fn open(parent: Option<String>) -> opal_core::Result<()> {
    comm::tell_left(parted);
    comm::tell_met(launcher::met);
    let Some(port) = parent else { return Ok(()) };
    match join_parent(&port) {
        Ok(handle) => {
            if let Some(comm) = comm::borrow(handle) {
                comm.set_name(String::from("MPI_COMM_PARENT"));
            }
            PARENT.store(handle, Ordering::Relaxed);
            Ok(())
        }
        Err(fault) => {
            message!("the processes that spawned this job cannot be reached: {}", fault.reason());
            Err(opal_core::Error::System)
        }
    }
}

/// The intercommunicator to the processes that had this job started; MPI_COMM_NULL if none did, and once it was freed.
pub fn parent() -> usize {
    let handle = PARENT.load(Ordering::Relaxed);
    if comm::borrow(handle).is_some() { handle } else { comm::NULL }
}

fn join_parent(port: &str) -> Result<usize> {
    let (handle, _) = meet(comm::world(), 0, |roster| Exchanged::of(call::call(port, roster, None)))?;
    Ok(handle)
}

static PARENT: AtomicUsize = AtomicUsize::new(comm::NULL);
