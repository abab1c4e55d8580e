//! Which rank drives which port: one per host, or per so many ranks (guests, emulated ports). A communicator's barrier by wire
//! is one of those ranks; the others of a port come and go through memory that they share with it.

use crate::params;
use alloc::boxed::Box;
use alloc::vec::Vec;
use hw_fpga::NODES;
use ompi_core::comm::Communicator;
use ompi_core::process;
use ompi_core::shared_pool::Neighbor;
use opal_core::mca::Declined;
use orte_core::framework::ess::Identity;

/// The ports of a communicator's members, as one of them sees it.
pub struct PortMap {
    /// The processes that drive a port, by index, in the order of their ranks.
    pub drivers: Box<[u32]>,
    /// Place of this rank's port among them.
    pub own: usize,
    /// What this rank does at its port.
    pub role: PortRole,
}

/// What a rank does at its port.
pub enum PortRole {
    /// It writes and reads the wires, also for these ranks of the communicator.
    Drives(Vec<PortPeer>),
    /// That one does; this rank is the `number`th of those that it does it for.
    Follows {
        /// The rank that drives the port.
        driver: PortPeer,
        /// Place among those that follow.
        number: usize,
        /// How many they are.
        of: usize,
    },
}

/// Another rank of the same port.
pub struct PortPeer {
    /// Rank in the communicator.
    pub rank: usize,
    /// How it is woken, and its memory.
    pub neighbor: Neighbor,
}

impl PortMap {
    /// Of this process in the communicator; all members must find one for its barriers to go by wire. Does not communicate.
    pub fn of(comm: &Communicator) -> Result<PortMap, Declined> {
        let members = comm.group.members();
        let ports: Vec<u32> = members.iter().map(driver_of).collect();
        let (mine, me) = (ports[comm.rank as usize], members.at(comm.rank as usize));
        let drivers: Box<[u32]> =
            members.iter().zip(&ports).filter(|(member, port)| member == *port).map(|(_, port)| *port).collect();
        let absent = Declined("the rank that drives the port which this one shares is not in the communicator");
        let own = drivers.iter().position(|driver| *driver == mine).ok_or(absent)?;
        if drivers.len() < 2 {
            return Err(Declined("all ranks of the communicator share one port"));
        }
        if drivers.len() > NODES {
            return Err(Declined("the machine serves 60 nodes, and the communicator has more"));
        }
        let here: Vec<usize> =
            (0..members.len()).filter(|rank| ports[*rank] == mine && members.at(*rank) != mine).collect();
        let stranger = Declined("the ranks that share a port share no memory (btl/sm)");
        let fellow =
            |rank: usize| Neighbor::of(members.at(rank)).map(|neighbor| PortPeer { rank, neighbor }).ok_or(stranger);
        let role = if mine == me {
            PortRole::Drives(here.into_iter().map(fellow).collect::<Result<_, _>>()?)
        } else {
            let rank = members.position(mine).ok_or(absent)?;
            let number = here.iter().take_while(|rank| members.at(**rank) != me).count();
            PortRole::Follows { driver: fellow(rank)?, number, of: here.len() }
        };
        Ok(PortMap { drivers, own, role })
    }
}

/// Whether this process is to open a port, and as which node of the machine (of an emulated port alone).
pub fn drives(identity: Identity) -> Option<usize> {
    match ranks_per_port() {
        Some(ranks) => identity.rank.is_multiple_of(ranks).then_some((identity.rank / ranks) as usize),
        None => (identity.local_rank == 0).then_some(0),
    }
}

/// The process that drives the port of a process.
fn driver_of(index: u32) -> u32 {
    match ranks_per_port() {
        Some(ranks) => index - index % ranks,
        None => {
            let node = process::get(index).node();
            (0..index).find(|other| process::get(*other).node() == node).unwrap_or(index)
        }
    }
}

/// `None`: a host has one port.
fn ranks_per_port() -> Option<u32> {
    match u32::try_from(params::RANKS_PER_PORT.int()).unwrap_or(0) {
        0 => (params::PORT.text() == "emulated").then_some(1),
        ranks => Some(ranks),
    }
}
