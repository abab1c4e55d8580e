//! A communicator's first barrier finds out whether it gets a channel. The order is that of the model check: the leader
//! claims, the others join, all meet, each looks once more whether the machine still knows it, all meet again.

use crate::device::Device;
use crate::raw;
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

/// All ranks of the communicator call it; `None` on all of them if it gets no channel. It is a barrier, too.
pub fn channel(device: &Device, members: &[u32], executor: &mut dyn Executor, readings: u8) -> Result<Option<Channel>> {
    if device.is_classic() { classic(device, executor, readings) } else { claimed(device, members, executor, readings) }
}

fn classic(device: &Device, executor: &mut dyn Executor, readings: u8) -> Result<Option<Channel>> {
    // Every output is low since its port was opened, which all have done: the level must follow.
    raw::combined(executor, 0, u64::max)?;
    let low = (0..READS).any(|_| {
        let reading = device.read_settled(0);
        reading.present && !reading.level
    });
    let failed = raw::combined(executor, u64::from(!low), u64::max)?;
    Ok((failed == 0).then(|| Channel { team: 0, channel: 0, node: Node::joined(false, readings) }))
}

fn claimed(device: &Device, members: &[u32], executor: &mut dyn Executor, readings: u8) -> Result<Option<Channel>> {
    let leads = executor.rank() == 0;
    let own = if leads { device.claim() } else { None };
    let mine = own.map_or(0, |channel| name(members, channel));
    let team = raw::combined(executor, mine, u64::max)?;
    if team == 0 {
        return Ok(None);
    }
    let channel = (team & 0xff) as usize - 1;
    let joined = leads || device.join(channel);
    let failed = raw::combined(executor, u64::from(!joined), u64::max)?;
    // A machine that lost its memory after some had joined knows only the later ones: each looks once more.
    let reading = device.read_settled(channel);
    let failed = raw::combined(executor, failed | u64::from(!reading.present), u64::max)?;
    if failed != 0 {
        if joined {
            device.leave(channel);
        }
        return Ok(None);
    }
    Ok(Some(Channel { team, channel, node: Node::joined(reading.level, readings) }))
}

/// The leader's rank in the job, how many teams it has led, the channel plus 1.
fn name(members: &[u32], channel: usize) -> u64 {
    static LED: AtomicU64 = AtomicU64::new(0);
    let (leader, number) = (u64::from(members[0]), LED.fetch_add(1, Ordering::Relaxed));
    leader << 56 | (number & 0xffff_ffff_ffff) << 8 | (channel as u64 + 1)
}

const READS: usize = 100;
