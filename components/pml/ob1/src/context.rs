//! A communicator as its peers address it: who is in it, what is posted, what arrived.

use crate::matching::Matcher;
use crate::peers::endpoint::{self as link, Link};
use crate::peers::sources::Any;
use crate::raw::Place;
use crate::wire::{self, Envelope};
use alloc::boxed::Box;
use alloc::vec::Vec;
use ompi_core::comm::Communicator;
use ompi_core::error::Result;
use ompi_core::request::{Id, SlotPtr};
use opal_core::mem::Untrusted;

/// A posted receive.
#[derive(Default)]
pub struct Receive {
    /// Where the data goes.
    pub place: Place,
    /// Who waits for it.
    pub request: Id,
    /// Where that request lies.
    pub slot_ptr: SlotPtr,
}

/// A message that nobody waited for.
pub struct Message {
    /// The sender's process index.
    pub process: u32,
    /// What came.
    pub body: Body,
}

/// What came with an envelope.
pub enum Body {
    /// All of it; with a cookie if the sender wants to know that it was matched.
    Whole(Stored, Option<u64>),
    /// Its announcement.
    Announced(Announced),
}

/// A long message that its sender announced.
#[derive(Clone, Copy)]
pub struct Announced {
    /// Bytes in all.
    pub bytes: u64,
    /// The sender's.
    pub cookie: u64,
    /// Where the data lies there, if it can be copied once.
    pub address: Option<u64>,
    /// Under which number its lead is kept, if it has one.
    pub lead: Option<u32>,
}

impl Body {
    /// Bytes of the message.
    pub fn bytes(&self) -> u64 {
        match self {
            Body::Whole(stored, _) => stored.bytes().len() as u64,
            Body::Announced(announced) => announced.bytes,
        }
    }
}

/// A copy of a payload.
pub enum Stored {
    /// Short ones need no memory of their own.
    Short([u8; SHORT_BYTES], u8),
    /// On the heap.
    Long(Box<[u8]>),
}

const SHORT_BYTES: usize = 56;

impl Stored {
    /// Copies.
    pub fn new(payload: Untrusted<'_>) -> Stored {
        if payload.len() <= SHORT_BYTES {
            let mut short = [0; SHORT_BYTES];
            payload.copy_to(&mut short);
            return Stored::Short(short, payload.len() as u8);
        }
        let mut long = alloc::vec![0; payload.len()].into_boxed_slice();
        payload.copy_to(&mut long);
        Stored::Long(long)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Stored::Short(bytes, length) => &bytes[..*length as usize],
            Stored::Long(bytes) => bytes,
        }
    }
}

/// A context number in force.
pub struct Context {
    members: Option<Members>,
    lanes: [Matcher<Receive, Message>; 2],
    /// What came before the communicator was complete, in order.
    pub early: Vec<(Envelope, Message)>,
    /// The communicator is gone, but receives are still posted.
    pub closing: bool,
    // Number of ranks while the communicator is in use and rank and process index are the same; 0 otherwise.
    plain: u32,
}

impl Context {
    /// Known to nobody yet.
    pub fn new() -> Context {
        Context {
            members: None,
            lanes: [Matcher::new(0), Matcher::new(0)],
            early: Vec::new(),
            closing: false,
            plain: 0,
        }
    }

    /// The communicator is complete.
    pub fn connect(&mut self, peers: &[u32]) {
        let members = Members::new(peers);
        self.plain = if let Members::Identity(size) = members { size } else { 0 };
        self.members = Some(members);
        self.lanes = [Matcher::new(peers.len()), Matcher::new(peers.len())];
    }

    /// The communicator is gone.
    pub fn close(&mut self) {
        (self.closing, self.plain) = (true, 0);
    }

    /// [`Context::lane`] if the communicator is in use and the rank of `process` in it is its index.
    #[inline(always)]
    pub fn plain_lane(&mut self, process: u32, collective: bool) -> Option<&mut Matcher<Receive, Message>> {
        (process < self.plain).then(|| &mut self.lanes[usize::from(collective)])
    }

    /// Whether the communicator is complete.
    pub fn is_connected(&self) -> bool {
        self.members.is_some()
    }

    /// What is posted and what arrived among collectives' messages, or the user's.
    #[inline(always)]
    pub fn lane(&mut self, collective: bool) -> &mut Matcher<Receive, Message> {
        &mut self.lanes[usize::from(collective)]
    }

    /// The rank of a process, if it is a peer.
    #[inline(always)]
    pub fn rank_of(&self, process: u32) -> Option<u32> {
        self.members.as_ref()?.rank_of(process)
    }

    /// Whether any receive is posted.
    pub fn is_posted(&self) -> bool {
        self.lanes.iter().any(Matcher::is_posted)
    }
}

enum Members {
    // Rank and process index are the same.
    Identity(u32),
    // (process, rank), sorted.
    Sorted(Box<[(u32, u32)]>),
}

impl Members {
    fn new(peers: &[u32]) -> Members {
        if peers.iter().enumerate().all(|(rank, process)| rank as u32 == *process) {
            return Members::Identity(peers.len() as u32);
        }
        let mut sorted: Vec<(u32, u32)> = peers.iter().zip(0..).map(|(process, rank)| (*process, rank)).collect();
        sorted.sort_unstable();
        Members::Sorted(sorted.into_boxed_slice())
    }

    #[inline(always)]
    fn rank_of(&self, process: u32) -> Option<u32> {
        match self {
            Members::Identity(size) => (process < *size).then_some(process),
            Members::Sorted(sorted) => {
                let index = sorted.binary_search_by_key(&process, |(process, _)| *process).ok()?;
                Some(sorted[index].1)
            }
        }
    }
}

/// How messages leave a communicator; what its `pml` pointer points to. Its routes do not change.
pub struct Routes {
    routes: Box<[Route]>,
    any: Any,
}

/// How messages leave for one rank.
pub struct Route {
    /// The process.
    pub link: &'static Link,
    /// [`wire::lane`] of the communicator there, user's messages.
    pub lane: u64,
}

impl Routes {
    /// Connects to all peers.
    pub fn new(comm: &Communicator) -> Result<Routes> {
        let ranks = comm.peers().members().iter().zip(comm.peer_contexts());
        let routes: Result<Box<[Route]>> = ranks
            .map(|(process, context)| Ok(Route { link: link::to(*process)?, lane: wire::lane(*context, false) }))
            .collect();
        Ok(Routes::of(routes?, (!comm.is_inter()).then_some(comm.rank)))
    }

    /// By these ways; this process may have a rank among them.
    pub fn of(routes: Box<[Route]>, own: Option<u32>) -> Routes {
        let any = Any::new(&routes, own);
        Routes { routes, any }
    }

    /// The way to a rank; `None` for what is none.
    #[inline(always)]
    pub fn get(&self, rank: i32) -> Option<&Route> {
        self.routes.get(rank as u32 as usize)
    }

    /// The way to a rank, which the caller has checked.
    #[inline(always)]
    pub fn to(&self, rank: i32) -> &Route {
        &self.routes[rank as usize]
    }

    /// All of them, for who receives from any.
    #[inline(always)]
    pub fn any(&self) -> &Any {
        &self.any
    }
}
