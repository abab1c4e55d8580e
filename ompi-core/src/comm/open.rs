//! Making MPI_COMM_WORLD and MPI_COMM_SELF, and what all communicators need to become complete.

use super::{Communicator, PREDEFINED, SELF_HANDLE, WORLD_HANDLE, context};
use crate::data::Data;
use crate::error::{Class, Result};
use crate::executor::{Executor, Immediate};
use crate::framework::{coll, pml};
use crate::group::Group;
use crate::{datatype, errhandler};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
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
/// Word i tells what the i-th of the sorted coll components would serve here, recorded in the high half; it serves what
/// all ranks have in common.
pub(super) fn complete(comm: &Communicator) -> Result<()> {
    pml::selected().add_comm(comm)?;
    let mut offers = Vec::new();
    let components = components()?;
    let mut words = vec![0u64; components.len()];
    for (index, component) in components.iter().enumerate() {
        match component.query(comm) {
            Ok((priority, module)) => {
                words[index] = module.functions() | (module.functions() & module.recordable()) << 32;
                offers.push((index, component.info().name, priority, module));
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
    agree(comm, &mut words)?;
    let halves = |word: u64| (word & u64::from(u32::MAX), word >> 32);
    let offers = offers
        .into_iter()
        .map(|(index, name, priority, module)| {
            let (functions, recordable) = halves(words[index]);
            coll::Offer { name, priority, functions, recordable, module }
        })
        .collect();
    comm.coll.call_once(|| {
        let mut table = coll::Table::default();
        table.fill(offers);
        table
    });
    Ok(())
}

/// Leaves in every word the bits that all ranks have in common, by dissemination: in round k every rank hears of 2^k
/// others, and hearing twice of the same one changes nothing (Hensgen, Finkel, Manber 1988, doi:10.1007/BF01379320).
fn agree(comm: &Communicator, words: &mut [u64]) -> Result<()> {
    let datatype = datatype::borrow(datatype::UINT64).ok_or(Class::Intern)?;
    let (size, rank) = (comm.size(), comm.rank as usize);
    let mut inward = vec![0u64; words.len()];
    // SAFETY: what is exchanged below are words of this function's own, which outlive the executor.
    let mut executor = unsafe { Immediate::new(comm, AGREE_TAG) };
    let mut distance = 1;
    while distance < size {
        let (to, from) = ((rank + distance) % size, (rank + size - distance) % size);
        let sent = Data { at: words.as_mut_ptr().cast(), count: words.len(), datatype };
        let received = Data { at: inward.as_mut_ptr().cast(), ..sent };
        executor.exchange(&sent, to, &received, from)?;
        words.iter_mut().zip(&inward).for_each(|(word, other)| *word &= other);
        distance *= 2;
    }
    Ok(())
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
