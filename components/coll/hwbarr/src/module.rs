//! The module of one communicator: barriers by wire, as long as there are wires.

use crate::device::Device;
use crate::team::Team;
use crate::{notes, params, setup};
use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use hw_fpga::node::{Entry, Verdict};
use ompi_core::comm::Communicator;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{self, Function, Functions, Module, Table};
use opal_core::sync::{Mutex, Once};
use opal_core::{message, progress, sys, verbose, wait};
use orte_core::framework::ess;

/// Of one communicator.
pub struct Wires {
    device: &'static Device,
    /// Ranks in MPI_COMM_WORLD.
    members: Box<[u32]>,
    own: usize,
    use_of: Mutex<Use>,
    /// Who serves without wires.
    next: Once<Arc<dyn Module>>,
    epoch: u32,
}

#[derive(Clone)]
enum Use {
    /// No barrier was called yet.
    Fresh,
    Software,
    Hardware(Arc<Team>),
}

impl Wires {
    /// Before the first barrier nothing is claimed.
    pub fn new(device: &'static Device, comm: &Communicator) -> Wires {
        let (members, own) = (comm.group.members().into(), comm.rank as usize);
        Wires { device, members, own, use_of: Mutex::new(Use::Fresh), next: Once::new(), epoch: epoch() }
    }

    fn first(&self, executor: &mut dyn Executor) -> Result<()> {
        let readings = params::READINGS.int().clamp(1, 100) as u8;
        let channel = setup::channel(self.device, &self.members, executor, readings)?;
        let how = match channel {
            Some(it) => {
                let team = Arc::new(Team::new(it.team, it.channel, it.node, self.members.clone(), self.own));
                notes::enter(&team);
                verbose!(coll::FRAMEWORK, 10, "hwbarr: {} ranks on channel {}", self.members.len(), team.channel);
                Use::Hardware(team)
            }
            None => {
                verbose!(coll::FRAMEWORK, 10, "hwbarr: no channel for {} ranks", self.members.len());
                Use::Software
            }
        };
        *self.use_of.lock() = how;
        // Setup ends when all have come, and so does its last step for each: it was the barrier.
        Ok(())
    }

    /// By the component that would serve if there were no wires.
    fn software(&self, executor: &mut dyn Executor) -> Result<()> {
        match self.next.get() {
            Some(next) => next.barrier(executor),
            None => {
                Err(Fault::new(Class::UnsupportedOperation).because("coll/hwbarr needs another component beside it"))
            }
        }
    }

    fn by_wire(&self, team: &Arc<Team>, executor: &mut dyn Executor) -> Result<()> {
        notes::poll()?;
        let heard = team.heard_a_stop();
        match team.with_node(|node| node.enter(heard)) {
            Entry::Software => return self.software(executor),
            Entry::Stopped => {
                return self.agree(team, executor);
            }
            Entry::Write(level) => self.device.write(team.channel, level),
        }
        let end = sys::monotonic_ns().saturating_add(params::TIMEOUT_MS.int() as u64 * 1_000_000);
        let mut dead = false;
        loop {
            let mut status = 0;
            for _ in 0..wait::polls_at_once() {
                let (register, reading) = self.device.read(team.channel);
                if team.with_node(|node| node.look(reading)) && !self.device.is_lost(team.channel) {
                    return Ok(());
                }
                status = register;
            }
            progress::pass();
            notes::poll()?;
            let late = sys::monotonic_ns() > end;
            if late || team.heard_a_stop() {
                if late {
                    self.complain(team);
                }
                team.with_node(|node| node.stop());
                return self.agree(team, executor);
            }
            // What the dead process wrote before is on the wires: they are read once more.
            if dead {
                self.look_for_the_dead(team)?;
            }
            dead = epoch() != self.epoch;
            if dead {
                self.device.settle();
            } else {
                self.device.idle(status);
            }
        }
    }

    /// This member has stopped: until all have, and the numbers have decided.
    fn agree(&self, team: &Arc<Team>, executor: &mut dyn Executor) -> Result<()> {
        if let Some(note) = team.stopped() {
            notes::tell(team, note)?;
        }
        loop {
            while let Some(note) = team.advance(self.device) {
                notes::tell(team, note)?;
            }
            match team.verdict() {
                Some(Ok(Verdict::Over | Verdict::Nothing)) => return Ok(()),
                Some(Ok(Verdict::Software)) => return self.software(executor),
                Some(Err(_)) => {
                    let why =
                        format!("the members of a hardware barrier contradict each other; {}", self.device.story());
                    return Err(Fault::new(Class::Other).because(why));
                }
                None => {}
            }
            if progress::pass() + notes::poll()? == 0 {
                self.look_for_the_dead(team)?;
                sys::yield_now();
            }
        }
    }

    fn complain(&self, team: &Team) {
        message!(
            "coll/hwbarr: a barrier on channel {} is later than {} ms (coll_hwbarr_timeout_ms); its communicator goes on in \
             software. {}",
            team.channel,
            params::TIMEOUT_MS.int(),
            self.device.story()
        );
    }

    fn look_for_the_dead(&self, team: &Team) -> Result<()> {
        if epoch() == self.epoch {
            return Ok(());
        }
        // Said here, because a handler of the program gets a number only.
        let channel = team.channel;
        message!("coll/hwbarr: a process died while a barrier waited on channel {channel}; {}", self.device.story());
        let why = format!("a process died while a barrier waited on channel {channel} of the hardware");
        Err(Fault::new(Class::ProcAborted).because(why))
    }
}

impl Module for Wires {
    fn functions(&self) -> Functions {
        1 << Function::Barrier as u8
    }

    // The wires are written when the method runs.
    fn recordable(&self) -> Functions {
        0
    }

    fn above(&self, others: &Table) {
        if let Some((_, next)) = others.entry(Function::Barrier) {
            self.next.call_once(|| next.clone());
        }
    }

    // The last barrier may be over for this process and not for another one, which then asks for its number.
    fn finish(&self) -> Result<()> {
        notes::leave_all()?;
        while notes::has_teams() && epoch() == self.epoch {
            if progress::pass() + notes::poll()? == 0 {
                sys::yield_now();
            }
        }
        Ok(())
    }

    fn barrier(&self, executor: &mut dyn Executor) -> Result<()> {
        let how = self.use_of.lock().clone();
        match how {
            Use::Software => self.software(executor),
            Use::Hardware(team) => self.by_wire(&team, executor),
            Use::Fresh => self.first(executor),
        }
    }
}

impl Drop for Wires {
    fn drop(&mut self) {
        if let Use::Hardware(team) = core::mem::replace(&mut *self.use_of.lock(), Use::Software) {
            // Who cannot be told is dead, and its channel with it.
            let _ = notes::leave(&team);
        }
    }
}

/// Rises when a process of the job died.
fn epoch() -> u32 {
    ess::selected().map_or(0, |environment| environment.epoch())
}
