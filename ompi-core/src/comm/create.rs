//! Making communicators from others, and freeing them.
//!
//! One allgather over the parent carries everything a new communicator needs: each member's context number for it and
//! the bits of the coll components that would serve there. No global agreement on numbers is needed.

use super::{Communicator, DYNAMIC, context, open};
use crate::buffer::{self, Owner};
use crate::data::{Data, Source};
use crate::error::{Class, Fault, Result};
use crate::framework::coll::Call;
use crate::framework::pml;
use crate::group::Group;
use crate::process;
use crate::status::UNDEFINED;
use crate::{attr, datatype, errhandler, executor};
use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use opal_core::sync::Ordering;

/// MPI_Comm_dup: the same group and the attributes that their callbacks copy, another context.
///
/// Attributes come last: whatever a callback says here, all processes have taken part in what concerns them all.
pub fn duplicate(handle: usize, parent: &Communicator) -> Result<usize> {
    let copy = duplicate_bare(parent)?;
    if let Err(fault) = attr::copy_all(attr::Kind::Comm, handle, copy) {
        // The first fault is the one to report.
        let _second = free(copy);
        return Err(fault);
    }
    Ok(copy)
}

fn duplicate_bare(parent: &Communicator) -> Result<usize> {
    let number = reserve()?;
    let words = exchange(parent, [u64::from(number)])?;
    let contexts = words.iter().map(|[number]| *number as u32).collect();
    finish(parent, parent.group.clone(), number, contexts)
}

/// MPI_Comm_split: the members with this rank's color, ordered by key, then by rank. `None` for MPI_UNDEFINED.
pub fn split(parent: &Communicator, color: i32, key: i32) -> Result<Option<usize>> {
    if color < 0 && color != UNDEFINED {
        let why = format!("{color} is negative and not MPI_UNDEFINED");
        return Err(Fault::new(Class::Arg).argument("color").because(why));
    }
    let number = reserve()?;
    let mine = [u64::from(number), color as u32 as u64, key as u32 as u64];
    let words = exchange(parent, mine)?;
    if color == UNDEFINED {
        release(number);
        return Ok(None);
    }
    let mut members: Vec<usize> = (0..words.len()).filter(|rank| words[*rank][1] as u32 as i32 == color).collect();
    members.sort_by_key(|rank| (words[*rank][2] as u32 as i32, *rank));
    let contexts = members.iter().map(|rank| words[*rank][0] as u32).collect();
    let group = Arc::new(Group::new(processes(parent, &members), process::me().index));
    finish(parent, group, number, contexts).map(Some)
}

/// MPI_Comm_create: the members of `group`, which all of the parent name. `None` for those outside it.
pub fn create(parent: &Communicator, group: &Arc<Group>) -> Result<Option<usize>> {
    let ranks: Option<Vec<usize>> = group.members().iter().map(|member| parent.group.rank_of(*member)).collect();
    let Some(ranks) = ranks else {
        let why = "the group has a process that is no member of the communicator";
        return Err(Fault::new(Class::Group).argument("group").because(why));
    };
    let number = reserve()?;
    let words = exchange(parent, [u64::from(number)])?;
    if group.rank().is_none() {
        release(number);
        return Ok(None);
    }
    let contexts = ranks.iter().map(|rank| words[*rank][0] as u32).collect();
    finish(parent, group.clone(), number, contexts).map(Some)
}

/// MPI_Comm_free: ends the handle; pending communication completes on the objects that hold the rest.
pub fn free(handle: usize) -> Result<()> {
    // The callbacks of its attributes may still use it.
    attr::delete_all(attr::Kind::Comm, handle)?;
    if let Some(comm) = DYNAMIC.get(handle) {
        // The number will be another communicator's.
        buffer::drop_owner(Owner::Comm(comm.context))?;
    }
    DYNAMIC.remove(handle).map(drop).ok_or_else(|| Class::Comm.into())
}

impl Drop for Communicator {
    fn drop(&mut self) {
        errhandler::release(self.errhandler.load(Ordering::Relaxed));
        match self.pml_data().is_null() {
            // The PML releases the context number when the last request on it is done.
            false => pml::selected().remove_comm(self),
            true => release(self.context),
        }
    }
}

fn reserve() -> Result<u32> {
    let number = context::allocate()
        .ok_or_else(|| Fault::new(Class::Other).because("all context numbers are in use; free communicators"))?;
    pml::selected().open_context(number)?;
    Ok(number)
}

/// Gives back a number under which nobody was told to send.
fn release(number: u32) {
    pml::selected().close_context(number);
    context::release(number);
}

fn processes(parent: &Communicator, ranks: &[usize]) -> Box<[u32]> {
    ranks.iter().map(|rank| parent.group.members()[*rank]).collect()
}

/// Everybody's words, by rank of the parent.
fn exchange<const N: usize>(parent: &Communicator, mine: [u64; N]) -> Result<Vec<[u64; N]>> {
    let datatype = datatype::borrow(datatype::UINT64).ok_or(Class::Intern)?;
    let mut all = vec![[0u64; N]; parent.size()];
    let from = Data { at: mine.as_ptr().cast_mut().cast(), count: N, datatype };
    let to = Data { at: all.as_mut_ptr().cast(), count: N, datatype };
    // SAFETY: `mine` has N words, `all` N words for every rank; they do not overlap.
    unsafe { executor::run(parent, Call::Allgather(Source::From(from), &to))? };
    Ok(all)
}

/// Completes a communicator and gives it a handle.
fn finish(parent: &Communicator, group: Arc<Group>, number: u32, contexts: Box<[u32]>) -> Result<usize> {
    let errhandler = parent.errhandler.load(Ordering::Relaxed);
    let comm = Arc::new(Communicator::new(group, None, number, contexts, errhandler));
    open::complete(&comm)?;
    DYNAMIC.insert(comm).ok_or_else(|| Fault::new(Class::NoMem).because("all handles are in use"))
}
