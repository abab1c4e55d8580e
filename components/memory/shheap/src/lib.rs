//! memory/shheap: the program's long allocations lie in shareable memory ([`opal_core::shareable`]), so that peers map them and messages
//! between them are copied once, by both sides, without the system (smsc/map).
//!
//! `malloc` and its like of `raw.rs` take the place of the C library's under its names. From `memory_shheap_threshold` bytes on
//! they give whole pages of shareable memory; what is shorter, does not fit or is wanted before the program's constructors run is
//! the C library's, as before. Each block says by its address whose it is.
//!
//! The names are weak, so that a program's own `malloc` wins; the component finds out before `main` whether its own is the one that is
//! called, gives nothing otherwise, and says so when MPI starts. It is in a program that libmpi_abi.a is linked into, and in one
//! that was linked with libmpi_abi.so.1, which the linker puts before the C library. It is not where the C library is linked in, too (`-static`),
//! nor where the library is loaded later, as Python does with mpi4py, unless LD_PRELOAD names it.
//!
//! Anonymous `mmap` stays private: a program may protect, advise, move and unmap parts of that, and may rely on what the
//! system promises of anonymous memory.
//!
//! What differs for a program: such memory counts as shared (Shmem, RssShmem) and has huge pages where the system gives them to shared memory
//! (/sys/kernel/mm/transparent_hugepage/shmem_enabled); a fork copies it ([`opal_core::shareable::fork`]); `realloc`
//! that must move copies. Where the system grants no more memory than it has (vm.overcommit_memory 2) the component gives nothing, since shared
//! memory is not refused when it is allocated.
//!
//! Owns nothing. Invariant: memory of the C library goes back to the C library, ours to [`opal_core::shareable`].
#![no_std]

mod blocks;
mod component;
mod params;
mod raw;

pub use component::{COMPONENT, INFO};
