//! Where the crate meets the library: buffers become addresses, under promises that types keep.
//!
//! **Invariant:** every function here may be called by safe code. An operation that goes on after the call comes
//! back as a [`Begun`], whose owner keeps the loan of the buffer until it has ended.
#![allow(unsafe_code)]

use crate::datatype::{Buffer, BufferMut, Equivalence};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
#[cfg(all(not(ompi_bare), target_env = "gnu"))]
use core::ffi::{c_int, c_void};
use core::ptr::NonNull;
use ompi_core::buffer::{self, Owner};
use ompi_core::comm::Communicator;
use ompi_core::data::Data;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::file::{File, FileCall, Outcome};
use ompi_core::framework::coll::Call;
use ompi_core::framework::fbtl::AccessKind;
use ompi_core::framework::io::{FileAccess, Start};
use ompi_core::framework::pml::{self, MatchContext, Matched, Mode};
use ompi_core::request::{Request, collective, exchange};
use ompi_core::status::{ANY_TAG, Status};
use opal_core::sync::Mutex;

/// The communicator of an [`Owned`](crate::topology::Owned), which keeps it.
#[inline(always)]
pub fn kept<'a>(at: &'a NonNull<Communicator>, _keeper: &'a Option<Arc<Communicator>>) -> &'a Communicator {
    // SAFETY: `Owned` alone calls this, with a predefined communicator, which stays for ever, or with its keeper's.
    unsafe { at.as_ref() }
}

/// Has `run` called with the status when the process ends by the return of `main` or by `exit`. False if that cannot be had.
#[cfg(all(not(ompi_bare), target_env = "gnu"))]
pub fn at_exit(run: fn(i32)) -> bool {
    unsafe extern "C" {
        fn on_exit(call: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    }
    extern "C" fn call(status: c_int, run: *mut c_void) {
        // SAFETY: the function that is passed below.
        let run: fn(i32) = unsafe { core::mem::transmute(run) };
        run(status);
    }
    // SAFETY: a function that lives as long as the process.
    unsafe { on_exit(call, run as *mut c_void) == 0 }
}

/// No other C library tells the status.
#[cfg(any(ompi_bare, not(target_env = "gnu")))]
pub fn at_exit(_run: fn(i32)) -> bool {
    false
}

/// A buffer to read from.
#[inline(always)]
pub fn source<B: Buffer + ?Sized>(buffer: &B) -> Data<'_> {
    Data { at: buffer.pointer().cast_mut(), count: buffer.count(), datatype: buffer.as_datatype().0 }
}

/// A buffer to write to.
#[inline(always)]
pub fn target<B: BufferMut + ?Sized>(buffer: &mut B) -> Data<'_> {
    let (count, datatype) = (buffer.count(), core::ptr::from_ref(buffer.as_datatype().0));
    // Last: a look at the buffer through another reference would take the right to write from the pointer.
    let at = buffer.pointer_mut();
    // SAFETY: the buffer, which is borrowed as long as this is, keeps its datatype.
    Data { at, count, datatype: unsafe { &*datatype } }
}

/// A value to be received into.
pub fn zeroed<T: Equivalence>() -> T {
    // SAFETY: `Equivalence` says that zero everywhere is a value.
    unsafe { core::mem::zeroed() }
}

/// Values to be received into; `Err(NoMem)`.
pub fn room<T: Equivalence>(count: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let no_room = |_| Fault::new(Class::NoMem).because(format!("no memory for {count} values"));
    values.try_reserve_exact(count).map_err(no_room)?;
    values.resize(count, zeroed());
    Ok(values)
}

/// The user's messages on a communicator.
#[inline(always)]
fn user(comm: &Communicator) -> MatchContext<'_> {
    MatchContext { comm, collective: false }
}

/// A tag of a message.
#[inline(always)]
pub fn checked_tag(tag: i32) -> Result<i32> {
    if tag >= 0 { Ok(tag) } else { Err(bad_tag(tag, "")) }
}

/// A tag that is waited for.
#[inline(always)]
pub fn checked_any_tag(tag: i32) -> Result<i32> {
    if tag >= 0 || tag == ANY_TAG { Ok(tag) } else { Err(bad_tag(tag, " or ANY_TAG")) }
}

#[cold]
#[inline(never)]
fn bad_tag(tag: i32, or: &str) -> Fault {
    let why = format!("{tag} is negative; tags run from 0 to {}{or}", i32::MAX);
    Fault::new(Class::Tag).argument("tag").because(why)
}

/// Sends and waits until the buffer may be changed.
#[inline(always)]
pub fn send<B: Buffer + ?Sized>(comm: &Communicator, buffer: &B, to: i32, tag: i32, mode: Mode) -> Result<()> {
    let tag = checked_tag(tag)?;
    // SAFETY: `Buffer` lets it be read while it is borrowed.
    unsafe { pml::selected().send(&source(buffer), to, tag, mode, user(comm)) }
}

/// Sends through the buffer for buffered sends.
pub fn send_buffered<B: Buffer + ?Sized>(comm: &Communicator, buffer: &B, to: i32, tag: i32) -> Result<()> {
    let tag = checked_tag(tag)?;
    // SAFETY: `Buffer` lets it be read while it is borrowed.
    unsafe { buffer::send(&source(buffer), to, tag, comm) }
}

/// Receives and waits for it.
#[inline(always)]
pub fn receive<B: BufferMut + ?Sized>(comm: &Communicator, buffer: &mut B, from: i32, tag: i32) -> Result<Status> {
    let tag = checked_any_tag(tag)?;
    let mut status = Status::EMPTY;
    // SAFETY: `BufferMut` lets it be written while it is borrowed mutably.
    unsafe { pml::selected().recv(&target(buffer), from, tag, user(comm), Some(&mut status))? };
    Ok(status)
}

/// Receives a message that was taken out of matching.
pub fn receive_matched<B: BufferMut + ?Sized>(buffer: &mut B, matched: Matched) -> Result<Status> {
    // SAFETY: `BufferMut` lets it be written while it is borrowed mutably, which is until the wait is over.
    let request = unsafe { pml::selected().imrecv(&target(buffer), matched)? };
    exchange::finish(request, Ok(())).and_then(checked)
}

/// The status of an operation that succeeded.
fn checked(status: Status) -> Result<Status> {
    if status.error == 0 { Ok(status) } else { Err(status.fault()) }
}

/// Whom a message goes to or comes from, and under which tag.
#[derive(Clone, Copy)]
pub struct Peer<'a> {
    pub comm: &'a Communicator,
    pub rank: i32,
    pub tag: i32,
}

/// Sends one message and receives another.
pub fn send_receive<S, R>(out: &S, to: Peer<'_>, into: &mut R, from: Peer<'_>) -> Result<Status>
where
    S: Buffer + ?Sized,
    R: BufferMut + ?Sized,
{
    let (tag, from_tag) = (checked_tag(to.tag)?, checked_any_tag(from.tag)?);
    // SAFETY: `BufferMut` lets it be written while it is borrowed mutably, which is until `finish` has waited.
    let request = unsafe { pml::selected().irecv(&target(into), from.rank, from_tag, user(from.comm))? };
    // SAFETY: `Buffer` lets it be read while it is borrowed.
    let sent = unsafe { pml::selected().send(&source(out), to.rank, tag, Mode::Standard, user(to.comm)) };
    exchange::finish(request, sent).and_then(checked)
}

/// Sends what is in a buffer and receives another message into it.
pub fn send_receive_replace<B>(buffer: &mut B, to: Peer<'_>, from: Peer<'_>) -> Result<Status>
where
    B: BufferMut + ?Sized,
{
    // SAFETY: `Buffer` lets it be read while it is borrowed.
    let copy = unsafe { source(&*buffer).packed()? };
    send_receive(&copy, to, buffer, from)
}

/// An operation that goes on: its buffers are on loan until it has ended.
#[must_use]
pub struct Begun(pub Request);

/// Begins to send.
///
/// # Safety
/// The loan of the buffer outlives the operation.
#[inline(always)]
pub unsafe fn begin_send<B>(comm: &Communicator, buffer: &B, to: i32, tag: i32, mode: Mode) -> Result<Begun>
where
    B: Buffer + ?Sized,
{
    let tag = checked_tag(tag)?;
    // SAFETY: `Buffer` lets it be read while it is borrowed, which is long enough by the caller's promise.
    unsafe { pml::selected().isend(&source(buffer), to, tag, mode, user(comm)) }.map(Begun)
}

/// Begins to receive.
///
/// # Safety
/// As [`begin_send`].
#[inline(always)]
pub unsafe fn begin_receive<B>(comm: &Communicator, buffer: &mut B, from: i32, tag: i32) -> Result<Begun>
where
    B: BufferMut + ?Sized,
{
    let tag = checked_any_tag(tag)?;
    // SAFETY: `BufferMut` lets it be written while it is borrowed mutably, which is long enough by the caller's promise.
    unsafe { pml::selected().irecv(&target(buffer), from, tag, user(comm)) }.map(Begun)
}

/// Begins a collective on the communicator of a handle.
///
/// # Safety
/// The data of the call is as [`collective::begin`] wants it: its loans outlive the operation.
pub unsafe fn begin(handle: usize, call: Call<'_>) -> Result<Begun> {
    // SAFETY: the caller's promise.
    unsafe { collective::begin(handle, call) }.map(Begun)
}

/// Memory that buffered sends of this crate have, with whose they are.
static LENT: Mutex<Vec<(Owner, Vec<u64>)>> = Mutex::new(Vec::new());

/// Gives buffered sends memory of this crate's, in place of what they had. Waits until what is in there has left.
pub fn replace_buffer(owner: Owner, bytes: usize) -> Result<()> {
    buffer::detach(owner)?;
    LENT.lock().retain(|(lent_to, _)| *lent_to != owner);
    if bytes == 0 {
        return Ok(());
    }
    let mut words = room::<u64>(bytes.div_ceil(8))?;
    let (at, size) = (words.as_mut_ptr() as usize, words.len() * 8);
    LENT.lock().push((owner, words));
    // SAFETY: the memory stays where it is, untouched, until it is detached above.
    unsafe { buffer::attach(owner, at, size) }
}

/// Whether all processes of a file make a call together.
#[derive(Clone, Copy, Debug)]
pub enum FileCalls {
    /// This one for itself.
    Alone,
    /// This one.
    All(FileCall),
}

/// Reads of a file into a buffer.
pub fn read_file<B: BufferMut + ?Sized>(file: &File, call: FileCalls, start: Start, buffer: &mut B) -> Outcome {
    let data = target(buffer);
    // SAFETY: `BufferMut` lets it be written while it is borrowed mutably, and the access is over when the call returns.
    unsafe { access_file(file, call, &FileAccess { start, data: &data, direction: AccessKind::Read }) }
}

/// Writes from a buffer to a file.
pub fn write_file<B: Buffer + ?Sized>(file: &File, call: FileCalls, start: Start, buffer: &B) -> Outcome {
    let data = source(buffer);
    // SAFETY: `Buffer` lets it be read while it is borrowed, and the access is over when the call returns.
    unsafe { access_file(file, call, &FileAccess { start, data: &data, direction: AccessKind::Write }) }
}

/// # Safety
/// The data is readable (to write it) or writable (to read into it).
unsafe fn access_file(file: &File, call: FileCalls, access: &FileAccess<'_>) -> Outcome {
    match call {
        // SAFETY: the caller's promise.
        FileCalls::Alone => unsafe { file.module.access(access) },
        // SAFETY: the caller's promise.
        FileCalls::All(call) => unsafe { file.module.access_all(call, Ok(*access)) },
    }
}
