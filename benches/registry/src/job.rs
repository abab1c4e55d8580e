//! A job as the launcher knows it.

/// One process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Index of its node.
    pub node: u32,
    /// Rank among those of its node.
    pub local_rank: u32,
    /// Where out-of-band messages arrive: IPv4 address and port, big-endian.
    pub contact: [u8; 6],
    /// What its transport published: IPv4 address and port, big-endian, and the eight bytes of the job's mark.
    pub addresses: [u8; 14],
}

/// A job on nodes that each have the same number of ranks, the last perhaps fewer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The names of the nodes.
    pub nodes: Vec<String>,
    /// The processes, by rank.
    pub processes: Vec<Process>,
}

impl Job {
    /// A job of so many ranks, mapped by slot. Ports are as the system gives them out: near each other, in no order.
    pub fn new(ranks: u32, per_node: u32) -> Job {
        let nodes = ranks.div_ceil(per_node);
        let process = |rank: u32| {
            let (node, local_rank) = (rank / per_node, rank % per_node);
            let port = |salt: u32| 32_768 + (rank.wrapping_mul(40_503).wrapping_add(salt) % 28_232) as u16;
            let at = |port: u16| {
                let ([a, b, ..], [high, low]) = (node.to_le_bytes(), port.to_be_bytes());
                [10, 1, b, a, high, low]
            };
            let mut addresses = [0; 14];
            addresses[..6].copy_from_slice(&at(port(17)));
            addresses[6..].copy_from_slice(b"\x5e\x11\x09\xc3\x77\x02\xa4\xd8");
            Process { node, local_rank, contact: at(port(0)), addresses }
        };
        Job {
            nodes: (0..nodes).map(|node| format!("node{node:04}.cluster")).collect(),
            processes: (0..ranks).map(process).collect(),
        }
    }
}
