//! Preloaded into QEMU (`-chardev parallel,id=pp,path=/dev/tuc3 -device isa-parallel,chardev=pp`, with the cable's file in
//! the variable `TUC_CABLE`): a guest's `out 0x378` and `in 0x379` reach the registers of node 3 on the cable.
//!
//! QEMU has the driver ppdev do it, by ioctls on the device's descriptor. There is no such device: opening it opens the
//! cable's file, and the ioctls on that descriptor are answered here. Everything else goes to the C library.
//!
//! **Invariant:** one port per process. A status is read after the machine has seen the writes before it, as on a real
//! port, whose accesses take longer than the machine.

mod port;
mod raw;
