//! MPI_Comm_disconnect: as MPI_Comm_free, but waits until pending communication is complete, and leaves the processes of other jobs.
//! MPI 5.0 §11.10.4.

use super::{Communicator, agree, create, get};
use crate::buffer::{self, Owner};
use crate::error::{Class, Fault, Result};
use crate::executor;
use crate::framework::pml::subject;
use crate::framework::{bml, part, pml};
use crate::process;
use crate::request::collective;
use alloc::format;
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
    let (parting, parted) = agree::vote(&comm);
    let speaks = comm.rank == 0;
    drop(comm);
    let freed = parted.and_then(|()| create::free(handle));
    parting.end(|left| LEFT.get().into_iter().filter(|_| speaks).for_each(|told| told(left)), forget);
    leave_unused();
    freed
}

/// MPI_Comm_free.
pub fn free(handle: usize) -> Result<()> {
    create::free(handle)?;
    leave_unused();
    Ok(())
}

/// Of a process that is gone nothing is kept once no communicator has it.
fn leave_unused() {
    process::leave_unused(|process| pml::selected().is_lost(process), forget);
}

/// Has this called with the processes of other jobs that were left, by the first process of the group. `dynamic` stands above.
pub fn tell_left(told: fn(&[ProcessName])) {
    LEFT.call_once(|| told);
}

static LEFT: Once<fn(&[ProcessName])> = Once::new();

/// Ends what PML and transports keep of a process that was left. Nobody polls meanwhile, so that nothing that is freed is in use, and
/// nothing that came from the process is taken for a message of who gets its index next.
fn forget(process: u32) {
    // The last thing that was said to it may have come damaged, and it would wait for that. Without one of the own job nobody waits.
    let _ = wait::until(|| pml::selected().has_parted(process));
    progress::paused(|| {
        pml::selected().remove_process(process);
        if let Some(bml) = bml::selected() {
            bml.remove_process(process);
        }
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
