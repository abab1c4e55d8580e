//! The rank that drives a port, in one communicator: its barriers on the wires, late ones included.

use crate::device::Device;
use crate::host::{Ended, Host};
use crate::team::Team;
use crate::{messages, params};
use alloc::format;
use alloc::sync::Arc;
use hw_fpga::node::{Entry, Verdict};
use ompi_core::error::{Class, Fault, Result};
use opal_core::{message, progress, sys, wait};
use orte_core::framework::ess;

/// Of one communicator that has a channel.
pub struct Driver {
    /// The port.
    pub device: &'static Device,
    /// What the drivers know of each other.
    pub team: Arc<Team>,
    /// The other ranks of this port, if there are any.
    pub host: Option<Arc<Host>>,
    /// What the job's epoch was when the communicator was made.
    pub epoch: u32,
}

impl Driver {
    /// One barrier. `Ok(Ended::Software)`: it is to be done by another component.
    pub fn barrier(&self) -> Result<Ended> {
        let Some(host) = &self.host else { return self.on_wires() };
        let ended = match host.gather(&|| has_died(self.epoch)) {
            true => self.on_wires(),
            false => self.look_for_the_dead().map(|()| Ended::Failed),
        };
        host.release(ended.as_ref().map_or(Ended::Failed, |ended| *ended));
        ended
    }

    fn on_wires(&self) -> Result<Ended> {
        messages::poll()?;
        let team = &self.team;
        let heard = team.heard_a_stop();
        match team.with_node(|node| node.enter(heard)) {
            Entry::Software => return Ok(Ended::Software),
            Entry::Stopped => return self.agree(),
            Entry::Write(level) => self.device.write(team.channel, level),
        }
        let end = sys::monotonic_ns().saturating_add(params::TIMEOUT_MS.int() as u64 * 1_000_000);
        let mut dead = false;
        loop {
            let mut status = 0;
            for _ in 0..wait::polls_per_pass() {
                let (register, reading) = self.device.read(team.channel);
                if team.with_node(|node| node.look(reading)) {
                    return Ok(Ended::Over);
                }
                status = register;
            }
            progress::pass();
            messages::poll()?;
            let late = sys::monotonic_ns() > end;
            if late || team.heard_a_stop() {
                if late {
                    self.complain();
                }
                team.with_node(|node| node.stop());
                return self.agree();
            }
            // What the dead process wrote before is on the wires: they are read once more.
            if dead {
                self.look_for_the_dead()?;
            }
            dead = has_died(self.epoch);
            if dead {
                self.device.settle();
            } else {
                self.device.idle(status);
            }
        }
    }

    /// This member has stopped: until all have, and the numbers have decided.
    fn agree(&self) -> Result<Ended> {
        let team = &self.team;
        if let Some(message) = team.stopped() {
            messages::tell(team, message)?;
        }
        loop {
            while let Some(message) = team.advance(self.device) {
                messages::tell(team, message)?;
            }
            match team.verdict() {
                Some(Ok(Verdict::Over | Verdict::Nothing)) => return Ok(Ended::Over),
                Some(Ok(Verdict::Software)) => return Ok(Ended::Software),
                Some(Err(_)) => {
                    let why =
                        format!("the members of a hardware barrier contradict each other; {}", self.device.story());
                    return Err(Fault::new(Class::Other).because(why));
                }
                None => {}
            }
            if progress::pass() + messages::poll()? == 0 {
                self.look_for_the_dead()?;
                sys::yield_now();
            }
        }
    }

    fn complain(&self) {
        message!(
            "coll/hwbarr: a barrier on channel {} took more than {} ms (coll_hwbarr_timeout_ms); its communicator goes on in \
             software. {}",
            self.team.channel,
            params::TIMEOUT_MS.int(),
            self.device.story()
        );
    }

    fn look_for_the_dead(&self) -> Result<()> {
        if !has_died(self.epoch) {
            return Ok(());
        }
        // Said here, because a handler of the program gets a number only.
        let channel = self.team.channel;
        message!("coll/hwbarr: a process died while a barrier waited on channel {channel}; {}", self.device.story());
        let why = format!("a process died while a barrier waited on channel {channel} of the hardware");
        Err(Fault::new(Class::ProcAborted).because(why))
    }
}

/// Rises when a process of the job died.
pub fn epoch() -> u32 {
    ess::selected().map_or(0, |environment| environment.epoch())
}

/// Whether a process died since the epoch was this.
pub fn has_died(since: u32) -> bool {
    epoch() != since
}
