//! How far a call reaches in a buffer, by its counts and datatypes: a copy of a section has no more.

use crate::arguments::{Handles, In, Int, SUCCESS, to_c};
use crate::peers;
use crate::refusal::Refusal;

unsafe extern "C" {
    safe fn PMPI_Type_get_extent_c(datatype: usize, lb: *mut i64, extent: *mut i64) -> Int;
    safe fn PMPI_Type_get_true_extent_c(datatype: usize, lb: *mut i64, extent: *mut i64) -> Int;
}

/// Bytes from the start of a buffer. What C will refuse without a look at the buffer reaches nothing.
#[derive(Clone, Copy)]
pub struct Reach {
    from: i64,
    to: i64,
}

/// Where a datatype and its data lie, in bytes.
#[derive(Clone, Copy)]
pub struct Extents {
    /// From one item to the next.
    pub extent: i64,
    true_lb: i64,
    true_extent: i64,
}

impl Extents {
    /// Nothing for what is no datatype. C raises the error of a handle that looks like one.
    pub fn of(datatype: usize) -> Option<Extents> {
        if !(DATATYPE_NULL + 1..=i32::MAX as usize).contains(&datatype) {
            return None;
        }
        let (mut lb, mut extent, mut true_lb, mut true_extent) = (0, 0, 0, 0);
        let both = PMPI_Type_get_extent_c(datatype, &raw mut lb, &raw mut extent) == SUCCESS
            && PMPI_Type_get_true_extent_c(datatype, &raw mut true_lb, &raw mut true_extent) == SUCCESS;
        both.then_some(Extents { extent, true_lb, true_extent })
    }

    /// So many items from a displacement in bytes on.
    pub fn items(self, displacement: i64, count: i64) -> Reach {
        if count <= 0 {
            return Reach::NOTHING;
        }
        let last = (count - 1).saturating_mul(self.extent);
        let from = displacement.saturating_add(last.min(0)).saturating_add(self.true_lb);
        let to = displacement.saturating_add(last.max(0)).saturating_add(self.true_lb).saturating_add(self.true_extent);
        Reach { from, to }
    }
}

impl Reach {
    const NOTHING: Reach = Reach { from: 0, to: 0 };

    /// Whether so many bytes have it all.
    pub fn within(self, bytes: i64) -> Result<(), Refusal> {
        match self {
            Reach { from, .. } if from < 0 => Err(Refusal::Before),
            Reach { to, .. } if to > bytes => Err(Refusal::TooShort),
            _ => Ok(()),
        }
    }

    fn and(self, other: Reach) -> Reach {
        Reach { from: self.from.min(other.from), to: self.to.max(other.to) }
    }
}

/// What has been measured before.
pub fn measured() -> Reach {
    Reach::NOTHING
}

/// `count` times `datatype`.
pub fn items<T: Copy + Into<i64>>(count: In<T>, datatype: In<Int>) -> Reach {
    blocks(count, datatype, 1)
}

/// That, one behind the other for so many processes or partitions.
pub fn blocks<T: Copy + Into<i64>>(count: In<T>, datatype: In<Int>, blocks: usize) -> Reach {
    total(count.get().into().saturating_mul(blocks as i64), datatype)
}

/// Bytes of MPI_PACKED data.
pub fn bytes<T: Copy + Into<i64>>(size: In<T>) -> Reach {
    Reach { from: 0, to: size.get().into().max(0) }
}

/// A count and a displacement for each of so many processes.
pub fn spread<T, D>(counts: *const T, displs: *const D, datatype: In<Int>, places: usize) -> Reach
where
    T: Copy + Into<i64>,
    D: Copy + Into<i64>,
{
    let Some(extents) = Extents::of(datatype.handle()) else { return Reach::NOTHING };
    let each = (0..places).map(|at| {
        let displacement = element(displs, at).saturating_mul(extents.extent);
        extents.items(displacement, element(counts, at))
    });
    each.fold(Reach::NOTHING, Reach::and)
}

/// A datatype for each, too, and displacements in bytes.
pub fn spread_types<T, D>(counts: *const T, displs: *const D, types: Handles, places: usize) -> Reach
where
    T: Copy + Into<i64>,
    D: Copy + Into<i64>,
{
    let each = (0..places).map(|at| match Extents::of(to_c(types.at(at))) {
        Some(extents) => extents.items(element(displs, at), element(counts, at)),
        None => Reach::NOTHING,
    });
    each.fold(Reach::NOTHING, Reach::and)
}

/// What MPI_REDUCE_SCATTER reads: the parts of all processes.
pub fn parts<T: Copy + Into<i64>>(counts: *const T, datatype: In<Int>, comm: In<Int>) -> Reach {
    let all = (0..peers::members(comm)).map(|at| element(counts, at).max(0));
    total(all.fold(0, i64::saturating_add), datatype)
}

/// What it writes: the part of this process.
pub fn own_part<T: Copy + Into<i64>>(counts: *const T, datatype: In<Int>, comm: In<Int>) -> Reach {
    peers::own_rank(comm).map_or(Reach::NOTHING, |rank| total(element(counts, rank), datatype))
}

fn total(count: i64, datatype: In<Int>) -> Reach {
    if count <= 0 {
        return Reach::NOTHING;
    }
    Extents::of(datatype.handle()).map_or(Reach::NOTHING, |extents| extents.items(0, count))
}

fn element<T: Copy + Into<i64>>(array: *const T, at: usize) -> i64 {
    In::at(array.wrapping_add(at)).get().into()
}

const DATATYPE_NULL: usize = 0x200;
