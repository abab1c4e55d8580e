//! Sending and receiving.
#![allow(unsafe_code)] // hands typed slices to the PML

use crate::{AnyProcess, Communicator, Equivalence, Error, Process, Status, or_end};
use alloc::vec::Vec;
use ompi_core::data::Data;
use ompi_core::error::Class;
use ompi_core::framework::pml::{self, Lane, Mode};
use ompi_core::status::{ANY_SOURCE, ANY_TAG, Status as Raw};

pub(crate) fn read_only<T: Equivalence>(slice: &[T]) -> Data<'static> {
    Data { at: slice.as_ptr().cast_mut().cast(), count: slice.len(), datatype: T::datatype() }
}

pub(crate) fn writable<T: Equivalence>(slice: &mut [T]) -> Data<'static> {
    Data { at: slice.as_mut_ptr().cast(), count: slice.len(), datatype: T::datatype() }
}

impl Process<'_> {
    /// Sends one value with tag 0.
    pub fn send<T: Equivalence>(&self, value: &T) {
        self.send_with_tag(core::slice::from_ref(value), 0);
    }

    /// Sends a slice.
    pub fn send_with_tag<T: Equivalence>(&self, values: &[T], tag: i32) {
        or_end("send", self.try_send_with_tag(values, tag));
    }

    /// Sends a slice, or says why not.
    pub fn try_send_with_tag<T: Equivalence>(&self, values: &[T], tag: i32) -> Result<(), Error> {
        check_tag(tag)?;
        let lane = Lane { comm: self.comm.inner, collective: false };
        // SAFETY: a slice is readable for the length of the call.
        unsafe { pml::selected().send(&read_only(values), self.rank, tag, Mode::Standard, lane) }.map_err(Error::from)
    }

    /// Receives one value of any tag.
    pub fn receive<T: Equivalence>(&self) -> (T, Status) {
        or_end("receive", receive_one(self.comm, self.rank))
    }

    /// Receives into a slice, of any tag; a longer message is an error.
    pub fn receive_into<T: Equivalence>(&self, values: &mut [T]) -> Status {
        or_end("receive", receive(self.comm, self.rank, ANY_TAG, values))
    }

    /// Receives into a slice a message with this tag, or says why not.
    pub fn try_receive_into_with_tag<T: Equivalence>(&self, values: &mut [T], tag: i32) -> Result<Status, Error> {
        check_tag(tag)?;
        receive(self.comm, self.rank, tag, values)
    }

    /// Receives a message of whatever length.
    pub fn receive_vec<T: Equivalence>(&self) -> (Vec<T>, Status) {
        or_end("receive", receive_vec(self.comm, self.rank))
    }
}

impl AnyProcess<'_> {
    /// Receives one value of any tag.
    pub fn receive<T: Equivalence>(&self) -> (T, Status) {
        or_end("receive", receive_one(self.comm, ANY_SOURCE))
    }

    /// Receives into a slice, of any tag; a longer message is an error.
    pub fn receive_into<T: Equivalence>(&self, values: &mut [T]) -> Status {
        or_end("receive", receive(self.comm, ANY_SOURCE, ANY_TAG, values))
    }

    /// Receives a message of whatever length.
    pub fn receive_vec<T: Equivalence>(&self) -> (Vec<T>, Status) {
        or_end("receive", receive_vec(self.comm, ANY_SOURCE))
    }
}

/// The wildcard is the library's own affair here: a user's tag runs from 0 to 2^31-1.
fn check_tag(tag: i32) -> Result<(), Error> {
    if tag >= 0 { Ok(()) } else { Err(ompi_core::error::Fault::new(Class::Tag).into()) }
}

fn receive<T: Equivalence>(comm: Communicator<'_>, source: i32, tag: i32, values: &mut [T]) -> Result<Status, Error> {
    let mut status = Raw::EMPTY;
    let lane = Lane { comm: comm.inner, collective: false };
    // SAFETY: an exclusive slice is writable for the length of the call.
    unsafe { pml::selected().recv(&writable(values), source, tag, lane, Some(&mut status))? };
    Ok(Status(status))
}

fn receive_one<T: Equivalence>(comm: Communicator<'_>, source: i32) -> Result<(T, Status), Error> {
    // SAFETY: `Equivalence` promises that every pattern of bytes is a value, zeros too.
    let mut value: T = unsafe { core::mem::zeroed() };
    let status = receive(comm, source, ANY_TAG, core::slice::from_mut(&mut value))?;
    match status.count::<T>() {
        Some(1) => Ok((value, status)),
        _ => {
            let why = alloc::format!("one value was wanted, the message has {} bytes", status.0.bytes());
            Err(ompi_core::error::Fault::new(Class::Count).because(why).into())
        }
    }
}

fn receive_vec<T: Equivalence>(comm: Communicator<'_>, source: i32) -> Result<(Vec<T>, Status), Error> {
    let lane = Lane { comm: comm.inner, collective: false };
    let matched = loop {
        if let Some(matched) = pml::selected().improbe(source, ANY_TAG, lane)? {
            break matched;
        }
        core::hint::spin_loop();
    };
    let status = Status(matched.status);
    let count = (matched.status.bytes() as usize).div_ceil(size_of::<T>());
    // SAFETY: as in `receive_one`.
    let mut values: Vec<T> = alloc::vec![unsafe { core::mem::zeroed() }; count];
    // SAFETY: the vector is exclusive, has room for the message, and outlives the wait below.
    let request = unsafe { pml::selected().imrecv(&writable(&mut values), matched)? };
    request.wait()?;
    Ok((values, status))
}
