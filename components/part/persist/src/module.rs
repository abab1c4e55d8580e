//! The module: requests and what stands behind them.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::active;
use crate::pairing;
use crate::raw::{self, Line, Region};
use crate::recv::PartitionedRecv;
use crate::send::PartitionedSend;
use alloc::sync::Arc;
use core::ops::Range;
use ompi_core::comm::{self, Communicator, Holder};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::part::{Module, PartitionedTransfer};
use ompi_core::framework::pml::subject;
use ompi_core::handle::HandleTable;
use ompi_core::request::{self, Driver, Id, Kind, Request, handles};
use ompi_core::status::PROC_NULL;
use opal_core::progress;
use opal_core::sync::threads_possible;
use opal_core::wait::Subject;

/// The one module.
pub struct Persist;

/// What a token stands for.
enum Side {
    Send(Arc<PartitionedSend>),
    Recv(Arc<PartitionedRecv>),
}

/// A side, and what people are told of it.
struct Entry {
    side: Side,
    /// The number of the communicator.
    context: u32,
    /// Index of the other side's process.
    process: Option<u32>,
    /// Its rank.
    peer: i32,
    tag: i32,
}

static SIDES: HandleTable<Entry> = HandleTable::new();

impl Module for Persist {
    unsafe fn psend_init(&self, transfer: PartitionedTransfer) -> Result<Request> {
        let line = line(&transfer)?;
        // SAFETY: the caller's promise.
        let region = unsafe { Region::new(&transfer) };
        let send = PartitionedSend::new(line, region, transfer.partitions, transfer.tag)?;
        // Told last: the peer pairs what it hears of with a receive, which nobody can take back.
        let request = register(Side::Send(send.clone()), &transfer)?;
        or_none(request, send.tell())
    }

    unsafe fn precv_init(&self, transfer: PartitionedTransfer) -> Result<Request> {
        // SAFETY: the caller's promise.
        let region = unsafe { Region::new(&transfer) };
        let receive = PartitionedRecv::new(line(&transfer)?, region, transfer.partitions, transfer.tag)?;
        let line = line(&transfer)?;
        let request = register(Side::Recv(receive.clone()), &transfer)?;
        or_none(request, line.map_or(Ok(()), |line| pairing::add(&receive, line)))
    }

    fn pready(&self, token: u64, partitions: Range<usize>) -> Result<()> {
        let Some(Side::Send(send)) = side(token) else { return Err(wrong_side("it is a receive")) };
        send.mark(partitions)
    }

    #[inline]
    fn parrived(&self, token: u64, partition: usize) -> Result<bool> {
        let Some(Side::Recv(receive)) = side(token) else {
            return Err(wrong_side("it is a send"));
        };
        receive.check(partition)?;
        if receive.has_arrived(partition) {
            return Ok(true);
        }
        progress::flush();
        opal_core::wait::polled_progress();
        Ok(receive.has_arrived(partition))
    }

    fn withdraw(&self, comm: &Communicator) {
        pairing::withdraw(comm);
        raw::withdraw(comm);
        let is_on = |line: Option<&Line>| line.is_some_and(|line| core::ptr::eq(line.comm.get(), comm));
        SIDES.search(|entry| {
            match &entry.side {
                Side::Recv(receive) if is_on(receive.line()) => receive.withdraw(),
                Side::Send(send) if is_on(send.line()) => send.withdraw(),
                Side::Recv(_) | Side::Send(_) => {}
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

/// Of a token in force.
#[inline]
fn side(token: u64) -> Option<&'static Side> {
    SIDES.borrow(token as usize).map(|entry| &entry.side)
}

fn register(side: Side, transfer: &PartitionedTransfer) -> Result<Request> {
    let (comm, peer, tag) = (comm::borrow(transfer.comm).ok_or(Class::Comm)?, transfer.peer, transfer.tag);
    let process = usize::try_from(peer).ok().and_then(|peer| comm.peers().members().get(peer));
    let token =
        SIDES.insert(Arc::new(Entry { side, context: comm.context, process, peer, tag })).ok_or(Class::NoMem)?;
    request::create(Kind::Partitioned, &Sides, token as u64).inspect_err(|_| drop(SIDES.remove(token)))
}

/// The request, or what went wrong after it was made: then it is gone.
fn or_none(request: Request, outcome: Result<()>) -> Result<Request> {
    match outcome {
        Ok(()) => Ok(request),
        Err(fault) => {
            handles::free(&mut request.into_handle())?;
            Err(fault)
        }
    }
}

#[cold]
fn wrong_side(why: &'static str) -> Fault {
    Fault::new(Class::Request).argument("request").because(why)
}

/// The requests of both sides.
struct Sides;

impl Driver for Sides {
    fn context(&self, token: u64) -> Option<u32> {
        Some(SIDES.borrow(token as usize)?.context)
    }

    fn subject(&self, token: u64, _id: Id) -> Subject {
        let Some(entry) = SIDES.borrow(token as usize) else { return Subject::UNKNOWN };
        let (kind, process) = match &entry.side {
            Side::Recv(_) => (subject::PARTITIONS, entry.process),
            Side::Send(send) if send.is_marked() => (subject::TAKEN, entry.process),
            Side::Send(_) => (subject::MARKS, None),
        };
        Subject { kind, ..subject::message(entry.peer, process, entry.tag, entry.context, false) }
    }

    fn start(&self, token: u64, id: Id) -> Result<()> {
        match side(token) {
            Some(Side::Send(send)) => {
                send.start(id);
                if !threads_possible() {
                    let (marks, closed) = send.open_marks();
                    // SAFETY: the table has the send until `release`, which forgets the request.
                    unsafe { request::keep_marks(id, marks.words(), marks.partitions(), closed) };
                }
            }
            Some(Side::Recv(receive)) => receive.start(id),
            None => return Err(Class::Intern.into()),
        }
        Ok(())
    }

    fn release(&self, token: u64) {
        match SIDES.remove(token as usize).as_deref().map(|entry| &entry.side) {
            Some(Side::Send(send)) => send.forget_marks(),
            Some(Side::Recv(receive)) => pairing::forget(receive),
            None => {}
        }
    }
}
