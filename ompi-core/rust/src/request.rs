//! Operations that go on after the call that began them, and the scopes that their buffers are lent to. MPI 5.0 §3.7.
//!
//! A buffer of an operation under way is the library's. [`scope()`] makes sure that it cannot come back to the program too
//! early, whatever the program does with the [`Request`]: what was not completed when the scope ends is completed then.
//!
//! ```
//! # let universe = test_singleton::universe();
//! use ompi::{request, traits::*};
//!
//! let world = universe.world();
//! let (mut left, right) = ([0.0; 2], [1.0, 2.0]);
//! request::scope(|scope| {
//!     let receive = world.any_process().immediate_receive_into(scope, &mut left)?;
//!     let send = world.this_process().immediate_send(scope, &right)?;
//!     let status = receive.wait()?;
//!     assert_eq!(status.count::<f64>(), Some(2));
//!     send.wait()
//! })?;
//! assert_eq!(left, right);
//! # Ok::<(), ompi::Error>(())
//! ```
//!
//! A buffer that is being received into can be neither read nor written:
//!
//! ```compile_fail
//! # let universe = test_singleton::universe();
//! # use ompi::{request, traits::*};
//! # let world = universe.world();
//! let mut left = [0.0; 2];
//! request::scope(|scope| {
//!     let receive = world.any_process().immediate_receive_into(scope, &mut left)?;
//!     left[0] = 1.0;
//!     receive.wait()
//! })?;
//! # Ok::<(), ompi::Error>(())
//! ```
//!
//! nor one that is being sent be written:
//!
//! ```compile_fail
//! # let universe = test_singleton::universe();
//! # use ompi::{request, traits::*};
//! # let world = universe.world();
//! let mut right = [1.0; 2];
//! request::scope(|scope| {
//!     let send = world.this_process().immediate_send(scope, &right)?;
//!     right[0] = 3.0;
//!     send.wait()
//! })?;
//! # Ok::<(), ompi::Error>(())
//! ```
//!
//! It must live longer than the scope:
//!
//! ```compile_fail
//! # let universe = test_singleton::universe();
//! # use ompi::{request, traits::*};
//! # let world = universe.world();
//! request::scope(|scope| {
//!     let mut left = [0.0; 2];
//!     let receive = world.any_process().immediate_receive_into(scope, &mut left)?;
//!     receive.wait()
//! })?;
//! # Ok::<(), ompi::Error>(())
//! ```
//!
//! and the request may not leave the scope:
//!
//! ```compile_fail
//! # let universe = test_singleton::universe();
//! # use ompi::{request, traits::*};
//! # let world = universe.world();
//! let mut left = [0.0; 2];
//! let receive = request::scope(|scope| world.any_process().immediate_receive_into(scope, &mut left))?;
//! # Ok::<(), ompi::Error>(())
//! ```

mod collection;
mod future;
mod guard;
mod loan;
mod operation;
mod persistent;
mod scope;

pub use collection::{Completed, RequestCollection, multiple_scope, wait_all};
pub use future::ReceiveFuture;
pub use guard::{CancelGuard, WaitGuard};
pub use loan::Loan;
pub use operation::Request;
pub(crate) use operation::{begin_receive, begin_send};
pub use persistent::{PersistentCollectives, PersistentDestination, PersistentRequest, PersistentSource};
pub use scope::{LocalScope, Scope, StaticScope, scope};
