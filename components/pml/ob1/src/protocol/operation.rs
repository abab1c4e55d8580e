//! Operations that take more than one message, and the table of their handles.

use crate::protocol::get::transfer::{Exposure, Getting};
use crate::protocol::selection::Protocol;
use crate::protocol::smsc::rget::{PushState, Rget};
use crate::raw::UserBuffer;
use crate::slab::Slab;
use crate::wire;
use core::mem::offset_of;
use ompi_core::request::Id;
use ompi_core::status::Status;
use opal_core::inspect::Fact;

/// A send or a receive under way.
pub struct Operation {
    serial: u64,
    /// The peer.
    pub process: u32,
    /// What completes at the end.
    pub request: Id,
    /// Of a send: its envelope. Of a receive: the context bits of its communicator.
    pub envelope: u64,
    /// How far it is.
    pub state: OperationState,
}

/// How far an operation is; [`crate::protocol`] draws the transitions.
// Its first word says which one it is: `ompi-core/gdb` knows them in this order.
#[repr(u32)]
pub enum OperationState {
    /// A synchronous send waits for room in the transport. Its data is still in the user's buffer: no ACK can end it.
    SyncQueued,
    /// A synchronous send was sent and is not matched yet.
    AwaitingAck,
    /// A long send: RTS is sent. How a single copy of it stands; how much was sent as RTS data; whether the receiver may read it.
    RtsSent { buffer: UserBuffer, push: PushState, sent: usize, exposure: Option<Exposure> },
    /// A long send after CTS: the receiver's handle, how much it wants, how much was sent.
    SendingFragments { buffer: UserBuffer, to: u64, wanted: usize, sent: usize },
    /// A long receive after CTS: its status at the end, how much is wanted, how much has arrived, the chosen protocol.
    ReceivingFragments { buffer: UserBuffer, status: Status, wanted: usize, received: usize, chosen: Option<Protocol> },
    /// A long receive in a single copy.
    Rget(Rget),
    /// A long receive that reads the sender's memory through a transport.
    Getting(Getting),
}

impl OperationState {
    // Only [`Operations::announce`] makes one of another.
    fn is_long_send(&self) -> bool {
        matches!(self, OperationState::RtsSent { .. } | OperationState::SendingFragments { .. })
    }
}

/// All operations of this process. A handle is a number in the table and a serial number, so that none comes twice for a
/// long time.
pub struct Operations {
    table: Slab<Operation>,
    serial: u64,
    long_sends: u32,
}

impl Operations {
    /// None.
    pub const fn new() -> Operations {
        Operations { table: Slab::new(), serial: 0, long_sends: 0 }
    }

    /// Enters an operation; returns its handle.
    pub fn begin(&mut self, process: u32, envelope: u64, request: Id, state: OperationState) -> u64 {
        self.serial = (self.serial + 1) % SERIALS;
        let serial = self.serial;
        self.long_sends += u32::from(state.is_long_send());
        let number = self.table.insert(Operation { serial, process, request, envelope, state });
        assert!(number >> NUMBER_BITS == 0, "sixteen million long messages at once");
        serial << NUMBER_BITS | u64::from(number)
    }

    /// The operation of a handle that may be anything, if it is one with that process.
    pub fn find(&mut self, process: u32, handle: u64) -> Option<(u32, &mut Operation)> {
        self.find_own(handle).filter(|(_, operation)| operation.process == process)
    }

    /// The operation of a handle of our own, if it is still under way.
    pub fn find_own(&mut self, handle: u64) -> Option<(u32, &mut Operation)> {
        let number = handle as u32 & ((1 << NUMBER_BITS) - 1);
        let operation = self.table.find_mut(number)?;
        (operation.serial == handle >> NUMBER_BITS).then_some((number, operation))
    }

    /// The operation with a number in use.
    pub fn get(&self, number: u32) -> &Operation {
        self.table.get(number)
    }

    /// The operation with a number in use, to be changed.
    pub fn get_mut(&mut self, number: u32) -> &mut Operation {
        self.table.get_mut(number)
    }

    /// Ends an operation.
    pub fn remove(&mut self, number: u32) -> Operation {
        let operation = self.table.remove(number);
        self.long_sends -= u32::from(operation.state.is_long_send());
        operation
    }

    /// A synchronous send that waits for room becomes a long one, `state`.
    pub fn announce(&mut self, number: u32, state: OperationState) {
        self.long_sends += 1;
        self.table.get_mut(number).state = state;
    }

    /// Whether a long message of this process is under way.
    pub fn sends_long(&self) -> bool {
        self.long_sends > 0
    }

    /// All operations with their numbers.
    pub fn all(&self) -> impl Iterator<Item = (u32, &Operation)> {
        (0..self.table.numbers()).filter_map(|number| Some((number, self.table.find(number)?)))
    }

    /// The handle of the only operation with a process.
    #[cfg(test)]
    pub fn only(&self, process: u32) -> u64 {
        let mut these = self.all().filter(|(_, operation)| operation.process == process);
        let (Some((number, operation)), None) = (these.next(), these.next()) else { panic!("none or several") };
        operation.serial << NUMBER_BITS | u64::from(number)
    }
}

/// What a debugger needs to know of operations.
pub static FACTS: [Fact; 7] = [
    Fact::number("operations.entries", offset_of!(Operations, table) + Slab::<Operation>::PLACES[0]),
    Fact::number("operation.entry", Slab::<Operation>::PLACES[1]),
    Fact::number("operation.value", Slab::<Operation>::PLACES[2]),
    Fact::number("operation.process", offset_of!(Operation, process)),
    Fact::number("operation.request", offset_of!(Operation, request)),
    Fact::number("operation.envelope", offset_of!(Operation, envelope)),
    Fact::number("operation.state", offset_of!(Operation, state)),
];

const NUMBER_BITS: u32 = 24;
const SERIALS: u64 = 1 << (wire::IMMEDIATE_BITS - NUMBER_BITS);
