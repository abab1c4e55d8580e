//! Runs collective algorithms of one process's threads against each other: every rank is a thread, messages travel
//! through queues, and what is received is compared with what the standard says.
#![allow(unsafe_code)] // buffers as MPI sees them

mod buffer;
mod net;
mod suite;
mod team;

pub use buffer::{Buffer, Shape};
pub use net::{Dice, Net, Wire};
pub use suite::suite;
pub use team::{Flaw, Made, Member, Team, run, unnoticed};
