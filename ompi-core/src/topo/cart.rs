//! Grids. Ranks run through the last dimension first (MPI 5.0 §8.5.1).

use super::neighbors::Neighbors;
use crate::error::{Class, Fault, Result};
use crate::framework::topo::Pattern;
use crate::status::PROC_NULL;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

/// A grid of processes; the same on all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cart {
    dims: Box<[i32]>,
    periods: Box<[bool]>,
}

impl Cart {
    /// A grid for at most `room` processes; each dimension has at least one place.
    pub fn new(dims: &[i32], periods: &[bool], room: usize) -> Result<Cart> {
        debug_assert_eq!(dims.len(), periods.len());
        if let Some(wrong) = dims.iter().find(|places| **places < 1) {
            let why = format!("a dimension has size {wrong}; each needs at least 1");
            return Err(Fault::new(Class::Dims).argument("dims").because(why));
        }
        let size = dims.iter().try_fold(1usize, |size, places| size.checked_mul(*places as usize));
        match size {
            Some(size) if size <= room => Ok(Cart { dims: dims.into(), periods: periods.into() }),
            _ => {
                let why = format!("a grid of {dims:?} is larger than the communicator of {room} processes");
                Err(Fault::new(Class::Topology).argument("dims").because(why))
            }
        }
    }

    /// Places per dimension.
    pub fn dims(&self) -> &[i32] {
        &self.dims
    }

    /// Which dimensions wrap around.
    pub fn periods(&self) -> &[bool] {
        &self.periods
    }

    /// Number of processes: 1 without dimensions.
    pub fn size(&self) -> usize {
        self.dims.iter().map(|places| *places as usize).product()
    }

    /// Where a rank is.
    pub fn coords(&self, rank: usize) -> Vec<i32> {
        let mut rest = rank;
        let mut coords: Vec<i32> = self
            .dims
            .iter()
            .rev()
            .map(|places| {
                let at = rest % *places as usize;
                rest /= *places as usize;
                at as i32
            })
            .collect();
        coords.reverse();
        coords
    }

    /// The rank at these coordinates. Coordinates outside a periodic dimension wrap around; outside another one nobody is.
    pub fn rank(&self, coords: &[i32]) -> Result<usize> {
        let mut rank = 0;
        for (dim, at) in coords.iter().enumerate() {
            let places = self.dims[dim];
            if !self.periods[dim] && !(0..places).contains(at) {
                let why = format!("{at} lies outside dimension {dim}, which has size {places} and is not periodic");
                return Err(Fault::new(Class::Arg).argument("coords").because(why));
            }
            rank = rank * places as usize + at.rem_euclid(places) as usize;
        }
        Ok(rank)
    }

    /// The ranks that lie `steps` before and behind `rank` in a dimension; MPI_PROC_NULL beyond the edge.
    pub fn shift(&self, rank: usize, dim: usize, steps: i32) -> (i32, i32) {
        let places = self.dims[dim] as i64;
        let stride: i64 = self.dims[dim + 1..].iter().map(|places| *places as i64).product();
        let at = rank as i64 / stride % places;
        let moved = |to: i64| match self.periods[dim] || (0..places).contains(&to) {
            true => (rank as i64 + (to.rem_euclid(places) - at) * stride) as i32,
            false => PROC_NULL,
        };
        (moved(at - i64::from(steps)), moved(at + i64::from(steps)))
    }

    /// First the negative, then the positive direction of each dimension (MPI 5.0 §8.6).
    pub fn neighbors(&self, rank: usize) -> Neighbors {
        let all: Box<[i32]> = (0..self.dims.len())
            .flat_map(|dim| {
                let (before, behind) = self.shift(rank, dim, 1);
                [before, behind]
            })
            .collect();
        Neighbors { sources: all.clone(), destinations: all, cartesian: true }
    }

    /// The part of it that keeps the dimensions marked, with this process's color among the parts and rank in its own.
    pub fn part(&self, rank: usize, keep: &[bool]) -> (Cart, usize, usize) {
        let (mut dims, mut periods) = (Vec::new(), Vec::new());
        let (mut color, mut key) = (0, 0);
        for (dim, at) in self.coords(rank).into_iter().enumerate() {
            let number = if keep[dim] { &mut key } else { &mut color };
            *number = *number * self.dims[dim] as usize + at as usize;
            if keep[dim] {
                dims.push(self.dims[dim]);
                periods.push(self.periods[dim]);
            }
        }
        (Cart { dims: dims.into(), periods: periods.into() }, color, key)
    }

    /// Everybody talks to his neighbours.
    pub fn pattern(&self) -> Pattern {
        let edges = |rank| {
            let neighbors = self.neighbors(rank).destinations;
            neighbors.iter().filter_map(|to| Some((usize::try_from(*to).ok()?, 1))).collect()
        };
        Pattern { edges: (0..self.size()).map(edges).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_coordinates_are_inverse() {
        let cart = Cart::new(&[3, 1, 4], &[true, false, false], 12).unwrap();
        for rank in 0..12 {
            assert_eq!(cart.rank(&cart.coords(rank)).unwrap(), rank);
        }
        assert_eq!(cart.coords(7), [1, 0, 3]);
        assert_eq!(cart.rank(&[-1, 0, 2]).unwrap(), 10);
        assert_eq!(cart.rank(&[i32::MIN, 0, 2]).unwrap(), cart.rank(&[1, 0, 2]).unwrap());
        assert_eq!(cart.rank(&[0, 0, 4]).unwrap_err().get(), Class::Arg as i32);
    }

    #[test]
    fn shifts_wrap_or_end() {
        let cart = Cart::new(&[2, 3], &[false, true], 6).unwrap();
        assert_eq!(cart.shift(4, 0, 1), (1, PROC_NULL));
        assert_eq!(cart.shift(4, 0, -1), (PROC_NULL, 1));
        assert_eq!(cart.shift(5, 1, 1), (4, 3));
        assert_eq!(cart.shift(5, 1, i32::MIN), cart.shift(5, 1, 1));
        assert_eq!(cart.shift(5, 1, 0), (5, 5));
    }

    #[test]
    fn parts_number_their_processes_in_order() {
        let cart = Cart::new(&[2, 3, 2], &[true, false, true], 12).unwrap();
        let (part, color, key) = cart.part(9, &[true, false, true]);
        assert_eq!((part.dims(), part.periods()), (&[2, 2][..], &[true, true][..]));
        assert_eq!((cart.coords(9), color, key), (alloc::vec![1, 1, 1], 1, 3));
        let (nothing, color, key) = cart.part(9, &[false; 3]);
        assert_eq!((nothing.size(), color, key), (1, 9, 0));
    }

    #[test]
    fn grids_are_checked() {
        let refuse = |dims: &[i32], room| Cart::new(dims, &[false; 3][..dims.len()], room).unwrap_err().get();
        assert_eq!(refuse(&[2, 0], 4), Class::Dims as i32);
        assert_eq!(refuse(&[2, 3], 5), Class::Topology as i32);
        assert_eq!(refuse(&[i32::MAX; 3], 5), Class::Topology as i32);
        assert_eq!(Cart::new(&[], &[], 5).unwrap().size(), 1);
    }
}
