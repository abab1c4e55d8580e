//! What an algorithm of a collective operation asks for: messages, copies, reductions and scratch memory.
//!
//! Algorithms are written once against [`Executor`]. [`Immediate`] runs each step as it is asked for; a
//! [`Recorder`](crate::schedule::Recorder) keeps the steps for later (nonblocking and persistent collectives). An
//! algorithm therefore never looks at received data and branches only on what it knows beforehand.

use crate::data::Data;
use crate::error::Result;
use crate::op::Op;
use core::any::Any;

mod fold;
mod immediate;
mod subset;
pub use fold::Fold;
pub use immediate::{Immediate, barrier, communicator_of, run};
pub use subset::Subset;

/// One process's part in one collective operation. Ranks are those of the communicator, of an intercommunicator those of
/// its [`merged`](crate::comm::Communicator::merged) intracommunicator.
///
/// The caller that makes an executor promises (see [`Immediate::new`]) that the data the algorithm passes to it, parts
/// of the operation's arguments or of [`Executor::scratch`], may be read and written; the methods themselves are safe to
/// call for such data.
pub trait Executor {
    /// This process's rank.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// Sends; the data may change afterwards.
    fn send(&mut self, data: &Data<'_>, to: usize) -> Result<()>;

    /// Receives; the data is there afterwards.
    fn recv(&mut self, data: &Data<'_>, from: usize) -> Result<()>;

    /// Begins to send; done after [`Executor::finish`].
    fn start_send(&mut self, data: &Data<'_>, to: usize) -> Result<()>;

    /// Begins to receive; done after [`Executor::finish`].
    fn start_recv(&mut self, data: &Data<'_>, from: usize) -> Result<()>;

    /// Completes all that was started, also when some of it fails; returns the first failure.
    fn finish(&mut self) -> Result<()>;

    /// Copies between buffers of this process that do not overlap; their types may differ.
    fn copy(&mut self, from: &Data<'_>, to: &Data<'_>) -> Result<()>;

    /// `inout[i] = input[i] op inout[i]`, for data of equal count and type.
    fn reduce(&mut self, op: &Op, input: &Data<'_>, inout: &Data<'_>) -> Result<()>;

    /// `to[i] = first[i] op second[i]`, likewise; `to` may be where `second` is.
    fn combine(&mut self, op: &Op, first: &Data<'_>, second: &Data<'_>, to: &Data<'_>) -> Result<()> {
        if to.at != second.at {
            self.copy(second, to)?;
        }
        self.reduce(op, first, to)
    }

    /// Scratch memory for as many elements of the same type, until the operation ends; `Err(NoMem)`.
    fn scratch<'a>(&mut self, like: &Data<'a>) -> Result<Data<'a>>;

    /// The communicator, if every step is run at once on it and for all its ranks: for [`communicator_of`], since it is
    /// no part of this layer of the library.
    fn communicator(&self) -> Option<&dyn Any> {
        None
    }

    /// Sends to one and receives from another at the same time.
    fn exchange(&mut self, out: &Data<'_>, to: usize, into: &Data<'_>, from: usize) -> Result<()> {
        self.start_recv(into, from)?;
        self.start_send(out, to)?;
        self.finish()
    }
}
