//! What the messages of a launch weigh: the real ones, made of a job of the shape that is asked for.

use crate::tree::Shape;
use bench_registry::job::Job;
use bench_registry::{baseline, numeric};
use orte_core::modex::frame;
use orte_core::oob::Frame;
use orte_core::oob::orders::{App, Daemons, Input, JobOrders};
use orte_core::routed::envelope;

/// Bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// What a daemon is told to start, the same for all of them.
    pub orders: u64,
    /// A rank has started, in a state, and it ended: a frame each.
    pub rank_state: u64,
    /// The addresses of a node's ranks, as a section.
    pub section: Vec<u64>,
    /// What a frame with sections has beside them.
    pub frame: u64,
    /// A barrier's frame, either way.
    pub barrier: u64,
    /// What the string-keyed registry would tell each daemon of all processes.
    pub baseline: u64,
}

impl Sizes {
    /// Of a job with that shape.
    pub fn new(shape: &Shape) -> Sizes {
        let job = Job::new(shape.hosts * shape.per_host, shape.per_host);
        Sizes {
            orders: sealed(&Frame::Orders(Box::new(orders(&job, shape.radix)))),
            rank_state: sealed(&Frame::State(1, 1)),
            section: (0..shape.nodes()).map(|node| section(&job, shape, node)).collect(),
            frame: sealed(&Frame::Modex(frame::addresses(core::iter::empty()))),
            barrier: sealed(&Frame::Modex(frame::release(0))),
            baseline: of_strings(shape),
        }
    }

    /// Of all sections.
    pub fn all(&self) -> u64 {
        self.section.iter().sum()
    }
}

/// As it goes over the wire: length, envelope, frame, proof.
fn sealed(frame: &Frame) -> u64 {
    (frame.encode().len() + envelope::BYTES + 4 + orte_core::oob::handshake::PROOF_BYTES) as u64
}

/// The addresses of the ranks of a node; node 0 has none.
pub fn addresses_of(job: &Job, shape: &Shape, node: usize) -> Vec<(u32, Vec<u8>)> {
    let first = (node as u32).saturating_sub(1) * shape.per_host;
    let count = if node == 0 { 0 } else { shape.per_host };
    (first..first + count).map(|rank| (rank, job.processes[rank as usize].addresses.to_vec())).collect()
}

fn section(job: &Job, shape: &Shape, node: usize) -> u64 {
    let addresses = addresses_of(job, shape, node);
    frame::sections(job.processes.len() as u32, &addresses).expect("ranks of the job, each once").len() as u64
}

fn orders(job: &Job, radix: u32) -> JobOrders {
    let names = core::iter::once("head".to_owned()).chain(job.nodes.iter().cloned());
    let words = |text: &str| text.split(' ').map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>();
    JobOrders {
        nodes: job.processes.iter().map(|process| process.node + 1).collect(),
        names: names.collect(),
        universe: job.processes.len() as u32,
        binding: Vec::new(),
        slots: Vec::new(),
        stdin: Input::None,
        merge: false,
        pty: Some((50, 200)),
        directory: b"/project/of/somebody/with/a/long/name".to_vec(),
        // About what a login has with modules loaded.
        environment: (0..60).map(|at| (format!("VARIABLE_{at}").into_bytes(), vec![b'v'; 50])).collect(),
        apps: vec![App {
            ranks: job.processes.len() as u32,
            command: words("./solver --input case.toml --steps 100000"),
            directory: None,
            path: None,
            is_empty: false,
            changes: Vec::new(),
            program: None,
        }],
        files: Vec::new(),
        daemons: Daemons {
            radix,
            words: vec!["ssh".to_owned()],
            command: b"/opt/ompi-rs/bin/mpirun --ompi-rs-daemon".to_vec(),
            ..Daemons::default()
        },
    }
}

/// Of the string-keyed message the bytes of a process are the same in every job but for digits: those of 4,096 processes stand for more.
fn of_strings(shape: &Shape) -> u64 {
    let ranks = shape.hosts * shape.per_host;
    let few = ranks.min(4096);
    let bytes = baseline::encode(&Job::new(few, shape.per_host)).len() as u64;
    bytes * u64::from(ranks) / u64::from(few)
}

/// The same message of ours.
pub fn of_numbers(shape: &Shape) -> u64 {
    numeric::registry(&Job::new(shape.hosts * shape.per_host, shape.per_host), true).image().len() as u64
}
