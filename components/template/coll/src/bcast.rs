//! MPI_Bcast, MPI 5.0 §6.4: linear.

use ompi_core::data::Data;
use ompi_core::error::Result;
use ompi_core::executor::Executor;

/// From the root to each of the others: size - 1 messages, one after the other.
pub fn bcast(executor: &mut dyn Executor, data: &Data<'_>, root: usize) -> Result<()> {
    if executor.rank() != root {
        return executor.recv(data, root);
    }
    for rank in (0..executor.size()).filter(|rank| *rank != root) {
        executor.start_send(data, rank)?;
    }
    executor.finish()
}
