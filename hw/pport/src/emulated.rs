//! The same instructions as [`inout`](crate::inout), in a process that may not use them: each faults, and the signal
//! handler carries it out on a cable in shared memory.
#![allow(unsafe_code)]

use crate::inout::InOut;
use crate::{Port, Refused};
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use hw_fpga::{CONTROL_OFFSET, DATA_OFFSET, NODES, STATUS_OFFSET};
use hw_rig::cable::Cable;
use spin::Once;

/// A port whose wires lead to a cable.
pub struct Emulated {
    port: InOut,
    socket: &'static Socket,
}

/// Where the cable is plugged in; one per process.
struct Socket {
    base: u16,
    node: usize,
    cable: Cable,
    /// What SIGSEGV did before.
    before: libc::sigaction,
}

// SAFETY: what makes sigaction a stranger to threads is a function's address, which is only called.
unsafe impl Send for Socket {}
// SAFETY: as above.
unsafe impl Sync for Socket {}

impl Emulated {
    /// Plugs this process in as one of the machine's nodes.
    pub fn open(cable: &str, base: u16, node: usize) -> Result<Emulated, Refused> {
        if node >= NODES {
            return Err(Refused("the machine has no wires for a node of this number"));
        }
        if base.checked_add(CONTROL_OFFSET).is_none() {
            return Err(Refused("the port's address is beyond 0xffff"));
        }
        let cable = Cable::open(cable).map_err(|_| {
            Refused("there is no cable of this name: start the machine, `tuc-fpga --nodes N mpirun …`, or see --cable there")
        })?;
        if TAKEN.swap(true, Ordering::Relaxed) {
            return Err(Refused("this process has an emulated port already"));
        }
        let socket = SOCKET.try_call_once(|| Ok(Socket { base, node, cable, before: catch()? }))?;
        Ok(Emulated { port: InOut::trapped(base), socket })
    }
}

impl Port for Emulated {
    fn put_data(&self, value: u8) {
        self.port.put_data(value);
    }

    fn put_control(&self, value: u8) {
        self.port.put_control(value);
    }

    fn status(&self) -> u8 {
        self.port.status()
    }

    fn settle(&self) -> bool {
        self.socket.cable.settle(PATIENCE)
    }

    fn idle(&self, status: u8) {
        self.socket.cable.sleep(self.socket.node, status);
    }

    fn name(&self) -> &str {
        "emulated"
    }
}

/// Has SIGSEGV carry out port instructions; returns what it did before.
fn catch() -> Result<libc::sigaction, Refused> {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all bytes zero are a valid sigaction.
    let action = unsafe { action.assume_init_mut() };
    action.sa_sigaction = fault as *const () as usize;
    // The handler may run on a signal stack of the program's, and leaves faults of its own to other handlers.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: both point to valid structures.
    match unsafe { libc::sigaction(libc::SIGSEGV, action, before.as_mut_ptr()) } {
        // SAFETY: the call wrote it.
        0 => Ok(unsafe { before.assume_init() }),
        _ => Err(Refused("SIGSEGV cannot be caught, so that port instructions cannot be emulated")),
    }
}

extern "C" fn fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives SA_SIGINFO handlers a ucontext that is theirs to change.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    // SAFETY: the kernel gives a valid siginfo.
    let code = unsafe { (*info).si_code };
    // A fault of the instruction itself comes from the kernel and has no address; others have.
    let Some(socket) = SOCKET.get().filter(|_| code == SI_KERNEL) else { return pass_on(signal, info, context) };
    let instruction = registers[libc::REG_RIP as usize] as *const u8;
    // SAFETY: the processor has just fetched the instruction from there.
    let opcode = unsafe { instruction.read() };
    let port = match opcode {
        0xec | 0xee => registers[libc::REG_RDX as usize] as u16,
        // SAFETY: an instruction of two bytes, fetched whole.
        0xe4 | 0xe6 => u16::from(unsafe { instruction.wrapping_add(1).read() }),
        _ => return pass_on(signal, info, context),
    };
    let Some(register) = port.checked_sub(socket.base).filter(|register| *register <= CONTROL_OFFSET) else {
        return pass_on(signal, info, context);
    };
    let accumulator = &mut registers[libc::REG_RAX as usize];
    match (opcode, register) {
        (0xec | 0xe4, register) => *accumulator = *accumulator & !0xff | i64::from(socket.input(register)),
        (_, register) => socket.output(register, *accumulator as u8),
    }
    registers[libc::REG_RIP as usize] += if opcode >= 0xec { 1 } else { 2 };
}

impl Socket {
    fn input(&self, register: u16) -> u8 {
        match register {
            DATA_OFFSET => self.cable.data(self.node),
            STATUS_OFFSET => self.cable.status(self.node),
            _ => self.cable.control(self.node),
        }
    }

    fn output(&self, register: u16, value: u8) {
        match register {
            DATA_OFFSET => self.cable.put_data(self.node, value),
            CONTROL_OFFSET => self.cable.put_control(self.node, value),
            // The status register has no outputs.
            _ => {}
        }
    }
}

/// A fault that is not ours: to the handler that was there before, or to the default, which ends the process.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let before = SOCKET.get().map(|socket| socket.before);
    match before {
        Some(before) if before.sa_sigaction != libc::SIG_DFL && before.sa_sigaction != libc::SIG_IGN => {
            if before.sa_flags & libc::SA_SIGINFO != 0 {
                // SAFETY: registered with SA_SIGINFO, so it is a function of these arguments.
                let handler = unsafe {
                    core::mem::transmute::<usize, extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void)>(
                        before.sa_sigaction,
                    )
                };
                handler(signal, info, context);
            } else {
                // SAFETY: registered without SA_SIGINFO, so it is a function of one argument.
                let handler = unsafe { core::mem::transmute::<usize, extern "C" fn(c_int)>(before.sa_sigaction) };
                handler(signal);
            }
        }
        // The instruction faults once more and meets the default.
        // SAFETY: signal takes numbers.
        _ => _ = unsafe { libc::signal(signal, libc::SIG_DFL) },
    }
}

static TAKEN: AtomicBool = AtomicBool::new(false);
static SOCKET: Once<Socket> = Once::new();
const SI_KERNEL: c_int = 0x80;
const PATIENCE: Duration = Duration::from_millis(200);
