//! The memory that the rounds of one access need.

use super::runs::WindowRun;
use crate::error::{Class, Fault, Result};
use alloc::format;
use alloc::vec::Vec;
use opal_core::sync::ConditionalLock;

/// All memory that the rounds need.
#[derive(Default)]
pub struct Memory {
    /// What is gathered of this process's window, or of a block of it.
    pub buffer: Vec<u8>,
    /// Messages to others, by rank.
    pub out: Vec<u8>,
    /// Those of others.
    pub came: Vec<u8>,
    /// Of this process's window: what all want, by rank.
    pub runs: Vec<WindowRun>,
    /// The same as one list.
    pub merged: Vec<WindowRun>,
}

/// How long all of that is.
#[derive(Clone, Copy)]
pub struct Lengths {
    /// Bytes of [`Memory::buffer`].
    pub buffer: usize,
    /// Of [`Memory::out`].
    pub out: usize,
    /// Of [`Memory::came`].
    pub came: usize,
    /// Runs, in each of both lists.
    pub runs: usize,
}

impl Lengths {
    /// All of it.
    pub fn bytes(&self) -> u64 {
        (self.buffer + self.out + self.came + 2 * self.runs * size_of::<WindowRun>()) as u64
    }
}

impl Memory {
    /// Takes it. What is in the buffers nobody reads before it is written.
    pub fn reserve(lengths: &Lengths) -> Result<Memory> {
        let mut memory = KEPT.lock().take().unwrap_or_default();
        fit(&mut memory.buffer, lengths.buffer)?;
        fit(&mut memory.out, lengths.out)?;
        fit(&mut memory.came, lengths.came)?;
        Ok(Memory { runs: room(lengths.runs)?, merged: room(lengths.runs)?, ..memory })
    }

    /// For the next access.
    pub fn keep(self) {
        if [&self.buffer, &self.out, &self.came].map(Vec::capacity).iter().sum::<usize>() <= KEPT_BYTES {
            *KEPT.lock() = Some(Memory { runs: Vec::new(), merged: Vec::new(), ..self });
        }
    }
}

fn room<T>(elements: usize) -> Result<Vec<T>> {
    let mut all = Vec::new();
    all.try_reserve_exact(elements).map_err(|_| {
        let why = format!("no memory for {} bytes to gather data in", elements.saturating_mul(size_of::<T>()));
        Fault::new(Class::NoMem).because(why)
    })?;
    Ok(all)
}

/// Makes a buffer so long.
fn fit(buffer: &mut Vec<u8>, bytes: usize) -> Result<()> {
    if bytes > buffer.capacity() {
        *buffer = room(bytes)?;
    }
    buffer.resize(bytes, 0);
    Ok(())
}

/// The buffers of the last access, for the next one: to fill them with zeros, and the system's work for new memory, would take longer
/// than to copy what comes there.
static KEPT: ConditionalLock<Option<Memory>> = ConditionalLock::new(None);
/// More is given back.
const KEPT_BYTES: usize = 16 << 20;
