//! MPI_Barrier by dissemination.

use ompi_core::data::Data;
use ompi_core::datatype;
use ompi_core::error::Result;
use ompi_core::executor::Executor;

/// In round k every rank hears from the one 2^k before it and thereby from 2^(k+1) - 1 ranks: ⌈log2 n⌉ rounds.
///
/// Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, <https://doi.org/10.1007/BF01379320>.
pub fn barrier<E: Executor + ?Sized>(executor: &mut E) -> Result<()> {
    let (rank, size) = (executor.rank(), executor.size());
    let nothing = Data { at: core::ptr::null_mut(), count: 0, datatype: datatype::byte() };
    let mut distance = 1;
    while distance < size {
        executor.exchange(&nothing, (rank + distance) % size, &nothing, (rank + size - distance) % size)?;
        distance *= 2;
    }
    Ok(())
}
