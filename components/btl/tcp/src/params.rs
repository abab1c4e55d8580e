//! Parameters.

use crate::record::Protect;
use crate::wire;
pub use opal_core::mca::ports;
use rustix::process::{Resource, getrlimit};

opal_core::params! {
    /// Interfaces to use, by name or as addresses such as 10.0.0.0/8, separated by commas; empty means all.
    pub static IF_INCLUDE: Text = Text(""), "", level 2;
    /// Interfaces not to use, written as for if_include; where both are given, of those that if_include names.
    pub static IF_EXCLUDE: Text = Text(""), "", level 2;
    /// Speeds in Mb/s where the system does not know them or is wrong, such as eth0=10000,eth1=1000; long messages are
    /// spread over the interfaces in this proportion.
    pub static IF_SPEED: Text = Text(""), "", level 4;
    /// Ports to listen on, such as 5000-5100 for a firewall; empty means any.
    pub static PORT: Text = Text(""), "", level 2;
    /// How long to try to reach a peer before giving up: until its system connects, and how long that system may be silent
    /// in the handshake. A peer that computes meanwhile is waited for.
    pub static CONNECT_TIMEOUT_S: Size = Int(30), "s", level 4;
    /// How long the host of a peer may be silent on a connection in force before the peer counts as lost; 0 means that the
    /// system decides, which takes a quarter of an hour. A host whose process computes is not silent.
    pub static SILENCE_TIMEOUT_S: Size = Int(120), "s", level 4;
    /// Whether a connection that breaks between two hosts is made again, on any path, and goes on where it was. Its sender
    /// keeps what the peer has not acknowledged. Both ends must want it.
    pub static FAILOVER: Bool = Bool(true), "", level 4;
    /// How long a path between two hosts may acknowledge nothing before the connection moves to another one, or tries this one
    /// again; 0: as long as silence_timeout_s.
    pub static PATH_TIMEOUT_S: Size = Int(5), "s", level 4;
    /// How much may be sent between two hosts that the peer has not acknowledged; the sender keeps a copy of it.
    pub static UNACKNOWLEDGED_BYTES: Size = Int(4194304), "bytes", level 5;
    /// How bytes on a connection are protected after the handshake: not at all (none), against changes (auth), or also against
    /// being read (encrypt). By default connections within a node are not, and all others have auth. All processes of a job
    /// need the same; none beyond a node is for networks that no outsider can write to, see unprotected_networks.
    pub static PROTECT: Choice(&["default", "none", "auth", "encrypt"]) = Text("default"), "", level 3;
    /// Networks that no outsider can write to, such as 10.1.0.0/16, separated by commas: by default a connection between two
    /// addresses of one of them is not protected. All processes of a job need the same.
    pub static UNPROTECTED_NETWORKS: Text = Text(""), "", level 3;
    /// How often to try again, within btl_tcp_connect_timeout_s, where a connection is refused or closed before it is made. -1: the
    /// last path to a process of the job as often as fits, every other one 5 times.
    pub static CONNECT_RETRIES: Int = Int(-1), "", level 4;
    /// The system's buffer for what is sent on a connection; 0 means that the system decides.
    pub static SNDBUF: Size = Int(0), "bytes", level 5;
    /// The system's buffer for what arrives on a connection; 0 means that the system decides.
    pub static RCVBUF: Size = Int(0), "bytes", level 5;
    /// Largest message that is sent before the receiver asks for it.
    pub static EAGER_LIMIT: Size = Int(65536), "bytes", level 4;
    /// Largest piece of a long message that is sent at once.
    pub static FRAGMENT_SIZE: Size = Int(524288), "bytes", level 5;
    /// How much may wait for a connection's socket before senders must wait.
    pub static QUEUE_LIMIT: Size = Int(524288), "bytes", level 5;
    /// Small messages that follow each other without another call are gathered up to this many bytes.
    pub static GATHER_BYTES: Size = Int(16384), "bytes", level 5;
    /// Small messages that follow each other without another call are gathered up to this number.
    pub static GATHER_MESSAGES: Size = Int(64), "", level 5;
}

/// What the numbers come to.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub connect_timeout_ns: u64,
    /// `None`: as the number of paths says.
    pub connect_retries: Option<u32>,
    /// 0: the system decides.
    pub silence_timeout_ns: u64,
    pub failover: bool,
    /// 0: only the silence timeout counts.
    pub path_timeout_ns: u64,
    /// How soon a connection that took another path asks for its own.
    pub home_pause_ns: u64,
    pub unacknowledged_bytes: usize,
    /// `None`: as the peer's distance says.
    pub protect: Option<Protect>,
    pub send_buffer: usize,
    pub receive_buffer: usize,
    pub eager_bytes: usize,
    pub fragment_bytes: usize,
    pub queue_bytes: usize,
    pub gather_bytes: usize,
    pub gather_messages: usize,
    /// Files that this process may have open.
    pub descriptors: usize,
}

impl Limits {
    /// From the parameters in force.
    pub fn new() -> Limits {
        let fragment_bytes = FRAGMENT_SIZE.size().clamp(SMALLEST_FRAGMENT, wire::PAYLOAD_MAX);
        Limits {
            connect_timeout_ns: CONNECT_TIMEOUT_S.int().clamp(1, 1 << 20) as u64 * 1_000_000_000,
            connect_retries: u32::try_from(CONNECT_RETRIES.int()).ok(),
            silence_timeout_ns: SILENCE_TIMEOUT_S.int().clamp(0, 1 << 20) as u64 * 1_000_000_000,
            failover: FAILOVER.flag(),
            path_timeout_ns: PATH_TIMEOUT_S.int().clamp(0, 1 << 20) as u64 * 1_000_000_000,
            home_pause_ns: HOME_PAUSE_NS,
            unacknowledged_bytes: UNACKNOWLEDGED_BYTES.size().max(UNACKNOWLEDGED_LEAST),
            protect: [Protect::None, Protect::Auth, Protect::Encrypt]
                .into_iter()
                .find(|protect| protect.name() == PROTECT.text()),
            send_buffer: SNDBUF.size(),
            receive_buffer: RCVBUF.size(),
            // A message that is sent at once has a prefix sometimes.
            eager_bytes: EAGER_LIMIT.size().min(fragment_bytes),
            fragment_bytes,
            queue_bytes: QUEUE_LIMIT.size(),
            gather_bytes: GATHER_BYTES.size(),
            gather_messages: GATHER_MESSAGES.size(),
            descriptors: getrlimit(Resource::Nofile).current.map_or(usize::MAX, |most| most as usize),
        }
    }
}

impl Limits {
    /// How long a host may be silent on all paths.
    pub fn silence_ns(&self) -> u64 {
        if self.silence_timeout_ns == 0 { SYSTEM_SILENCE_NS } else { self.silence_timeout_ns }
    }

    /// How long the host of a peer may be silent until the connection is looked at: 0 for ever.
    pub fn host_timeout_ns(&self) -> u64 {
        match (self.path_timeout_ns, self.silence_timeout_ns) {
            (0, timeout_ns) | (timeout_ns, 0) => timeout_ns,
            (path_ns, silence_ns) => path_ns.min(silence_ns),
        }
    }
}

/// The system sends what nobody acknowledges fifteen times (tcp(7): tcp_retries2).
const SYSTEM_SILENCE_NS: u64 = 900_000_000_000;
const HOME_PAUSE_NS: u64 = 2_000_000_000;
const SMALLEST_FRAGMENT: usize = 1024;
/// While the longest frame waits for room, so much has been sent that the peer acknowledges something (`rx::ACK_BYTES`).
const UNACKNOWLEDGED_LEAST: usize = 2 * wire::PAYLOAD_MAX;
