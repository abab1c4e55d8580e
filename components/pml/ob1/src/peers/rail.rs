//! The transports that share the fragments of long messages to one process. Fragments are not matched, so their order does
//! not count.

use crate::wire;
use alloc::boxed::Box;
use ompi_core::framework::bml::Path;
use opal_core::framework::btl::Full;
use opal_core::sync::{AtomicU64, Ordering};

/// All rails to a process: at least one.
pub struct Rails(Box<[Rail]>);

/// One transport to a process.
pub struct Rail {
    /// The transport.
    pub path: Path,
    /// Most bytes of a fragment, without its prefix.
    pub fragment_bytes: usize,
    mbps: u64,
    // When it would have sent all it was given, in the time of an ideal wire.
    clock: AtomicU64,
}

impl Rails {
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

    /// Gives the next fragment to the rail that will be free first, in proportion to their bandwidths; if that has no room,
    /// to another one. `send` gets the rail and returns how many bytes it sent.
    #[inline]
    pub fn spread(
        &self,
        mut send: impl FnMut(&Rail) -> core::result::Result<usize, Full>,
    ) -> core::result::Result<usize, Full> {
        if let [only] = &self.0[..] {
            return send(only);
        }
        let clock = |rail: &&Rail| rail.clock.load(Ordering::Relaxed);
        for _ in 0..self.0.len() {
            // The state's lock is held: nobody else changes the clocks.
            let Some(rail) = self.0.iter().min_by_key(clock) else { break };
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
        Rail { path, fragment_bytes, mbps: u64::from(caps.bandwidth_mbps.max(1)), clock: AtomicU64::new(0) }
    }

    fn is_usable(&self) -> bool {
        self.path.module.caps().immediate_bits >= wire::IMMEDIATE_BITS && self.fragment_bytes > 0
    }
}

const CLOCK_SCALE: u64 = 1024;
const PAGE: usize = 4096;
