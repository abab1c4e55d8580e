//! A fuzz target per decoder as a plain test: its corpus, and thousands of mutations of it from a seed.
//!
//! Decoders that are private to their crate are compiled here once more from their own files, so that no crate opens up
//! for its tests.
extern crate alloc;

use std::time::{Duration, Instant};

/// btl/tcp: frames and published addresses.
#[path = "../../../components/btl/tcp/src/wire.rs"]
#[expect(missing_docs, reason = "private to its crate, which documents it otherwise")]
pub mod wire;

/// btl/tcp: the handshake.
#[path = "../../../components/btl/tcp/src/handshake.rs"]
#[expect(missing_docs, reason = "private to its crate, which documents it otherwise")]
pub mod handshake;

/// btl/tcp: records of protected connections.
#[path = "../../../components/btl/tcp/src/record.rs"]
pub mod record;

/// btl/xsm: what a process says of its board.
#[path = "../../../components/btl/xsm/src/wire.rs"]
pub mod xsm_wire;

/// btl/sm: the address of a receive segment.
#[path = "../../../components/btl/sm/src/wire.rs"]
pub mod sm_wire;

/// btl/eth: frames and published addresses.
#[path = "../../../components/btl/eth/src/wire.rs"]
pub mod eth_wire;

/// btl/eth: the numbers of frames.
#[path = "../../../components/btl/eth/src/window.rs"]
pub mod eth_window;

/// btl/ofi: messages and published addresses.
#[path = "../../../components/btl/ofi/src/wire.rs"]
pub mod ofi_wire;

/// btl/uct: messages, published addresses and keys.
#[path = "../../../components/btl/uct/src/wire.rs"]
pub mod uct_wire;

/// osc/rdma: what processes say of their memory in a window.
#[path = "../../../components/osc/rdma/src/wire.rs"]
pub mod rdma_wire;

/// pml/ob1: memory that a sender names.
#[path = "../../../components/pml/ob1/src/wire/remote_key.rs"]
pub mod remote_key;

/// ess/eth: what machines say of themselves.
#[path = "../../../components/ess/eth/src/wire.rs"]
pub mod roll_wire;

/// ess/pmi1: lines of a process manager.
#[path = "../../../components/ess/pmi1/src/wire.rs"]
pub mod pmi1_wire;

/// ess/pmi2: packets of a process manager.
#[path = "../../../components/ess/pmi2/src/wire.rs"]
pub mod pmi2_wire;

/// Layer 3: what a process publishes.
#[path = "../../../ompi-core/src/addresses.rs"]
pub mod addresses;

/// mpirun: what it and its keeper say to each other.
#[path = "../../../orte-core/tools/mpirun/src/wire.rs"]
pub mod control;

/// mpirun: hosts and files of hosts.
#[path = "../../../orte-core/tools/mpirun/src/cli/hosts.rs"]
pub mod hosts;

/// mpirun: files of ranks.
#[path = "../../../orte-core/tools/mpirun/src/rankfile/lines.rs"]
pub mod rank_lines;

/// mpirun: whether a name is this machine's, for `hosts`; no decoder depends on the answer.
pub mod own_host {
    /// As mpirun has it of its own name.
    pub fn is_here(name: &str) -> bool {
        name == "localhost" || name == opal_core::sys::hostname()
    }
}

/// mpirun: why it starts nothing, for `hosts`.
#[path = "../../../orte-core/tools/mpirun/src/refusal.rs"]
pub mod refusal;

/// Random bytes from a seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The same numbers for the same seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        ((self.draw() >> 16) % end as u64) as usize
    }
}

/// Gives `target` every entry of the corpus, every prefix of it, and `rounds` mutations: bytes changed, taken out, put
/// in, fields set to extreme numbers. With OMPI_TEST_FUZZ_S it goes on with further ones until so many seconds are over. A panic says the
/// round, which is the seed, and the bytes that caused it.
pub fn fuzz(corpus: &[&[u8]], rounds: u64, target: impl Fn(&[u8])) {
    for entry in corpus {
        (0..=entry.len()).for_each(|end| target(&entry[..end]));
    }
    let seconds = std::env::var("OMPI_TEST_FUZZ_S").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(0);
    let until = Instant::now() + Duration::from_secs(seconds);
    for round in (0..).take_while(|round| *round < rounds || Instant::now() < until) {
        let bytes = mutated(corpus, round);
        let guard = Says(round, &bytes);
        target(&bytes);
        core::mem::forget(guard);
    }
}

fn mutated(corpus: &[&[u8]], round: u64) -> Vec<u8> {
    let mut random = Random::new(round + 1);
    let mut bytes = match random.below(8) {
        0 => (0..random.below(300)).map(|_| random.draw() as u8).collect(),
        _ => corpus[random.below(corpus.len())].to_vec(),
    };
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        match random.below(5) {
            0 => bytes.insert(at, random.draw() as u8),
            1 => bytes.truncate(at),
            2 => bytes.extend_from_within(at..),
            3 => EXTREMES[random.below(EXTREMES.len())].iter().zip(&mut bytes[at..]).for_each(|(to, byte)| *byte = *to),
            _ => bytes.get_mut(at).into_iter().for_each(|byte| *byte ^= 1 << random.below(8)),
        }
    }
    bytes
}

/// Lengths and counts that decoders believe at their peril.
const EXTREMES: &[&[u8]] = &[
    &[0xff; 4],
    &[0xff; 8],
    &[0; 8],
    &[0xff, 0xff, 0xff, 0x7f],
    &[0, 0, 0, 0x80],
    &[0, 0, 0, 0, 0, 0, 0, 0x80],
    &[0, 0x10, 0, 0],
];

/// Dropped only while a target panics.
struct Says<'a>(u64, &'a [u8]);

impl Drop for Says<'_> {
    fn drop(&mut self) {
        eprintln!("round {} with these bytes: {:?}", self.0, self.1);
    }
}
