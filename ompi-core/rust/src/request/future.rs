//! A value that is on its way.
#![allow(unsafe_code)] // the value's memory is the library's until it has come

use super::operation::checked;
use crate::datatype::Equivalence;
use crate::error::{end, raise};
use crate::life::OneThread;
use crate::point_to_point::{Status, one};
use crate::raw;
use crate::{Error, Result};
use alloc::boxed::Box;
use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use ompi_core::abi::Scope as Object;
use ompi_core::comm::Communicator;
use ompi_core::error::Result as Inner;
use ompi_core::request::handles;

/// A value that is being received, with the memory for it. Dropped, the receive is cancelled.
pub struct ReceiveFuture<T> {
    handle: usize,
    // From a Box, whose memory is the library's now.
    value: *mut T,
    here: OneThread,
}

impl<T: Equivalence> ReceiveFuture<T> {
    pub(crate) fn begin(comm: &Communicator, from: i32, tag: i32) -> Inner<ReceiveFuture<T>> {
        let value = Box::into_raw(Box::new(raw::zeroed::<T>()));
        // SAFETY: of the box, to which nothing else leads.
        let lent = unsafe { &mut *value };
        // SAFETY: the memory stays until the operation has ended: `Drop` and `get` wait for that.
        match unsafe { raw::begin_receive(comm, lent, from, tag) } {
            Ok(begun) => Ok(ReceiveFuture { handle: begun.0.into_handle(), value, here: PhantomData }),
            Err(fault) => {
                // SAFETY: nothing was begun.
                drop(unsafe { Box::from_raw(value) });
                Err(fault)
            }
        }
    }

    /// Waits for it. `Err(Count)` if the message is something else than one value.
    pub fn get(self) -> Result<(T, Status)> {
        let mut this = ManuallyDrop::new(self);
        let status = this.ended();
        // SAFETY: it has ended, and `this` is not used any more.
        let value = unsafe { Box::from_raw(this.value) };
        let status = checked("get", status)?;
        one::<T>(&status).map_err(|fault| raise(Object::None, "get", fault))?;
        Ok((*value, status))
    }

    /// The value if it is there: `Ok(Ok(value))`, else `Ok(Err(future))`.
    pub fn r#try(self) -> Result<core::result::Result<(T, Status), Self>> {
        match handles::get_status(self.handle) {
            Ok(None) => Ok(Err(self)),
            // What else there is to say `get` says.
            _ => self.get().map(Ok),
        }
    }
}

impl<T> ReceiveFuture<T> {
    fn ended(&mut self) -> ompi_core::status::Status {
        match handles::wait(&mut self.handle) {
            Ok(status) => status,
            // The memory is the library's for ever.
            Err(fault) => end("waiting for a value", &Error::from(fault)),
        }
    }
}

impl<T> Drop for ReceiveFuture<T> {
    fn drop(&mut self) {
        // What cannot be cancelled ends by itself.
        let _asked = handles::cancel(self.handle);
        self.ended();
        // SAFETY: it has ended.
        drop(unsafe { Box::from_raw(self.value) });
    }
}

impl<T> fmt::Debug for ReceiveFuture<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiveFuture").field("handle", &self.handle).finish_non_exhaustive()
    }
}
