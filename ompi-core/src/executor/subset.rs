//! Some of the ranks as if they were all: what an operation in several phases passes to the modules below it.

use super::Executor;
use crate::data::Data;
use crate::error::Result;
use crate::op::Op;

/// An executor for chosen ranks of another one, numbered anew in the order of the list; this process is among them.
pub struct Subset<'a> {
    whole: &'a mut dyn Executor,
    ranks: &'a [usize],
    rank: usize,
}

impl<'a> Subset<'a> {
    /// The part of `ranks`, which are ranks of `whole`, the same list at all of them; `None` at all others.
    pub fn new(whole: &'a mut dyn Executor, ranks: &'a [usize]) -> Option<Subset<'a>> {
        let me = whole.rank();
        let rank = ranks.iter().position(|rank| *rank == me)?;
        Some(Subset { whole, ranks, rank })
    }
}

impl Executor for Subset<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.ranks.len()
    }

    fn send(&mut self, data: &Data<'_>, to: usize) -> Result<()> {
        self.whole.send(data, self.ranks[to])
    }

    fn recv(&mut self, data: &Data<'_>, from: usize) -> Result<()> {
        self.whole.recv(data, self.ranks[from])
    }

    fn start_send(&mut self, data: &Data<'_>, to: usize) -> Result<()> {
        self.whole.start_send(data, self.ranks[to])
    }

    fn start_recv(&mut self, data: &Data<'_>, from: usize) -> Result<()> {
        self.whole.start_recv(data, self.ranks[from])
    }

    fn finish(&mut self) -> Result<()> {
        self.whole.finish()
    }

    fn copy(&mut self, from: &Data<'_>, to: &Data<'_>) -> Result<()> {
        self.whole.copy(from, to)
    }

    fn reduce(&mut self, op: &Op, input: &Data<'_>, inout: &Data<'_>) -> Result<()> {
        self.whole.reduce(op, input, inout)
    }

    fn scratch<'d>(&mut self, like: &Data<'d>) -> Result<Data<'d>> {
        self.whole.scratch(like)
    }

    fn exchange(&mut self, out: &Data<'_>, to: usize, into: &Data<'_>, from: usize) -> Result<()> {
        self.whole.exchange(out, self.ranks[to], into, self.ranks[from])
    }
}
