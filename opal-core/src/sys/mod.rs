//! The system below: Linux through rustix and libc, or bare metal through what `hw` provides.
//!
//! **Invariant:** nothing here knows jobs or ranks; std is never named.
#![allow(unsafe_code)]

#[cfg(not(ompi_bare))]
#[cfg_attr(loom, allow(dead_code))]
mod hosted;
#[cfg(not(ompi_bare))]
pub use hosted::*;

#[cfg(ompi_bare)]
mod bare;
#[cfg(ompi_bare)]
pub use bare::*;

#[cfg(not(ompi_bare))]
mod crash;
#[cfg(not(ompi_bare))]
pub use crash::report_crashes;

pub mod cpu;

#[cfg(not(ompi_bare))]
mod copies;
#[cfg(not(ompi_bare))]
pub use copies::{FILE_PREFIX, mark_in_use, other_copy_in_use};

#[cfg(not(ompi_bare))]
mod interfaces;
#[cfg(not(ompi_bare))]
pub use interfaces::{InterfaceAddress, interfaces, link_mbps};

mod readable;
pub use readable::*;

#[cfg(not(ompi_bare))]
mod shared_library;
#[cfg(not(ompi_bare))]
pub use shared_library::{NotOpened, SharedLibrary, text_of};

#[cfg(not(ompi_bare))]
mod silence;
#[cfg(not(ompi_bare))]
pub use silence::is_silent;

#[cfg(not(ompi_bare))]
mod tmpfile;
#[cfg(not(ompi_bare))]
pub use tmpfile::TmpFile;

#[cfg(not(ompi_bare))]
mod launch;
#[cfg(not(ompi_bare))]
pub use launch::{SOCKET_NUMBER, run_beside};

#[cfg(not(ompi_bare))]
mod thread;
#[cfg(ompi_bare)]
pub use bare::NoThread as Thread;
#[cfg(not(ompi_bare))]
pub use thread::Thread;

#[cfg(not(ompi_bare))]
mod placed_file;
#[cfg(not(ompi_bare))]
pub use placed_file::{Mapping, Place, PlacedFile};

#[cfg(not(ompi_bare))]
mod growing_mapping;
#[cfg(not(ompi_bare))]
pub use growing_mapping::GrowingMapping;

#[cfg(not(ompi_bare))]
mod limits;
#[cfg(not(ompi_bare))]
pub use limits::{most_address_space, most_file_bytes, physical_memory};

mod errno;
pub use errno::Errno;

#[cfg(not(ompi_bare))]
mod file;
#[cfg(ompi_bare)]
pub use bare::NoFile as File;
#[cfg(not(ompi_bare))]
pub use file::{File, MOST_RUNS, MemoryRun, is_on_lustre};

mod file_flags;
pub use file_flags::{FileOrder, OpenFlags};

mod trusted;
pub use trusted::*;

mod wake_socket;
pub use wake_socket::*;

mod sleep;
pub use sleep::*;

mod single_thread;
pub use single_thread::is_single_threaded;

// By name, so that they take the place of the system's.
#[cfg(loom)]
mod model;
#[cfg(loom)]
pub use model::{futex_wait, futex_wake, let_threads_run, membarrier, monotonic_ns, yield_now};
