//! x86-64 without an operating system: what stands below a bare-metal rank.
//!
//! A guest or a dedicated node runs one image. Each core that takes part is one rank with page tables of its own: text is
//! shared, data, heap and stack are private and lie at the same addresses in all of them ([`memory`] has the map). Owns
//! the machine: page tables, interrupt table, serial ports, local interrupt controllers, PCI configuration space.
//!
//! **Invariant:** interrupts are off except inside [`apic::nap_us`]; every vector has a stack of its own, so that nothing
//! ever runs on top of a program's red zone. **Invariant:** what cores share lies in the section `.shared` and is atomic.
//!
//! Without the feature `image` this is a library of drivers that links into anything.
#![no_std]

extern crate alloc;

pub mod apic;
pub mod boot_line;
pub mod console;
pub mod dma;
pub mod exit;
pub mod interrupts;
pub mod ivshmem;
pub mod loader;
pub mod memory;
pub mod paging;
pub mod pci;
pub mod rank;
pub mod serial;
pub mod tsc;

mod fault;

#[cfg(feature = "image")]
mod boot;
#[cfg(feature = "image")]
pub mod c;
#[cfg(feature = "image")]
mod heap;
#[cfg(feature = "image")]
mod hooks;
#[cfg(feature = "image")]
pub mod log;
#[cfg(feature = "image")]
pub mod program;
#[cfg(feature = "image")]
mod start;
#[cfg(feature = "image")]
mod symbols;
