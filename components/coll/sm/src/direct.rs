//! Large data straight between the ranks' buffers, copied once by the operating system (framework smsc, such as CMA).
//!
//! `exchange` is the frame of an operation; the copies of each rank are in `data_movement` and `reduction`.

mod data_movement;
pub mod exchange;
mod reduction;

pub use data_movement::{allgather, alltoall, bcast};
pub use reduction::reduce;

use crate::operand;
use ompi_core::data::Source;
use ompi_core::framework::coll::Call;

/// Whether the direct algorithm can do the call, the same on all ranks: MPI_IN_PLACE is said by all of them or none (MPI 5.0
/// §6.8), and types with gaps would have to be packed first.
pub fn serves(call: &Call<'_>) -> bool {
    match call {
        Call::Bcast(..) | Call::Allgather(..) | Call::Alltoall(Source::From(_), _) => true,
        _ => operand::datatype_of(call).is_some_and(|datatype| datatype.layout.is_contiguous()),
    }
}
