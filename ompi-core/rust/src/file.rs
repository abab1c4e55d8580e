//! Files that the processes of a communicator read and write together. MPI 5.0 §14.
//!
//! All processes open a [`File`] together. What each of them sees of it is a [`FileView`] of values of one type: all of them one after
//! the other, or every so many of them. Offsets count the values that the view shows.
//!
//! ```
//! # let universe = test_singleton::universe();
//! # let path = std::env::temp_dir().join(format!("ompi-file-{}", std::process::id()));
//! # let path = path.to_str().unwrap();
//! use ompi::{Equivalence, file::{Every, OpenOptions}, traits::*};
//!
//! #[derive(Clone, Copy, Debug, PartialEq, Equivalence)]
//! struct Cell { id: u32, mass: f64 }
//!
//! let world = universe.world();
//! let (rank, size) = (world.rank() as u64, world.size() as u64);
//! let mut file = OpenOptions::new().read(true).write(true).create(true).delete_on_close(true).open(&world, path)?;
//! // Each process has one of `size` cells in turn.
//! let mine = [Cell { id: rank as u32, mass: 0.5 }; 3];
//! let turns = file.view::<Cell>(0, Every { block: 1, stride: size, first: rank })?;
//! turns.write_at_all(0, &mine)?;
//! file.sync()?;
//! let whole = file.view::<Cell>(0, Every::ONE)?;
//! let mut all = vec![Cell { id: 9, mass: 0.0 }; 3 * size as usize + 1];
//! assert_eq!(whole.read_at(0, &mut all)?, 3 * size as usize, "then the file ends");
//! assert_eq!(all[rank as usize], mine[0]);
//! # Ok::<(), ompi::Error>(())
//! ```
//!
//! In the file values lie as in memory, padding and all: an array of them in another program is the same file.
//!
//! A view ends with its file, and a file has one at a time:
//!
//! ```compile_fail
//! # let universe = test_singleton::universe();
//! # use ompi::{file::{Every, OpenOptions}, traits::*};
//! # let world = universe.world();
//! let mut file = OpenOptions::new().read(true).open(&world, "data")?;
//! let (bytes, words) = (file.view::<u8>(0, Every::ONE)?, file.view::<u32>(0, Every::ONE)?);
//! words.read_at(0, &mut [0])?;
//! bytes.read_at(0, &mut [0])?;
//! # Ok::<(), ompi::Error>(())
//! ```

mod object;
mod options;
mod pattern;
mod view;

pub use object::File;
pub use options::{OpenOptions, delete};
pub use pattern::{Every, Seek};
pub use view::FileView;
