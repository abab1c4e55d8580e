//! One-sided communication: memory that other processes write and read without a call of its own process. MPI 5.0 §12.
//!
//! All processes of a communicator make a [`Window`] together; each gives some values. Accesses need an epoch, which
//! is a scope: [`Window::fence`] for one that all processes open and close together, [`Window::lock`] and [`Window::lock_all`] for one
//! that the others need not notice. Accesses are complete when the scope ends, and until then their buffers are lent to it.
//!
//! ```
//! # let universe = test_singleton::universe();
//! use ompi::{SystemOperation, traits::*, window::{Lock, Window}};
//!
//! let world = universe.world();
//! let next = (world.rank() + 1) % world.size();
//! let mut window = Window::<f64>::allocate(&world, 4)?;
//! let (mine, mut theirs) = ([1.5, 2.5], [0.0; 4]);
//! window.fence(|epoch| epoch.put(next, 1, &mine))?;
//! window.lock(next, Lock::Exclusive, |epoch| epoch.accumulate(next, 2, &[0.5], SystemOperation::sum()))?;
//! window.lock(next, Lock::Shared, |epoch| epoch.get(next, 0, &mut theirs))?;
//! assert_eq!(theirs, [0.0, 1.5, 3.0, 0.0]);
//! # Ok::<(), ompi::Error>(())
//! ```
//!
//! No reference leads into a window, not even of the process whose memory it is: others may write at any time. What is there is
//! copied, by the same accesses.
//!
//! A buffer that is being read into can be neither read nor written before the epoch ends:
//!
//! ```compile_fail
//! # let universe = test_singleton::universe();
//! # use ompi::{traits::*, window::{Lock, Window}};
//! # let world = universe.world();
//! let mut window = Window::<f64>::allocate(&world, 4)?;
//! let mut theirs = [0.0; 4];
//! window.lock(0, Lock::Shared, |epoch| {
//!     epoch.get(0, 0, &mut theirs)?;
//!     println!("{}", theirs[0]);
//!     Ok(())
//! })?;
//! # Ok::<(), ompi::Error>(())
//! ```
//!
//! nor one that is being written from be changed, and it must live as long:
//!
//! ```compile_fail
//! # let universe = test_singleton::universe();
//! # use ompi::{traits::*, window::{Lock, Window}};
//! # let world = universe.world();
//! let mut window = Window::<f64>::allocate(&world, 4)?;
//! window.lock(0, Lock::Exclusive, |epoch| {
//!     let mine = [1.0];
//!     epoch.put(0, 0, &mine)
//! })?;
//! # Ok::<(), ompi::Error>(())
//! ```
//!
//! A window has one epoch at a time:
//!
//! ```compile_fail
//! # let universe = test_singleton::universe();
//! # use ompi::{traits::*, window::{Lock, Window}};
//! # let world = universe.world();
//! let mut window = Window::<f64>::allocate(&world, 4)?;
//! window.lock(0, Lock::Shared, |_| window.fence(|_| Ok(())))?;
//! # Ok::<(), ompi::Error>(())
//! ```

mod epoch;
mod handle;
mod object;

pub use epoch::Epoch;
pub use object::{Lock, Window};
