//! The connecting side: connections that this process makes, from the first message to the verdict.

use crate::connection::Connection;
use crate::handshake::{self, EndpointIds};
use crate::handshake_buffer::HandshakeBuffer;
use crate::record::Protect;
use crate::rx_table::RxTable;
use crate::session::Session;
use crate::socket;
use crate::state::State;
use crate::transport::{Token, Transport};
use crate::tx::Tx;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::SocketAddr;
use opal_core::framework::btl;
use opal_core::sync::Ordering;
use opal_core::{sys, verbose};
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;

/// Why a connection cannot be made.
pub type Reason = String;

/// Begins to connect: at the first message. The next poll reports what goes wrong.
#[cold]
pub fn begin(transport: &Transport, connection: &Connection, tx: &mut Tx) {
    let now = sys::monotonic_ns();
    tx.deadline_ns = now + transport.limits.connect_timeout_ns;
    let mut attempts = transport.attempts.lock();
    if attempts.is_empty() {
        transport.last_seen_ns.store(now, Ordering::Relaxed);
    }
    attempts.push(connection.id);
    transport.attempt_count.store(attempts.len(), Ordering::Relaxed);
    drop(attempts);
    attempt(transport, connection, tx);
}

/// Notes where this process was away for so long that peers may have given up its attempts: that is no fault of theirs, and
/// costs no retry. To be called before the sockets are looked at.
pub fn note_absence(transport: &Transport) {
    if transport.attempt_count.load(Ordering::Relaxed) == 0 {
        return;
    }
    let now = sys::monotonic_ns();
    let last = transport.last_seen_ns.swap(now, Ordering::Relaxed);
    if now.saturating_sub(last) < transport.limits.connect_timeout_ns / 2 {
        return;
    }
    let ids = transport.attempts.lock().clone();
    for connection in ids.into_iter().filter_map(|id| transport.connection(id)) {
        connection.tx.lock().was_away = true;
    }
}

/// Takes the next step of an attempt whose socket is ready. `Err` if the connection cannot be made.
pub fn advance(transport: &Transport, table: &mut RxTable, connection: &Connection, tx: &mut Tx) -> Result<(), Reason> {
    let Some(socket) = tx.socket.clone() else { return Ok(()) };
    match tx.state {
        State::Connecting => {
            let said = socket::connect_result(&socket).and_then(|()| send_hello(transport, connection, tx));
            match said {
                Err(errno) if is_transient(errno) && back_off(transport, tx) => Ok(()),
                said => said.map_err(socket::why),
            }
        }
        State::HelloSent(hello) => {
            let Some(answer) = receive(transport, tx)? else { return Ok(()) };
            let proof = handshake::proof(&transport.job, &hello, &answer)
                .ok_or_else(|| String::from("the process that listens there does not belong to this job"))?;
            match socket::send(&socket, &proof) {
                Ok(sent) if sent == proof.len() => {
                    tx.session = (connection.protect != Protect::None).then(|| {
                        let keys = handshake::keys(&transport.job, &hello, &handshake::nonce_of(&answer));
                        Session::connecting(connection.protect, &keys)
                    });
                    tx.state = State::ProofSent;
                }
                Ok(_) => return Err(String::from("the system has no room for 32 bytes")),
                Err(errno) => return retry(transport, tx, Some(errno)),
            }
            Ok(())
        }
        State::ProofSent => {
            let Some([verdict]) = receive(transport, tx)? else { return Ok(()) };
            match verdict {
                handshake::WELCOME => {
                    let session = tx.session.take();
                    table.connected(transport, connection, tx, socket, session);
                    Ok(())
                }
                other
                    if let Some(theirs) = other.checked_sub(handshake::OTHER_PROTECTION).and_then(Protect::decode) =>
                {
                    Err(other_protection(connection, theirs))
                }
                handshake::YIELD => {
                    let ends = transport.ends(connection);
                    verbose!(btl::FRAMEWORK, 30, "tcp: the other end's connection goes first {ends}");
                    tx.state = State::Yielded;
                    tx.deadline_ns = sys::monotonic_ns() + transport.limits.connect_timeout_ns;
                    tx.socket = None;
                    Ok(())
                }
                _ => Err(String::from("the process that listens there gave an invalid verdict in the handshake")),
            }
        }
        _ => Ok(()),
    }
}

/// Goes on with attempts whose time has come; returns those whose deadline has passed.
pub fn check_clock(transport: &Transport) -> Vec<u32> {
    if transport.attempt_count.load(Ordering::Relaxed) == 0 {
        return Vec::new();
    }
    let now = sys::monotonic_ns();
    let (mut late, mut over): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    // A copy: `begin` is called with the connection locked and locks the list second.
    let ids = transport.attempts.lock().clone();
    for connection in ids.into_iter().filter_map(|id| transport.connection(id)) {
        let mut tx = connection.tx.lock();
        match tx.state {
            State::Backoff { until_ns } if until_ns <= now => attempt(transport, connection, &mut tx),
            State::Connecting if tx.deadline_ns < now => late.push(connection.id),
            // The peer may have given its connection up, or compute: a new attempt finds out whether it is there.
            State::Yielded if tx.deadline_ns < now => {
                tx.deadline_ns = now + transport.limits.connect_timeout_ns;
                attempt(transport, connection, &mut tx);
            }
            // The system watches over the handshake: `socket::detect_silence`.
            State::HelloSent(_) | State::ProofSent => {}
            State::Backoff { .. } | State::Connecting | State::Yielded => {}
            State::Idle
            | State::Connected
            | State::Failed(_)
            | State::Refused(_)
            | State::FailedOver(_)
            | State::Closed => {
                over.push(connection.id);
            }
        }
    }
    let mut attempts = transport.attempts.lock();
    attempts.retain(|id| !late.contains(id) && !over.contains(id));
    transport.attempt_count.store(attempts.len(), Ordering::Relaxed);
    late
}

/// For people: which connection cannot be made, both ends and the interface, and why.
pub fn cannot(transport: &Transport, connection: &Connection, reason: &Reason) -> String {
    format!("cannot connect {}: {reason}", transport.ends(connection))
}

/// The reason of an attempt whose deadline has passed.
pub fn too_late(transport: &Transport) -> Reason {
    format!(
        "no answer within {} s (btl_tcp_connect_timeout_s): a firewall, or an interface that the peer's network cannot reach: \
         btl_tcp_if_include says which ones to use",
        transport.limits.connect_timeout_ns / 1_000_000_000
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

fn send_hello(transport: &Transport, connection: &Connection, tx: &mut Tx) -> rustix::io::Result<()> {
    let Some(socket) = tx.socket.clone() else { return Ok(()) };
    let ids = EndpointIds {
        from: transport.job.index,
        to: connection.peer,
        from_interface: connection.local.interface,
        to_interface: connection.remote.interface,
        protect: connection.protect,
    };
    let hello = handshake::hello(&transport.job, ids, &sys::random()?);
    socket::detect_silence(&socket, transport.limits.connect_timeout_ns)?;
    // A new socket has room for so little.
    if socket::send(&socket, &hello)? != hello.len() {
        return Err(Errno::NOBUFS);
    }
    tx.state = State::HelloSent(hello);
    transport.rewatch(connection, tx, EventFlags::IN);
    Ok(())
}

/// The peer's next message of the handshake, once all of it is there.
fn receive<const WANTED: usize>(transport: &Transport, tx: &mut Tx) -> Result<Option<[u8; WANTED]>, Reason> {
    let Some(socket) = tx.socket.clone() else { return Ok(None) };
    match tx.handshake.receive(&socket) {
        Ok(message) => Ok(message),
        Err(errno) => retry(transport, tx, errno).map(|()| None),
    }
}

/// The connection was closed or lost before the peer's verdict: the peer may have had too many in the handshake.
fn retry(transport: &Transport, tx: &mut Tx, errno: Option<Errno>) -> Result<(), Reason> {
    // The peer's system was reached: its time begins again.
    tx.deadline_ns = sys::monotonic_ns() + transport.limits.connect_timeout_ns;
    if back_off(transport, tx) {
        return Ok(());
    }
    Err(errno.map_or_else(|| String::from("the other end closed each connection before it was made"), socket::why))
}

/// Makes one attempt.
fn attempt(transport: &Transport, connection: &Connection, tx: &mut Tx) {
    let to = SocketAddr::new(connection.remote.address, connection.remote.port);
    let begun = socket::connect(connection.local.address, to, &transport.limits).and_then(|socket| {
        socket::watch(&transport.epoll, &socket, Token::Connection(connection.id).encode(), EventFlags::OUT)?;
        Ok(socket)
    });
    match begun {
        Ok(socket) => {
            tx.state = State::Connecting;
            tx.was_away = false;
            let is_connected = socket::is_connected(&socket);
            tx.socket = Some(Arc::new(socket));
            verbose!(btl::FRAMEWORK, 30, "tcp: connecting {}", transport.ends(connection));
            // Within a machine that takes no time. The hello goes at once: this process may compute from now on, and
            // the peer may close connections without a hello.
            if is_connected {
                // What fails does so again at the next poll, which reports it.
                _ = send_hello(transport, connection, tx);
            }
        }
        Err(errno) if is_transient(errno) && back_off(transport, tx) => {}
        Err(errno) => {
            tx.state = State::Failed(errno);
            transport.has_failed.store(true, Ordering::Relaxed);
        }
    }
}

/// Has the next attempt begin after a pause, which is twice as long each time. `false` if there is none: all retries were
/// made, or the deadline comes first.
fn back_off(transport: &Transport, tx: &mut Tx) -> bool {
    let pause_ns = (BACKOFF_NS << tx.retries.min(BACKOFF_DOUBLINGS)).min(BACKOFF_MAX_NS);
    let until_ns = sys::monotonic_ns() + pause_ns;
    let is_own_fault = core::mem::take(&mut tx.was_away);
    if is_own_fault {
        tx.deadline_ns = tx.deadline_ns.max(sys::monotonic_ns() + transport.limits.connect_timeout_ns);
    } else if tx.retries >= transport.limits.connect_retries || until_ns > tx.deadline_ns {
        return false;
    } else {
        tx.retries += 1;
    }
    (tx.socket, tx.session) = (None, None);
    tx.handshake = HandshakeBuffer::new();
    tx.state = State::Backoff { until_ns };
    true
}

/// Whether the next attempt may succeed where this one did not.
fn is_transient(errno: Errno) -> bool {
    matches!(errno, Errno::CONNREFUSED | Errno::CONNRESET | Errno::CONNABORTED | Errno::PIPE)
}

const BACKOFF_NS: u64 = 10_000_000;
const BACKOFF_DOUBLINGS: u32 = 10;
const BACKOFF_MAX_NS: u64 = 1_000_000_000;
