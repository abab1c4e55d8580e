//! For profiling tools. MPI 5.0 §15.2.

use core::ffi::c_int;

rows! {
    /// Tells a profiling tool how much to record; without a tool it does nothing. MPI 5.0 §15.2.4.
    /// C passes more arguments after the level; nobody reads them.
    fn Pcontrol(level: c_int) -> c_int => {
        let _unused = level;
        0
    }
}
