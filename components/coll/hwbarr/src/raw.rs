//! The messages: calls of the PML with buffers that live long enough.
#![allow(unsafe_code)]

use alloc::boxed::Box;
use ompi_core::comm;
use ompi_core::data::Data;
use ompi_core::datatype;
use ompi_core::error::{Class, Result};
use ompi_core::executor::Executor;
use ompi_core::framework::pml::{self, MatchContext, Mode};
use ompi_core::request::Request;
use ompi_core::status::ANY_SOURCE;

/// A message under way.
pub struct Sent {
    // Dropped first: nobody reads the words any more when they go.
    request: Option<Request>,
    _words: Box<[u64; 3]>,
}

impl Sent {
    /// Whether it has left.
    pub fn is_gone(&mut self) -> bool {
        match self.request.take().map(Request::test) {
            Some(Ok(Err(pending))) => {
                self.request = Some(pending);
                false
            }
            // A process that cannot be reached is dead; the wait for its answer ends otherwise.
            _ => true,
        }
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            let _ = request.wait();
        }
    }
}

/// Sends a message to a rank of MPI_COMM_WORLD.
pub fn send(to: u32, words: [u64; 3]) -> Result<Sent> {
    let mut words = Box::new(words);
    let data = Data { at: words.as_mut_ptr().cast(), count: words.len(), datatype: word()? };
    // SAFETY: the words stay where they are until the request is done, see `Sent`.
    let request = unsafe { pml::selected().isend(&data, to as i32, MESSAGE_TAG, Mode::Standard, match_context())? };
    Ok(Sent { request: Some(request), _words: words })
}

/// Takes a message that has arrived; with its sender.
pub fn receive() -> Result<Option<(u32, [u64; 3])>> {
    let Some(message) = pml::selected().improbe(ANY_SOURCE, MESSAGE_TAG, match_context())? else { return Ok(None) };
    let source = message.status.source as u32;
    let mut words = [0u64; 3];
    let data = Data { at: words.as_mut_ptr().cast(), count: words.len(), datatype: word()? };
    // SAFETY: `words` lives until the request was waited for.
    unsafe { pml::selected().imrecv(&data, message)? }.wait()?;
    Ok(Some((source, words)))
}

/// Everybody's words combined, by dissemination: `combine` must not mind to meet the same word twice.
/// The executor must be one that runs each step at once.
pub fn combined(executor: &mut dyn Executor, mine: u64, combine: fn(u64, u64) -> u64) -> Result<u64> {
    let (rank, size) = (executor.rank(), executor.size());
    let (mut word_so_far, mut distance) = (mine, 1);
    while distance < size {
        let (mut out, mut inward) = (word_so_far, 0u64);
        let to = Data { at: (&raw mut out).cast(), count: 1, datatype: word()? };
        let from = Data { at: (&raw mut inward).cast(), count: 1, datatype: word()? };
        executor.exchange(&to, (rank + distance) % size, &from, (rank + size - distance) % size)?;
        word_so_far = combine(word_so_far, inward);
        distance *= 2;
    }
    Ok(word_so_far)
}

fn match_context() -> MatchContext<'static> {
    MatchContext { comm: comm::world(), collective: true }
}

fn word() -> Result<&'static datatype::Datatype> {
    datatype::borrow(datatype::UINT64).ok_or_else(|| Class::Intern.into())
}

/// In the collective match context of MPI_COMM_WORLD: above the functions' numbers, which blocking collectives use
/// there, and below 1024, where those of the others begin (`coll::Tags`).
const MESSAGE_TAG: i32 = 1000;
