//! A process that this one talks to: its transports and limits, found when it is first reached.

use crate::checksum;
use crate::params;
use crate::peers::history::ProtocolHistory;
use crate::peers::progress::Unpolled;
use crate::peers::rail::Rails;
use crate::requirement;
use crate::wire;
use alloc::boxed::Box;
use alloc::vec::Vec;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::bml::{self, Change, Path};
use ompi_core::framework::pml;
use ompi_core::{addresses, process};
use opal_core::framework::btl::{self, RxMessage};
use opal_core::framework::smsc;
use opal_core::queue::fifo_pair::{FifoPair, Pushed};
use opal_core::sparse::OnceTable;
use opal_core::sync::{AtomicBool, AtomicU32, AtomicU64, ConditionalLock, Once, Ordering};
use opal_core::{message, verbose};

/// A process and the one transport whose order its matched messages have.
pub struct Endpoint {
    /// Index of the process.
    pub process: u32,
    /// The transport.
    pub module: btl::ModuleRef,
    /// The process's number there.
    pub btl_endpoint: btl::Endpoint,
    /// The transport's queues to and from the process, if it gives them away.
    pub fifo_pair: Option<&'static FifoPair>,
    /// Most bytes of a message on the fast path, which is pushed to the FIFO pair.
    pub fast_path_bytes: usize,
    /// Most bytes of a message that the transport sends inline.
    pub inline_bytes: usize,
    /// Most bytes of an eager message.
    pub eager_bytes: usize,
    /// Most bytes of an out-of-band message.
    pub oob_bytes: usize,
    /// The transports of fragments.
    pub rails: Rails,
    /// Number of messages in its backlog, which later ones must not overtake; and [`XOFF`]. Not 0: the fast path is closed.
    pub queued: AtomicU32,
    /// What was sent eagerly since this process last looked for what the process says, where that comes by messages only.
    pub unpolled: Unpolled,
    /// Where the process says XOFF to this one, and this one to it, if they share memory.
    pub xoff_words: Option<XoffWords>,
    /// It is this process.
    pub is_self: bool,
    /// Which protocols the process chose for long messages.
    pub history: ProtocolHistory,
    /// For single copies between its memory and ours, where they work.
    pub smsc_endpoint: Option<smsc::Endpoint>,
    // Own claim words that are in use, as bits; changed under the state's lock only.
    claim_words: AtomicU64,
    dead: AtomicBool,
}

/// The words by which two processes stop each other ([`crate::protocol::flow_control`]): not 0 means XOFF.
#[derive(Clone, Copy)]
pub struct XoffWords {
    /// The peer writes it.
    pub received: &'static AtomicU64,
    /// This process writes it.
    pub sent: &'static AtomicU64,
}

impl Endpoint {
    /// Whether messages wait in the backlog.
    #[inline(always)]
    pub fn has_backlog(&self) -> bool {
        // Acquire pairs with the Release in `set_backlog`: what was queued has left before what comes now.
        self.queued.load(Ordering::Acquire) & !XOFF != 0
    }

    /// The backlog has so many messages. The state's lock is held.
    pub fn set_backlog(&self, messages: usize) {
        let xoff = self.queued.load(Ordering::Relaxed) & XOFF;
        // A change of XOFF meanwhile may be lost: each send looks again.
        self.queued.store(messages as u32 | xoff, Ordering::Release);
    }

    /// Whether the process has said XOFF: eager messages to it must not go. Looks at what it says now, where memory is shared.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        match &self.xoff_words {
            None => self.queued.load(Ordering::Relaxed) & XOFF != 0,
            Some(words) => self.reads_xoff(words),
        }
    }

    #[inline(never)]
    fn reads_xoff(&self, words: &XoffWords) -> bool {
        // Relaxed: the word stands alone.
        let is_stopped = words.received.load(Ordering::Relaxed) != 0;
        if is_stopped != (self.queued.load(Ordering::Relaxed) & XOFF != 0) {
            self.set_xoff(is_stopped);
        }
        is_stopped
    }

    /// Closes or opens the fast path.
    #[cold]
    pub fn set_xoff(&self, is_stopped: bool) {
        if is_stopped {
            self.queued.fetch_or(XOFF, Ordering::Relaxed);
        } else {
            self.queued.fetch_and(!XOFF, Ordering::Relaxed);
        }
    }

    /// Takes one of our claim words; `None` if all are in use, or no memory is shared.
    pub fn take_claim_word(&self) -> Option<u32> {
        let used = self.claim_words.load(Ordering::Relaxed);
        let index = used.trailing_ones();
        self.claim_word(true, index)?;
        self.claim_words.store(used | 1 << index, Ordering::Relaxed);
        Some(index)
    }

    /// Gives it back.
    pub fn give_claim_word(&self, index: u32) {
        self.claim_words.store(self.claim_words.load(Ordering::Relaxed) & !(1 << index), Ordering::Relaxed);
    }

    /// A claim word, ours or the process's; `index` may be anything.
    pub fn claim_word(&self, own: bool, index: u32) -> Option<&AtomicU64> {
        if index >= XOFF_WORD { None } else { self.module.shared_word(self.btl_endpoint, own, index) }
    }

    /// The path of matched messages.
    #[inline(always)]
    pub fn path(&self) -> Path {
        Path { module: self.module.module(), endpoint: self.btl_endpoint }
    }

    /// The next message from the process, polling at most `polls` times for it; [`Endpoint::take`] takes it.
    #[inline(always)]
    pub fn peek(&self, polls: u32) -> Option<RxMessage<'_>> {
        match self.fifo_pair {
            Some(fifo_pair) => {
                let peeked = fifo_pair.peek(polls)?;
                Some(RxMessage { am: peeked.kind(), immediate: peeked.immediate, payload: peeked.payload() })
            }
            None => self.module.poll_peer(self.btl_endpoint, polls),
        }
    }

    /// Whether the FIFO pair took a message; wakes the process if it sleeps.
    #[inline(always)]
    pub fn is_sent(&self, pushed: Pushed) -> bool {
        match pushed {
            Pushed::Yes => true,
            Pushed::ToSleeper => {
                self.module.wake(self.btl_endpoint);
                true
            }
            Pushed::No => false,
        }
    }

    /// Takes what [`Endpoint::peek`] returned last.
    #[inline(always)]
    pub fn take(&self) {
        match self.fifo_pair {
            Some(fifo_pair) => fifo_pair.take(),
            None => self.module.consume(self.btl_endpoint),
        }
    }

    /// The process can no longer be reached. Whether that was known.
    pub fn set_dead(&self) -> bool {
        let was_dead = self.dead.swap(true, Ordering::Relaxed);
        ANY_DEAD.store(true, Ordering::Relaxed);
        was_dead
    }

    /// The process has ended; its transport calls [`crate::protocol::failure::peer_failed`] when nothing of it is left on the way.
    #[cold]
    pub fn tell_ended(&self) {
        self.module.peer_ended(self.btl_endpoint);
    }

    /// Whether it can no longer be reached.
    pub fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    /// The error of a call that needs the process after it was lost.
    #[cold]
    pub fn fault(&self) -> Fault {
        Fault::new(Class::ProcAborted).because(process::get(self.process).lost())
    }
}

static ANY_DEAD: AtomicBool = AtomicBool::new(false);

/// Those of these processes that were lost.
pub fn lost_of(processes: impl Iterator<Item = u32>) -> impl Iterator<Item = u32> {
    let may_be_any = ANY_DEAD.load(Ordering::Relaxed);
    let is_dead = |process: &u32| existing(*process).is_some_and(Endpoint::is_dead);
    processes.take_while(move |_| may_be_any).filter(is_dead)
}

/// A connected process.
pub enum Connected {
    /// Its transport gives its queues away.
    Queued(Queued),
    /// Its transport does not.
    Other(Endpoint),
}

/// A process whose transport gives its queues away: the fast path is for these.
pub struct Queued {
    /// The process.
    pub endpoint: Endpoint,
    /// [`Endpoint::fifo_pair`], which is there.
    pub fifo_pair: &'static FifoPair,
}

impl Connected {
    /// Of an endpoint.
    pub fn of(endpoint: Endpoint) -> Connected {
        match endpoint.fifo_pair {
            Some(fifo_pair) => Connected::Queued(Queued { endpoint, fifo_pair }),
            None => Connected::Other(endpoint),
        }
    }

    /// The process.
    #[inline(always)]
    pub fn endpoint(&self) -> &Endpoint {
        match self {
            Connected::Queued(queued) => &queued.endpoint,
            Connected::Other(endpoint) => endpoint,
        }
    }

    /// The process, if its transport gives its queues away.
    #[inline(always)]
    pub fn queued(&self) -> Option<&Queued> {
        match self {
            Connected::Queued(queued) => Some(queued),
            Connected::Other(_) => None,
        }
    }
}

static OWN_JOB: Once<OnceTable<Box<Connected>>> = Once::new();
// Of processes of other jobs, in the order of their indices.
static BEYOND_JOB: ConditionalLock<Vec<Option<&'static Connected>>> = ConditionalLock::new(Vec::new());
static CONNECTING: ConditionalLock<()> = ConditionalLock::new(());

/// The endpoint of a process, connected at first use.
#[inline]
pub fn to(process: u32) -> Result<&'static Endpoint> {
    connected(process).map(Connected::endpoint)
}

/// As [`to`], with the queues.
pub fn connected(process: u32) -> Result<&'static Connected> {
    let own_job = OWN_JOB.call_once(|| OnceTable::new(process::count()));
    if let Some(connected) = own_job.get(process as usize) {
        return Ok(connected);
    }
    let Some(place) = own_job.place(process as usize) else {
        return connected_beyond_job(process, own_job.places());
    };
    // Of several threads one connects: transports know a peer once.
    let _connecting = CONNECTING.lock();
    if let Some(connected) = place.get() {
        return Ok(connected);
    }
    let connected = Box::new(Connected::of(connect(process)?));
    Ok(place.call_once(|| connected))
}

/// A process of the job sends that was not connected yet. If it cannot be, whoever says why has said it; what it sends stays where
/// it is.
pub fn meet(process: u32) {
    if connected(process).is_err() {
        verbose!(pml::FRAMEWORK, 10, "{} wants to send and cannot be reached", process::get(process).described());
    }
}

/// As [`connected`] for a process of another job, of which `own` processes are before it in the table.
#[cold]
#[inline(never)]
fn connected_beyond_job(process: u32, own: usize) -> Result<&'static Connected> {
    if let Some(connected) = existing_beyond_job(process, own) {
        return Ok(connected);
    }
    let _connecting = CONNECTING.lock();
    if let Some(connected) = existing_beyond_job(process, own) {
        return Ok(connected);
    }
    let connected: &'static Connected = Box::leak(Box::new(Connected::of(connect(process)?)));
    let (mut beyond, place) = (BEYOND_JOB.lock(), process as usize - own);
    if beyond.len() <= place {
        beyond.resize(place + 1, None);
    }
    beyond[place] = Some(connected);
    Ok(connected)
}

#[cold]
#[inline(never)]
fn existing_beyond_job(process: u32, own: usize) -> Option<&'static Connected> {
    BEYOND_JOB.lock().get((process as usize).checked_sub(own)?).copied().flatten()
}

/// The endpoint of a process that is connected.
#[inline(always)]
pub fn existing(process: u32) -> Option<&'static Endpoint> {
    let own_job = OWN_JOB.get()?;
    let connected = match own_job.get(process as usize) {
        Some(connected) => connected,
        None => existing_beyond_job(process, own_job.places())?,
    };
    Some(connected.endpoint())
}

/// Takes the endpoint of a process of another job that was left out of the table.
pub fn take_left(process: u32) -> Option<&'static Connected> {
    let place = (process as usize).checked_sub(OWN_JOB.get()?.places())?;
    BEYOND_JOB.lock().get_mut(place)?.take()
}

fn connect(process: u32) -> Result<Endpoint> {
    let bml = bml::selected().ok_or_else(|| Fault::new(Class::Intern).because("the BML is not running"))?;
    let with = process::get(process);
    let paths = bml.add_process(&with).map_err(Fault::from)?;
    let found = paths[0];
    let paths = if checksum::is_on() { checksum::transport::over(process, &paths) } else { paths.to_vec() };
    let path = paths[0];
    let caps = path.module.caps();
    if let Some(lack) = requirement::lack(caps) {
        let Some(name) = bml.transport_name(&found) else {
            return Err(
                Fault::new(Class::Intern).because("the BML found a path through a transport that it does not know")
            );
        };
        message!(
            "btl/{name}, the best transport to process {process}, {lack} by pml/ob1; leave it out with `--mca btl ^{name}`"
        );
        let reason = alloc::format!("btl/{name} {lack} by pml/ob1");
        return Err(Fault::new(Class::Intern).because(reason));
    }
    // A synchronous message has a prefix and must fit all the same.
    let most = caps.send_bytes - wire::PREFIX_BYTES;
    let eager_bytes = params::EAGER_LIMIT.size().min(caps.eager_bytes).min(most);
    let inline_bytes = caps.inline_bytes.min(most);
    bml::tell_paths(Change::Connected, process);
    let word = |own| path.module.shared_word(path.endpoint, own, XOFF_WORD);
    let xoff_words = word(false).zip(word(true)).map(|(received, sent)| XoffWords { received, sent });
    Ok(Endpoint {
        process,
        module: btl::ModuleRef::new(path.module),
        btl_endpoint: path.endpoint,
        fifo_pair: path.module.fifo_pair(path.endpoint),
        fast_path_bytes: inline_bytes.min(eager_bytes),
        inline_bytes,
        eager_bytes,
        oob_bytes: caps.send_bytes.min(MOST_OOB_BYTES),
        rails: Rails::new(&paths),
        queued: AtomicU32::new(0),
        unpolled: Unpolled::default(),
        xoff_words,
        is_self: with.is_self,
        history: ProtocolHistory::new(),
        smsc_endpoint: find_smsc_endpoint(&with),
        claim_words: AtomicU64::new(0),
        dead: AtomicBool::new(false),
    })
}

fn find_smsc_endpoint(process: &process::Process) -> Option<smsc::Endpoint> {
    if process.is_self || !process.same_node {
        return None;
    }
    // They were looked at for the transports a moment ago.
    let addresses = process.addresses().ok()?;
    smsc::reach(process.index, |name| addresses::find(addresses, smsc::FRAMEWORK.name, name))
}

#[cfg(test)]
impl Endpoint {
    /// To process 1 by one transport that tests provide.
    pub fn of_test(module: &'static dyn btl::Module, fifo_pair: Option<&'static FifoPair>) -> Endpoint {
        let inline_bytes = if fifo_pair.is_some() { opal_core::queue::fifo::INLINE_BYTES } else { 0 };
        Endpoint {
            process: 1,
            module: btl::ModuleRef::new(module),
            btl_endpoint: crate::test_image::ENDPOINT,
            fifo_pair,
            fast_path_bytes: inline_bytes,
            inline_bytes,
            eager_bytes: 4096,
            oob_bytes: 4096,
            rails: Rails::none(),
            queued: AtomicU32::new(0),
            unpolled: Unpolled::default(),
            xoff_words: None,
            is_self: false,
            history: ProtocolHistory::new(),
            smsc_endpoint: None,
            claim_words: AtomicU64::new(0),
            dead: AtomicBool::new(false),
        }
    }
}

/// The bit of [`Endpoint::queued`] that says that the process has said XOFF.
const XOFF: u32 = 1 << 31;
/// The last of the words that btl/sm shares; those before it are claim words.
const XOFF_WORD: u32 = 63;
/// An out-of-band message that finds no room is copied.
const MOST_OOB_BYTES: usize = 4096;

#[cfg(test)]
mod tests;
