//! A communicator's first barrier finds out whether it gets a channel. The order is that of the model check: the leader
//! claims, the others join, all meet, each looks once more whether the machine still knows it, all meet again.

use crate::device::Device;
use crate::{params, raw};
use hw_fpga::node::Node;
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use opal_core::sync::{AtomicU64, Ordering};

/// A channel that all members agree on.
pub struct Channel {
    /// The same for all members, and for no other team of the job.
    pub team: u64,
    /// Its number.
    pub channel: usize,
    /// This member's side.
    pub node: Node,
}

/// What a rank brings along.
pub struct Wanted<'a> {
    /// The port that it drives, if it does.
    pub device: Option<&'static Device>,
    /// The processes that drive a port, as ranks in MPI_COMM_WORLD.
    pub drivers: &'a [u32],
    /// It drives the first of them.
    pub leads: bool,
    /// It can meet the other ranks of its port.
    pub works: bool,
}

/// All ranks of the communicator call it; `None` on all of them if it gets no channel. It is a barrier, too.
pub fn channel(wanted: &Wanted<'_>, executor: &mut dyn Executor, readings: u8) -> Result<Option<Channel>> {
    let is_classic = params::MODE.text() == "classic";
    if is_classic { classic(wanted, executor, readings) } else { claimed(wanted, executor, readings) }
}

fn classic(wanted: &Wanted<'_>, executor: &mut dyn Executor, readings: u8) -> Result<Option<Channel>> {
    // Every output is low since its port was opened, which all have done: the level must follow.
    raw::combined(executor, 0, u64::max)?;
    let is_low = |device: &Device| {
        let reading = device.read_settled(0);
        reading.present && !reading.level
    };
    let low = wanted.device.is_none_or(|device| (0..READS).any(|_| is_low(device)));
    let failed = raw::combined(executor, u64::from(!low || !wanted.works), u64::max)?;
    Ok((failed == 0).then(|| Channel { team: 0, channel: 0, node: Node::joined(false, readings) }))
}

fn claimed(wanted: &Wanted<'_>, executor: &mut dyn Executor, readings: u8) -> Result<Option<Channel>> {
    let device = wanted.device;
    let own = device.filter(|_| wanted.leads).and_then(Device::claim);
    let mine = own.map_or(0, |channel| name(wanted.drivers, channel));
    let team = raw::combined(executor, mine, u64::max)?;
    if team == 0 {
        return Ok(None);
    }
    let channel = (team & 0xff) as usize - 1;
    let joined = device.is_none_or(|device| wanted.leads || device.join(channel));
    let failed = raw::combined(executor, u64::from(!joined || !wanted.works), u64::max)?;
    // A machine that lost its memory after some had joined knows only the later ones: each looks once more.
    let reading = device.map(|device| device.read_settled(channel));
    let absent = reading.is_some_and(|reading| !reading.present);
    let failed = raw::combined(executor, failed | u64::from(absent), u64::max)?;
    if failed != 0 {
        if let Some(device) = device.filter(|_| joined) {
            device.leave(channel);
        }
        return Ok(None);
    }
    let level = reading.is_some_and(|reading| reading.level);
    Ok(Some(Channel { team, channel, node: Node::joined(level, readings) }))
}

/// The leader's rank in the job, how many teams it has led, the channel plus 1.
fn name(drivers: &[u32], channel: usize) -> u64 {
    static LED: AtomicU64 = AtomicU64::new(0);
    let (leader, number) = (u64::from(drivers[0]), LED.fetch_add(1, Ordering::Relaxed));
    leader << 56 | (number & 0xffff_ffff_ffff) << 8 | (channel as u64 + 1)
}

const READS: usize = 100;
