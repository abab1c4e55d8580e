//! An executor that records the steps of an algorithm and runs none of them.

use ompi_core::data::Data;
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::op::Op;

/// One thing that a rank does. Sizes are bytes of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // bytes, and the other rank
pub enum Step {
    /// Sends and waits until the data may change.
    Send { to: u32, bytes: u64 },
    /// Receives and waits for it.
    Recv { from: u32, bytes: u64 },
    /// Begins to send.
    StartSend { to: u32, bytes: u64 },
    /// Begins to receive.
    StartRecv { from: u32, bytes: u64 },
    /// Waits for all that was begun.
    Finish,
    /// Copies within the rank.
    Copy { bytes: u64 },
    /// Combines two operands of so many bytes.
    Reduce { bytes: u64 },
}

/// Records the part of one rank.
pub struct Trace {
    rank: usize,
    size: usize,
    steps: Vec<Step>,
    // Rooms get addresses that nothing else has: algorithms compare them.
    next_room: usize,
}

impl Trace {
    /// For `rank` of `size`.
    pub fn new(rank: usize, size: usize) -> Trace {
        Trace { rank, size, steps: Vec::new(), next_room: FIRST_ROOM }
    }

    /// What was recorded.
    pub fn into_steps(self) -> Vec<Step> {
        self.steps
    }

    fn push(&mut self, step: Step) -> Result<()> {
        self.steps.push(step);
        Ok(())
    }
}

fn bytes(data: &Data<'_>) -> u64 {
    data.bytes() as u64
}

impl Executor for Trace {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn send(&mut self, data: &Data<'_>, to: usize) -> Result<()> {
        self.push(Step::Send { to: to as u32, bytes: bytes(data) })
    }

    fn recv(&mut self, data: &Data<'_>, from: usize) -> Result<()> {
        self.push(Step::Recv { from: from as u32, bytes: bytes(data) })
    }

    fn start_send(&mut self, data: &Data<'_>, to: usize) -> Result<()> {
        self.push(Step::StartSend { to: to as u32, bytes: bytes(data) })
    }

    fn start_recv(&mut self, data: &Data<'_>, from: usize) -> Result<()> {
        self.push(Step::StartRecv { from: from as u32, bytes: bytes(data) })
    }

    fn finish(&mut self) -> Result<()> {
        self.push(Step::Finish)
    }

    fn copy(&mut self, from: &Data<'_>, _to: &Data<'_>) -> Result<()> {
        match bytes(from) {
            0 => Ok(()),
            bytes => self.push(Step::Copy { bytes }),
        }
    }

    fn reduce(&mut self, _op: &Op, input: &Data<'_>, _inout: &Data<'_>) -> Result<()> {
        match bytes(input) {
            0 => Ok(()),
            bytes => self.push(Step::Reduce { bytes }),
        }
    }

    fn scratch<'a>(&mut self, like: &Data<'a>) -> Result<Data<'a>> {
        let at = core::ptr::without_provenance_mut(self.next_room);
        self.next_room += ROOM;
        Ok(Data { at, ..*like })
    }
}

/// Above the addresses of the operations' own buffers, see `algorithms.rs`.
const FIRST_ROOM: usize = 1 << 60;
const ROOM: usize = 1 << 44;
