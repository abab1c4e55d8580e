//! Making MPI_COMM_WORLD and MPI_COMM_SELF, and what all communicators need to become complete.

use super::{Communicator, PREDEFINED, SELF_HANDLE, WORLD_HANDLE, context};
use crate::data::Data;
use crate::error::{Class, Result};
use crate::framework::pml::{Lane, Mode};
use crate::framework::{coll, pml};
use crate::group::Group;
use crate::{datatype, errhandler};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::mca;
use opal_core::mca::select::{Verdict, record};
use opal_core::message;
use opal_core::sync::{Once, Ordering};
use orte_core::framework::ess::Identity;

/// The tag of the agreement; the collective lane of a new communicator carries nothing else yet.
const AGREE_TAG: i32 = 0;

/// Makes the predefined communicators: once, when transports and PML run.
pub fn open(identity: Identity) -> opal_core::Result<()> {
    let world: Box<[u32]> = (0..identity.size).collect();
    let itself: Box<[u32]> = Box::new([identity.rank]);
    predefined(WORLD_HANDLE, "MPI_COMM_WORLD", world, context::WORLD, identity.rank)?;
    predefined(SELF_HANDLE, "MPI_COMM_SELF", itself, context::SELF, identity.rank)
}

fn predefined(handle: usize, name: &str, members: Box<[u32]>, number: u32, me: u32) -> opal_core::Result<()> {
    let contexts = members.iter().map(|_| number).collect();
    let group = Arc::new(Group::new(members, me));
    let comm = Box::leak(Box::new(Communicator::new(group, None, number, contexts, errhandler::FATAL)));
    comm.set_name(String::from(name));
    pml::selected().open_context(number).map_err(|_| opal_core::Error::OutOfResource)?;
    complete(comm).map_err(|fault| {
        message!("{name} cannot be made: {}", fault.reason());
        opal_core::Error::System
    })?;
    // Release pairs with the Acquire in `borrow`.
    PREDEFINED[handle - WORLD_HANDLE].store(comm, Ordering::Release);
    Ok(())
}

/// Gives a communicator whose peers' contexts are known its matching and its collectives.
///
/// Bit i stands for the i-th of the sorted coll components; only those that accept on every rank serve it.
pub(super) fn complete(comm: &Communicator) -> Result<()> {
    pml::selected().add_comm(comm)?;
    let mut offers = Vec::new();
    let mut bits = 0u64;
    for (index, component) in components()?.iter().enumerate() {
        match component.query(comm) {
            Ok((priority, module)) => {
                bits |= 1 << index;
                offers.push((index, component.info(), priority, module));
            }
            Err(mca::Declined(why)) => {
                opal_core::verbose!(
                    coll::FRAMEWORK,
                    20,
                    "{} declines a communicator of {} ranks: {why}",
                    component.info().name,
                    comm.size()
                );
            }
        }
    }
    let common = agree(comm, bits)?;
    let offers = offers
        .into_iter()
        .filter(|(index, ..)| common & 1 << index != 0)
        .map(|(_, info, priority, module)| (info.name, priority, module))
        .collect();
    comm.coll.call_once(|| {
        let mut table = coll::Table::default();
        table.fill(offers);
        table
    });
    Ok(())
}

/// The bits that all ranks have in common, by dissemination: in round k every rank hears of 2^k others, and hearing
/// twice of the same one changes nothing (Hensgen, Finkel, Manber 1988, doi:10.1007/BF01379320).
fn agree(comm: &Communicator, mine: u64) -> Result<u64> {
    let datatype = datatype::borrow(datatype::UINT64).ok_or(Class::Intern)?;
    let (size, rank) = (comm.size(), comm.rank as usize);
    let lane = Lane { comm, collective: true };
    let mut bits = mine;
    let mut distance = 1;
    while distance < size {
        let (mut out, mut inward) = (bits, 0u64);
        let (to, from) = ((rank + distance) % size, (rank + size - distance) % size);
        let sent = Data { at: (&raw mut out).cast(), count: 1, datatype };
        let received = Data { at: (&raw mut inward).cast(), count: 1, datatype };
        // SAFETY: `out` lives and stays unchanged until the request is waited for below.
        let request = unsafe { pml::selected().isend(&sent, to as i32, AGREE_TAG, Mode::Standard, lane)? };
        // SAFETY: `inward` is written only by this receive.
        unsafe { pml::selected().recv(&received, from as i32, AGREE_TAG, lane, None)? };
        request.wait()?;
        bits &= inward;
        distance *= 2;
    }
    Ok(bits)
}

/// The coll components that run here, in the one order of all processes of a job (they run the same image).
fn components() -> opal_core::Result<&'static [&'static dyn coll::Component]> {
    static OPENED: Once<opal_core::Result<Vec<&'static dyn coll::Component>>> = Once::new();
    let opened = OPENED.call_once(|| {
        let components = mca::open(&coll::FRAMEWORK, &coll::OMPI_COLLS)?;
        components.iter().for_each(|component| record(component.info(), Verdict::Chosen(None)));
        Ok(components)
    });
    match opened {
        Ok(components) => Ok(components),
        Err(error) => Err(*error),
    }
}
