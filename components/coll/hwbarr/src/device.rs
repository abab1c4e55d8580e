//! The port of this process: its wires, joining and leaving channels.

use crate::params;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use hw_fpga::joined::{ALL, Joined};
use hw_fpga::node::Reading;
use hw_fpga::{CHANNELS, frame, wire};
use hw_pport::{Lines, Port, Refused};
use opal_core::mca::Declined;
use opal_core::sync::{Mutex, Once};

/// The port, opened.
pub struct Device {
    lines: Lines,
    classic: bool,
    out: u8,
    out_inverted: bool,
    level: u8,
    level_inverted: bool,
    present: Option<u8>,
    joined: Mutex<Joined>,
}

/// Opens the port of this process, once, for as long as the process lives. Why it cannot be opened stays known: all ranks take
/// part in the choice of a communicator's module, because one host of a job may have no port.
pub fn open(node: usize) -> Result<(), Declined> {
    DEVICE.call_once(|| Device::open(node)).as_ref().map(drop).map_err(|why| *why)
}

/// The port that this process drives: `None` where another process drives it.
pub fn opened() -> Result<Option<&'static Device>, Declined> {
    DEVICE.get().map(Result::as_ref).transpose().map_err(|why| *why)
}

static DEVICE: Once<Result<Device, Declined>> = Once::new();

impl Device {
    /// Opens what the parameters name; an emulated port is that of this node.
    fn open(node: usize) -> Result<Device, Declined> {
        let classic = params::MODE.text() == "classic";
        let bit = |param: &opal_core::mca::Param, from: i64| {
            let bit = param.int();
            let wrong = Declined("coll_hwbarr_out_bit is 0 to 7, in_bit 3 to 7, present_bit 3 to 7 or -1");
            if (from..8).contains(&bit) { Ok(1u8 << bit) } else { Err(wrong) }
        };
        let (out, level) = match classic {
            true => (bit(&params::OUT_BIT, 0)?, bit(&params::IN_BIT, 3)?),
            false => (wire::OUT[0].mask(), wire::LEVEL[0].mask()),
        };
        let present = if params::PRESENT_BIT.int() == -1 { None } else { Some(bit(&params::PRESENT_BIT, 3)?) };
        if !classic && present.is_none() {
            return Err(Declined("the machine with channels has a read-back line, but coll_hwbarr_present_bit is -1"));
        }
        let out_inverted = classic && params::OUT_INVERTED.flag();
        let port = port(node).map_err(|Refused(why)| Declined(why))?;
        // The latches may still say what an earlier job left there.
        let lines = Lines::new(port, if out_inverted { out } else { 0 }, wire::control_register(0));
        let level_inverted = classic && params::IN_INVERTED.flag();
        let joined = Mutex::new(Joined::default());
        let device = Device { lines, classic, out, out_inverted, level, level_inverted, present, joined };
        if !device.lines.settle() {
            return Err(Declined("no machine answers at the other end of the cable"));
        }
        if !classic {
            // What an earlier job of this node was a member of when it died.
            device.lines.command(frame::leave(ALL)).ok_or(Declined("no machine with channels answers at the port"))?;
        }
        Ok(device)
    }

    /// Says this on a channel's output. What this process did before is visible before the wire moves.
    pub fn write(&self, channel: usize, level: bool) {
        let (mask, inverted) = match self.classic {
            true => (self.out, self.out_inverted),
            false => (wire::OUT[channel].mask(), false),
        };
        self.lines.change_data(mask, if level != inverted { mask } else { 0 });
    }

    /// The status register, and what it says of a channel. A machine that forgot the channel, as this node has noticed when
    /// it told that one something, is not present: it speaks to another team. The wires are read first, because what they
    /// say after such a command is to be believed only by who knows of it.
    pub fn read(&self, channel: usize) -> (u8, Reading) {
        let (status, reading) = self.wires(channel);
        let lost = !self.classic && self.joined.lock().is_lost(channel);
        (status, Reading { present: reading.present && !lost, ..reading })
    }

    /// As `read`, after the wires have settled.
    pub fn read_settled(&self, channel: usize) -> Reading {
        let settled = self.lines.settle();
        let reading = self.read(channel).1;
        Reading { present: reading.present && settled, ..reading }
    }

    fn wires(&self, channel: usize) -> (u8, Reading) {
        let status = self.lines.status();
        if self.classic {
            let level = (status & self.level != 0) != self.level_inverted;
            return (status, Reading { level, present: self.present.is_none_or(|bit| status & bit != 0) });
        }
        let (levels, present) = wire::status(status);
        (status, Reading { level: levels >> channel & 1 == 1, present })
    }

    /// Until the machine has answered what was written before; `false` if there is none.
    pub fn settle(&self) -> bool {
        self.lines.settle()
    }

    /// Between two looks of a rank that waits.
    pub fn idle(&self, status: u8) {
        self.lines.idle(status);
    }

    /// Takes a channel that has no members; `None` if there is none, or no machine.
    pub fn claim(&self) -> Option<usize> {
        let mut joined = self.joined.lock();
        (0..CHANNELS).find(|channel| joined.is_free(*channel) && self.changes(&mut joined, *channel, frame::claim))
    }

    /// Joins a channel that the team's leader took; `false` if the machine does not confirm it, or gave away what another
    /// team of this node has.
    pub fn join(&self, channel: usize) -> bool {
        let mut joined = self.joined.lock();
        joined.may_join(channel) && self.changes(&mut joined, channel, frame::join)
    }

    /// Leaves a channel; the machine as published has no members to forget.
    pub fn leave(&self, channel: usize) {
        if self.classic {
            return;
        }
        let mut joined = self.joined.lock();
        if joined.leaves(channel)
            && let Some((members, _)) = self.lines.command(frame::leave(1 << channel))
        {
            joined.has_left(members, channel);
        }
    }

    /// What the wires say, for people.
    pub fn story(&self) -> String {
        let status = self.lines.status();
        let (levels, present) = wire::status(status);
        format!(
            "{} port: data {:#04x}, control {:#04x}, status {status:#04x}; levels of the channels {levels:04b}, machine {}",
            self.lines.name(),
            self.lines.data(),
            self.lines.control(),
            if present { "present" } else { "absent" }
        )
    }

    /// Puts the output at the level, has the machine do the command, and reads back what this node is a member of.
    fn changes(&self, joined: &mut Joined, channel: usize, command: impl Fn(u8) -> u8) -> bool {
        if !self.lines.settle() {
            return false;
        }
        self.write(channel, self.wires(channel).1.level);
        self.lines.settle();
        // A machine that lost its memory since is noticed here, before anybody believes its levels again.
        self.lines.command(command(1 << channel)).is_some_and(|(members, _)| joined.read_back(members, channel))
    }
}

#[cfg(not(ompi_bare))]
fn port(node: usize) -> Result<Box<dyn Port>, Refused> {
    use hw_pport::{emulated, mapped, ppdev};

    let kind = params::PORT.text();
    if kind == "emulated" {
        let cable = params::CABLE.text();
        if cable.is_empty() {
            return Err(Refused(
                "coll_hwbarr_cable names no cable: start the machine with the job, `tuc-fpga --nodes N mpirun …`",
            ));
        }
        return Ok(Box::new(emulated::Emulated::open(cable, base()?, node)?));
    }
    match kind {
        "ppdev" => Ok(Box::new(ppdev::Ppdev::open(params::DEVICE.text())?)),
        "mapped" => {
            let (offset, stride) = (params::MAP_OFFSET.size(), params::MAP_STRIDE.size());
            Ok(Box::new(mapped::Mapped::open(params::DEVICE.text(), offset, stride)?))
        }
        _ => Ok(Box::new(hw_pport::inout::InOut::open(base()?)?)),
    }
}

#[cfg(ompi_bare)]
fn port(_node: usize) -> Result<Box<dyn Port>, Refused> {
    match params::PORT.text() {
        "inout" => Ok(Box::new(hw_pport::inout::InOut::open(base()?)?)),
        _ => Err(Refused("without an operating system the port is reached by in and out only")),
    }
}

fn base() -> Result<u16, Refused> {
    u16::try_from(params::BASE.int()).map_err(|_| Refused("coll_hwbarr_base is no address of a port"))
}
