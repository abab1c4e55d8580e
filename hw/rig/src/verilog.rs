//! The Verilog itself as the machine's core: a library that Verilator made of it (`cargo xtask fpga core`), loaded by its
//! path. Only the program does that, never the MPI library.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_void};
use hw_fpga::machine::Pins;
use hw_rig::fpga::{Answer, Core, Kind};
use std::ffi::CString;

/// A machine in Verilog that was just powered up.
pub struct Verilog {
    core: *mut c_void,
    run: Run,
    kind: Kind,
}

type New = unsafe extern "C" fn() -> *mut c_void;
type Run = unsafe extern "C" fn(*mut c_void, u64, *const [u64; 8], *mut [u64; 3]);

impl Verilog {
    /// Loads it; the library must have been made for as many nodes.
    pub fn load(path: &str, kind: Kind) -> Result<Verilog, String> {
        let name = CString::new(path).map_err(|_| format!("{path:?} is no path"))?;
        // SAFETY: a C string. What the library does when it is loaded is the user's choice, as with a program.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
        if library.is_null() {
            return Err(format!("{path} cannot be loaded: {}; `cargo xtask fpga core` makes it", why()));
        }
        let symbol = |name: &CStr| {
            // SAFETY: a library that is loaded, and a C string.
            let found = unsafe { libc::dlsym(library, name.as_ptr()) };
            if found.is_null() { Err(format!("{path} has no {name:?}: it is no core")) } else { Ok(found) }
        };
        let (new, run) = (symbol(c"tuc_core_new")?, symbol(c"tuc_core_run")?);
        // SAFETY: hw/fpga/sim/core.cpp defines it so.
        let new = unsafe { core::mem::transmute::<*mut c_void, New>(new) };
        // SAFETY: as above.
        let run = unsafe { core::mem::transmute::<*mut c_void, Run>(run) };
        // SAFETY: it takes nothing.
        Ok(Verilog { core: unsafe { new() }, run, kind })
    }
}

impl Core for Verilog {
    fn run(&mut self, ticks: usize, pins: &Pins) -> Answer {
        let mut wires = [0; 8];
        wires[..4].copy_from_slice(&pins.out);
        wires[4..].copy_from_slice(&pins.control);
        let mut answer = [0; 3];
        // SAFETY: the core is the library's own; both arrays are as long as core.cpp says.
        unsafe { (self.run)(self.core, ticks as u64, &wires, &mut answer) };
        match self.kind {
            Kind::Classic => Answer::of_classic(answer[2] & 1 == 1, answer[2] & 2 != 0),
            Kind::Channels => Answer { levels: answer[1] as u8, read_back: answer[0], known: true },
        }
    }
}

fn why() -> String {
    // SAFETY: takes nothing.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "no reason given".to_owned();
    }
    // SAFETY: a C string that stays until the next call of this family; there is one thread here.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
