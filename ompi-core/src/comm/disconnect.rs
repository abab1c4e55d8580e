//! MPI_Comm_disconnect: as MPI_Comm_free, but waits until pending communication is complete. MPI 5.0 §11.10.4.

use super::{Communicator, create, get};
use crate::buffer::{self, Owner};
use crate::error::{Class, Fault, Result};
use crate::executor;
use crate::framework::pml::subject;
use crate::framework::{bml, part, pml};
use crate::process;
use crate::request::collective;
use crate::sequence::Sequence;
use alloc::format;
use alloc::vec::Vec;
use opal_core::framework::btl::ProcessName;
use opal_core::sync::Once;
use opal_core::{progress, wait};

/// Waits for the communication on a communicator, and for its other processes to do the same; then the handle ends.
///
/// A send that nobody receives is waited for, too, as the standard wants it: its receiver may have a thread in
/// MPI_Mrecv. What is begun on other communicators holds nobody up unless it is moving, and then it ends.
pub fn disconnect(handle: usize) -> Result<()> {
    let comm = get(handle).ok_or_else(|| {
        let why = format!("{handle:#x} is not a communicator that can be disconnected; it was freed or never created");
        Fault::new(Class::Comm).argument("comm").because(why)
    })?;
    buffer::flush(Owner::Comm(comm.context))?;
    settle(&comm)?;
    executor::barrier(&comm)?;
    // Of a message that came meanwhile the other side may have known first.
    settle(&comm)?;
    let speaks = comm.rank == 0;
    let groups = [Some(comm.group.clone()), comm.remote.clone()];
    drop(comm);
    create::free(handle)?;
    if let Some(bml) = bml::selected() {
        let members: Vec<&Sequence> = groups.iter().flatten().map(|group| group.members()).collect();
        let left = process::leave(&members, |process| forget(bml, process));
        if speaks {
            LEFT.get().into_iter().for_each(|told| told(&left));
        }
    }
    Ok(())
}

/// Has this called with the processes of other jobs that were left, by the first process of the group. `dynamic` stands above.
pub fn tell_left(told: fn(&[ProcessName])) {
    LEFT.call_once(|| told);
}

static LEFT: Once<fn(&[ProcessName])> = Once::new();

/// Ends what PML and transports keep of a process that was left. Nobody polls meanwhile, so that nothing that is freed is in use, and
/// nothing that came from the process is taken for a message of who gets its index next.
fn forget(bml: &dyn bml::Module, process: u32) {
    progress::paused(|| {
        pml::selected().remove_process(process);
        bml.remove_process(process);
    });
}

fn settle(comm: &Communicator) -> Result<()> {
    if let Some(module) = part::in_use() {
        module.withdraw(comm);
    }
    let is_quiesced = |comm: &Communicator| pml::selected().is_quiesced(comm);
    let done =
        || !collective::is_in_progress(comm) && is_quiesced(comm) && (!comm.is_inter() || is_quiesced(comm.merged()));
    Ok(wait::until_done(wait::awaiting(done, || subject::ranks(comm.context)))?)
}
