//! The connecting side: connections that this process makes, from the first message to the verdict.

use crate::connection::Connection;
use crate::failure_message::{self, Reason};
use crate::handshake::{self, EndpointIds, HELLO_BYTES, Progress};
use crate::record::Protect;
use crate::rx_table::RxTable;
use crate::session::Session;
use crate::socket;
use crate::state::{AttemptEnd, State};
use crate::transport::{Token, Transport};
use crate::tx::Tx;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::framework::btl;
use opal_core::sync::Ordering;
use opal_core::{sys, verbose};
use rustix::event::epoll::EventFlags;
use rustix::fd::OwnedFd;
use rustix::io::Errno;

/// Begins to connect: at the first message. The next poll reports what goes wrong.
#[cold]
pub fn begin(transport: &Transport, connection: &Connection, tx: &mut Tx) {
    let now = sys::monotonic_ns();
    tx.deadline_ns = now + transport.limits.connect_timeout_ns;
    attempt_listed(transport, connection, tx);
}

/// Makes an attempt of a connection that may not be looked at yet.
pub fn attempt_listed(transport: &Transport, connection: &Connection, tx: &mut Tx) {
    list(transport, connection);
    attempt(transport, connection, tx);
}

/// Has [`check_clock`] look at a connection.
pub fn list(transport: &Transport, connection: &Connection) {
    let mut attempts = transport.attempts.lock();
    if attempts.is_empty() {
        transport.last_seen_ns.store(sys::monotonic_ns(), Ordering::Relaxed);
    }
    if !attempts.contains(&connection.id) {
        attempts.push(connection.id);
    }
    transport.attempt_count.store(attempts.len(), Ordering::Relaxed);
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
            let made = socket::connect_result(&socket);
            if let Err(errno) = made {
                tx.attempt_end = Some(end_by(errno));
            }
            let received = table.get(connection.id).map_or(0, |rx| rx.received());
            let said = made.and_then(|()| send_hello(transport, connection, tx, received));
            match said {
                Err(errno) if is_transient(errno) && back_off(transport, connection, tx) => Ok(()),
                said => said.map_err(failure_message::why),
            }
        }
        State::HelloSent(hello) => match receive(transport, connection, tx)? {
            Some(answer) => prove(transport, connection, tx, &socket, &hello, &answer),
            None => Ok(()),
        },
        State::ProofSent => match receive(transport, connection, tx)? {
            Some([verdict]) => take_verdict(transport, table, connection, tx, socket, verdict),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// The answer to the hello has come: checks it, and proves that this process belongs to the job.
fn prove(
    transport: &Transport,
    connection: &Connection,
    tx: &mut Tx,
    socket: &OwnedFd,
    hello: &[u8; HELLO_BYTES],
    answer: &[u8; HELLO_BYTES],
) -> Result<(), Reason> {
    let job = connection.job(&transport.job);
    let Some(proof) = handshake::proof(&job, hello, answer) else {
        let reason = "the process that listens there does not belong to this job";
        return ask_again(transport, connection, tx, String::from(reason));
    };
    match socket::send(socket, &proof) {
        Ok(sent) if sent == proof.len() => {
            tx.session = (connection.protect != Protect::None).then(|| {
                let keys = handshake::keys(&job, hello, &handshake::nonce_of(answer));
                Session::connecting(connection.protect, &keys)
            });
            tx.answered = handshake::progress_of(answer);
            // What was found is the peer: from now on this is the connection's path.
            if let Some(path) = tx.candidates.take().and_then(|candidates| candidates.current) {
                connection.found.call_once(|| path);
            }
            tx.has_proved = true;
            tx.state = State::ProofSent;
            tx.deadline_ns = sys::monotonic_ns() + transport.patience_ns(tx);
            Ok(())
        }
        Ok(_) => Err(String::from("the system has no room for 32 bytes")),
        Err(errno) => retry(transport, connection, tx, Some(errno)),
    }
}

/// The last byte of the handshake, the only one that nothing protects.
fn take_verdict(
    transport: &Transport,
    table: &mut RxTable,
    connection: &Connection,
    tx: &mut Tx,
    socket: Arc<OwnedFd>,
    verdict: u8,
) -> Result<(), Reason> {
    match verdict {
        handshake::WELCOME => {
            let (session, peer) = (tx.session.take(), tx.answered);
            table.connected(transport, connection, tx, socket, session, peer);
            Ok(())
        }
        handshake::YIELD => {
            let ends = transport.ends(connection);
            verbose!(btl::FRAMEWORK, 30, "tcp: the other end's connection goes first {ends}");
            tx.abandon_socket();
            tx.state = State::Yielded;
            tx.deadline_ns = sys::monotonic_ns() + transport.patience_ns(tx);
            Ok(())
        }
        other => match other.checked_sub(handshake::OTHER_PROTECTION).and_then(Protect::decode) {
            Some(theirs) => {
                tx.refused_for = Some(theirs);
                ask_again(transport, connection, tx, failure_message::other_protection(connection, theirs))
            }
            None => {
                let reason = "the process that listens there gave an invalid verdict in the handshake";
                ask_again(transport, connection, tx, String::from(reason))
            }
        },
    }
}

/// What came in the handshake is not what was expected of the peer. If a byte of it was changed on the way, the next attempt finds
/// better; a few of them do, or it is so.
fn ask_again(transport: &Transport, connection: &Connection, tx: &mut Tx, reason: Reason) -> Result<(), Reason> {
    tx.unexpected += 1;
    // Within a machine nothing is changed. After the proof a connection that cannot go on is in force there, or never.
    let may_help = match tx.state {
        State::ProofSent => connection.resumes,
        _ => connection.local.network != connection.remote.network,
    };
    let again = may_help && tx.unexpected <= UNEXPECTED_MOST && back_off(transport, connection, tx);
    if again { Ok(()) } else { Err(reason) }
}

/// What is due for connections.
#[derive(Default)]
pub struct Due {
    /// Those that cannot be made, and why.
    pub late: Vec<(u32, Reason)>,
    /// Those whose search goes on.
    pub searching: Vec<u32>,
    /// Those that can go back to their own path.
    pub home: Vec<u32>,
    /// Those that are made to a process that has ended.
    pub ended: Vec<u32>,
}

/// Goes on with attempts whose time has come; returns what else is due.
pub fn check_clock(transport: &Transport, table: &mut RxTable) -> Due {
    let mut due = Due::default();
    if transport.attempt_count.load(Ordering::Relaxed) == 0 {
        return due;
    }
    let now = sys::monotonic_ns();
    let (mut silent, mut over): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    let mut slow: Vec<(&Connection, bool)> = Vec::new();
    let mut is_broken = false;
    // A copy: `begin` is called with the connection locked and locks the list second.
    let ids = transport.attempts.lock().clone();
    for connection in ids.into_iter().filter_map(|id| transport.connection(id)) {
        let mut tx = connection.tx.lock();
        is_broken |= tx.resume.is_some() && tx.state.is_being_made();
        if tx.state.is_being_made() && btl::has_ended(connection.peer) == Some(true) {
            due.ended.push(connection.id);
        }
        match tx.state {
            State::Backoff { until_ns } if until_ns <= now && tx.candidates.is_some() => {
                due.searching.push(connection.id)
            }
            State::Backoff { until_ns } if until_ns <= now => attempt(transport, connection, &mut tx),
            State::Connecting if tx.deadline_ns < now => {
                due.late.push((connection.id, failure_message::too_late(transport, &tx)))
            }
            State::Connecting if is_late(transport, &tx, now, SLOW_NS) => {
                slow.push((connection, is_late(transport, &tx, now, SILENT_NS)));
            }
            // The peer may have given its connection up, or compute: a new attempt finds out whether it is there.
            State::Yielded if tx.deadline_ns < now => {
                tx.deadline_ns = now + transport.patience_ns(&tx);
                attempt(transport, connection, &mut tx);
            }
            State::HelloSent(_) | State::ProofSent if tx.deadline_ns < now => silent.push(connection.id),
            State::HelloSent(_) | State::ProofSent => {}
            State::Backoff { .. } | State::Connecting | State::Yielded => {}
            State::Connected if tx.via.is_some() => {
                if is_home_there(transport, connection, &mut tx, now) {
                    due.home.push(connection.id);
                }
            }
            State::Idle
            | State::Connected
            | State::Failed(_)
            | State::Refused(_)
            | State::FailedOver
            | State::Closed => {
                over.push(connection.id);
            }
        }
    }
    transport.is_broken.store(is_broken, Ordering::Relaxed);
    let mut attempts = transport.attempts.lock();
    attempts.retain(|id| !over.contains(id) && !due.late.iter().any(|(late, _)| late == id));
    transport.attempt_count.store(attempts.len(), Ordering::Relaxed);
    drop(attempts);
    for (connection, is_silent) in slow {
        let is_in_force = begin_others(transport, connection);
        if is_silent && is_in_force {
            due.late.push((connection.id, String::from("no answer, and another path leads there")));
        }
    }
    for connection in silent.into_iter().filter_map(|id| transport.connection(id)) {
        if let Some(reason) = silent_peer(transport, table, connection, now) {
            due.late.push((connection.id, reason));
        }
    }
    due
}

/// Whether the system has tried for so long to make a connection that was never made, or for half of its time.
fn is_late(transport: &Transport, tx: &Tx, now: u64, after_ns: u64) -> bool {
    let timeout_ns = transport.limits.connect_timeout_ns;
    tx.resume.is_none() && tx.candidates.is_none() && now + timeout_ns > tx.deadline_ns + after_ns.min(timeout_ns / 2)
}

/// A connection may be a wrong guess: the other ones to the same peer begin, too, so that all wrong guesses cost their time together.
/// Whether one of them is in force.
fn begin_others(transport: &Transport, connection: &Connection) -> bool {
    let mut is_in_force = false;
    for other in transport.to_peer(connection.peer).filter(|other| other.id != connection.id) {
        let mut tx = other.tx.lock();
        is_in_force |= tx.state == State::Connected;
        if tx.state == State::Idle {
            begin(transport, other, &mut tx);
        }
    }
    is_in_force
}

/// The deadline of a handshake in which it is the peer's turn has passed. Its system is there (`socket::detect_silence`), so
/// its process computes, or somebody else listens, or something on the way keeps what it sends. The first one is waited for. It is
/// none of that if the peer stopped in the middle of a message, or answers on other paths and not here. So another path is
/// tried beside this one. `Some` if the connection cannot be made.
fn silent_peer(transport: &Transport, table: &mut RxTable, connection: &Connection, now: u64) -> Option<Reason> {
    let others = || transport.to_peer(connection.peer).filter(|other| other.id != connection.id);
    // A connection that came about counts, too.
    let received: u64 = others().map(|other| table.get(other.id).map_or(0, |rx| 1 + rx.received())).sum();
    let seconds = transport.limits.connect_timeout_ns / 1_000_000_000;
    let mut tx = connection.tx.lock();
    if !matches!(tx.state, State::HelloSent(_) | State::ProofSent) {
        return None;
    }
    tx.deadline_ns = now + transport.patience_ns(&tx);
    if tx.handshake.is_begun() {
        let reason = "the process that listens there stopped in the middle of the handshake";
        tx.closed += 1;
        let again = tx.closed <= USUAL_RETRIES && back_off(transport, connection, &mut tx);
        return if again { None } else { Some(String::from(reason)) };
    }
    if tx.candidates.as_mut().is_some_and(|candidates| candidates.take_turns(&transport.limits)) {
        tx.abandon_socket();
        tx.state = State::Backoff { until_ns: now };
        return None;
    }
    let before = tx.received_elsewhere.replace(received);
    if before.is_some_and(|before| received > before) {
        return Some(format!(
            "somebody accepts connections there and says nothing for {seconds} s, while the process talks on another path"
        ));
    }
    if before.is_none() {
        let ends = transport.ends_of(connection, &tx);
        verbose!(
            btl::FRAMEWORK,
            5,
            "tcp: no answer in the handshake for {seconds} s {ends}: the process computes, or somebody else listens there"
        );
    }
    drop(tx);
    for other in others() {
        let mut tx = other.tx.lock();
        if tx.state == State::Idle {
            begin(transport, other, &mut tx);
            break;
        }
    }
    None
}

/// Of a connection that took another path: whether its own one connects again, by [`Tx::probe`]. Asks now and then.
fn is_home_there(transport: &Transport, connection: &Connection, tx: &mut Tx, now: u64) -> bool {
    if tx.probe.as_ref().is_some_and(socket::is_connected) {
        return true;
    }
    if tx.deadline_ns < now {
        tx.deadline_ns = now + tx.home.pause_ns(transport.limits.home_pause_ns);
        tx.probe = connection.path().connect(&transport.limits).ok();
    }
    false
}

/// `received`: bytes of the peer's stream that have come.
fn send_hello(transport: &Transport, connection: &Connection, tx: &mut Tx, received: u64) -> rustix::io::Result<()> {
    let Some(socket) = tx.socket.clone() else { return Ok(()) };
    tx.attempt += 1;
    let job = connection.job(&transport.job);
    let ids = EndpointIds {
        from: job.index,
        to: connection.peer_in(&job),
        from_interface: connection.local.interface,
        to_interface: connection.remote.interface,
        protect: connection.protect,
        progress: Progress { received, resumes: connection.resumes },
        attempt: tx.attempt,
    };
    let hello = handshake::hello(&job, ids, &sys::random()?);
    socket::detect_silence(&socket, transport.patience_ns(tx))?;
    // A new socket has room for so little.
    if socket::send(&socket, &hello)? != hello.len() {
        return Err(Errno::NOBUFS);
    }
    (tx.state, tx.attempt_end) = (State::HelloSent(hello), Some(AttemptEnd::Answered));
    tx.received_elsewhere = None;
    tx.deadline_ns = sys::monotonic_ns() + transport.patience_ns(tx);
    transport.rewatch(connection, tx, EventFlags::IN);
    Ok(())
}

/// The peer's next message of the handshake, once all of it is there.
fn receive<const WANTED: usize>(
    transport: &Transport,
    connection: &Connection,
    tx: &mut Tx,
) -> Result<Option<[u8; WANTED]>, Reason> {
    let Some(socket) = tx.socket.clone() else { return Ok(None) };
    match tx.handshake.receive(&socket) {
        Ok(message) => Ok(message),
        Err(errno) => retry(transport, connection, tx, errno).map(|()| None),
    }
}

/// The connection was closed or lost before the peer's verdict: the peer may have had too many in the handshake.
fn retry(transport: &Transport, connection: &Connection, tx: &mut Tx, errno: Option<Errno>) -> Result<(), Reason> {
    if let Some(errno) = errno {
        tx.attempt_end = Some(end_by(errno));
    }
    // The peer's system was reached: its time begins again, but not for ever.
    tx.deadline_ns = sys::monotonic_ns() + transport.limits.connect_timeout_ns;
    tx.closed += u32::from(!tx.was_away);
    let most = transport.limits.connect_retries.unwrap_or_else(|| match btl::has_ended(connection.peer) {
        // A firewall, for a time: as often as fits, with the longest pauses.
        Some(false) => CLOSED_MOST.max((transport.limits.connect_timeout_ns / PAUSE_MAX_NS) as u32),
        _ => CLOSED_MOST,
    });
    if tx.closed <= most && back_off(transport, connection, tx) {
        return Ok(());
    }
    Err(errno
        .map_or_else(|| String::from("the other end closed each connection before it was made"), failure_message::why))
}

/// Makes one attempt.
fn attempt(transport: &Transport, connection: &Connection, tx: &mut Tx) {
    let path = transport.path(connection, tx);
    if tx.resume.is_some() {
        tx.deadline_ns = sys::monotonic_ns() + transport.patience_ns(tx);
    }
    let made = path.connect(&transport.limits);
    attempt_on(transport, connection, tx, made);
}

/// Makes one attempt on a socket that connects already.
pub fn attempt_on(transport: &Transport, connection: &Connection, tx: &mut Tx, socket: rustix::io::Result<OwnedFd>) {
    let begun = socket.and_then(|socket| {
        socket::watch(&transport.epoll, &socket, Token::Connection(connection.id).encode(), EventFlags::OUT)?;
        Ok(socket)
    });
    match begun {
        Ok(socket) => {
            (tx.state, tx.attempt_end) = (State::Connecting, Some(AttemptEnd::Silent));
            tx.was_away = false;
            let is_connected = socket::is_connected(&socket);
            tx.socket = Some(Arc::new(socket));
            verbose!(btl::FRAMEWORK, 30, "tcp: connecting {}", transport.ends_of(connection, tx));
            // Within a machine that takes no time. The hello goes at once: this process may compute from now on, and
            // the peer may close connections without a hello.
            if is_connected && tx.resume.is_none() {
                // What fails does so again at the next poll, which reports it.
                _ = send_hello(transport, connection, tx, 0);
            }
        }
        Err(errno) if is_transient(errno) && back_off(transport, connection, tx) => {}
        Err(errno) => {
            (tx.state, tx.attempt_end) = (State::Failed(errno), Some(end_by(errno)));
            transport.has_failed.store(true, Ordering::Relaxed);
        }
    }
}

/// Has the next attempt begin after a pause. `false` if there is none: all retries were
/// made, or the deadline comes first.
fn back_off(transport: &Transport, connection: &Connection, tx: &mut Tx) -> bool {
    if tx.resume.is_some() || tx.candidates.is_some() {
        // The next path is tried instead.
        return false;
    }
    let until_ns = sys::monotonic_ns() + pause_ns(tx.retries);
    let is_own_fault = core::mem::take(&mut tx.was_away);
    if is_own_fault {
        tx.deadline_ns = tx.deadline_ns.max(sys::monotonic_ns() + transport.limits.connect_timeout_ns);
    } else if tx.retries >= retries_of(transport, connection, tx) || until_ns > tx.deadline_ns {
        return false;
    } else {
        tx.retries += 1;
    }
    tx.abandon_socket();
    tx.state = State::Backoff { until_ns };
    true
}

/// How long to wait before an attempt, after so many: twice as long each time.
pub fn pause_ns(attempts: u32) -> u64 {
    (PAUSE_NS << attempts.min(PAUSE_DOUBLINGS)).min(PAUSE_MAX_NS)
}

/// How often an attempt is made again. Where other paths are left they are tried soon, and of a process of another job nobody says
/// that it has ended.
fn retries_of(transport: &Transport, connection: &Connection, tx: &Tx) -> u32 {
    if tx.refused_for.is_some() {
        return UNEXPECTED_MOST;
    }
    let is_other = |other: &Connection| other.id != connection.id && !other.is_over.load(Ordering::Relaxed);
    let has_other = || transport.to_peer(connection.peer).any(is_other);
    let usual = || if connection.pair.is_some() || has_other() { USUAL_RETRIES } else { u32::MAX };
    transport.limits.connect_retries.unwrap_or_else(usual)
}

/// How an attempt ended that failed for this reason.
fn end_by(errno: Errno) -> AttemptEnd {
    match errno {
        Errno::CONNREFUSED => AttemptEnd::Refused,
        errno if is_transient(errno) => AttemptEnd::Answered,
        _ => AttemptEnd::Silent,
    }
}

/// Whether the next attempt may succeed where this one did not.
fn is_transient(errno: Errno) -> bool {
    matches!(errno, Errno::CONNREFUSED | Errno::CONNRESET | Errno::CONNABORTED | Errno::PIPE)
}

/// Where the user says nothing.
const USUAL_RETRIES: u32 = 5;
/// And where a connection is closed in the handshake, which is reached again and again: ten seconds with their pauses.
const CLOSED_MOST: u32 = 15;
/// The system asks for a connection again after one second and after three, as long as nobody answers.
/// So often what comes in the handshake may be wrong.
const UNEXPECTED_MOST: u32 = 3;
const SLOW_NS: u64 = 1_100_000_000;
const SILENT_NS: u64 = 3_500_000_000;
const PAUSE_NS: u64 = 10_000_000;
const PAUSE_DOUBLINGS: u32 = 10;
const PAUSE_MAX_NS: u64 = 1_000_000_000;
