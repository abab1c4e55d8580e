//! One machine of QEMU: its command line, and what its end means.

use crate::failure::{Failure, Result, fail};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// A machine with so many MiB and cores that boots an image.
pub fn machine(image: &Path, memory: u32, cores: u32, line: &str) -> Command {
    let mut qemu = Command::new(QEMU);
    qemu.args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-accel", "tcg", "-cpu", "max"]);
    qemu.args(["-serial", "stdio", "-device", "isa-debug-exit,iobase=0xf4,iosize=4"]);
    // QEMU's translator makes a locked instruction atomic only where another core could come; the other guests, whose memory
    // this one's partly is, it does not know.
    qemu.args(["-m", &memory.to_string(), "-smp", &format!("{cores},maxcpus={}", cores.max(2))]);
    qemu.arg("-kernel").arg(image).args(["-append", line]);
    qemu
}

/// A device that shows a file to the machine as memory.
pub fn device(path: &str, bytes: u64) -> [String; 4] {
    let memory = format!("memory-backend-file,id=job,share=on,mem-path={path},size={bytes}");
    ["-object".to_owned(), memory, "-device".to_owned(), "ivshmem-plain,memdev=job".to_owned()]
}

/// A guest that ends by itself says how through isa-debug-exit; QEMU's own ends are 0 (reset, power off) and 1.
pub fn ended(rank: u32, status: ExitStatus) -> Result<()> {
    match (status.code(), status.signal()) {
        (Some(code), _) if code & 1 == 1 && code > 1 => match (code >> 1) - 1 {
            0 => Ok(()),
            status => Err(Failure { status: status as u8, text: String::new() }),
        },
        (Some(0), _) => {
            Err(fail(format!("the machine of rank {rank} was reset or switched off while its program ran")))
        }
        (Some(_), _) => Err(fail(format!("{QEMU} could not run the machine of rank {rank} ({status})"))),
        (None, signal) => Err(Failure {
            status: 128u8.saturating_add(signal.unwrap_or(0) as u8),
            text: format!("{QEMU} with rank {rank} was ended ({status})"),
        }),
    }
}

/// The program that plays a machine.
pub const QEMU: &str = "qemu-system-x86_64";
