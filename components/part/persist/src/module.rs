//! The module: requests and what stands behind them.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::active::{self, Operation};
use crate::pairing;
use crate::raw::{self, Line, Recent, Region};
use crate::recv::PartitionedRecv;
use crate::send::PartitionedSend;
use alloc::sync::Arc;
use core::ops::Range;
use ompi_core::comm::{Communicator, Holder};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::part::{Module, PartitionedTransfer};
use ompi_core::handle::HandleTable;
use ompi_core::request::{self, Driver, Id, Kind, Request};
use ompi_core::status::PROC_NULL;
use opal_core::progress;
use opal_core::sync::threads_possible;

/// The one module.
pub struct Persist;

/// What a token stands for.
enum Side {
    Send(Arc<PartitionedSend>),
    Recv(Arc<PartitionedRecv>),
}

static SIDES: HandleTable<Side> = HandleTable::new();
// The send whose partitions were marked last.
static RECENT: Recent<PartitionedSend> = Recent::new();

impl Module for Persist {
    unsafe fn psend_init(&self, transfer: PartitionedTransfer) -> Result<Request> {
        let line = line(&transfer)?;
        // SAFETY: the caller's promise.
        let region = unsafe { Region::new(&transfer) };
        register(Side::Send(PartitionedSend::new(line, region, transfer.partitions, transfer.tag)?))
    }

    unsafe fn precv_init(&self, transfer: PartitionedTransfer) -> Result<Request> {
        // SAFETY: the caller's promise.
        let region = unsafe { Region::new(&transfer) };
        let receive = PartitionedRecv::new(line(&transfer)?, region, transfer.partitions, transfer.tag)?;
        let request = register(Side::Recv(receive.clone()))?;
        if let Some(line) = line(&transfer)? {
            pairing::add(&receive, line)?;
        }
        Ok(request)
    }

    fn pready(&self, token: u64, partitions: Range<usize>) -> Result<()> {
        if threads_possible() {
            // Another thread may complete and free the request as soon as the last partition is marked.
            let side = SIDES.get(token as usize);
            let Some(Side::Send(send)) = side.as_deref() else { return Err(wrong_side("it is a receive")) };
            return send.mark(partitions);
        }
        let Some(Side::Send(send)) = SIDES.borrow(token as usize) else { return Err(wrong_side("it is a receive")) };
        // SAFETY: the table has it until `release`, which forgets the token. Where there are threads nobody asks.
        unsafe { RECENT.keep(token, &**send) };
        send.mark(partitions)
    }

    #[inline]
    fn parrived(&self, token: u64, partition: usize, has_ended: bool) -> Result<bool> {
        let Some(Side::Recv(receive)) = SIDES.borrow(token as usize) else {
            return Err(wrong_side("it is a send"));
        };
        receive.check(partition)?;
        if has_ended || receive.has_arrived(partition) {
            return Ok(true);
        }
        progress::flush();
        opal_core::wait::polled_progress();
        Ok(!receive.is_active() || receive.has_arrived(partition))
    }

    fn withdraw(&self, comm: &Communicator) {
        pairing::withdraw(comm);
        SIDES.search(|side| {
            if let Side::Recv(receive) = side
                && receive.line().is_some_and(|line| core::ptr::eq(line.comm.get(), comm))
            {
                receive.withdraw();
            }
            false
        });
    }
}

/// Every pass of progress.
pub fn pass() -> usize {
    raw::sweep();
    pairing::advance() + active::advance()
}

fn line(transfer: &PartitionedTransfer) -> Result<Option<Line>> {
    if transfer.peer == PROC_NULL {
        return Ok(None);
    }
    Ok(Some(Line { comm: Holder::of(transfer.comm)?, peer: transfer.peer }))
}

fn register(side: Side) -> Result<Request> {
    let token = SIDES.insert(Arc::new(side)).ok_or(Class::NoMem)?;
    request::create(Kind::Partitioned, &Sides, token as u64).inspect_err(|_| drop(SIDES.remove(token)))
}

#[cold]
fn wrong_side(why: &'static str) -> Fault {
    Fault::new(Class::Request).argument("request").because(why)
}

/// The requests of both sides.
struct Sides;

impl Driver for Sides {
    fn start(&self, token: u64, id: Id) -> Result<()> {
        match SIDES.borrow(token as usize) {
            Some(Side::Send(send)) => send.start(id),
            Some(Side::Recv(receive)) => receive.start(id),
            None => return Err(Class::Intern.into()),
        }
        Ok(())
    }

    fn pready(&self, token: u64, partition: usize) -> bool {
        !threads_possible() && RECENT.find(token).is_some_and(|send| send.mark_one(partition))
    }

    fn release(&self, token: u64) {
        RECENT.forget(token);
        if let Some(side) = SIDES.remove(token as usize)
            && let Side::Recv(receive) = &*side
        {
            pairing::forget(receive);
        }
    }
}
