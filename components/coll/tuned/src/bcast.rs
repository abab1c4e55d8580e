//! MPI_Bcast of large data: pieces or segments of bytes.
//!
//! Counts and types may differ between ranks, only the signature's bytes are equal (MPI 5.0 §6.4), so data that is not
//! one run of memory is packed into one.

use ompi_core::data::Data;
use ompi_core::datatype;
use ompi_core::error::Result;
use ompi_core::executor::Executor;

/// A binomial tree scatters a piece for each rank, a ring passes the pieces on: every rank sends and receives about twice
/// the data whatever the number of ranks.
///
/// Van de Geijn: On global combine operations, <https://doi.org/10.1006/jpdc.1994.1091>.
pub fn scatter_allgather<E: Executor + ?Sized>(executor: &mut E, data: &Data<'_>, root: usize) -> Result<()> {
    let (rank, size) = (executor.rank(), executor.size());
    let (run, packed) = packed(executor, data, rank == root)?;
    let relative = (rank + size - root) % size;
    let absolute = |relative: usize| (relative % size + root) % size;
    // Pieces from..to, by relative rank.
    let pieces = |from: usize, to: usize| part(&run, from, to, size);
    let mut bit = size.next_power_of_two();
    if relative != 0 {
        bit = 1 << relative.trailing_zeros();
        executor.recv(&pieces(relative, (relative + bit).min(size)), absolute(relative - bit))?;
    }
    while bit > 1 {
        bit /= 2;
        if relative + bit < size {
            let last = (relative + 2 * bit).min(size);
            executor.start_send(&pieces(relative + bit, last), absolute(relative + bit))?;
        }
    }
    executor.finish()?;
    // In step k every rank passes on the piece that it got in step k - 1. The root knows all already.
    for step in 0..size - 1 {
        let (out, into) = ((relative + size - step) % size, (relative + size - step - 1) % size);
        let (right, left) = (absolute(relative + 1), absolute(relative + size - 1));
        executor.exchange(&pieces(out, out + 1), right, &pieces(into, into + 1), left)?;
    }
    unpacked(executor, data, &run, packed && rank != root)
}

/// Every rank receives segments from the one before it and passes each on while the next one comes.
pub fn chain<E: Executor + ?Sized>(executor: &mut E, data: &Data<'_>, root: usize, segment: usize) -> Result<()> {
    let (rank, size) = (executor.rank(), executor.size());
    let (run, packed) = packed(executor, data, rank == root)?;
    let relative = (rank + size - root) % size;
    let segment = segment.max(1);
    for offset in (0..run.count).step_by(segment) {
        let piece = run.at_element(offset as isize, segment.min(run.count - offset));
        if relative > 0 {
            executor.recv(&piece, (rank + size - 1) % size)?;
        }
        if relative + 1 < size {
            executor.start_send(&piece, (rank + 1) % size)?;
        }
    }
    executor.finish()?;
    unpacked(executor, data, &run, packed && rank != root)
}

/// The data as one run of bytes: where it lies, or a copy (true), which holds it at the root.
fn packed<'a, E: Executor + ?Sized>(executor: &mut E, data: &Data<'a>, filled: bool) -> Result<(Data<'a>, bool)> {
    let bytes = Data { at: core::ptr::null_mut(), count: data.bytes(), datatype: datatype::byte() };
    if let Some(at) = data.contiguous() {
        return Ok((Data { at, ..bytes }, false));
    }
    let run = executor.scratch(&bytes)?;
    if filled {
        executor.copy(data, &run)?;
    }
    Ok((run, true))
}

fn unpacked<E: Executor + ?Sized>(executor: &mut E, data: &Data<'_>, run: &Data<'_>, packed: bool) -> Result<()> {
    if packed { executor.copy(run, data) } else { Ok(()) }
}

/// Elements of pieces `from` to `to` when data is cut into `pieces` of about equal size.
pub(crate) fn part<'a>(whole: &Data<'a>, from: usize, to: usize, pieces: usize) -> Data<'a> {
    let begin = |piece: usize| bound(whole.count, piece, pieces);
    whole.at_element(begin(from) as isize, begin(to) - begin(from))
}

/// Where a piece begins.
pub(crate) fn bound(count: usize, piece: usize, pieces: usize) -> usize {
    // Without overflow for any count.
    count / pieces * piece + (count % pieces).min(piece)
}
