//! Framework ess for a rank of a job over several nodes, whose launcher left a job segment and the way to the other nodes.

use super::files::{self, Inherited};
use super::map::{JOB, MapView};
use crate::environment::{ADDRESSES, ADVICE, Contract, MAP, WAKE_SOCKET};
use crate::framework::ess::{Awaited, Identity, Module, State};
use crate::gpr::key::{PROC_ADDRESSES, Value};
use crate::gpr::view::View;
use crate::segment::Control;
use crate::segment::control::Missed;
use crate::segment::mapping::{Mapping, sealed};
use crate::segment::member::{Member, Patience};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::shmem;
use opal_core::sync::Once;
use opal_core::{Error, Result, message};

/// One rank of such a job.
#[derive(Debug)]
pub struct MultiNodeMember {
    /// What it shares with the ranks of its node.
    here: Member<Mapping>,
    /// Ranks of this node, ascending.
    ranks: Vec<u32>,
    map: MapView<'static>,
    addresses: Inherited,
    wake_socket: Inherited,
    /// Addresses of the ranks of other nodes, once one was needed.
    elsewhere: Once<View<'static>>,
}

impl MultiNodeMember {
    /// Takes its place. `Err` with a sentence.
    pub fn new(
        contract: Contract,
        control: Control<Mapping>,
        patience: Patience,
    ) -> core::result::Result<MultiNodeMember, String> {
        let wireup = contract.wireup.ok_or_else(|| format!("{MAP} is not set; {ADVICE}"))?;
        let wrong = |name: &str, number: i32, why: &str| {
            format!("{name} names descriptor {number}, which is not what the launcher left there: {why}; {ADVICE}")
        };
        let take = |name, number| files::take(number).map_err(|why| wrong(name, number, &why));
        let of_map = |why: &str| wrong(MAP, wireup.map, why);
        let bytes = take(MAP, wireup.map)?.get().and_then(sealed).map_err(|why| of_map(&why))?;
        let map = MapView::new_checked(bytes, contract.size).map_err(|flaw| of_map(&format!("{flaw}")))?;
        let node = map.node_of(contract.rank);
        let ranks: Vec<u32> = (0..contract.size).filter(|rank| map.node_of(*rank) == node).collect();
        if ranks.len() != contract.local_size as usize
            || ranks.get(contract.local_rank as usize) != Some(&contract.rank)
        {
            return Err(of_map("it places the ranks otherwise than the variables of this rank say"));
        }
        let (addresses, wake_socket) = (take(ADDRESSES, wireup.addresses)?, take(WAKE_SOCKET, wireup.wake_socket)?);
        let here = Member::of_node(contract, control, patience)?;
        Ok(MultiNodeMember { here, ranks, map, addresses, wake_socket, elsewhere: Once::new() })
    }

    /// The place of a rank among those of this node, if it is one of them.
    fn local(&self, rank: u32) -> Option<u32> {
        self.ranks.binary_search(&rank).ok().map(|local| local as u32)
    }

    /// A rank for people: with the name of its node, if there is one.
    fn name(&self, rank: u32) -> String {
        match self.map.node_of(rank).and_then(|node| self.map.name_of(node)) {
            Some(node) => format!("rank {rank} on {node}"),
            None => format!("rank {rank}"),
        }
    }

    fn wake_launcher(&self) {
        let woken =
            self.wake_socket.get().and_then(|wake_socket| files::wake(wake_socket).map_err(|errno| format!("{errno}")));
        if let Err(why) = woken {
            // Without it the job would wait for ever.
            self.here.abort(1, &format!("cannot tell the launcher of this node that its ranks are ready: {why}"));
        }
    }

    fn lookup_elsewhere(&self, rank: u32) -> Result<Vec<u8>> {
        let view = match self.elsewhere.get() {
            Some(view) => view,
            None => {
                self.await_elsewhere(rank)?;
                let view = self
                    .addresses
                    .get()
                    .and_then(sealed)
                    .and_then(|bytes| View::new_checked(bytes).map_err(|flaw| format!("{flaw}")));
                let view = view.map_err(|why| {
                    message!("the addresses of ranks on other nodes cannot be read: {why}");
                    Error::Malformed
                })?;
                self.elsewhere.call_once(|| view)
            }
        };
        match view.get(JOB, rank, PROC_ADDRESSES) {
            Some(Value::Bytes(addresses)) => Ok(addresses.into()),
            _ => {
                message!("{} ended before it said its addresses", self.name(rank));
                Err(Error::Unreachable)
            }
        }
    }

    fn await_elsewhere(&self, rank: u32) -> Result<()> {
        let (deadline_ns, seconds) = self.here.deadline();
        self.here.control().await_elsewhere(rank, deadline_ns).map_err(|missed| {
            match missed {
                Missed::Deadline => message!(
                    "the addresses of {} did not come within {seconds} s: a rank of this job hangs before or in MPI_Init, or \
                     runs another program; {} sets how long to wait",
                    self.name(rank),
                    self.here.parameter()
                ),
                Missed::Lost(_) | Missed::LostElsewhere(_) => {
                    message!("{} ended before it said its addresses", self.name(rank));
                }
                Missed::Malformed => message!("the words of other nodes in the job segment were overwritten"),
            }
            missed.into()
        })
    }
}

impl Module for MultiNodeMember {
    fn identity(&self) -> Identity {
        self.here.identity()
    }

    fn app_number(&self) -> Option<u32> {
        self.here.app_number()
    }

    fn app_of(&self, rank: u32) -> Option<u32> {
        self.map.app_of(rank)
    }

    fn universe_size(&self) -> Option<u32> {
        self.here.universe_size()
    }

    fn node_of(&self, rank: u32) -> u32 {
        // A rank that does not exist shares no node with any.
        self.map.node_of(rank).unwrap_or(u32::MAX)
    }

    fn publish(&self, addresses: &[u8]) -> Result<()> {
        let published = self.here.control().publish_to_all(self.here.contract().local_rank, addresses);
        if published.map_err(|error| self.here.said_of_publish(error, addresses))? {
            self.wake_launcher();
        }
        Ok(())
    }

    fn lookup(&self, rank: u32) -> Result<Vec<u8>> {
        match self.local(rank) {
            Some(local) => self.here.lookup_here(local, rank),
            None if rank >= self.map.size() => Err(Error::Invalid),
            None => self.lookup_elsewhere(rank),
        }
    }

    fn barrier(&self, meanwhile: &mut dyn FnMut()) -> Result<()> {
        let local = self.here.contract().local_rank;
        self.here.control().barrier_of_all(local, || self.wake_launcher(), meanwhile).map_err(|missed| {
            let rank = match missed {
                Missed::Lost(local) => self.ranks.get(local as usize).copied(),
                Missed::LostElsewhere(rank) => Some(rank),
                _ => None,
            };
            match rank {
                Some(rank) => message!("{} ended and will not come to the barrier", self.name(rank)),
                None => message!("the barrier's words in the job segment were overwritten"),
            }
            missed.into()
        })
    }

    fn secret(&self) -> Option<[u8; 32]> {
        self.here.secret()
    }

    fn launcher(&self) -> Option<u32> {
        self.here.launcher()
    }

    fn universe(&self) -> core::result::Result<String, String> {
        self.here.universe()
    }

    fn parent(&self) -> Option<String> {
        self.here.parent()
    }

    fn inherited(&self) -> Option<shmem::Inherited> {
        self.here.inherited()
    }

    fn set_state(&self, state: State) {
        self.here.set_state(state);
    }

    fn sleeps(&self, since_ns: u64, now_ns: u64) {
        self.here.sleeps(since_ns, now_ns);
    }

    fn awaits(&self, awaited: &Awaited<'_>) {
        self.here.awaits(awaited);
    }

    fn tells(&self, at_ns: u64, words: &str) {
        self.here.tells(at_ns, words);
    }

    fn lost_peer(&self) {
        self.here.lost_peer();
    }

    fn epoch(&self) -> u32 {
        self.here.epoch()
    }

    fn is_gone(&self, rank: u32) -> Option<bool> {
        match self.local(rank) {
            Some(local) => self.here.is_gone(local),
            None => Some(self.here.control().is_lost_elsewhere(rank)),
        }
    }

    fn abort(&self, status: i32, message: &str) -> ! {
        self.here.abort(status, message)
    }
}
