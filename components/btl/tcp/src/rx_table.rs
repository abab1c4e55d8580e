//! The receiving sides of all connections that are in force.

use crate::connection::Connection;
use crate::handshake::Progress;
use crate::rx::Rx;
use crate::session::Session;
use crate::socket;
use crate::state::State;
use crate::transport::Transport;
use crate::tx::Tx;
use crate::wire::Malformed;
use alloc::boxed::Box;
use alloc::sync::Arc;
use opal_core::framework::btl;
use opal_core::sparse::Table;
use opal_core::sync::Ordering;
use opal_core::{sys, verbose};
use rustix::fd::OwnedFd;
use rustix::io::Errno;

/// By endpoint; those that are missing are not connected. Processes of other jobs come behind those of the own one.
pub struct RxTable(Table<Box<Rx>>);

impl RxTable {
    /// None is connected.
    pub const fn new() -> RxTable {
        RxTable(Table::new())
    }

    /// The receiving side of a connection in force.
    #[inline]
    pub fn get(&mut self, id: u32) -> Option<&mut Rx> {
        self.0.get_mut(id as usize).map(|rx| &mut **rx)
    }

    /// A connection is in force from now on, on this socket. What waited for it leaves. If it was in force before, both
    /// directions go on where they were, and `peer` says where that is.
    pub fn connected(
        &mut self,
        transport: &Transport,
        connection: &Connection,
        tx: &mut Tx,
        socket: Arc<OwnedFd>,
        session: Option<Session>,
        peer: Progress,
    ) {
        let (sealer, opener) = session.map(|session| (session.sealer, session.opener)).unzip();
        let again = match tx.carry_on(socket.clone(), sealer, peer) {
            Ok(again) => again,
            Err(Malformed) => {
                tx.state = State::Failed(Errno::PROTO);
                transport.has_failed.store(true, Ordering::Relaxed);
                return;
            }
        };
        let now = sys::monotonic_ns();
        let pause_ns = tx.home.connected(tx.via.is_some(), transport.limits.home_pause_ns, now);
        if tx.via.is_some() {
            tx.deadline_ns = now + pause_ns;
        }
        let timeout_ns = transport.limits.silence_timeout_ns;
        if let Err(errno) = socket::watch_host(&socket, timeout_ns) {
            verbose!(btl::FRAMEWORK, 10, "tcp: the handshake's deadline stays in force: {}", socket::why(errno));
        }
        match self.0.get_mut(connection.id as usize) {
            Some(rx) => {
                rx.carry_on(socket, opener);
                transport.count_resumed(again);
                let ends = transport.ends_of(connection, tx);
                verbose!(btl::FRAMEWORK, 10, "tcp: the connection goes on {ends}; {again} bytes are sent again");
            }
            None => *self.0.place(connection.id as usize) = Some(Box::new(Rx::new(socket, connection.peer, opener))),
        }
        transport.used.store(true, Ordering::Relaxed);
        let (protect, ends) = (connection.protect.name(), transport.ends_of(connection, tx));
        verbose!(btl::FRAMEWORK, 30, "tcp: connected, protection {protect}, {ends}");
        tx.write();
        transport.after_write(connection, tx);
    }

    /// As [`RxTable::remove`], without closing the socket: its descriptor is no longer this process's own.
    pub fn forget(&mut self, id: u32) {
        core::mem::forget(self.0.take(id as usize));
    }

    /// Nothing is received on a connection any more.
    pub fn remove(&mut self, id: u32) {
        self.0.take(id as usize);
    }
}
