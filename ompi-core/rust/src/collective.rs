//! Operations in which all processes of a communicator take part. MPI 5.0 §6.
//!
//! | traits | what |
//! |---|---|
//! | [`CommunicatorCollectives`], [`Root`] | blocking, equal blocks |
//! | [`InPlaceCollectives`], [`InPlaceRoot`] | the same with one buffer for both sides |
//! | [`VarcountCollectives`], [`VarcountRoot`] | blocks of any size, through [`Partition`](crate::datatype::Partition) |
//! | [`ImmediateCollectives`], [`ImmediateRoot`] | equal blocks, begun inside of a scope |
//! | [`ImmediateVarcountCollectives`], [`ImmediateVarcountRoot`] | blocks of any size, begun inside of a scope |

mod all;
mod begin;
pub(crate) mod call;
mod immediate_all;
mod immediate_root;
mod immediate_varcount;
mod in_place;
mod operation;
mod root;
mod user_operation;
mod varcount;
pub(crate) mod varcount_call;

pub use all::CommunicatorCollectives;
pub(crate) use begin::{begin, lend, now};
pub use immediate_all::ImmediateCollectives;
pub use immediate_root::ImmediateRoot;
pub use immediate_varcount::{ImmediateVarcountCollectives, ImmediateVarcountRoot};
pub use in_place::{InPlaceCollectives, InPlaceRoot};
pub use operation::{Operation, SystemOperation};
pub use root::Root;
pub use user_operation::UserOperation;
pub use varcount::{VarcountCollectives, VarcountRoot};
