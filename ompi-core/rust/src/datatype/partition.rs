//! Buffers in blocks of any size, one for each process.

use super::{Buffer, BufferMut};
use crate::{Error, ErrorClass, Result};
use alloc::format;
use alloc::vec::Vec;

/// A buffer to send from in blocks of any size, one for each process: element counts and displacements.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::datatype::Partition;
///
/// let letters = *b"abcdef";
/// assert!(Partition::new(&letters, &[2, 3], &[0, 3]).is_ok());
/// assert!(Partition::new(&letters, &[2, 4], &[0, 3]).unwrap_err().to_string().contains("reaches beyond"));
/// ```
#[derive(Debug)]
pub struct Partition<'b, B: ?Sized> {
    pub(crate) buffer: &'b B,
    pub(crate) blocks: Places,
}

/// As [`Partition`], to receive into.
#[derive(Debug)]
pub struct PartitionMut<'b, B: ?Sized> {
    pub(crate) buffer: &'b mut B,
    pub(crate) blocks: Places,
}

/// Counts and displacements, checked against a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub counts: Vec<i64>,
    pub displacements: Vec<i64>,
}

impl<'b, B: Buffer + ?Sized> Partition<'b, B> {
    /// Blocks of `counts` elements that begin at the elements `displacements`. `Err(Count)` if there are not as many of
    /// both, `Err(Disp)` if a block is not inside of the buffer.
    pub fn new(buffer: &'b B, counts: &[usize], displacements: &[usize]) -> Result<Partition<'b, B>> {
        Ok(Partition { blocks: Places::new(buffer.count(), counts, displacements)?, buffer })
    }

    /// Blocks one behind the other.
    pub fn contiguous(buffer: &'b B, counts: &[usize]) -> Result<Partition<'b, B>> {
        Ok(Partition { blocks: Places::new(buffer.count(), counts, &starts(counts))?, buffer })
    }
}

impl<'b, B: BufferMut + ?Sized> PartitionMut<'b, B> {
    /// Blocks of `counts` elements that begin at the elements `displacements`. `Err(Count)` if there are not as many of
    /// both, `Err(Disp)` if a block is not inside of the buffer.
    pub fn new(buffer: &'b mut B, counts: &[usize], displacements: &[usize]) -> Result<PartitionMut<'b, B>> {
        Ok(PartitionMut { blocks: Places::new(buffer.count(), counts, displacements)?, buffer })
    }

    /// Blocks one behind the other.
    pub fn contiguous(buffer: &'b mut B, counts: &[usize]) -> Result<PartitionMut<'b, B>> {
        Ok(PartitionMut { blocks: Places::new(buffer.count(), counts, &starts(counts))?, buffer })
    }
}

fn starts(counts: &[usize]) -> Vec<usize> {
    let before = counts.iter().scan(0usize, |next, count| {
        let start = *next;
        *next = next.saturating_add(*count);
        Some(start)
    });
    before.collect()
}

impl Places {
    fn new(room: usize, counts: &[usize], displacements: &[usize]) -> Result<Places> {
        if counts.len() != displacements.len() {
            let why = format!("{} counts and {} displacements", counts.len(), displacements.len());
            return Err(Error::new(ErrorClass::Count, "counts", why));
        }
        for (place, (count, start)) in counts.iter().zip(displacements).enumerate() {
            if start.checked_add(*count).is_none_or(|end| end > room) {
                let why =
                    format!("block {place}, {count} elements from {start} on, reaches beyond the buffer of {room}");
                return Err(Error::new(ErrorClass::Disp, "displacements", why));
            }
        }
        // No buffer is so long that its counts would not fit.
        let signed = |all: &[usize]| all.iter().map(|one| *one as i64).collect();
        Ok(Places { counts: signed(counts), displacements: signed(displacements) })
    }
}
