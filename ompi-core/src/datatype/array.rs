//! Parts of arrays: MPI_Type_create_subarray and MPI_Type_create_darray (MPI 5.0 §5.1.3 and §5.1.4).

use super::combiner::Combiner;
use super::construct::{Arguments, Number, made, too_large};
use super::object::Datatype;
use crate::counts::Counts;
use crate::error::{Class, Fault, Result};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::datatype::Layout;

/// Which dimension's elements are neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Order {
    /// The last dimension's.
    C = 12,
    /// The first dimension's.
    Fortran = 15,
}

impl Order {
    /// From MPI_ORDER_….
    pub fn from_c(value: i32) -> Result<Order> {
        match value {
            12 => Ok(Order::C),
            15 => Ok(Order::Fortran),
            _ => Err(wrong("order", format!("order is {value}, neither MPI_ORDER_C nor MPI_ORDER_FORTRAN"))),
        }
    }

    /// Dimensions from the one whose elements are neighbours on.
    fn inner_first(self, dimensions: usize) -> impl Iterator<Item = usize> {
        (0..dimensions).map(move |at| match self {
            Order::C => dimensions - 1 - at,
            Order::Fortran => at,
        })
    }
}

/// How a dimension is dealt out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// MPI_DISTRIBUTE_NONE.
    None,
    /// MPI_DISTRIBUTE_BLOCK.
    Block,
    /// MPI_DISTRIBUTE_CYCLIC.
    Cyclic,
}

impl Distribution {
    fn from_c(value: i32) -> Result<Distribution> {
        match value {
            16 => Ok(Distribution::None),
            17 => Ok(Distribution::Block),
            18 => Ok(Distribution::Cyclic),
            _ => Err(wrong("array_of_distribs", format!("{value} is not an MPI_DISTRIBUTE_ constant"))),
        }
    }
}

/// MPI_DISTRIBUTE_DFLT_DARG.
const DEFAULT: i32 = 19;

/// MPI_Type_create_subarray: the part from `starts` on, `subsizes` long, of an array of `sizes`.
///
/// The three arrays have an entry per dimension. `Err(Arg)` for no dimension or a part that is not inside.
pub fn subarray(
    sizes: Counts<'_>,
    subsizes: Counts<'_>,
    starts: Counts<'_>,
    dimensions: usize,
    order: Order,
    old: &Arc<Datatype>,
) -> Result<Datatype> {
    if dimensions == 0 {
        return Err(wrong("ndims", "an array has at least one dimension".into()));
    }
    let mut layout = old.layout.clone();
    let mut stride = old.layout.extent();
    let mut offset = 0isize;
    for at in order.inner_first(dimensions) {
        let (size, part, start) = (sizes.get(at), subsizes.get(at), starts.get(at));
        if size < 1 || part < 1 || part > size || start < 0 || start > size - part {
            let argument = match () {
                () if size < 1 => "array_of_sizes",
                () if part < 1 || part > size => "array_of_subsizes",
                () => "array_of_starts",
            };
            let what = format!(
                "dimension {at}, counted from 0: {part} elements starting at {start} do not fit into an array of {size}"
            );
            return Err(wrong(argument, what));
        }
        layout = Arc::new(Layout::hvector(part as usize, 1, stride, &layout).map_err(too_large)?);
        offset = start.checked_mul(stride).and_then(|by| offset.checked_add(by)).ok_or_else(overflow)?;
        stride = stride.checked_mul(size).ok_or_else(overflow)?;
    }
    let placed = Layout::blocks(&[(offset, 1)], &layout).and_then(|placed| placed.resized(0, stride));
    let count = Number::Int(dimensions as i32);
    let arguments = Arguments::new().integer(dimensions as i32);
    let arguments = [sizes, subsizes, starts].into_iter().fold(arguments, |all, array| all.numbers(array, count));
    let arguments = arguments.integer(order as i32).old(old);
    Ok(made(placed.map_err(too_large)?, Combiner::Subarray, arguments))
}

/// MPI_Type_create_darray: what one of `size` processes holds of an array of `sizes`, dealt out dimension by dimension
/// over a grid of `grid` processes, which is numbered by rows whatever the order of the array.
///
/// All arrays have an entry per dimension; those of `int` come as the C function gets them.
#[allow(clippy::too_many_arguments)] // the standard's
pub fn darray(
    size: i32,
    rank: i32,
    sizes: Counts<'_>,
    distributions: &[i32],
    arguments: &[i32],
    grid: &[i32],
    order: Order,
    old: &Arc<Datatype>,
) -> Result<Datatype> {
    let dimensions = grid.len();
    if dimensions == 0 {
        return Err(wrong("ndims", "an array has at least one dimension".into()));
    }
    if size < 1 {
        return Err(wrong("size", format!("{size} processes cannot hold an array")));
    }
    let coordinates = coordinates(size, rank, grid)?;
    let mut layout = old.layout.clone();
    let mut stride = old.layout.extent();
    for at in order.inner_first(dimensions) {
        let kind = Distribution::from_c(distributions[at])?;
        let share = share(at, sizes.get(at), kind, arguments[at], grid[at], coordinates[at])?;
        let element = Arc::new(layout.resized(0, stride).map_err(too_large)?);
        let mut blocks = Vec::new();
        for (start, count) in share {
            blocks.push((start.checked_mul(stride).ok_or_else(overflow)?, count));
        }
        layout = Arc::new(Layout::blocks(&blocks, &element).map_err(too_large)?);
        stride = stride.checked_mul(sizes.get(at)).ok_or_else(overflow)?;
    }
    let count = Number::Int(dimensions as i32);
    let contents = Arguments::new().integer(size).integer(rank).integer(dimensions as i32).numbers(sizes, count);
    let contents = [distributions, arguments, grid]
        .into_iter()
        .fold(contents, |all, array| all.numbers(Counts::Int(array), count))
        .integer(order as i32)
        .old(old);
    Ok(made(layout.resized(0, stride).map_err(too_large)?, Combiner::Darray, contents))
}

fn coordinates(size: i32, rank: i32, grid: &[i32]) -> Result<Vec<i32>> {
    let product = grid.iter().try_fold(1i32, |all, one| if *one > 0 { all.checked_mul(*one) } else { None });
    if product != Some(size) {
        return Err(wrong("array_of_psizes", format!("the grid's product is not the number of processes, {size}")));
    }
    if !(0..size).contains(&rank) {
        return Err(wrong("rank", format!("rank {rank} is not one of {size}")));
    }
    let mut rest = rank;
    let mut all: Vec<i32> = grid
        .iter()
        .rev()
        .map(|processes| {
            let coordinate = rest % processes;
            rest /= processes;
            coordinate
        })
        .collect();
    all.reverse();
    Ok(all)
}

/// The blocks, start and length, that a process holds of one dimension.
fn share(
    at: usize,
    size: isize,
    kind: Distribution,
    argument: i32,
    processes: i32,
    coordinate: i32,
) -> Result<Vec<(isize, usize)>> {
    let (processes, coordinate) = (processes as isize, coordinate as isize);
    let refuse = |why: &str| Err(wrong("array_of_dargs", format!("dimension {at}, counted from 0: {why}")));
    if size < 1 {
        return Err(wrong("array_of_gsizes", format!("dimension {at}, counted from 0, has {size} elements")));
    }
    let block = match (kind, argument) {
        (Distribution::None, _) if processes != 1 => return refuse("MPI_DISTRIBUTE_NONE needs a grid of 1 there"),
        (Distribution::None, _) => size,
        (Distribution::Block, DEFAULT) => (size + processes - 1) / processes,
        (Distribution::Cyclic, DEFAULT) => 1,
        (_, argument) => argument as isize,
    };
    if block < 1 {
        return refuse("the distribution argument is not positive");
    }
    if kind == Distribution::Block && block.saturating_mul(processes) < size {
        return refuse("the blocks do not hold all elements");
    }
    let period = block.saturating_mul(processes);
    let mut blocks = Vec::new();
    let mut start = block.saturating_mul(coordinate);
    while start < size {
        blocks.push((start, block.min(size - start) as usize));
        start = start.saturating_add(period);
    }
    Ok(blocks)
}

#[cold]
fn wrong(argument: &'static str, why: alloc::string::String) -> Fault {
    Fault::new(Class::Arg).argument(argument).because(why)
}

#[cold]
fn overflow() -> Fault {
    too_large(opal_core::Error::Invalid)
}
