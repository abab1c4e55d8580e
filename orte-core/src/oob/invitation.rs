//! What a daemon is told at its start, as lines on standard input: nobody else on its host sees them, as everybody would on a
//! command line.

use super::{PROTOCOL, SECRET_BYTES, Secret};
use crate::universe::Ports;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;
use core::net::SocketAddr;

/// The longest text that is read.
pub const LONGEST: usize = 60 << 10;

/// An invitation to call mpirun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// The node that the daemon is, and what its host is called in the job. Where one agent starts several daemons, which all read
    /// the same text, those of all of them.
    pub hosts: Vec<(u32, String)>,
    /// The job's secret.
    pub secret: Secret,
    /// After so long without a sign of life the other side counts as lost.
    pub silence_ms: u64,
    /// How long to try to reach mpirun.
    pub patience_ms: u64,
    /// Where mpirun listens.
    pub addresses: Vec<SocketAddr>,
    /// Where ranks turn to beyond their job. They hold secrets, so they travel as the job's does.
    pub ports: Ports,
}

/// Why a text is no invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It ended before its last line.
    Cut,
    /// mpirun is of this other version.
    Version(String),
    /// This line makes no sense.
    Line(String),
}

impl Invitation {
    /// The text.
    pub fn encode(&self, version: &str) -> String {
        let mut text = format!("{FIRST}{version} {PROTOCOL}\n");
        let mut secret = String::new();
        for byte in self.secret {
            let _ = write!(secret, "{byte:02x}");
        }
        let addresses: Vec<String> = self.addresses.iter().map(|address| format!("{address}")).collect();
        let hosts: Vec<String> = self.hosts.iter().map(|(node, name)| format!("{node}={name}")).collect();
        let _ = write!(
            text,
            "hosts {}\nsecret {secret}\nsilence {}\npatience {}\naddresses {}\nuniverse {}\nparent {}\n{LAST}\n",
            hosts.join(" "),
            self.silence_ms,
            self.patience_ms,
            addresses.join(" "),
            self.ports.universe,
            self.ports.parent,
        );
        text
    }

    /// The node of the daemon on the host that is called so in the job. The name does not matter where there is only one.
    pub fn node_of(&self, name: Option<&str>) -> Option<u32> {
        match (&self.hosts[..], name) {
            ([(node, _)], _) => Some(*node),
            (all, Some(name)) => all.iter().find(|(_, known)| known == name).map(|(node, _)| *node),
            _ => None,
        }
    }

    /// Whether a text that begins so is complete.
    pub fn is_complete(text: &str) -> bool {
        text.lines().any(|line| line == LAST) && text.ends_with('\n')
    }

    /// Reads the text; `version` is the daemon's own.
    pub fn decode(text: &str, version: &str) -> Result<Invitation, Refused> {
        let mut lines = text.lines();
        let first = lines.next().ok_or(Refused::Cut)?;
        let theirs = first.strip_prefix(FIRST).ok_or_else(|| Refused::Line(first.to_owned()))?;
        if theirs != format!("{version} {PROTOCOL}") {
            return Err(Refused::Version(theirs.split(' ').next().unwrap_or_default().to_owned()));
        }
        let mut field = |name: &str| -> Result<&str, Refused> {
            let line = lines.next().ok_or(Refused::Cut)?;
            let value = line.strip_prefix(name).and_then(|rest| rest.strip_prefix(' '));
            // Of the secret not even a damaged one is shown.
            value.ok_or_else(|| Refused::Line(line.split(' ').next().unwrap_or_default().to_owned()))
        };
        let wrong = |name: &str| Refused::Line(name.to_owned());
        let host = |word: &str| {
            let (node, name) = word.split_once('=')?;
            Some((node.parse().ok()?, name.to_owned()))
        };
        let hosts: Option<Vec<(u32, String)>> = field("hosts")?.split_whitespace().map(host).collect();
        let hosts = hosts.filter(|all| !all.is_empty()).ok_or_else(|| wrong("hosts"))?;
        let secret = secret(field("secret")?).ok_or_else(|| wrong("secret"))?;
        let silence_ms = field("silence")?.parse().map_err(|_| wrong("silence"))?;
        let patience_ms = field("patience")?.parse().map_err(|_| wrong("patience"))?;
        let addresses: Result<Vec<SocketAddr>, _> = field("addresses")?.split_whitespace().map(str::parse).collect();
        let addresses = addresses.ok().filter(|all| !all.is_empty()).ok_or_else(|| wrong("addresses"))?;
        let ports = Ports { universe: field("universe")?.to_owned(), parent: field("parent")?.to_owned() };
        match lines.next() {
            Some(LAST) => Ok(Invitation { hosts, secret, silence_ms, patience_ms, addresses, ports }),
            Some(line) => Err(wrong(line)),
            None => Err(Refused::Cut),
        }
    }
}

fn secret(text: &str) -> Option<Secret> {
    let mut secret = [0; SECRET_BYTES];
    if text.len() != 2 * SECRET_BYTES || !text.is_ascii() {
        return None;
    }
    for (index, byte) in secret.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(secret)
}

const FIRST: &str = "ompi-rs mpirun ";
const LAST: &str = "end";
