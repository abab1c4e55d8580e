//! The module of one communicator: barriers by wire, as long as there are wires.
#![allow(unsafe_code)] // the unsafe method of the framework's trait

use crate::device::Device;
use crate::driver::{self, Driver};
use crate::host::{Ended, Host};
use crate::ports::{PortMap, PortRole};
use crate::team::Team;
use crate::{messages, params, setup};
use alloc::sync::Arc;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{self, Call, Fallback, Function, Functions, Module, Table, not_here};
use opal_core::sync::Mutex;
use opal_core::{message, progress, sys, verbose};

/// Of one communicator.
pub struct Wires {
    /// `None` on ranks whose port another one drives.
    device: Option<&'static Device>,
    ports: PortMap,
    use_of: Mutex<Use>,
    /// The module that serves without wires.
    next: Fallback,
    epoch: u32,
}

#[derive(Clone)]
enum Use {
    /// No barrier was called yet.
    Fresh,
    Software,
    Drives(Arc<Driver>),
    Follows(Arc<Host>),
}

impl Wires {
    /// Before the first barrier nothing is claimed.
    pub fn new(device: Option<&'static Device>, ports: PortMap) -> Wires {
        Wires {
            device,
            ports,
            use_of: Mutex::new(Use::Fresh),
            next: Fallback::new(&[Function::Barrier]),
            epoch: driver::epoch(),
        }
    }

    /// MPI_Barrier.
    pub fn barrier(&self, executor: &mut dyn Executor) -> Result<()> {
        let how = self.use_of.lock().clone();
        match how {
            Use::Software => self.software(executor),
            Use::Drives(driver) => self.drive(&driver, executor),
            Use::Follows(host) => self.follow(&host, executor),
            Use::Fresh => self.first(executor),
        }
    }

    /// The last barrier may be over for this process and not for another one, which then asks for its number.
    pub fn finish(&self) -> Result<()> {
        messages::leave_all()?;
        while messages::has_teams() && !driver::has_died(self.epoch) {
            if progress::pass() + messages::poll()? == 0 {
                sys::yield_now();
            }
        }
        Ok(())
    }

    fn first(&self, executor: &mut dyn Executor) -> Result<()> {
        let readings = params::READINGS.int().clamp(1, 100) as u8;
        let alone = matches!(&self.ports.role, PortRole::Drives(followers) if followers.is_empty());
        let host = if alone { None } else { Host::establish(&self.ports, executor)?.map(Arc::new) };
        let device = self.device.filter(|_| matches!(self.ports.role, PortRole::Drives(_)));
        let drivers = &self.ports.drivers;
        let wanted = setup::Wanted { device, drivers, leads: self.ports.own == 0, works: alone || host.is_some() };
        let how = match (setup::channel(&wanted, executor, readings)?, device, host) {
            (Some(it), Some(device), host) => {
                let team = Arc::new(Team::new(it.team, it.channel, it.node, drivers.clone(), self.ports.own));
                messages::enter(&team);
                verbose!(coll::FRAMEWORK, 10, "hwbarr: {} ports on channel {}", drivers.len(), team.channel);
                Use::Drives(Arc::new(Driver { device, team, host, epoch: self.epoch }))
            }
            (Some(it), None, Some(host)) => {
                verbose!(coll::FRAMEWORK, 10, "hwbarr: through the rank that drives the port, channel {}", it.channel);
                Use::Follows(host)
            }
            _ => {
                verbose!(coll::FRAMEWORK, 10, "hwbarr: no channel for {} ports", drivers.len());
                Use::Software
            }
        };
        *self.use_of.lock() = how;
        // Setup ends when all have come, and so does its last step for each: it was the barrier.
        Ok(())
    }

    /// By the component that would serve if there were no wires.
    fn software(&self, executor: &mut dyn Executor) -> Result<()> {
        self.next.barrier(executor)
    }

    fn drive(&self, driver: &Arc<Driver>, executor: &mut dyn Executor) -> Result<()> {
        match driver.barrier()? {
            Ended::Over => Ok(()),
            Ended::Software => {
                // The others of the port were told so, and come there no more.
                if driver.host.is_some() {
                    let Driver { device, team, epoch, .. } = &**driver;
                    let alone = Driver { device, team: team.clone(), host: None, epoch: *epoch };
                    *self.use_of.lock() = Use::Drives(Arc::new(alone));
                }
                self.software(executor)
            }
            Ended::Failed => Err(Class::Intern.into()),
        }
    }

    fn follow(&self, host: &Host, executor: &mut dyn Executor) -> Result<()> {
        match host.come(&|| driver::has_died(self.epoch)) {
            Ended::Over => Ok(()),
            Ended::Software => {
                *self.use_of.lock() = Use::Software;
                self.software(executor)
            }
            Ended::Failed if driver::has_died(self.epoch) => {
                let why = "a process died while a barrier waited for the rank that drives this host's port";
                // Said here, because a handler of the program gets a number only.
                message!("coll/hwbarr: {why}");
                Err(Fault::new(Class::ProcAborted).because(why))
            }
            Ended::Failed => Err(Fault::new(Class::Other).because("the rank that drives this host's port gave up")),
        }
    }
}

impl Module for Wires {
    fn functions(&self) -> Functions {
        self.next.functions()
    }

    // The wires are written when the method runs.
    fn recordable(&self) -> Functions {
        0
    }

    fn set_fallback(&self, others: &Table) {
        self.next.keep(others, Table::entry);
    }

    fn finish(&self) -> Result<()> {
        Wires::finish(self)
    }

    unsafe fn call(&self, call: &Call<'_>, executor: &mut dyn Executor) -> Result<()> {
        match *call {
            Call::Barrier => self.barrier(executor),
            _ => not_here(),
        }
    }
}

impl Drop for Wires {
    fn drop(&mut self) {
        if let Use::Drives(driver) = core::mem::replace(&mut *self.use_of.lock(), Use::Software) {
            // A member that cannot be told is dead, and its channel with it.
            let _ = messages::leave(&driver.team);
        }
    }
}
