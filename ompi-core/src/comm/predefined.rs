//! MPI_COMM_WORLD and MPI_COMM_SELF, the communicators of the World Model.

use super::activate::Activation;
use super::{Communicator, PREDEFINED, SELF_HANDLE, WORLD_HANDLE, context};
use crate::errhandler;
use crate::error::Class;
use crate::framework::pml;
use crate::group::Group;
use crate::init;
use crate::sequence::Sequence;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use opal_core::message;
use orte_core::framework::ess::Identity;

/// Makes the predefined communicators: once, when transports and PML run.
pub fn open(identity: Identity) -> opal_core::Result<()> {
    context::release_dropped();
    let world = Sequence::up_to(identity.size);
    let itself = Sequence::repeated(identity.rank, 1);
    predefined(WORLD_HANDLE, "MPI_COMM_WORLD", world, context::WORLD, identity.rank)?;
    predefined(SELF_HANDLE, "MPI_COMM_SELF", itself, context::SELF, identity.rank)
}

/// MPI_Finalize: their handles are not valid any more. The objects stay: a thread may still borrow them.
pub fn close() {
    PREDEFINED.clear();
}

fn predefined(handle: usize, name: &str, members: Sequence, number: u32, me: u32) -> opal_core::Result<()> {
    let contexts = Sequence::repeated(number, members.len());
    let group = Arc::new(Group::of(members, me));
    let comm = Communicator::new(group, None, number, contexts, init::initial_errhandler());
    comm.set_name(String::from(name));
    pml::selected().open_context(number).map_err(|_| opal_core::Error::OutOfResource)?;
    let comm = Activation::new(Arc::new(comm)).and_then(Activation::wait).map_err(|fault| {
        if fault.get() == Class::ProcAborted as i32 {
            init::lost_peer();
        }
        match fault.reason() {
            "" => message!("{name} cannot be made: {}", errhandler::error_string(fault.get())),
            reason => message!("{name} cannot be made: {reason}"),
        }
        opal_core::Error::System
    })?;
    PREDEFINED.set(handle - WORLD_HANDLE, Box::leak(Box::new(comm)));
    Ok(())
}
