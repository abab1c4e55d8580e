//! The transports that share the fragments of long messages to one process. Fragments are not matched, so their order does
//! not count.

use crate::{checksum, wire};
use alloc::boxed::Box;
use ompi_core::framework::bml::Path;
use opal_core::framework::btl::{Full, Throughput};
use opal_core::framework::rcache::{self, Registrations};
use opal_core::sync::{AtomicU64, Ordering};

/// All rails to a process: at least one.
pub struct Rails(Box<[Rail]>);

/// One transport to a process.
pub struct Rail {
    /// The transport.
    pub path: Path,
    /// Most bytes of a fragment, without its prefix.
    pub fragment_bytes: usize,
    /// How the transport reads memory of the process, if it does.
    pub getter: Option<Getter>,
    mbps: u64,
    // When it would have sent all it was given, in the time of an ideal wire.
    clock: AtomicU64,
}

/// What is known of a transport that reads memory of a process by itself.
#[derive(Clone, Copy)]
pub struct Getter {
    /// By which both sides name it.
    pub wire_id: u32,
    /// Most bytes at once.
    pub bytes: usize,
    /// Memory of this process that is registered with it.
    pub registrations: &'static Registrations,
}

impl Getter {
    /// Not where messages have checksums: what is read has none.
    fn of(path: &Path) -> Option<Getter> {
        let caps = path.module.caps();
        let bytes = caps.remote.get_bytes;
        let is_usable =
            bytes > 0 && caps.send_bytes >= wire::RTS_BYTES + wire::REMOTE_KEY_BYTES_MAX && !checksum::is_on();
        is_usable.then(|| Getter { wire_id: caps.wire_id, bytes, registrations: rcache::of(path.module) })
    }
}

impl Rails {
    /// The first one that reads memory of the process, or the one that the process names.
    pub fn getter(&self, wire_id: Option<u32>) -> Option<(Path, Getter)> {
        let getters = self.0.iter().filter_map(|rail| Some((rail.path, rail.getter?)));
        getters.into_iter().find(|(_, getter)| wire_id.is_none_or(|wanted| wanted == getter.wire_id))
    }

    /// Those of these paths that carry fragments.
    pub fn new(paths: &[Path]) -> Rails {
        Rails(paths.iter().map(|path| Rail::new(*path)).filter(Rail::is_usable).collect())
    }

    /// Most bytes of a fragment on any of them.
    pub fn fragment_bytes(&self) -> usize {
        self.0.iter().map(|rail| rail.fragment_bytes).max().unwrap_or(0)
    }

    /// None, for tests.
    #[cfg(test)]
    pub fn none() -> Rails {
        Rails(Box::new([]))
    }

    /// Gives the next fragment to the rail that will have carried it first. `send` gets the rail and returns how many bytes it sent.
    #[inline]
    pub fn spread(
        &self,
        mut send: impl FnMut(&Rail) -> core::result::Result<usize, Full>,
    ) -> core::result::Result<usize, Full> {
        if let [only] = &self.0[..] {
            return send(only);
        }
        // Measured rates and others are no proportion.
        if self.carrying().all(|rail| rail.throughput().is_some()) {
            self.by_throughput(send)
        } else {
            self.by_bandwidth(send)
        }
    }

    /// Those that carry something of their own.
    fn carrying(&self) -> impl Iterator<Item = &Rail> {
        self.0.iter().filter(|rail| !rail.path.module.has_failed_over(rail.path.endpoint))
    }

    /// Where all rails were measured: by what is under way on each. A rail that has no room for the fragment it should get is waited for,
    /// rather than that a slower one makes the message late; but not for one that carries nothing any more.
    fn by_throughput(
        &self,
        mut send: impl FnMut(&Rail) -> core::result::Result<usize, Full>,
    ) -> core::result::Result<usize, Full> {
        let is_first = |rail: &&Rail| rail.carried_ns();
        let Some(first) = self.carrying().min_by_key(is_first) else { return Err(Full) };
        let at_most_ns = first.carried_ns() + SLACK_NS;
        let others = self.carrying().filter(|rail| !core::ptr::eq(*rail, first) && rail.carried_ns() <= at_most_ns);
        core::iter::once(first).chain(others).find_map(|rail| send(rail).ok()).ok_or(Full)
    }

    /// In proportion to bandwidths; if the rail whose turn it is has no room, another one.
    fn by_bandwidth(
        &self,
        mut send: impl FnMut(&Rail) -> core::result::Result<usize, Full>,
    ) -> core::result::Result<usize, Full> {
        let clock = |rail: &&Rail| rail.clock.load(Ordering::Relaxed);
        for _ in 0..self.0.len() {
            // The state's lock is held: nobody else changes the clocks.
            let Some(rail) = self.carrying().min_by_key(clock) else { break };
            let now = clock(&rail);
            if let Ok(bytes) = send(rail) {
                rail.clock.store(now + (bytes as u64 * CLOCK_SCALE / rail.mbps).max(1), Ordering::Relaxed);
                return Ok(bytes);
            }
            // Slower than its bandwidth says: what it misses it does not get later.
            let latest = self.0.iter().map(|rail| clock(&rail)).max().unwrap_or(now);
            rail.clock.store(latest + 1, Ordering::Relaxed);
        }
        Err(Full)
    }
}

impl Rail {
    fn new(path: Path) -> Rail {
        let caps = path.module.caps();
        let most = caps.send_bytes.saturating_sub(wire::PREFIX_BYTES);
        // Whole pages, so that all fragments of a message have the same alignment in the user's buffer.
        let fragment_bytes = if most < PAGE { most } else { most / PAGE * PAGE };
        let mbps = u64::from(caps.bandwidth_mbps.max(1));
        Rail { path, fragment_bytes, getter: Getter::of(&path), mbps, clock: AtomicU64::new(0) }
    }

    fn throughput(&self) -> Option<Throughput> {
        self.path.module.throughput(self.path.endpoint)
    }

    /// How long it takes until it has carried what is under way and a fragment more.
    fn carried_ns(&self) -> u64 {
        let Some(Throughput { mbps, unacknowledged }) = self.throughput() else { return 0 };
        (unacknowledged + self.fragment_bytes) as u64 * 8000 / u64::from(mbps.max(1))
    }

    fn is_usable(&self) -> bool {
        self.path.module.caps().immediate_bits >= wire::IMMEDIATE_BITS && self.fragment_bytes > 0
    }
}

const CLOCK_SCALE: u64 = 1024;
/// So much later another rail may be: what a link that carries nothing any more has under way may be little.
const SLACK_NS: u64 = 10_000_000;
const PAGE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_image::{Calls, ENDPOINT, Transport};
    use opal_core::sync::AtomicU32;

    /// A rail on which so much was measured (0: nothing), so many bytes are under way, and so many fit; or one that takes another's path.
    #[derive(Default)]
    struct Measured {
        has_failed_over: AtomicU32,
        mbps: AtomicU32,
        unacknowledged: AtomicU32,
    }

    impl Calls for Measured {
        fn throughput(&self) -> Option<Throughput> {
            let (mbps, unacknowledged) =
                (self.mbps.load(Ordering::Relaxed), self.unacknowledged.load(Ordering::Relaxed));
            (mbps > 0).then_some(Throughput { mbps, unacknowledged: unacknowledged as usize })
        }

        fn has_failed_over(&self) -> bool {
            self.has_failed_over.load(Ordering::Relaxed) != 0
        }
    }

    const FRAGMENT: u32 = 1 << 19;
    const ROOM: u32 = 8 * FRAGMENT;

    type Modules = [&'static Transport<Measured>; 2];

    fn rail(module: &'static Transport<Measured>) -> Rail {
        let path = Path { module, endpoint: ENDPOINT };
        Rail { path, fragment_bytes: FRAGMENT as usize, getter: None, mbps: 1000, clock: AtomicU64::new(0) }
    }

    fn rails() -> (Rails, Modules) {
        let modules: Modules = [(), ()].map(|()| &*Box::leak(Box::default()));
        (Rails(Box::new(modules.map(rail))), modules)
    }

    /// How many of so many fragments took the second rail. Each carries what `carries` says in a millisecond, whatever was measured.
    fn second(rails: &Rails, modules: &Modules, measured: [u32; 2], carries: [u32; 2], fragments: u32) -> u32 {
        modules.iter().zip(measured).for_each(|(module, mbps)| module.0.mbps.store(mbps, Ordering::Relaxed));
        let (mut sent, mut second, mut time) = (0, 0, 0);
        while sent < fragments {
            let given = rails.spread(|rail| {
                let at = usize::from(core::ptr::addr_eq(rail.path.module, modules[1]));
                let unacknowledged = &modules[at].0.unacknowledged;
                if unacknowledged.load(Ordering::Relaxed) + FRAGMENT > ROOM {
                    return Err(Full);
                }
                unacknowledged.fetch_add(FRAGMENT, Ordering::Relaxed);
                second += at as u32;
                Ok(FRAGMENT as usize)
            });
            sent += u32::from(given.is_ok());
            if given.is_err() {
                time += 1;
                assert!(time < 100_000, "nobody gets anything");
                for (module, mbps) in modules.iter().zip(carries) {
                    let left = module.0.unacknowledged.load(Ordering::Relaxed).saturating_sub(mbps * 125);
                    module.0.unacknowledged.store(left, Ordering::Relaxed);
                }
            }
        }
        second
    }

    #[test]
    fn fragments_follow_what_was_measured() {
        for (measured, wanted) in [([1000, 1000], 200), ([900, 300], 100), ([300, 900], 300), ([800, 100], 44)] {
            let (rails, modules) = rails();
            let second = second(&rails, &modules, measured, measured, 400);
            assert!(second.abs_diff(wanted) <= wanted / 10, "{measured:?}: {second} of 400");
        }
    }

    #[test]
    fn where_one_is_not_measured_bandwidths_count() {
        let (rails, modules) = rails();
        assert_eq!(second(&rails, &modules, [900, 0], [10_000, 10_000], 8), 4);
    }

    /// A guess was wrong: nothing will ever be measured there.
    #[test]
    fn a_rail_that_takes_the_path_of_another_one_has_no_share() {
        // So few that all of them fit, and nobody's share is what another one had no room for.
        for (measured, wanted) in [([700, 100], 1), ([0, 0], 4)] {
            let (_, modules) = rails();
            let failed_over: &'static Transport<Measured> = Box::leak(Box::default());
            failed_over.0.has_failed_over.store(1, Ordering::Relaxed);
            let rails = Rails(Box::new([failed_over, modules[0], modules[1]].map(rail)));
            assert_eq!(second(&rails, &modules, measured, [10_000; 2], 8), wanted, "{measured:?}");
        }
    }

    #[test]
    fn nobody_waits_for_a_rail_that_carries_nothing_any_more() {
        for unacknowledged in [0, ROOM - 1, ROOM] {
            let (rails, modules) = rails();
            modules[0].0.unacknowledged.store(unacknowledged, Ordering::Relaxed);
            let second = second(&rails, &modules, [1000, 1000], [0, 1000], 400);
            assert!(second >= 400 - ROOM / FRAGMENT, "{second} of 400");
        }
    }
}
