//! The way to each process, made once.

use crate::protocol::rts_data::Habit;
use alloc::boxed::Box;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::bml::{self, Path};
use ompi_core::framework::pml::NOTE_BYTES;
use ompi_core::{addresses, process};
use opal_core::framework::btl::{self, Full, RxMessage};
use opal_core::framework::smsc;
use opal_core::message;
use opal_core::queue::fifo_pair::{FifoPair, Pushed};
use opal_core::sync::{AtomicBool, AtomicU32, AtomicU64, ConditionalLock, Once, Ordering};

/// A process and the one transport whose order its matched messages have.
pub struct Link {
    /// Index of the process.
    pub process: u32,
    /// The transport.
    pub module: btl::ModuleRef,
    /// Its number for the process.
    pub endpoint: btl::Endpoint,
    /// The transport's queues to and from the process, if it gives them away.
    pub fifo_pair: Option<&'static FifoPair>,
    /// Most bytes of a message that is pushed to the FIFO pair.
    pub short_bytes: usize,
    /// Most bytes of a message that is sent with its transport's fast call.
    pub inline_bytes: usize,
    /// Most bytes of a message that is sent at once.
    pub eager_bytes: usize,
    /// Most bytes of a note.
    pub note_bytes: usize,
    /// The ways that fragments of long messages go: at least one.
    pub lanes: Box<[MatchContext]>,
    /// Messages that wait for room in the transport: later ones must not overtake them.
    pub queued: AtomicU32,
    /// How the process takes its long messages.
    pub habit: Habit,
    /// How bytes of long messages get there and back in one copy, if they can.
    pub copier: Option<smsc::Endpoint>,
    // Own words shared with the process that are in use; changed under the state's lock only.
    words: AtomicU64,
    dead: AtomicBool,
}

/// One of the ways to a process. What travels on it is not matched, so order does not count.
pub struct MatchContext {
    /// The way.
    pub path: Path,
    /// Most bytes of a fragment, without its prefix.
    pub fragment_bytes: usize,
    mbps: u64,
    // When it would be done with all it was given, in the time of an ideal wire.
    clock: AtomicU64,
}

impl MatchContext {
    fn new(path: Path) -> MatchContext {
        let caps = path.module.caps();
        let most = caps.send_bytes.saturating_sub(crate::wire::PREFIX_BYTES);
        // Whole pages, so that all fragments of a message lie alike where they come from.
        let fragment_bytes = if most < PAGE { most } else { most / PAGE * PAGE };
        MatchContext { path, fragment_bytes, mbps: u64::from(caps.bandwidth_mbps.max(1)), clock: AtomicU64::new(0) }
    }

    fn is_usable(&self) -> bool {
        self.path.module.caps().immediate_bits >= crate::wire::IMMEDIATE_BITS && self.fragment_bytes > 0
    }
}

impl Link {
    /// Gives the next fragment to the lane that will be done first, in proportion to their bandwidths; if it has no room, to
    /// another one. `send` gets the lane and returns how many bytes it sent.
    #[inline]
    pub fn spread(
        &self,
        mut send: impl FnMut(&MatchContext) -> core::result::Result<usize, Full>,
    ) -> core::result::Result<usize, Full> {
        if let [only] = &self.lanes[..] {
            return send(only);
        }
        let clock = |lane: &&MatchContext| lane.clock.load(Ordering::Relaxed);
        for _ in 0..self.lanes.len() {
            // The state's lock is held: nobody else moves the clocks.
            let Some(lane) = self.lanes.iter().min_by_key(clock) else { break };
            let now = clock(&lane);
            if let Ok(bytes) = send(lane) {
                lane.clock.store(now + (bytes as u64 * CLOCK_SCALE / lane.mbps).max(1), Ordering::Relaxed);
                return Ok(bytes);
            }
            // Slower than it says: what it misses it does not get later.
            let latest = self.lanes.iter().map(|lane| clock(&lane)).max().unwrap_or(now);
            lane.clock.store(latest + 1, Ordering::Relaxed);
        }
        Err(Full)
    }

    /// Takes an own word that is shared with the process; `None` if all are in use, or there are none.
    pub fn take_word(&self) -> Option<u32> {
        let used = self.words.load(Ordering::Relaxed);
        let index = used.trailing_ones();
        self.shared_word(true, index)?;
        self.words.store(used | 1 << index, Ordering::Relaxed);
        Some(index)
    }

    /// Gives it back.
    pub fn give_word(&self, index: u32) {
        self.words.store(self.words.load(Ordering::Relaxed) & !(1 << index), Ordering::Relaxed);
    }

    /// A word shared with the process, own or the process's; `index` may be anything.
    pub fn shared_word(&self, own: bool, index: u32) -> Option<&AtomicU64> {
        if index >= u64::BITS { None } else { self.module.shared_word(self.endpoint, own, index) }
    }

    /// The way that matched messages go.
    #[inline(always)]
    pub fn path(&self) -> Path {
        Path { module: self.module.module(), endpoint: self.endpoint }
    }

    /// The next thing from the process, polling at most `polls` times for it; [`Link::take`] takes it.
    #[inline(always)]
    pub fn peek(&self, polls: u32) -> Option<RxMessage<'_>> {
        match self.fifo_pair {
            Some(fifo_pair) => {
                let peeked = fifo_pair.peek(polls)?;
                Some(RxMessage { am: peeked.kind(), immediate: peeked.immediate, payload: peeked.payload() })
            }
            None => self.module.poll_peer(self.endpoint, polls),
        }
    }

    /// Whether a message is on its way that the FIFO pair was given; wakes the process if it sleeps.
    #[inline(always)]
    pub fn is_sent(&self, pushed: Pushed) -> bool {
        match pushed {
            Pushed::Yes => true,
            Pushed::ToSleeper => {
                self.module.wake(self.endpoint);
                true
            }
            Pushed::No => false,
        }
    }

    /// Takes what [`Link::peek`] returned last.
    #[inline(always)]
    pub fn take(&self) {
        match self.fifo_pair {
            Some(fifo_pair) => fifo_pair.take(),
            None => self.module.consume(self.endpoint),
        }
    }

    /// The process can no longer be reached.
    pub fn set_dead(&self) {
        self.dead.store(true, Ordering::Relaxed);
        ANY_DEAD.store(true, Ordering::Relaxed);
    }

    /// Whether it can no longer be reached.
    pub fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    /// What a call that needs the process returns.
    #[cold]
    pub fn fault(&self) -> Fault {
        let reason = alloc::format!("the connection to rank {} in MPI_COMM_WORLD was lost", self.process);
        Fault::new(Class::ProcAborted).because(reason)
    }
}

static ANY_DEAD: AtomicBool = AtomicBool::new(false);

/// Whether any process was lost.
#[inline(always)]
pub fn any_dead() -> bool {
    ANY_DEAD.load(Ordering::Relaxed)
}

static LINKS: Once<Box<[Once<Link>]>> = Once::new();
static CONNECTING: ConditionalLock<()> = ConditionalLock::new(());

/// The link to a process, connected at first use.
pub fn to(process: u32) -> Result<&'static Link> {
    let links = LINKS.call_once(|| (0..process::count()).map(|_| Once::new()).collect());
    let place = &links[process as usize];
    if let Some(link) = place.get() {
        return Ok(link);
    }
    // Of several threads one connects: transports know a peer once.
    let _connecting = CONNECTING.lock();
    if let Some(link) = place.get() {
        return Ok(link);
    }
    let link = connect(process)?;
    Ok(place.call_once(|| link))
}

/// The link to a process that is connected.
#[inline(always)]
pub fn existing(process: u32) -> Option<&'static Link> {
    LINKS.get()?.get(process as usize)?.get()
}

fn connect(process: u32) -> Result<Link> {
    let bml = bml::selected().ok_or_else(|| Fault::new(Class::Intern).because("the BML is not running"))?;
    let paths = bml.add_process(process::get(process)).map_err(Fault::from)?;
    let path = paths[0];
    let caps = path.module.caps();
    if caps.immediate_bits < crate::wire::IMMEDIATE_BITS || caps.send_bytes < NOTE_BYTES {
        message!(
            "the transport to rank {process} carries {} bits of immediate and {} bytes, pml/ob1 needs {} and {}; \
             leave that transport out with `--mca btl ^…`",
            caps.immediate_bits,
            caps.send_bytes,
            crate::wire::IMMEDIATE_BITS,
            NOTE_BYTES
        );
        return Err(Fault::new(Class::Intern));
    }
    // A synchronous message has a prefix and must fit all the same.
    let most = caps.send_bytes - crate::wire::PREFIX_BYTES;
    let eager_bytes = crate::params::EAGER_LIMIT.size().min(caps.eager_bytes).min(most);
    let inline_bytes = caps.inline_bytes.min(most);
    Ok(Link {
        process,
        module: btl::ModuleRef::new(path.module),
        endpoint: path.endpoint,
        fifo_pair: path.module.fifo_pair(path.endpoint),
        short_bytes: inline_bytes.min(eager_bytes),
        inline_bytes,
        eager_bytes,
        note_bytes: caps.send_bytes.min(MOST_NOTE_BYTES),
        lanes: paths.iter().map(|path| MatchContext::new(*path)).filter(MatchContext::is_usable).collect(),
        queued: AtomicU32::new(0),
        habit: Habit::new(),
        copier: copier(process::get(process)),
        words: AtomicU64::new(0),
        dead: AtomicBool::new(false),
    })
}

fn copier(process: &process::Process) -> Option<smsc::Endpoint> {
    if process.is_self || !process.same_node {
        return None;
    }
    // They were looked at for the transports a moment ago.
    let addresses = process.addresses().ok()?;
    let name = smsc::selected()?.name;
    smsc::reach(process.index, addresses::find(addresses, smsc::FRAMEWORK.name, name))
}

#[cfg(test)]
impl Link {
    /// To process 1 by one transport that tests provide.
    pub fn of_test(module: &'static dyn btl::Module, fifo_pair: Option<&'static FifoPair>) -> Link {
        let inline_bytes = if fifo_pair.is_some() { opal_core::queue::fifo::INLINE_BYTES } else { 0 };
        Link {
            process: 1,
            module: btl::ModuleRef::new(module),
            endpoint: crate::test_image::ENDPOINT,
            fifo_pair,
            short_bytes: inline_bytes,
            inline_bytes,
            eager_bytes: 4096,
            note_bytes: 4096,
            lanes: Box::new([]),
            queued: AtomicU32::new(0),
            habit: Habit::new(),
            copier: None,
            words: AtomicU64::new(0),
            dead: AtomicBool::new(false),
        }
    }
}

/// A note that finds no room is copied.
const MOST_NOTE_BYTES: usize = 4096;
const CLOCK_SCALE: u64 = 1024;
const PAGE: usize = 4096;

#[cfg(test)]
mod tests;
