//! MPI_Bcast by a binomial tree.

use ompi_core::data::Data;
use ompi_core::error::Result;
use ompi_core::executor::Executor;

/// Ranks are counted from the root; the parent of one is itself without its lowest set bit.
pub fn bcast<E: Executor + ?Sized>(executor: &mut E, data: &Data<'_>, root: usize) -> Result<()> {
    let size = executor.size();
    let relative = (executor.rank() + size - root) % size;
    let absolute = |relative: usize| (relative + root) % size;
    let mut bit = size.next_power_of_two();
    if relative != 0 {
        bit = 1 << relative.trailing_zeros();
        executor.recv(data, absolute(relative - bit))?;
    }
    // The farthest child first: it has the largest tree below it. The last one is waited for, which costs less than to
    // begin and to finish.
    while bit > 2 {
        bit /= 2;
        if relative + bit < size {
            executor.start_send(data, absolute(relative + bit))?;
        }
    }
    if bit == 2 && relative + 1 < size {
        executor.send(data, absolute(relative + 1))?;
    }
    executor.finish()
}
