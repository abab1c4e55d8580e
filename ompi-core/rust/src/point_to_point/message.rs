//! Messages that were found and taken, but not yet received. MPI 5.0 §3.8.2.

use super::Status;
use super::status::{not_whole, one};
use crate::datatype::{BufferMut, Equivalence};
use crate::error::{Result, end, raise};
use crate::life::{Life, OneThread};
use crate::raw;
use crate::topology::Owned;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::marker::PhantomData;
use ompi_core::abi::Scope;
use ompi_core::error::Result as Inner;
use ompi_core::framework::pml::Matched;

/// A message that nobody else will receive. If it is dropped it is received and forgotten.
#[derive(Debug)]
pub struct Message {
    // The communicator's handle, for its error handler.
    comm: usize,
    _life: Arc<Life>,
    status: Status,
    // None once it was received.
    token: Option<u64>,
    here: OneThread,
}

impl Message {
    pub(super) fn new(owned: &Owned, matched: Matched) -> Message {
        let (comm, life) = (owned.handle(), owned.life().clone());
        Message { comm, _life: life, status: Status(matched.status), token: Some(matched.token), here: PhantomData }
    }

    /// Its source, tag and length.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Receives it as one value. `Err(Count)` if it is something else.
    pub fn receive<T: Equivalence>(mut self) -> Result<(T, Status)> {
        let mut value = raw::zeroed::<T>();
        let received = self.take(&mut value).and_then(|status| one::<T>(&status).map(|()| status));
        self.checked("receive", received).map(|status| (value, status))
    }

    /// Receives it into a buffer. `Err(Truncate)` if it is longer.
    pub fn receive_into<B: BufferMut + ?Sized>(mut self, buffer: &mut B) -> Result<Status> {
        let received = self.take(buffer);
        self.checked("receive_into", received)
    }

    /// Receives it into a new vector. `Err(Count)` if it is no whole number of values.
    pub fn receive_vec<T: Equivalence>(mut self) -> Result<(Vec<T>, Status)> {
        // Without padding, of which messages have none.
        let bytes = (T::equivalent_datatype().size() * T::COUNT).max(1) as u64;
        let received = raw::room::<T>(self.status.bytes().div_ceil(bytes) as usize).and_then(|mut values| {
            let status = self.take(&mut values)?;
            match status.count::<T>() {
                Some(count) => {
                    values.truncate(count);
                    Ok((values, status))
                }
                None => Err(not_whole(&status, "whole values were wanted")),
            }
        });
        self.checked("receive_vec", received)
    }

    fn checked<T>(&self, function: &'static str, result: Inner<T>) -> Result<T> {
        result.map_err(|fault| raise(Scope::Comm(self.comm), function, fault))
    }

    fn take<B: BufferMut + ?Sized>(&mut self, buffer: &mut B) -> Inner<Status> {
        let token = self.token.take().expect("a message is received once");
        raw::receive_matched(buffer, Matched { status: self.status.0, token }).map(Status)
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        if self.token.is_none() {
            return;
        }
        let room = raw::room::<u8>(self.status.bytes() as usize);
        if let Err(fault) = room.and_then(|mut bytes| self.take(&mut bytes)) {
            end("receiving a message that was dropped", &fault.into());
        }
    }
}
