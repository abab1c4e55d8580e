//! The port of this process: its node, and its ioctls.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::time::Duration;
use hw_fpga::NODES;
use hw_rig::cable::Cable;
use std::sync::OnceLock;

/// One node's end of the cable.
pub struct Port {
    cable: Cable,
    node: usize,
    /// Something was written since the last status was read.
    written: AtomicBool,
    /// The last status, and how often it was read in a row.
    status: AtomicU32,
    equal: AtomicU32,
}

/// What an ioctl asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Claims, modes, directions: all is well.
    Nothing,
    /// Read the data register.
    Data,
    /// Read the status register.
    Status,
    /// Read the control register.
    Control,
    /// Write the data register.
    PutData,
    /// Write the control register.
    PutControl,
}

/// The number of the node whose device this path would be: `/dev/tuc0` and so on.
pub fn node_of(path: &[u8]) -> Option<usize> {
    let digits = core::str::from_utf8(path.strip_prefix(b"/dev/tuc")?).ok()?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// Plugs this process in as a node; returns the cable's file, or why it cannot be.
pub fn plug(node: usize) -> Result<String, String> {
    let path = std::env::var("TUC_CABLE").map_err(|_| {
        "TUC_CABLE names no cable: start QEMU under the machine, `tuc-fpga --nodes N qemu-system-x86_64 …`".to_owned()
    })?;
    if node >= NODES {
        return Err(format!("/dev/tuc{node}: the machine has wires for nodes 0 to {}", NODES - 1));
    }
    let cable = Cable::open(&path).map_err(|why| format!("TUC_CABLE={path} is no cable: {why}"))?;
    let (written, status, equal) = (AtomicBool::new(false), AtomicU32::new(0), AtomicU32::new(0));
    PORT.set(Port { cable, node, written, status, equal }).map_err(|_| "a guest has one port".to_owned())?;
    Ok(path)
}

/// The port, once it was plugged in.
pub fn plugged() -> Option<&'static Port> {
    PORT.get()
}

impl Request {
    /// Of an ioctl of ppdev; `None` for one that QEMU does not use.
    pub fn of(number: u64) -> Option<Request> {
        Some(match number {
            PPCLAIM | PPEXCL | PPRELEASE | PPSETMODE | PPNEGOT | PPDATADIR => Request::Nothing,
            PPRDATA => Request::Data,
            PPRSTATUS => Request::Status,
            PPRCONTROL => Request::Control,
            PPWDATA => Request::PutData,
            PPWCONTROL => Request::PutControl,
            _ => return None,
        })
    }
}

impl Port {
    /// Does what is asked for with the byte that the ioctl points to.
    pub fn serve(&self, request: Request, byte: &mut u8) {
        match request {
            Request::Nothing => {}
            Request::Data => *byte = self.cable.data(self.node),
            Request::Status => *byte = self.read_status(),
            Request::Control => *byte = self.cable.control(self.node),
            Request::PutData => self.cable.put_data(self.node, *byte),
            Request::PutControl => self.cable.put_control(self.node, *byte),
        }
        if matches!(request, Request::PutData | Request::PutControl) {
            self.written.store(true, Ordering::Relaxed);
        }
    }

    /// A guest polls, and its processor is a thread here: after some equal readings it sleeps until the status changes, at
    /// most a millisecond. Then it may poll again, because guests look after other things between their polls.
    fn read_status(&self) -> u8 {
        if self.written.swap(false, Ordering::Relaxed) {
            // Without a machine the lines are pulled up, which the guest reads.
            let _ = self.cable.settle(PATIENCE);
        }
        let status = self.cable.status(self.node);
        let changed = self.status.swap(status.into(), Ordering::Relaxed) != u32::from(status);
        if changed {
            self.equal.store(0, Ordering::Relaxed);
        } else if self.equal.fetch_add(1, Ordering::Relaxed) >= POLLS {
            self.cable.sleep(self.node, status);
            self.equal.store(0, Ordering::Relaxed);
        }
        status
    }
}

static PORT: OnceLock<Port> = OnceLock::new();
const POLLS: u32 = 16;
const PATIENCE: Duration = Duration::from_millis(100);

// linux/ppdev.h: _IO, _IOR and _IOW of 'p', most with a byte, modes and directions with an int.
const PPSETMODE: u64 = 0x4004_7080;
const PPRSTATUS: u64 = 0x8001_7081;
const PPRCONTROL: u64 = 0x8001_7083;
const PPWCONTROL: u64 = 0x4001_7084;
const PPRDATA: u64 = 0x8001_7085;
const PPWDATA: u64 = 0x4001_7086;
const PPCLAIM: u64 = 0x708b;
const PPRELEASE: u64 = 0x708c;
const PPEXCL: u64 = 0x708f;
const PPDATADIR: u64 = 0x4004_7090;
const PPNEGOT: u64 = 0x4004_7091;
