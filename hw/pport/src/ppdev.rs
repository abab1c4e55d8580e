//! Linux's driver for programs: /dev/parportN, for members of its group.
#![allow(unsafe_code)]

use crate::{Port, Refused};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags};

/// A claimed port.
pub struct Ppdev {
    file: OwnedFd,
}

impl Ppdev {
    /// Opens and claims it for this process alone, for as long as it lives.
    pub fn open(path: &str) -> Result<Ppdev, Refused> {
        let file = rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
        let file = file.map_err(|_| {
            Refused(
                "the device cannot be opened: is there a port (modprobe parport_pc ppdev), are you in its group (lp)?",
            )
        })?;
        let port = Ppdev { file };
        // PPEXCL may be refused where another driver (lp) is registered; to claim it is what counts.
        port.plain(PPEXCL);
        if !port.plain(PPCLAIM) {
            return Err(Refused("the port cannot be claimed: another program has it"));
        }
        Ok(port)
    }

    fn plain(&self, request: u64) -> bool {
        // SAFETY: these requests take no argument.
        unsafe { libc::ioctl(self.file.as_raw_fd(), request) == 0 }
    }

    fn put(&self, request: u64, value: u8) {
        // SAFETY: the request reads one byte. It fails only if the port was not claimed, which `open` checked.
        unsafe { libc::ioctl(self.file.as_raw_fd(), request, &raw const value) };
    }
}

impl Port for Ppdev {
    fn put_data(&self, value: u8) {
        self.put(PPWDATA, value);
    }

    fn put_control(&self, value: u8) {
        self.put(PPWCONTROL, value);
    }

    fn status(&self) -> u8 {
        let mut value = 0u8;
        // SAFETY: the request writes one byte.
        unsafe { libc::ioctl(self.file.as_raw_fd(), PPRSTATUS, &raw mut value) };
        value
    }

    fn settle(&self) -> bool {
        _ = self.status();
        true
    }

    fn name(&self) -> &str {
        "ppdev"
    }
}

impl Drop for Ppdev {
    fn drop(&mut self) {
        self.plain(PPRELEASE);
    }
}

// linux/ppdev.h: _IO, _IOR and _IOW of 'p' with a byte.
const PPRSTATUS: u64 = 0x8001_7081;
const PPWCONTROL: u64 = 0x4001_7084;
const PPWDATA: u64 = 0x4001_7086;
const PPCLAIM: u64 = 0x708b;
const PPRELEASE: u64 = 0x708c;
const PPEXCL: u64 = 0x708f;
