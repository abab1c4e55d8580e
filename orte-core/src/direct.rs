//! Direct launch: ranks that the process manager of another project started (Hydra, Slurm), without a daemon of ours.
//!
//! The manager offers a store of keys with short texts, and a fence. The store carries the job's number and secret, the name of
//! one socket for each node, and, if there are several nodes, the addresses of each rank. The first rank of a node makes the
//! node's segment and hands it to the others there.
//!
//! | key | put by | value |
//! |---|---|---|
//! | `ompi-rs` | rank 0 | version, job, secret |
//! | `ompi-rs-N` | first rank of node N, if others are there | the socket that hands out its segment |
//! | `ompi-rs-app-R` | rank R, unless it is 0 | which of the job's programs it runs |
//! | `ompi-rs-R.P` | rank R, if there are several nodes | part P of its addresses |
//! | `ompi-rs-parent` | the manager, for those that had the job started | their port |
//!
//! **Invariant:** a segment and a socket have no name in a file system, so that nothing is left of a job however it ends.

pub mod hex;
pub mod job;
pub mod nodes;
mod share;
pub mod socket;

use crate::framework::ess::{Identity, Module, State};
use crate::segment::control::Missed;
use crate::segment::mapping::Mapping;
use crate::segment::record::ADDRESSES_BYTES;
use crate::segment::{Control, RankState};
use crate::universe::Spawner;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use job::Job;
use opal_core::framework::shmem::Inherited;
use opal_core::{Error, Result, message};
use rustix::fd::{IntoRawFd, OwnedFd};

/// What a manager does for its ranks. `Err` with a sentence that names the manager.
pub trait Manager: Send + Sync {
    /// Bytes that a value may have.
    fn value_bytes(&self) -> usize;

    /// Stores a text under a key; others see it after the next fence. Neither holds a space or an equals sign.
    fn put(&self, key: &str, value: &str) -> core::result::Result<(), String>;

    /// What `rank` stored before the last fence; `None` if it stored nothing under this key.
    fn get(&self, rank: u32, key: &str) -> core::result::Result<Option<String>, String>;

    /// Waits until every rank of the job is here; at most so many seconds, if it says so.
    fn fence(&self, limit_s: Option<u64>) -> core::result::Result<(), String>;

    /// Says that this rank may end from now on.
    fn finalize(&self) -> core::result::Result<(), String>;

    /// Ends the whole job, if the manager still can.
    fn abort(&self, status: i32);

    /// If it starts further jobs.
    fn spawner(&self) -> Option<&dyn Spawner> {
        None
    }
}

/// Whether a job of `size` ranks can have this rank. `Err` with a sentence that ends with `advice`.
pub fn check_rank(rank: u32, size: u32, advice: &str) -> core::result::Result<(), String> {
    match rank < size && size <= SIZE_MAX {
        true => Ok(()),
        false => {
            Err(format!("the process manager says that this is rank {rank} of {size}, which is impossible; {advice}"))
        }
    }
}

/// Most ranks of a job: a table of them is made.
const SIZE_MAX: u32 = 1 << 24;

/// What the manager says of a rank's place.
#[derive(Clone, Debug)]
pub struct Place {
    /// Rank in the job.
    pub rank: u32,
    /// The node of each rank.
    pub nodes: Vec<u32>,
    /// Which of the job's programs.
    pub app: Option<u32>,
    /// Ranks that the job could have.
    pub universe: Option<u32>,
    /// Whether processes of another job had this one started: [`parent`] is in the store then.
    pub is_spawned: bool,
    /// How long to wait for the others at the start, and the parameter that says so.
    pub patience: (u64, &'static str),
}

/// The environment of such a rank.
pub struct Direct {
    manager: Box<dyn Manager>,
    place: Place,
    job: Job,
    /// Ranks of this node, in order.
    here: Vec<u32>,
    /// This rank's index there.
    local: u32,
    control: Control<Mapping>,
    /// Open for the life of the process, because receive segments are mapped when they are first needed.
    descriptor: i32,
    /// The port of those that had the job started.
    parent: Option<String>,
}

/// What a manager that starts a job is to put into its store, for [`Place::is_spawned`]: a key, and the value for the port of those that
/// have it started.
pub fn parent(port: &str) -> (String, String) {
    (format!("{KEY}-parent"), hex::encode(port.as_bytes()))
}

impl Direct {
    /// Takes this rank's place: finds the others, and the memory of its node. `Err` with a sentence.
    pub fn open(manager: Box<dyn Manager>, place: Place) -> core::result::Result<Direct, String> {
        let Place { rank, nodes, patience: (seconds, _), .. } = &place;
        let node = nodes[*rank as usize];
        let here: Vec<u32> = (0..nodes.len() as u32).filter(|other| nodes[*other as usize] == node).collect();
        let local = here.iter().take_while(|other| **other != *rank).count() as u32;
        let door = match local == 0 && here.len() > 1 {
            true => Some(
                share::Door::open().map_err(|errno| format!("cannot make a socket for this node's ranks ({errno})"))?,
            ),
            false => None,
        };
        let key = format!("{KEY}-{node}");
        let own = match rank {
            0 => Some(Job::new().map_err(|errno| format!("no random numbers ({errno})"))?),
            _ => None,
        };
        if let Some(job) = &own {
            manager.put(KEY, &job.encode())?;
        }
        if let Some(door) = &door {
            manager.put(&key, &hex::encode(&door.name))?;
        }
        if let Some(app) = place.app.filter(|app| *app != 0) {
            manager.put(&format!("{KEY}-app-{rank}"), &format!("{app}"))?;
        }
        if nodes.len() > 1 {
            manager.fence(Some(*seconds))?;
        }
        let told = || {
            manager.get(0, KEY)?.ok_or_else(|| String::from("rank 0 runs a program that is not linked with ompi-rs"))
        };
        let job = own.map_or_else(|| Job::decode(&told()?), Ok)?;
        let deadline_ns = opal_core::sys::monotonic_ns().saturating_add(seconds.saturating_mul(1_000_000_000));
        let (descriptor, control) = match local {
            0 => first_of_node(&job, here.len() as u32, door, deadline_ns)?,
            _ => {
                let name = manager.get(here[0], &key)?.and_then(|text| hex::decode(&text));
                let name = name.ok_or_else(|| format!("rank {} left no socket for this node's memory", here[0]))?;
                share::receive(&name, &job, local, deadline_ns)
                    .map_err(|why| format!("this node's shared memory did not come from rank {}: {why}", here[0]))?
            }
        };
        let layout = control.layout();
        if (layout.job, layout.ranks as usize) != (job.number, here.len()) {
            return Err(format!("the shared memory that rank {} handed out is that of another job", here[0]));
        }
        let parent = if place.is_spawned { Some(parent_of(&*manager)?) } else { None };
        Ok(Direct { manager, job, here, local, control, descriptor: descriptor.into_raw_fd(), parent, place })
    }

    fn is_one_node(&self) -> bool {
        self.here.len() == self.place.nodes.len()
    }

    /// Bytes of addresses in one part: a byte takes two characters.
    fn part_bytes(&self) -> usize {
        (self.manager.value_bytes() / 2).max(1)
    }

    fn put_addresses(&self, addresses: &[u8]) -> core::result::Result<(), String> {
        let rank = self.place.rank;
        // The last part is shorter than the others, perhaps empty: that ends the list.
        for part in 0..=addresses.len() / self.part_bytes() {
            let bytes = addresses.chunks(self.part_bytes()).nth(part).unwrap_or_default();
            // A manager may take an empty value for none.
            self.manager.put(&format!("{KEY}-{rank}.{part}"), &format!("x{}", hex::encode(bytes)))?;
        }
        self.manager.fence(Some(self.place.patience.0))
    }

    fn get_addresses(&self, rank: u32) -> core::result::Result<Vec<u8>, String> {
        let mut addresses = Vec::new();
        for part in 0..=ADDRESSES_BYTES / self.part_bytes() {
            let key = format!("{KEY}-{rank}.{part}");
            let value =
                self.manager.get(rank, &key)?.ok_or_else(|| format!("rank {rank} left no addresses ({key})"))?;
            let bytes: Option<Vec<u8>> = value.strip_prefix('x').and_then(hex::decode);
            let bytes = bytes.ok_or_else(|| format!("the addresses of rank {rank} were damaged on the way ({key})"))?;
            addresses.extend_from_slice(&bytes);
            if bytes.len() < self.part_bytes() {
                break;
            }
        }
        Ok(addresses)
    }
}

/// The port of those that had the job started.
fn parent_of(manager: &dyn Manager) -> core::result::Result<String, String> {
    let (key, _) = parent("");
    let value = manager.get(0, &key)?.and_then(|text| hex::decode::<Vec<u8>>(&text));
    value.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| {
        format!("the processes that had this job started left no port ({key}); all of them must be linked with ompi-rs")
    })
}

/// Makes the memory of a node and hands it to the other ranks there.
fn first_of_node(
    job: &Job,
    ranks: u32,
    door: Option<share::Door>,
    deadline_ns: u64,
) -> core::result::Result<(OwnedFd, Control<Mapping>), String> {
    let (file, control) = crate::segment::mapping::create(job.number, ranks, &job.secret)
        .map_err(|why| format!("cannot make this node's shared memory: {why}"))?;
    if let Some(door) = door {
        door.hand_out(&file, job, ranks, deadline_ns)?;
    }
    Ok((file, control))
}

impl Module for Direct {
    fn identity(&self) -> Identity {
        let (rank, size) = (self.place.rank, self.place.nodes.len() as u32);
        Identity { job: self.job.number, rank, size, local_rank: self.local, local_size: self.here.len() as u32 }
    }

    fn app_number(&self) -> Option<u32> {
        self.place.app
    }

    fn app_of(&self, rank: u32) -> Option<u32> {
        let own = self.place.app?;
        if rank == self.place.rank {
            return Some(own);
        }
        match self.manager.get(rank, &format!("{KEY}-app-{rank}")).ok()? {
            Some(app) => app.parse().ok(),
            None => Some(0),
        }
    }

    fn universe_size(&self) -> Option<u32> {
        self.place.universe
    }

    fn node_of(&self, rank: u32) -> u32 {
        self.place.nodes[rank as usize]
    }

    fn publish(&self, addresses: &[u8]) -> Result<()> {
        self.control.publish(self.local, addresses).inspect_err(|error| match error {
            Error::OutOfResource => message!(
                "the addresses of this rank take {} bytes, there is room for {ADDRESSES_BYTES}; leave out transports with \
                 --mca btl ^name",
                addresses.len()
            ),
            _ => message!("this rank was wired up before: only one MPI program can run in a rank's place"),
        })?;
        match self.is_one_node() {
            true => Ok(()),
            false => self.put_addresses(addresses).map_err(said),
        }
    }

    fn lookup(&self, rank: u32) -> Result<Vec<u8>> {
        if rank as usize >= self.place.nodes.len() {
            return Err(Error::Invalid);
        }
        let Some(local) = self.here.iter().position(|here| *here == rank) else {
            return self.get_addresses(rank).map_err(said);
        };
        let (seconds, parameter) = self.place.patience;
        let deadline_ns = opal_core::sys::monotonic_ns().saturating_add(seconds.saturating_mul(1_000_000_000));
        self.control.lookup(local as u32, deadline_ns).map_err(|missed| {
            match missed {
                Missed::Deadline => message!(
                    "rank {rank} did not say its addresses within {seconds} s; {parameter} sets how long to wait"
                ),
                _ => message!("rank {rank} left no readable addresses"),
            }
            missed.into()
        })
    }

    fn barrier(&self, meanwhile: &mut dyn FnMut()) -> Result<()> {
        match self.is_one_node() {
            true => self.control.barrier(self.local, meanwhile).map_err(|missed| {
                message!("the barrier's words in the job segment were overwritten");
                missed.into()
            }),
            // A rank that comes late may have computed for days; the manager ends the job if a rank dies.
            false => {
                meanwhile();
                self.manager.fence(None).map_err(said)
            }
        }
    }

    fn secret(&self) -> Option<[u8; 32]> {
        Some(self.job.secret)
    }

    fn spawner(&self) -> Option<&dyn Spawner> {
        self.manager.spawner()
    }

    fn parent(&self) -> Option<String> {
        self.parent.clone()
    }

    fn inherited(&self) -> Option<Inherited> {
        let layout = self.control.layout();
        Some(Inherited {
            descriptor: self.descriptor,
            offset: layout.rx_segment_offset,
            stride: layout.rx_segment_stride,
            local_rank: self.local,
            local_size: self.here.len() as u32,
        })
    }

    fn set_state(&self, state: State) {
        let state = match state {
            State::Initialized => RankState::Initialized,
            State::Finalized => RankState::Finalized,
        };
        let known = self.control.set_state(self.local, state);
        assert!(known.is_ok(), "the segment was checked to hold this rank");
        if state == RankState::Finalized
            && let Err(sentence) = self.manager.finalize()
        {
            message!("{sentence}");
        }
    }

    fn epoch(&self) -> u32 {
        self.control.epoch()
    }

    fn abort(&self, status: i32, text: &str) -> ! {
        // The manager prints nothing of what a rank says.
        match text.starts_with("called ") {
            true => message!("this rank {text}"),
            false => message!("{text}"),
        }
        // Hydra closes the pipes of the ranks, read or not, once it hears of the abort.
        opal_core::sys::await_reader_of_stderr(200);
        self.manager.abort(status);
        opal_core::sys::exit(if status != 0 && status & 0xff == 0 { 1 } else { status })
    }
}

fn said(sentence: String) -> Error {
    message!("{sentence}");
    Error::System
}

/// What all keys begin with.
const KEY: &str = "ompi-rs";
