//! Connections that broke and go on: the same stream over another socket, by any path to the same peer.
//!
//! A connection between two hosts keeps what its peer has not acknowledged (`send_queue`). When it breaks, this process
//! connects again, to the next pair of interfaces first; the peer may do so at the same time. In the handshake both say how
//! many bytes have come, and each sends the rest. Frames keep their order and come once, and layers above notice nothing.
//!
//! A path that died is not a peer that died. Where somebody watches the processes of the job, as mpirun does, a refused path is tried
//! again until it says that the peer's process has ended, or time is over. Where nobody does, each path that refuses means that. It has
//! ended, too, where its system ends the stream in order, since this module never does that to a connection that goes on: it resets.

use crate::connect;
use crate::connection::Connection;
use crate::poll::Poller;
use crate::socket;
use crate::state::{Resume, State};
use crate::transport::Transport;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::btl;
use opal_core::sync::Ordering;
use opal_core::{message, sys, verbose};
use rustix::io::Errno;

impl Poller {
    /// A connection in force broke: begins to make it again.
    #[cold]
    pub fn break_off(&mut self, transport: &Transport, connection: &Connection, why: Errno) {
        let mut tx = connection.tx.lock();
        let ends = transport.ends_of(connection, &tx);
        verbose!(btl::FRAMEWORK, 5, "tcp: the connection {ends} broke ({}); it is made again", socket::why(why));
        let received = self.rx.get(connection.id).map_or(0, |rx| {
            rx.suspend();
            rx.received()
        });
        let now = sys::monotonic_ns();
        let mut resume = Resume::new(&transport.limits, why, now);
        let moved = received + tx.acknowledged();
        let path_timeout_ns = transport.limits.path_timeout_ns;
        (resume.before, resume.deadline_ns) = tx.breaks.add(moved, now, resume.deadline_ns, path_timeout_ns);
        if resume.before == BREAKS_TOLD {
            message!(
                "btl/tcp: the connection {ends} breaks again and again ({}), and nothing crosses it in between: a switch on the way that \
                 drops long packets (another MTU than that of the hosts), or a firewall",
                socket::why(why)
            );
        }
        tx.resume = Some(resume);
        drop(tx);
        transport.is_broken.store(true, Ordering::Relaxed);
        self.next_path(transport, connection, &socket::why(why));
    }

    /// As [`Poller::break_off`] for a connection that the peer may have put in force without this process's knowledge.
    pub fn may_be_in_force(&mut self, transport: &Transport, connection: &Connection, reason: &str) {
        let resume = Resume::new(&transport.limits, Errno::TIMEDOUT, sys::monotonic_ns());
        connection.tx.lock().resume = Some(resume);
        self.next_path(transport, connection, reason);
    }

    /// The path of a connection that broke on another one is there again: goes back to it.
    #[cold]
    pub fn go_home(&mut self, transport: &Transport, connection: &Connection) {
        let mut tx = connection.tx.lock();
        let Some(probe) = tx.probe.take().filter(|_| tx.state == State::Connected) else { return };
        verbose!(btl::FRAMEWORK, 5, "tcp: the connection goes back to its path {}", transport.ends(connection));
        let now = sys::monotonic_ns();
        tx.resume = Some(Resume::new(&transport.limits, Errno::TIMEDOUT, now));
        tx.via = None;
        if let Some(rx) = self.rx.get(connection.id) {
            rx.suspend();
        }
        tx.abandon_socket();
        connect::attempt_on(transport, connection, &mut tx, Ok(probe));
        tx.deadline_ns = now + transport.patience_ns(&tx);
    }

    /// An attempt to make a connection again failed: tries the next path, or gives the peer up.
    #[cold]
    pub fn next_path(&mut self, transport: &Transport, connection: &Connection, reason: &str) {
        let paths: Vec<u32> = transport.to_peer(connection.peer).map(|path| path.id).collect();
        let now = sys::monotonic_ns();
        let knows = has_ended(transport, connection);
        let mut tx = connection.tx.lock();
        tx.abandon_socket();
        let (was_away, end) = (core::mem::take(&mut tx.was_away), tx.attempt_end.take());
        let Some(mut resume) = tx.resume else { return };
        if let Some(end) = end {
            resume.note(end);
        }
        if was_away {
            resume.deadline_ns = resume.deadline_ns.max(now + transport.limits.connect_timeout_ns);
        }
        let has_ended = resume.has_peer_ended(paths.len(), knows);
        if has_ended || resume.is_too_late(now) {
            drop(tx);
            return match has_ended {
                true => self.peer_ended(transport, connection.peer, &socket::why(resume.why)),
                false => self.lose(transport, connection, &resume, &paths, reason),
            };
        }
        let via = tx.via.unwrap_or(connection.id);
        let next = paths.iter().find(|path| **path > via).or(paths.first()).copied();
        let round = resume.before + (resume.tried / paths.len().max(1)) as u32;
        resume.tried += 1;
        (tx.resume, tx.via) = (Some(resume), next.filter(|path| *path != connection.id));
        let ends = transport.ends_of(connection, &tx);
        verbose!(btl::FRAMEWORK, 20, "tcp: tries to go on {ends} after: {reason}");
        if round == 0 {
            return connect::attempt_listed(transport, connection, &mut tx);
        }
        tx.state = State::Backoff { until_ns: now + connect::pause_ns(round) };
        connect::list(transport, connection);
    }

    /// Ends connections that are made to processes of which it is known that they have ended.
    pub fn see_ended(&mut self, transport: &Transport, connections: Vec<u32>) {
        for connection in connections.into_iter().filter_map(|id| transport.connection(id)) {
            // The first one closes all of the same peer.
            let is_open = connection.tx.lock().state.is_being_made();
            if is_open && has_ended(transport, connection) == Some(true) {
                self.peer_ended(transport, connection.peer, "whoever launched it says so");
            }
        }
    }

    /// The launcher reports better.
    fn peer_ended(&mut self, transport: &Transport, peer: u32, why: &str) {
        verbose!(btl::FRAMEWORK, 10, "tcp: process {peer} has ended, and its connections with it ({why})");
        self.fail_peer(transport, peer);
    }

    fn lose(&mut self, transport: &Transport, connection: &Connection, resume: &Resume, paths: &[u32], reason: &str) {
        let tried = paths.iter().filter_map(|path| transport.connection(*path)).map(|path| transport.ends(path));
        let tried: Vec<String> = tried.collect();
        message!("btl/tcp: {}", lost(connection.peer, &socket::why(resume.why), reason, &tried));
        self.fail_paths(transport, connection.peer);
    }
}

/// [`btl::has_ended`] of a connection's peer; not as long as another connection to it is in force: what it sent before is read first.
fn has_ended(transport: &Transport, connection: &Connection) -> Option<bool> {
    let is_in_force = |other: &Connection| other.id != connection.id && other.tx.lock().state == State::Connected;
    let ended = btl::has_ended(connection.peer)?;
    Some(ended && !transport.to_peer(connection.peer).any(is_in_force))
}

/// For people: that a peer is out of reach, and by which paths.
pub fn lost(peer: u32, why: &str, reason: &str, tried: &[String]) -> String {
    format!(
        "{} cannot be reached any more: the connection broke ({why}), and no path carries it on. Tried: {}. The \
         last attempt: {reason}",
        btl::peer_named(peer),
        tried.join("; ")
    )
}

/// Breaks without anything in between, before one that the user is told of.
const BREAKS_TOLD: u32 = 2;
