//! Where no connection to a peer can be made between the addresses that were chosen: other pairs of addresses of the two, all at
//! once, within one deadline. The first that connects and whose other end proves to be the peer becomes the connection's path.

use crate::candidate::Candidates;
use crate::connect;
use crate::connection::Connection;
use crate::failure_message::Reason;
use crate::path::Path;
use crate::state::State;
use crate::transport::Transport;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use opal_core::sys;

/// Begins. `false` if there is no other pair of addresses, or this was done before.
#[cold]
pub fn begin(transport: &Transport, connection: &Connection) -> bool {
    let spare: Vec<Path> = transport.to_peer(connection.peer).flat_map(|one| &one.spare).copied().collect();
    let mut tx = connection.tx.lock();
    if spare.is_empty() || tx.candidates.is_some() || connection.found.get().is_some() {
        return false;
    }
    tx.abandon_socket();
    tx.candidates = Some(Box::new(Candidates::new(&spare, &transport.limits)));
    tx.state = State::Backoff { until_ns: sys::monotonic_ns() };
    connect::list(transport, connection);
    true
}

/// An attempt of a connection failed: whether that was one of its search, which goes on then.
pub fn is_on(transport: &Transport, connection: &Connection) -> bool {
    let mut tx = connection.tx.lock();
    // Without a current one nothing is left: `go_on` said so.
    if tx.candidates.as_mut().and_then(|candidates| candidates.current.take()).is_none() {
        return false;
    }
    tx.abandon_socket();
    tx.state = State::Backoff { until_ns: sys::monotonic_ns() };
    connect::list(transport, connection);
    true
}

/// Shakes hands with the first that connects. `Some` if nobody is left who might.
pub fn go_on(transport: &Transport, connection: &Connection) -> Option<Reason> {
    let mut tx = connection.tx.lock();
    let now = sys::monotonic_ns();
    let candidates = tx.candidates.as_mut()?;
    if let Some(socket) = candidates.next_connected() {
        connect::attempt_on(transport, connection, &mut tx, Ok(socket));
        tx.deadline_ns = now + transport.limits.connect_timeout_ns;
        return None;
    }
    if candidates.is_over(now) {
        let (tried, seconds) = (candidates.tried, transport.limits.connect_timeout_ns / 1_000_000_000);
        return Some(format!(
            "none of {tried} other pairs of addresses leads there within {seconds} s: btl_tcp_if_include says which interfaces to use"
        ));
    }
    tx.state = State::Backoff { until_ns: now + LOOK_EVERY_NS };
    None
}

const LOOK_EVERY_NS: u64 = 5_000_000;
