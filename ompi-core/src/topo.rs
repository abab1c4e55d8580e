//! Virtual topologies: so far the shape of a grid. MPI 5.0 §8.5.2.

use crate::error::{Class, Fault, Result};
use alloc::format;
use alloc::vec::Vec;

/// MPI_Dims_create: gives the dimensions that are 0 values whose product with the others is `nodes`, as close to each
/// other as can be, the larger ones first.
pub fn balance(nodes: i32, dims: &mut [i32]) -> Result<()> {
    if nodes < 1 {
        return Err(Fault::new(Class::Arg).argument("nnodes").because(format!("{nodes} nodes make no grid")));
    }
    if let Some(negative) = dims.iter().find(|dim| **dim < 0) {
        return Err(Fault::new(Class::Dims).argument("dims").because(format!("{negative} is no size of a dimension")));
    }
    let given = dims.iter().filter(|dim| **dim > 0).try_fold(1_i32, |product, dim| product.checked_mul(*dim));
    let free = dims.iter().filter(|dim| **dim == 0).count() as u32;
    let rest = match given {
        Some(given) if nodes % given == 0 && (free > 0 || nodes == given) => nodes / given,
        _ => {
            let why = format!("no grid with the given sizes has {nodes} nodes");
            return Err(Fault::new(Class::Dims).argument("dims").because(why));
        }
    };
    let mut shares: Vec<i32> = Vec::new();
    let mut rest = rest;
    for left in (1..=free).rev() {
        shares.push(share(rest, left));
        rest /= shares[shares.len() - 1];
    }
    shares.sort_unstable_by(|one, other| other.cmp(one));
    dims.iter_mut().filter(|dim| **dim == 0).zip(shares).for_each(|(dim, share)| *dim = share);
    Ok(())
}

/// The smallest divisor that leaves no more than itself, on average, to each of the other dimensions.
fn share(nodes: i32, dimensions: u32) -> i32 {
    let enough = |divisor: i32| {
        let room = i64::from(divisor).checked_pow(dimensions);
        room.is_none_or(|room| room >= i64::from(nodes))
    };
    let small = (1..=nodes.isqrt()).filter(|divisor| nodes % divisor == 0);
    small.flat_map(|divisor| [divisor, nodes / divisor]).filter(|divisor| enough(*divisor)).min().unwrap_or(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid<const N: usize>(nodes: i32, mut dims: [i32; N]) -> Result<[i32; N]> {
        balance(nodes, &mut dims).map(|()| dims)
    }

    #[test]
    fn grids_are_balanced() {
        assert_eq!(grid(6, [0, 0]).unwrap(), [3, 2]);
        assert_eq!(grid(7, [0, 0]).unwrap(), [7, 1]);
        assert_eq!(grid(6, [0, 3, 0]).unwrap(), [2, 3, 1]);
        assert_eq!(grid(12, [0; 4]).unwrap(), [3, 2, 2, 1]);
        assert_eq!(grid(36, [0; 3]).unwrap(), [4, 3, 3]);
        assert_eq!(grid(i32::MAX, [0; 3]).unwrap(), [i32::MAX, 1, 1]);
        assert_eq!(grid(1, []).unwrap(), [0; 0]);
    }

    #[test]
    fn what_is_no_grid_is_refused() {
        let class = |result: Result<()>| result.unwrap_err().get();
        for (nodes, dims, wanted) in
            [(7, [0, 3], Class::Dims), (6, [2, 2], Class::Dims), (6, [-1, 0], Class::Dims), (0, [0, 0], Class::Arg)]
        {
            assert_eq!(class(grid(nodes, dims).map(drop)), wanted as i32, "{nodes} {dims:?}");
        }
        assert_eq!(class(grid(2, []).map(drop)), Class::Dims as i32);
    }
}
