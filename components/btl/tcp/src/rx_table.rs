//! The receiving sides of all connections that are in force.

use crate::connection::Connection;
use crate::rx::Rx;
use crate::session::Session;
use crate::socket;
use crate::state::State;
use crate::transport::Transport;
use crate::tx::Tx;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::framework::btl;
use opal_core::sync::Ordering;
use opal_core::verbose;
use rustix::fd::OwnedFd;

/// By endpoint.
pub struct RxTable(Vec<Option<Rx>>);

impl RxTable {
    /// For so many endpoints, of which none is connected.
    pub fn new(endpoints: usize) -> RxTable {
        RxTable((0..endpoints).map(|_| None).collect())
    }

    /// The receiving side of a connection in force.
    #[inline]
    pub fn get(&mut self, id: u32) -> Option<&mut Rx> {
        self.0.get_mut(id as usize)?.as_mut()
    }

    /// A connection is in force from now on, on this socket. What waited for it leaves.
    pub fn connected(
        &mut self,
        transport: &Transport,
        connection: &Connection,
        tx: &mut Tx,
        socket: Arc<OwnedFd>,
        session: Option<Session>,
    ) {
        if let Err(errno) = socket::watch_host(&socket, transport.limits.silence_timeout_ns) {
            verbose!(btl::FRAMEWORK, 10, "tcp: the handshake's deadline stays in force: {}", socket::why(errno));
        }
        tx.state = State::Connected;
        // If the peer made the connection, that ends an attempt of this process.
        tx.socket = Some(socket.clone());
        (tx.blocked, tx.watched, tx.session) = (false, false, None);
        let (sealer, opener) = session.map(|session| (session.sealer, session.opener)).unzip();
        tx.protect(sealer);
        self.0[connection.id as usize] = Some(Rx::new(socket, connection.peer, opener));
        transport.used.store(true, Ordering::Relaxed);
        let (protect, ends) = (connection.protect.name(), transport.ends(connection));
        verbose!(btl::FRAMEWORK, 30, "tcp: connected, protection {protect}, {ends}");
        tx.write();
        transport.after_write(connection, tx);
    }

    /// As [`RxTable::remove`], without closing the socket: its descriptor is no longer this process's own.
    pub fn forget(&mut self, id: u32) {
        core::mem::forget(self.0.get_mut(id as usize).and_then(Option::take));
    }

    /// Nothing is received on a connection any more.
    pub fn remove(&mut self, id: u32) {
        if let Some(place) = self.0.get_mut(id as usize) {
            *place = None;
        }
    }
}
