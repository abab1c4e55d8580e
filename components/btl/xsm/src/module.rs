//! The module: its capabilities, how peers connect, and the calls of `framework::btl`.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::board::Board;
use crate::board_file::BoardFile;
use crate::claim;
use crate::endpoint::{Cell, PeerEndpoint};
use crate::own_board::Own;
use crate::owner::Owner;
use crate::raw::{Mapping, free};
use crate::sleeper::Sleeper;
use crate::wire::{self, Address};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::btl::{self, AmId, Caps, Endpoint, Full, Peer, ProcessName, RemoteCaps, RxMessage};
use opal_core::framework::memcpy;
use opal_core::queue::fifo;
use opal_core::queue::fifo_pair::FifoPair;
use opal_core::sync::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, ConditionalLock, Mutex, Once, Ordering};
use opal_core::{Error, Result, message, sys, verbose, wait};

/// Endpoints in use, and how often the list was changed.
struct Live {
    endpoints: Vec<&'static PeerEndpoint>,
    changes: usize,
    // Not in use any more: a poll may still look at them, the next one frees them.
    removed: Vec<&'static PeerEndpoint>,
}

/// The one module. An endpoint's number is its place in the list, which is used again.
pub struct Xsm {
    own: Once<core::result::Result<Own, String>>,
    endpoints: ConditionalLock<Vec<Option<&'static PeerEndpoint>>>,
    // Those in use, which are polled.
    live: ConditionalLock<Live>,
    // How many they are, with those to be freed: none is the usual case.
    connected: AtomicUsize,
    // The queues of some peer were closed, which the next poll reports: it broke them, or it has ended.
    broken: AtomicBool,
    // Passes since the last look whether peers have ended, and when that was, in ns.
    passes: AtomicU32,
    looked_ns: AtomicU64,
    // Addresses that new cells and headers may have.
    abandoned: Mutex<[Vec<Mapping>; 2]>,
    // From the first peer on.
    sleeper: Once<&'static Sleeper>,
}

impl Xsm {
    /// Without a board.
    pub const fn new() -> Xsm {
        Xsm {
            own: Once::new(),
            endpoints: ConditionalLock::new(Vec::new()),
            live: ConditionalLock::new(Live { endpoints: Vec::new(), changes: 0, removed: Vec::new() }),
            connected: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            passes: AtomicU32::new(0),
            looked_ns: AtomicU64::new(0),
            abandoned: Mutex::new([const { Vec::new() }; 2]),
            sleeper: Once::new(),
        }
    }

    /// This process's board, made at the first call.
    fn own(&self, name: ProcessName) -> Option<&Own> {
        let own = self.own.call_once(|| {
            // Before the first store to a peer, see `opal_core::wait`.
            let registered = sys::register_membarrier();
            wait::add_sender(registered);
            Own::new(name, registered)
        });
        own.as_ref().inspect_err(|why| message!("btl/xsm: this process cannot be reached from other jobs: {why}")).ok()
    }

    fn connect(&self, peer: &Peer<'_>) -> Result<Option<Endpoint>> {
        if peer.is_self || !peer.same_node || peer.address.is_empty() {
            return Ok(None);
        }
        let address = checked_address(peer)?;
        // Its own address was asked for before it was told to anybody.
        let own = self.own.get().and_then(|own| own.as_ref().ok()).ok_or(Error::NotFound)?;
        own.sweep();
        let said = |why: String| {
            message!("btl/xsm: process {} cannot be reached: {why}", peer.index);
            Error::Unreachable
        };
        let endpoint = self.meet(own, &address, peer.index).map_err(said)?;
        wait::add_sender(address.registered);
        self.wait_for_others(own);
        let endpoint: &'static PeerEndpoint = Box::leak(Box::new(endpoint));
        let number = {
            let mut endpoints = self.endpoints.lock();
            let free = endpoints.iter().position(Option::is_none).unwrap_or(endpoints.len());
            match endpoints.get_mut(free) {
                Some(place) => *place = Some(endpoint),
                None => endpoints.push(Some(endpoint)),
            }
            free as u32
        };
        self.change_live(|live| live.endpoints.push(endpoint));
        Ok(Some(Endpoint(number)))
    }

    fn meet(&self, own: &Own, address: &Address, index: u32) -> core::result::Result<PeerEndpoint, String> {
        // Before it is known that the board is this process's: should it end meanwhile, its number is not taken for another one's.
        let owner = Owner::of(address.place);
        // The system refuses the files of a process that is ending as it does those of another user.
        let file = BoardFile::open(&address.place).map_err(|why| match owner.has_ended() {
            true => String::from("its process has ended"),
            false => why,
        })?;
        let board = Board { header: file.map(0, wire::HEADER_BYTES, self.abandoned.lock()[1].pop())? };
        // The lower name is the host.
        let (host, guest, host_file, side) = match own.name < address.name {
            true => (own.board, address.name, &own.file, 0),
            false => (board, own.name, &file, 1),
        };
        let number = claim::cell(&host, guest)
            .ok_or_else(|| alloc::format!("{} processes of other jobs are connected already", wire::CELLS))?;
        let mapping = host_file.map(wire::cell(number), wire::CELL_BYTES, self.abandoned.lock()[0].pop())?;
        Ok(PeerEndpoint::new(Cell { mapping, host, number, side }, board, owner, index))
    }

    /// From the first peer on those of other jobs can wake this process, too.
    fn wait_for_others(&self, own: &Own) {
        self.sleeper.call_once(|| {
            let sleeper: &'static Sleeper = Box::leak(Box::new(Sleeper::new(own.board)));
            wait::add_waker(sleeper);
            sleeper
        });
    }

    fn endpoint(&self, endpoint: Endpoint) -> Option<&'static PeerEndpoint> {
        self.endpoints.lock().get(endpoint.0 as usize).copied().flatten()
    }

    fn live_at(&self, place: usize) -> (Option<&'static PeerEndpoint>, usize) {
        let live = self.live.lock();
        (live.endpoints.get(place).copied(), live.changes)
    }

    fn change_live(&self, change: impl FnOnce(&mut Live)) {
        let mut live = self.live.lock();
        change(&mut live);
        live.changes += 1;
        self.connected.store(live.endpoints.len() + live.removed.len(), Ordering::Relaxed);
    }

    /// Polls no endpoint any more that is in use no more.
    fn drop_removed(&self) {
        self.change_live(|live| live.endpoints.retain(|endpoint| !endpoint.is_removed()));
    }

    fn has_removed(&self) -> bool {
        !self.live.lock().removed.is_empty()
    }

    /// Frees what was removed. Only at the beginning of a poll.
    fn free_removed(&self) {
        let mut freed = Vec::new();
        self.change_live(|live| freed = core::mem::take(&mut live.removed));
        for endpoint in freed {
            // SAFETY: a box that `connect` leaked, which `remove_peer` took out of both lists, so that it comes here once. There is one
            // poll at a time, this one, and it looks at no endpoint yet. Sends and looks at the queue end before `remove_peer`.
            unsafe { free(endpoint) };
        }
    }

    /// Whether it is time to look for peers that have ended: this process is about to sleep, or has made many passes.
    #[inline(always)]
    fn is_look_due(&self) -> bool {
        // Relaxed: one pass at a time.
        let passes = self.passes.load(Ordering::Relaxed).wrapping_add(1);
        self.passes.store(passes, Ordering::Relaxed);
        self.sleeper.get().is_some_and(|sleeper| sleeper.take_look_due()) || passes.is_multiple_of(PASSES_PER_LOOK)
    }

    #[cold]
    #[inline(never)]
    fn look(&self) {
        let now_ns = sys::monotonic_ns();
        if now_ns.saturating_sub(self.looked_ns.load(Ordering::Relaxed)) < LOOK_NS {
            return;
        }
        self.looked_ns.store(now_ns, Ordering::Relaxed);
        let (mut place, mut is_end) = (0, false);
        while !is_end {
            let (endpoint, _) = self.live_at(place);
            is_end = endpoint.is_none();
            endpoint.into_iter().filter(|one| !one.has_ended()).for_each(PeerEndpoint::look);
            place += 1;
        }
    }

    /// The peer has ended, and nothing that it sent is left.
    #[cold]
    #[inline(never)]
    fn ended(&self, endpoint: &PeerEndpoint) {
        // As other transports do: the launcher reports what is wrong with the end of a process, and nothing may be.
        verbose!(btl::FRAMEWORK, 10, "xsm: process {} has ended, or has left MPI", endpoint.peer);
        endpoint.give_up();
        self.broken.store(true, Ordering::Relaxed);
    }

    #[cold]
    #[inline(never)]
    fn report_broken(&self) {
        self.broken.store(false, Ordering::Relaxed);
        let broken: Vec<&PeerEndpoint> = {
            let endpoints = self.endpoints.lock();
            endpoints.iter().flatten().copied().filter(|one| one.fifo_pair().is_closed() && !one.is_removed()).collect()
        };
        for endpoint in broken {
            if !endpoint.remove() {
                self.drop_removed();
                btl::failed(endpoint.peer);
            }
        }
    }
}

impl btl::Module for Xsm {
    fn caps(&self) -> &Caps {
        &CAPS
    }

    /// Processes of the own job do not use it.
    fn address(&self) -> Vec<u8> {
        Vec::new()
    }

    fn address_beyond_job(&self, name: ProcessName) -> Vec<u8> {
        let Some(own) = self.own(name) else { return Vec::new() };
        Address { registered: own.registered, place: own.file.place, name }.to_bytes()
    }

    fn add_peer(&self, peer: Peer<'_>) -> Result<Option<Endpoint>> {
        self.connect(&peer)
    }

    fn remove_peer(&self, endpoint: Endpoint) {
        let Some(removed) = self.endpoints.lock().get_mut(endpoint.0 as usize).and_then(Option::take) else { return };
        removed.remove();
        self.change_live(|live| {
            live.endpoints.retain(|endpoint| !endpoint.is_removed());
            live.removed.push(removed);
        });
        let mut abandoned = self.abandoned.lock();
        for (list, mapping) in abandoned.iter_mut().zip(removed.leave()) {
            mapping.abandon();
            list.push(mapping);
        }
    }

    #[inline]
    unsafe fn send_inline(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        payload: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        let endpoint = self.endpoint(to).ok_or(Full)?;
        endpoint.send(&self.broken, |producer, awaited| {
            // SAFETY: `payload` is readable for `bytes` by the caller's promise.
            unsafe { producer.push_inline(am, immediate, payload, bytes, awaited) }
        })
    }

    fn send(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        let endpoint = self.endpoint(to).ok_or(Full)?;
        endpoint.send(&self.broken, |producer, awaited| producer.push(am, immediate, bytes, None, awaited, fill))
    }

    unsafe fn send_run(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        prefix: &[u8],
        run: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        let endpoint = self.endpoint(to).ok_or(Full)?;
        let prefix_bytes = prefix.len();
        let fill = |place: *mut u8| {
            // SAFETY: `place` has room for the prefix and the run.
            unsafe { memcpy::copy(place, prefix.as_ptr(), prefix_bytes) };
            // SAFETY: as above; the run is readable by the caller's promise.
            unsafe { memcpy::copy(place.wrapping_add(prefix_bytes), run, bytes) };
        };
        endpoint.send(&self.broken, |producer, awaited| {
            producer.push(am, immediate, prefix_bytes + bytes, Some(prefix_bytes), awaited, fill)
        })
    }

    fn shared_word(&self, peer: Endpoint, own: bool, index: u32) -> Option<&AtomicU64> {
        self.endpoint(peer)?.shared_word(own, index)
    }

    fn fifo_pair(&self, peer: Endpoint) -> Option<&FifoPair> {
        Some(self.endpoint(peer)?.fifo_pair())
    }

    fn wake(&self, peer: Endpoint) {
        if let Some(endpoint) = self.endpoint(peer) {
            endpoint.wake();
        }
    }

    fn finish(&self) {
        let endpoints = self.endpoints.lock();
        endpoints.iter().flatten().filter(|endpoint| !endpoint.is_removed()).for_each(|endpoint| endpoint.finish());
    }

    /// Jobs that meet no other one pay nothing in a pass of progress.
    fn is_polled_without_peers(&self) -> bool {
        false
    }

    #[inline]
    fn poll(&self) -> usize {
        // Relaxed: a peer that another thread has just added is polled in the next pass.
        if self.connected.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        if self.has_removed() {
            self.free_removed();
        }
        if self.is_look_due() {
            self.look();
        }
        let (mut taken, mut place, mut changes) = (0, 0, None);
        // The list is not locked while handlers run: they may add peers. After a change it is gone through again from the start.
        loop {
            let (endpoint, now) = self.live_at(place);
            if changes.is_some_and(|changes| changes != now) {
                (place, changes) = (0, None);
                continue;
            }
            let Some(endpoint) = endpoint else { break };
            (place, changes) = (place + 1, Some(now));
            if endpoint.fifo_pair().is_closed() {
                continue;
            }
            let drained = btl::drain(endpoint.fifo_pair(), endpoint.peer);
            if drained.malformed && !endpoint.give_up() {
                let peer = endpoint.peer;
                message!(
                    "btl/xsm: process {peer} wrote a message that does not follow the format; the connection to it is closed"
                );
                self.broken.store(true, Ordering::Relaxed);
            }
            if drained.made_room {
                endpoint.wake();
            }
            taken += drained.taken;
            if drained.taken == 0 && endpoint.has_ended() {
                self.ended(endpoint);
                taken += 1;
            }
        }
        if self.broken.load(Ordering::Relaxed) {
            self.report_broken();
        }
        taken
    }

    fn poll_peer(&self, from: Endpoint, polls: u32) -> Option<RxMessage<'_>> {
        let peeked = self.fifo_pair(from)?.peek(polls)?;
        Some(RxMessage { am: peeked.kind(), immediate: peeked.immediate, payload: peeked.payload() })
    }

    fn consume(&self, from: Endpoint) {
        if let Some(fifo_pair) = self.fifo_pair(from) {
            fifo_pair.take();
        }
    }
}

fn checked_address(peer: &Peer<'_>) -> Result<Address> {
    let theirs = Address::wire_id_of(peer.address);
    btl::check_wire_id("btl/xsm", peer.index, theirs, wire::WIRE_ID, wire::FORMAT)?;
    Address::parse(peer.address).ok_or(Error::Malformed)
}

/// How often a process looks whether its peers are still there, at most.
const LOOK_NS: u64 = 100_000_000;
/// One that tests in a loop, or that others keep busy, does not sleep.
const PASSES_PER_LOOK: u32 = 4096;

static CAPS: Caps = Caps {
    immediate_bits: fifo::IMMEDIATE_BITS,
    inline_bytes: fifo::INLINE_BYTES,
    eager_bytes: fifo::PAYLOAD_BYTES,
    send_bytes: fifo::PAYLOAD_BYTES,
    latency_ns: 150,
    bandwidth_mbps: 80_000,
    exclusivity: 512,
    remote: RemoteCaps::NONE,
    wire_id: wire::WIRE_ID,
};
