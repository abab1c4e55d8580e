//! The memory of a window's processes.
#![allow(unsafe_code)] // the unsafe method of the trait

use crate::attached::Lists;
use crate::raw::Remote;
use alloc::boxed::Box;
use ompi_core::data::Data;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::osc::{Access, Flavor, Part, Plan, Target};
use ompi_core::win::node::{MappedData, Reach, TOLD, Words, perform};
use ompi_core::win::span;
use opal_core::framework::smsc::Endpoint;

/// By rank.
pub struct Memory {
    me: usize,
    processes: Box<[Process]>,
    // Of a dynamic window.
    lists: Option<Lists>,
}

struct Process {
    base: usize,
    part: Part,
    // Not of this process.
    endpoint: Option<Endpoint>,
}

impl Memory {
    /// Of the bases that the processes have told.
    pub fn new(plan: &Plan, parts: &[Part], told: &[[u64; TOLD]], endpoints: Box<[Option<Endpoint>]>) -> Memory {
        let process = |((part, told), endpoint): ((&Part, &[u64; TOLD]), Option<Endpoint>)| Process {
            base: told[0] as usize,
            part: *part,
            endpoint,
        };
        let me = plan.comm.rank as usize;
        let lists = (plan.flavor == Flavor::Dynamic).then(|| Lists::new(me, parts.len()));
        Memory { me, processes: parts.iter().zip(told).zip(endpoints).map(process).collect(), lists }
    }
}

impl Reach for Memory {
    fn mapped(&self, rank: usize) -> Option<(*mut u8, usize)> {
        let Process { base, part, .. } = self.processes[rank];
        (rank == self.me && base != 0).then(|| (core::ptr::with_exposed_provenance_mut(base), part.bytes))
    }

    unsafe fn access(&self, words: &Words, access: &Access<'_>, target: &Target<'_>) -> Result<()> {
        let Target { rank, displacement, data } = *target;
        let Process { base, part, endpoint } = self.processes[rank];
        let at = match &self.lists {
            // The caller has checked that it lies in the part.
            None => base.wrapping_add_signed((displacement * part.unit) as isize),
            Some(lists) => {
                let from = i128::from(displacement);
                let (low, high) = span(&data).map_or((from, from), |(low, high)| (from + low, from + high));
                if !lists.holds(words, rank, endpoint, low, high)? {
                    return Err(outside(rank, low, high));
                }
                displacement as usize
            }
        };
        match endpoint {
            Some(endpoint) => {
                let place = Remote::new(endpoint, at, data);
                // SAFETY: the caller's promise.
                unsafe { perform(words, rank, access, &place) }
            }
            None => {
                let data = Data { at: core::ptr::with_exposed_provenance_mut(at), ..data };
                // SAFETY: memory of this process's that the program has put in the window.
                let place = unsafe { MappedData::new(data) };
                // SAFETY: the caller's promise.
                unsafe { perform(words, rank, access, &place) }
            }
        }
    }

    fn attach(&self, words: &Words, base: *mut u8, bytes: usize) -> Result<()> {
        let lists = self.lists.as_ref().ok_or(Class::RmaFlavor)?;
        lists.change(words, |attached| attached.attach(base.expose_provenance(), bytes))
    }

    fn detach(&self, words: &Words, base: *mut u8) -> Result<()> {
        let lists = self.lists.as_ref().ok_or(Class::RmaFlavor)?;
        lists.change(words, |attached| attached.detach(base.addr()))
    }
}

#[cold]
fn outside(rank: usize, low: i128, high: i128) -> Fault {
    let why = alloc::format!("the memory from {low:#x} to {high:#x} is not all attached at rank {rank}");
    Fault::new(Class::RmaRange).argument("target_disp").because(why)
}
