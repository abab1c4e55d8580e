//! For people: why a connection cannot be made, and what to do.

use crate::connection::Connection;
use crate::path::Path;
use crate::record::Protect;
use crate::socket;
use crate::transport::Transport;
use crate::tx::Tx;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use rustix::io::Errno;

/// Why a connection cannot be made.
pub type Reason = String;

/// Which connection cannot be made, both ends and the interface, and why.
pub fn cannot(transport: &Transport, connection: &Connection, reason: &Reason) -> String {
    format!("cannot connect {}: {reason}", transport.ends(connection))
}

/// As [`socket::why`] of an attempt, with what to do.
pub fn why(errno: Errno) -> Reason {
    let why = socket::why(errno);
    match errno {
        Errno::NETUNREACH => {
            format!("{why}; add one on both hosts, or name interfaces that join them with btl_tcp_if_include")
        }
        Errno::HOSTUNREACH => format!("{why}; btl_tcp_if_include names the interfaces that join the two"),
        _ => why,
    }
}

/// Where all ways to a peer were tried in vain: between which addresses, if there was more than one.
pub fn tried(transport: &Transport, connection: &Connection) -> String {
    let connections = || transport.to_peer(connection.peer);
    let own = connections().map(Connection::path);
    let mut paths: Vec<Path> = Vec::new();
    for path in own.chain(connections().flat_map(|one| &one.spare).copied()) {
        // What was spare may have become a connection's own.
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    if paths.len() < 2 {
        return String::new();
    }
    let mut text = String::from("; tried were ");
    for (place, path) in paths.iter().take(NAMED_MOST).enumerate() {
        text.push_str(if place == 0 { "" } else { ", " });
        text.push_str(&format!("{} to {}", path.local.address, path.remote.address));
    }
    if paths.len() > NAMED_MOST {
        text.push_str(&format!(" and {} more", paths.len() - NAMED_MOST));
    }
    text
}

/// The reason of an attempt whose deadline has passed.
pub fn too_late(transport: &Transport, tx: &Tx) -> Reason {
    let patience_ns = transport.patience_ns(tx);
    let parameter = if patience_ns == transport.limits.connect_timeout_ns { "connect" } else { "path" };
    format!(
        "no answer within {} s (btl_tcp_{parameter}_timeout_s): a firewall, a router between the two that does not forward, or an \
         interface that the peer's network cannot reach: btl_tcp_if_include says which ones to use",
        patience_ns / 1_000_000_000
    )
}

/// The reason where the two ends want different things.
pub fn other_protection(connection: &Connection, theirs: Protect) -> Reason {
    format!(
        "process {} protects it by `{}`, this process by `{}`: give all processes of a job the same btl_tcp_protect",
        connection.peer,
        theirs.name(),
        connection.protect.name()
    )
}

/// So many pairs of addresses are named.
const NAMED_MOST: usize = 8;
