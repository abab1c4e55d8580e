//! Peers by their index in the job, and what is to be sent to each.

use crate::window::{Incoming, Outgoing};
use alloc::vec::Vec;
use opal_core::framework::btl::Endpoint;
use opal_core::framework::netif::Mac;

/// A peer that was added.
#[derive(Debug)]
pub struct Peer {
    /// Its index in the job, as frames say it.
    pub rank: u32,
    /// Its number for the layer above.
    pub index: u32,
    /// Its card.
    pub card: Mac,
    /// What is on its way to it.
    pub outgoing: Outgoing,
    /// What comes from it.
    pub incoming: Incoming,
    /// An acknowledgement waits for the next poll, in case a message takes it along before.
    pub waits: bool,
    /// An acknowledgement cannot wait.
    pub hurries: bool,
    /// It was removed, or broke the format, or counts as lost.
    pub closed: bool,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Peers {
    all: Vec<Peer>,
    /// By index in the job; `u32::MAX` for none.
    endpoints: Vec<u32>,
}

impl Peers {
    /// None, of a job of so many.
    pub fn new(size: u32) -> Peers {
        Peers { all: Vec::new(), endpoints: alloc::vec![u32::MAX; size as usize] }
    }

    /// Adds one; `None` if its index is none of the job or was added.
    pub fn add(&mut self, rank: u32, index: u32, card: Mac) -> Option<Endpoint> {
        let place = self.endpoints.get_mut(rank as usize).filter(|place| **place == u32::MAX)?;
        *place = self.all.len() as u32;
        let (outgoing, incoming) = (Outgoing::default(), Incoming::default());
        self.all.push(Peer { rank, index, card, outgoing, incoming, waits: false, hurries: false, closed: false });
        Some(Endpoint(*place))
    }

    /// By the number that `add` gave.
    pub fn at(&mut self, endpoint: Endpoint) -> Option<&mut Peer> {
        self.all.get_mut(endpoint.0 as usize)
    }

    /// By its index in the job.
    pub fn of(&mut self, rank: u32) -> Option<&mut Peer> {
        let endpoint = *self.endpoints.get(rank as usize)?;
        self.all.get_mut(endpoint as usize)
    }

    /// Each.
    pub fn each(&mut self) -> impl Iterator<Item = &mut Peer> {
        self.all.iter_mut()
    }
}
