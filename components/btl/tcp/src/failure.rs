//! Connections that end: one breaks, one cannot be made, a peer's host is silent, the system forgets all sockets. Says why, and tells
//! the layer above that the peer is lost, unless another connection takes its messages over.

use crate::connection::Connection;
use crate::failure_message;
use crate::poll::Poller;
use crate::record::Protect;
use crate::rx::Read;
use crate::search;
use crate::socket;
use crate::state::State;
use crate::transport::Transport;
use crate::wire;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::btl;
use opal_core::{message, sort, sys, verbose};
use rustix::fd::AsFd;
use rustix::io::Errno;

impl Poller {
    /// Nothing is known of any socket from now on, so no peer can be reached. Nothing of ours is closed: a program that closes
    /// descriptors may have got the same numbers for its own.
    #[cold]
    pub fn lose_epoll(&mut self, transport: &Transport, errno: Errno) -> usize {
        let first = !core::mem::replace(&mut self.is_epoll_lost, true);
        if first {
            message!(
                "btl/tcp: the system no longer tells what happens to sockets: {}. Did the program close descriptors that it did \
                 not open (close_range, closefrom)? All processes that are reached by sockets count as lost",
                match errno {
                    Errno::INVAL => String::from("the descriptor of epoll is another file now (EINVAL)"),
                    Errno::BADF => String::from("the descriptor of epoll is closed (EBADF)"),
                    other => socket::why(other),
                }
            );
        }
        let mut lost: Vec<u32> = Vec::new();
        for connection in transport.all() {
            let mut tx = connection.tx.lock();
            let is_over = matches!(tx.state, State::Closed | State::FailedOver);
            if !is_over {
                core::mem::forget(tx.socket.take());
                drop(tx);
                self.rx.forget(connection.id);
                transport.close(connection);
                lost.push(connection.peer);
            }
        }
        sort::ascending(&mut lost);
        lost.dedup();
        lost.iter().for_each(|peer| btl::path_failed(*peer, wire::WIRE_ID));
        lost.len()
    }

    /// Sees to the peers whose hosts have been silent for too long; returns how many.
    #[cold]
    pub fn check_hosts(&mut self, transport: &Transport) -> usize {
        let limits = &transport.limits;
        let mut silent = 0;
        for connection in transport.all() {
            let (socket, timeout_ns) = match &*connection.tx.lock() {
                tx if tx.state != State::Connected => continue,
                tx if tx.retains() => (tx.socket.clone(), limits.host_timeout_ns()),
                tx => (tx.socket.clone(), limits.silence_timeout_ns),
            };
            if timeout_ns == 0 {
                continue;
            }
            if socket.is_some_and(|socket| sys::is_silent(socket.as_fd(), timeout_ns / 1_000_000)) {
                self.ended(transport, connection, Some(Errno::TIMEDOUT));
                silent += 1;
            }
        }
        silent
    }

    /// A connection that was in force is over.
    pub fn ended(&mut self, transport: &Transport, connection: &Connection, errno: Option<Errno>) {
        let (errno, retains) = match &*connection.tx.lock() {
            // The system gives a reason only once, and a send had it.
            tx if let State::Failed(told) = tx.state => (errno.or(Some(told)), tx.retains()),
            tx => (errno, tx.retains()),
        };
        // A peer that breaks the handshake would do so again.
        if let Some(errno) = errno.filter(|errno| retains && *errno != Errno::PROTO) {
            return self.break_off(transport, connection, errno);
        }
        let ends = transport.ends(connection);
        match errno {
            // The peer's process ended, which the launcher reports better.
            None | Some(Errno::CONNRESET | Errno::PIPE) => {
                verbose!(btl::FRAMEWORK, 10, "tcp: the peer closed the connection {ends}");
                self.fail_peer(transport, connection.peer);
            }
            Some(errno) => {
                message!("btl/tcp: the connection {ends} is lost: {}", socket::why(errno));
                self.fail_paths(transport, connection.peer);
            }
        }
    }

    /// A connection cannot be made. One that was in force tries the next path; another one fails over to another one to the
    /// same peer, or the peer is out of reach.
    #[cold]
    pub fn cannot_connect(&mut self, transport: &Transport, connection: &Connection, reason: String) {
        let tx = connection.tx.lock();
        // The peer was given up meanwhile, because another connection to it could not be made either.
        if matches!(tx.state, State::Closed | State::FailedOver) {
            return;
        }
        let is_resumed = tx.resume.is_some();
        // A connection that the peer protects otherwise is in force nowhere.
        let is_refused = matches!(tx.state, State::Refused(_)) || tx.refused_for.is_some();
        let has_proved = tx.has_proved && connection.resumes && !is_refused;
        let reason = tx.refused_for.map_or(reason, |theirs| failure_message::other_protection(connection, theirs));
        drop(tx);
        if is_resumed {
            return self.next_path(transport, connection, &reason);
        }
        if has_proved {
            return self.may_be_in_force(transport, connection, &reason);
        }
        let said = failure_message::cannot(transport, connection, &reason);
        if search::is_on(transport, connection) {
            verbose!(btl::FRAMEWORK, 20, "tcp: {said}; other addresses of the peer are tried");
            return;
        }
        match transport.fail_over(connection) {
            Some(other) if core::mem::replace(&mut self.said_failover, true) => {
                verbose!(btl::FRAMEWORK, 10, "tcp: {said}; messages go {} instead", transport.ends(other));
            }
            Some(other) => message!(
                "btl/tcp: {said}. Messages go {} instead; more of the kind are told with `--mca btl_base_verbose 10`",
                transport.ends(other)
            ),
            None if search::begin(transport, connection) => {
                message!("btl/tcp: {said}. Other pairs of addresses are tried");
            }
            None => {
                message!("btl/tcp: {said}{}", failure_message::tried(transport, connection));
                self.fail_paths(transport, connection.peer);
            }
        }
    }

    /// Closes all connections to a peer that has ended, and tells the layer above.
    pub fn fail_peer(&mut self, transport: &Transport, peer: u32) {
        self.close_all(transport, peer);
        btl::failed(peer);
    }

    /// As [`Poller::fail_peer`] where nobody knows that: another transport may reach it.
    pub fn fail_paths(&mut self, transport: &Transport, peer: u32) {
        self.close_all(transport, peer);
        btl::path_failed(peer, wire::WIRE_ID);
    }

    fn close_all(&mut self, transport: &Transport, peer: u32) {
        for connection in transport.to_peer(peer) {
            transport.close(connection);
            self.remove(connection.id);
        }
    }

    /// Sees to connections on which a system call failed.
    #[cold]
    pub fn report_failed(&mut self, transport: &Transport) {
        let mut failed: Vec<(u32, Errno)> = Vec::new();
        let mut refused: Vec<(u32, Protect)> = Vec::new();
        for connection in transport.all() {
            match connection.tx.lock().state {
                State::Failed(errno) => failed.push((connection.id, errno)),
                State::Refused(theirs) => refused.push((connection.id, theirs)),
                _ => {}
            }
        }
        for (id, theirs) in refused {
            let Some(connection) = transport.connection(id) else { continue };
            self.cannot_connect(transport, connection, failure_message::other_protection(connection, theirs));
        }
        for (id, errno) in failed {
            let Some(connection) = transport.connection(id) else { continue };
            if self.rx.get(id).is_none() || connection.tx.lock().resume.is_some() {
                self.cannot_connect(transport, connection, failure_message::why(errno));
                continue;
            }
            // What the peer sent before it went is still there.
            self.read_rest(transport, connection);
            if connection.tx.lock().state == State::Failed(errno) {
                self.ended(transport, connection, Some(errno));
            }
        }
    }

    fn read_rest(&mut self, transport: &Transport, connection: &Connection) {
        while let Some(rx) = self.rx.get(connection.id) {
            let read = rx.read();
            self.deliver(transport, connection.id);
            if !matches!(read, Read::More) {
                return;
            }
        }
    }
}
