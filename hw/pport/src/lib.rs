//! Parallel ports: three registers, reached in four ways.
//!
//! * [`inout`]: the processor's port instructions, on bare metal or on Linux after ioperm;
//! * [`ppdev`]: the kernel's driver, for members of the device's group;
//! * [`mapped`]: registers of a card that are mapped as memory;
//! * [`emulated`]: the instructions of `inout` fault in an ordinary process and are carried out on a cable in shared memory.
//!
//! **Invariant:** one [`Lines`] owns a port; data and control register change only through its shadows, bit by bit and
//! in one piece.
#![no_std]

extern crate alloc;

#[cfg(not(ompi_bare))]
pub mod emulated;
pub mod inout;
#[cfg(not(ompi_bare))]
pub mod mapped;
mod membership;
#[cfg(not(ompi_bare))]
pub mod ppdev;

use alloc::boxed::Box;
use spin::Mutex;

/// The registers of one parallel port.
pub trait Port: Send + Sync {
    /// Writes the data register.
    fn put_data(&self, value: u8);

    /// Writes the control register; only bits 0 to 3 are outputs.
    fn put_control(&self, value: u8);

    /// Reads the status register.
    fn status(&self) -> u8;

    /// Returns when the machine at the other end has seen what was put and its answer can be read; `false` if it is known
    /// that no machine is there.
    fn settle(&self) -> bool;

    /// For a caller that has read this status again and again: gives way for a moment. A real port needs no such thing,
    /// because nobody else must run for the machine to run.
    fn idle(&self, status: u8) {
        let _ = status;
    }

    /// What it is, for people.
    fn name(&self) -> &str;
}

/// Why a port cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused(pub &'static str);

/// One port and what was last written to its registers.
pub struct Lines {
    port: Box<dyn Port>,
    data: Mutex<u8>,
    control: Mutex<u8>,
}

impl Lines {
    /// Takes a port over; its outputs are known from here on.
    pub fn new(port: Box<dyn Port>, data: u8, control: u8) -> Lines {
        port.put_data(data);
        port.put_control(control);
        Lines { port, data: Mutex::new(data), control: Mutex::new(control) }
    }

    /// Changes the bits of `mask` in the data register; a change of others at the same time is not undone.
    pub fn change_data(&self, mask: u8, value: u8) {
        let mut shadow = self.data.lock();
        *shadow = *shadow & !mask | value & mask;
        self.port.put_data(*shadow);
    }

    /// The same in the control register.
    pub fn change_control(&self, mask: u8, value: u8) {
        let mut shadow = self.control.lock();
        *shadow = *shadow & !mask | value & mask;
        self.port.put_control(*shadow);
    }

    /// What the data register was last told.
    pub fn data(&self) -> u8 {
        *self.data.lock()
    }

    /// What the control register was last told.
    pub fn control(&self) -> u8 {
        *self.control.lock()
    }

    /// See [`Port::status`].
    pub fn status(&self) -> u8 {
        self.port.status()
    }

    /// See [`Port::settle`].
    pub fn settle(&self) -> bool {
        self.port.settle()
    }

    /// See [`Port::idle`].
    pub fn idle(&self, status: u8) {
        self.port.idle(status);
    }

    /// See [`Port::name`].
    pub fn name(&self) -> &str {
        self.port.name()
    }
}
