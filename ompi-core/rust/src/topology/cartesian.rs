//! Grids of processes. MPI 5.0 §8.5.1.

use super::{Communicator, IntraCommunicator, Neighborhood, Owned, Rank, SimpleCommunicator};
use crate::{Error, ErrorClass, Result};
use alloc::format;
use alloc::vec::Vec;

use ompi_core::error::{Class, Fault};
use ompi_core::status::PROC_NULL;
use ompi_core::topo::{self, Cart, dims};

/// A communicator whose processes are places of a grid.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{topology::{self, CartesianCommunicator}, traits::*};
///
/// let world = universe.world();
/// let mut dims = [0; 2];
/// topology::balanced_dimensions(world.size(), &mut dims)?;
/// let grid = CartesianCommunicator::new(&world, &dims, &[true, false], true)?.expect("there is a place for each");
/// let (up, down) = grid.shift(0, 1);
/// let status = ompi::point_to_point::send_receive_into(
///     &grid.coordinates()[0],
///     &grid.process_or_null(down),
///     &mut -1,
///     &grid.process_or_null(up),
/// )?;
/// assert_eq!(status.count::<i32>(), Some(1));
/// assert_eq!(grid.shift(1, 1), (None, None));
/// # Ok::<(), ompi::Error>(())
/// ```
#[derive(Debug)]
pub struct CartesianCommunicator(Owned);

impl CartesianCommunicator {
    /// A grid of `dims` places, of which those with `periods` wrap around; with `reorder` ranks may be given by locality.
    /// Collective. `None` for processes beyond the grid.
    pub fn new<C>(parent: &C, dims: &[i32], periods: &[bool], reorder: bool) -> Result<Option<CartesianCommunicator>>
    where
        C: IntraCommunicator + ?Sized,
    {
        let owned = parent.owned();
        let cart = match dims.len() == periods.len() {
            true => Cart::new(dims, periods, owned.comm().size()),
            false => {
                let why = format!("{} dimensions and {} periods", dims.len(), periods.len());
                Err(Fault::new(Class::Dims).argument("periods").because(why))
            }
        };
        let made = cart.and_then(|cart| topo::cart_create(owned.comm(), cart, reorder));
        let made = owned.checked("CartesianCommunicator::new", made)?;
        Ok(made.map(|handle| CartesianCommunicator(Owned::made(handle, owned.life().clone()))))
    }

    /// The grid of a communicator that has one: a duplicate's. `Err(Topology)` if it has none.
    pub fn of(communicator: SimpleCommunicator) -> Result<CartesianCommunicator> {
        communicator.owned().comm().cart()?;
        Ok(CartesianCommunicator(communicator.into_owned()))
    }

    /// Places per dimension.
    pub fn dimensions(&self) -> &[i32] {
        self.cart().dims()
    }

    /// Which dimensions wrap around.
    pub fn periods(&self) -> &[bool] {
        self.cart().periods()
    }

    /// Where this process is.
    pub fn coordinates(&self) -> Vec<i32> {
        self.rank_to_coordinates(self.rank())
    }

    /// Where a process is.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn rank_to_coordinates(&self, rank: Rank) -> Vec<i32> {
        self.cart().coords(self.process_at_rank(rank).rank() as usize)
    }

    /// Who is there. Coordinates outside of a dimension that wraps around come in again; outside of others they are
    /// `Err(Arg)`.
    pub fn coordinates_to_rank(&self, coordinates: &[i32]) -> Result<Rank> {
        let dims = self.dimensions().len();
        if coordinates.len() != dims {
            let why = format!("{} coordinates for {dims} dimensions", coordinates.len());
            return Err(Error::new(ErrorClass::Arg, "coords", why));
        }
        Ok(self.cart().rank(coordinates)? as Rank)
    }

    /// The source and the destination of a shift by `displacement` along a dimension; `None` beyond an edge.
    ///
    /// # Panics
    /// If there is no such dimension.
    pub fn shift(&self, dimension: usize, displacement: i32) -> (Option<Rank>, Option<Rank>) {
        assert!(dimension < self.dimensions().len(), "dimension {dimension} of a grid of {}", self.dimensions().len());
        let (source, destination) = self.cart().shift(self.rank() as usize, dimension, displacement);
        let there = |rank: Rank| (rank != PROC_NULL).then_some(rank);
        (there(source), there(destination))
    }

    /// The part of the grid with this process that keeps the dimensions marked: its row, say. Collective.
    ///
    /// # Panics
    /// If there is not a mark for each dimension.
    pub fn subgroup(&self, keep: &[bool]) -> Result<CartesianCommunicator> {
        assert_eq!(keep.len(), self.dimensions().len(), "a mark for each dimension");
        let made = self.0.checked("subgroup", topo::cart_sub(self.0.comm(), self.cart(), keep))?;
        Ok(CartesianCommunicator(Owned::made(made, self.0.life().clone())))
    }

    fn cart(&self) -> &Cart {
        self.0.comm().cart().expect("it was made with a grid")
    }
}

impl Communicator for CartesianCommunicator {
    #[inline(always)]
    fn owned(&self) -> &Owned {
        &self.0
    }
}

impl IntraCommunicator for CartesianCommunicator {}
impl Neighborhood for CartesianCommunicator {}

/// Fills the zeros of `dims` so that the grid has `nodes` places and is as square as it can be: MPI_Dims_create.
pub fn balanced_dimensions(nodes: Rank, dims: &mut [i32]) -> Result<()> {
    Ok(dims::fill(nodes, dims)?)
}
