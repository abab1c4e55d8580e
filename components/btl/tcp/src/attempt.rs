//! Connections that this process makes.

use crate::handshake::{self, Names};
use crate::net::{self, Connection, Net, Token};
use crate::outbound::{Outbound, Stage};
use crate::poll::Receiving;
use crate::socket::{self, Collected};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::net::SocketAddr;
use opal_core::framework::btl;
use opal_core::sync::Ordering;
use opal_core::{sys, verbose};
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;

/// Begins to connect: at the first message. What goes wrong is told by the next poll.
#[cold]
pub fn begin(net: &Net, connection: &Connection, outbound: &mut Outbound) {
    let to = SocketAddr::new(connection.remote.address, connection.remote.port);
    let begun = socket::connect(connection.local.address, to, &net.limits).and_then(|socket| {
        socket::watch(&net.epoll, &socket, Token::Connection(connection.id).encode(), EventFlags::OUT)?;
        Ok(socket)
    });
    match begun {
        Ok(socket) => {
            let deadline_ns = sys::monotonic_ns() + net.limits.connect_timeout_ns;
            outbound.stage = Stage::Connecting { deadline_ns };
            outbound.socket = Some(Arc::new(socket));
            let mut started = net.started.lock();
            started.push(connection.id);
            net.starts.store(started.len(), Ordering::Relaxed);
            drop(started);
            verbose!(btl::FRAMEWORK, 30, "tcp: connecting {}", net.ends(connection));
        }
        Err(errno) => {
            outbound.stage = Stage::Broken(errno);
            net.broken.store(true, Ordering::Relaxed);
        }
    }
}

/// Why a connection cannot be made.
pub type Reason = String;

/// Something happened to an attempt. `Err` if it failed for good.
pub fn moved(net: &Net, receiving: &mut Receiving, connection: &Connection) -> Result<(), Reason> {
    let mut outbound = connection.outbound.lock();
    let Some(socket) = outbound.socket.clone() else { return Ok(()) };
    match outbound.stage {
        Stage::Connecting { .. } => {
            socket::outcome(&socket).map_err(socket::why)?;
            say_hello(net, connection, &mut outbound).map_err(socket::why)
        }
        Stage::Greeted(hello) => {
            let Some(answer) = heard(net, connection, &mut outbound)? else { return Ok(()) };
            let proof = handshake::answered(&net.job, &hello, &answer)
                .ok_or_else(|| String::from("whoever listens there does not belong to this job"))?;
            match socket::send(&socket, &proof) {
                Ok(sent) if sent == proof.len() => outbound.stage = Stage::Proved,
                Ok(_) => return Err(String::from("the system has no room for 32 bytes")),
                Err(errno) => return retry(net, connection, &mut outbound, Some(errno)),
            }
            Ok(())
        }
        Stage::Proved => {
            let Some([verdict]) = heard(net, connection, &mut outbound)? else { return Ok(()) };
            match verdict {
                handshake::WELCOME => {
                    receiving.open(net, connection, &mut outbound, socket);
                    Ok(())
                }
                handshake::YIELD => {
                    verbose!(btl::FRAMEWORK, 30, "tcp: the other end's connection goes first {}", net.ends(connection));
                    outbound.stage = Stage::Expecting;
                    outbound.socket = None;
                    Ok(())
                }
                _ => Err(String::from("whoever listens there says what has no meaning")),
            }
        }
        _ => Ok(()),
    }
}

/// For people: which connection cannot be made, both ends and the interface, and why.
pub fn cannot(net: &Net, connection: &Connection, reason: &Reason) -> String {
    format!("cannot connect {}: {reason}", net.ends(connection))
}

/// The system took too long.
pub fn too_late(net: &Net) -> Reason {
    format!(
        "no answer within {} s (btl_tcp_connect_timeout_s): a firewall, or an interface that the peer's network cannot reach: \
         btl_tcp_if_include says which ones to use",
        net.limits.connect_timeout_ns / 1_000_000_000
    )
}

fn say_hello(net: &Net, connection: &Connection, outbound: &mut Outbound) -> rustix::io::Result<()> {
    let Some(socket) = outbound.socket.clone() else { return Ok(()) };
    let names = Names {
        from: net.job.index,
        to: connection.peer,
        from_interface: connection.local.interface,
        to_interface: connection.remote.interface,
    };
    let hello = handshake::hello(&net.job, names, &net::nonce()?);
    // A new socket has room for so little.
    if socket::send(&socket, &hello)? != hello.len() {
        return Err(Errno::NOBUFS);
    }
    outbound.stage = Stage::Greeted(hello);
    net.rewatch(connection, outbound, EventFlags::IN);
    Ok(())
}

/// A message of the handshake, once all of it is there.
fn heard<const WANTED: usize>(
    net: &Net,
    connection: &Connection,
    outbound: &mut Outbound,
) -> Result<Option<[u8; WANTED]>, Reason> {
    let Some(socket) = outbound.socket.clone() else { return Ok(None) };
    match outbound.reply.collect(&socket) {
        Ok(message) => Ok(message),
        Err(errno) => retry(net, connection, outbound, errno).map(|()| None),
    }
}

/// The peer closed before it gave its verdict: it may have had too many strangers at its door.
fn retry(net: &Net, connection: &Connection, outbound: &mut Outbound, errno: Option<Errno>) -> Result<(), Reason> {
    outbound.socket = None;
    outbound.failures += 1;
    outbound.reply = Collected::new();
    if outbound.failures > RETRIES {
        return Err(
            errno.map_or_else(|| String::from("the other end closed each connection before it was made"), socket::why)
        );
    }
    begin(net, connection, outbound);
    Ok(())
}

const RETRIES: u32 = 3;
