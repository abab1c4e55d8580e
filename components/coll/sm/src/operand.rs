//! The operands of MPI_Reduce and MPI_Allreduce, as one rank has them.

use ompi_core::data::{Data, Source};
use ompi_core::datatype::Datatype;
use ompi_core::framework::coll::Call;
use ompi_core::op::Op;

/// The operands of a reduction on one rank.
pub struct Operands<'a> {
    /// Its contribution, of a type without gaps.
    pub from: Source<'a>,
    /// The target, if it gets the result.
    pub to: Option<Data<'a>>,
    /// The operation.
    pub op: &'a Op,
    /// The only rank that gets the result; all if there is none.
    pub root: Option<usize>,
}

impl<'a> Operands<'a> {
    /// This rank's contribution, which with MPI_IN_PLACE lies in the target.
    pub fn own(&self) -> Option<Data<'a>> {
        match self.from {
            Source::From(own) => Some(own),
            Source::InPlace => self.to,
        }
    }

    /// Those of a call; `None` if it is another function. Only the root's target counts.
    pub fn of(call: &Call<'a>, rank: usize) -> Option<Operands<'a>> {
        match *call {
            Call::Reduce(from, to, op, root) => {
                Some(Operands { from, to: to.copied().filter(|_| rank == root), op, root: Some(root) })
            }
            Call::Allreduce(from, to, op) => Some(Operands { from, to: Some(*to), op, root: None }),
            _ => None,
        }
    }
}

/// The datatype of a reduction, which is equal on all ranks (MPI 5.0 §6.9.1).
pub fn datatype_of<'a>(call: &Call<'a>) -> Option<&'a Datatype> {
    match *call {
        Call::Reduce(Source::From(own), ..) => Some(own.datatype),
        Call::Reduce(Source::InPlace, to, ..) => to.map(|to| to.datatype),
        Call::Allreduce(_, to, _) => Some(to.datatype),
        _ => None,
    }
}
