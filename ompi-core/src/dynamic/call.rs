//! Ports: the root's part of MPI_Comm_accept and MPI_Comm_connect.

use super::meet::{Exchanged, meet};
use super::wait::Rests;
use crate::comm::{self, Communicator};
use crate::error::{Class, Fault, Result};
use crate::parameters::CONNECT_TIMEOUT_S;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::sync::Mutex;
use opal_core::sys;
use orte_core::port::{self, Channel, Listener};

struct OpenPort {
    text: String,
    listener: Arc<Mutex<Listener>>,
}

static PORTS: Mutex<Vec<OpenPort>> = Mutex::new(Vec::new());

/// MPI_Open_port: its text.
pub fn open_port() -> Result<String> {
    let wrong = |why: String| Fault::new(Class::Other).because(why);
    let mut listener = Listener::open().map_err(wrong)?;
    listener.listen_far().map_err(wrong)?;
    let text = listener.text();
    PORTS.lock().push(OpenPort { text: text.clone(), listener: Arc::new(Mutex::new(listener)) });
    Ok(text)
}

/// MPI_Close_port.
pub fn close_port(text: &str) -> Result<()> {
    let mut ports = PORTS.lock();
    let place = ports.iter().position(|port| port.text == text).ok_or_else(not_open)?;
    drop(ports.swap_remove(place));
    Ok(())
}

/// MPI_Comm_accept; `port` is asked at the root only.
pub fn accept(comm: &Communicator, root: usize, port: impl FnOnce() -> Result<String>) -> Result<usize> {
    let exchange = |roster: &[u8]| {
        let port = port()?;
        let listener = find(&port).ok_or_else(not_open)?;
        let closed = "it was closed while a connection was awaited";
        let is_open = || match find(&port) {
            Some(_) => Ok(()),
            None => Err(Fault::new(Class::Port).argument("port_name").because(closed)),
        };
        let words = || format!("a process to connect to port {}", port::public_part(&port));
        hear(&listener, roster, Rests::waiting_for_caller(words), is_open)
    };
    Ok(meet(comm, root, |roster| Exchanged::of(exchange(roster)))?.0)
}

/// MPI_Comm_connect; the port, and for how many seconds it is tried if the caller says it, are asked at the root only.
pub fn connect(
    comm: &Communicator,
    root: usize,
    port: impl FnOnce() -> Result<(String, Option<u64>)>,
) -> Result<usize> {
    let exchange = |roster: &[u8]| port().and_then(|(port, seconds)| call(&port, roster, seconds));
    Ok(meet(comm, root, |roster| Exchanged::of(exchange(roster)))?.0)
}

/// MPI_Comm_join, of MPI_COMM_SELF: over a socket of the program's, of which nothing is read but the roster.
pub fn join(descriptor: i32) -> Result<usize> {
    let wrong = |why: String| Fault::new(Class::Arg).argument("fd").because(why);
    let exchange = |roster: &[u8]| {
        let mut channel = Channel::beside(descriptor).map_err(wrong)?;
        channel.send(roster).map_err(wrong)?;
        let late = "the process at the other end of the socket did not call MPI_Comm_join";
        answer(&mut channel, None, || "the other end of the socket to call MPI_Comm_join".into(), late, wrong)
    };
    Ok(meet(comm::itself(), 0, |roster| Exchanged::of(exchange(roster)))?.0)
}

/// Calls a port and exchanges rosters, within so many seconds.
pub fn call(text: &str, roster: &[u8], seconds: Option<u64>) -> Result<Vec<u8>> {
    let wrong = |why: String| Fault::new(Class::Port).argument("port_name").because(why);
    let mut channel = Channel::call(text).map_err(wrong)?;
    channel.send(roster).map_err(wrong)?;
    let words = || format!("an accept at port {}", port::public_part(text));
    let late = "nobody accepted; the process that opened the port must call MPI_Comm_accept";
    answer(&mut channel, seconds, words, late, wrong)
}

/// The other group's roster. `words` say what is waited for, `late` is said if it does not come.
fn answer(
    channel: &mut Channel,
    seconds: Option<u64>,
    words: impl Fn() -> String,
    late: &str,
    wrong: impl Fn(String) -> Fault,
) -> Result<Vec<u8>> {
    let mut rests = Rests::waiting_for(words);
    let set_by = if seconds.is_some() { "the info key timeout" } else { "mpi_connect_timeout_s" };
    let seconds = seconds.unwrap_or(CONNECT_TIMEOUT_S.size() as u64);
    let until_ns = sys::monotonic_ns().saturating_add(seconds.saturating_mul(1_000_000_000));
    loop {
        match channel.poll() {
            Ok(Some(theirs)) => return Ok(theirs),
            Ok(None) if sys::monotonic_ns() >= until_ns => {
                return Err(wrong(format!("within {seconds} s {late} ({set_by} sets how long to wait)")));
            }
            Ok(None) if channel.has_unsent() => channel.flush().map_err(&wrong)?,
            Ok(None) => rests.on(channel),
            Err(why) => return Err(wrong(why)),
        }
    }
}

/// Waits for a call, by `rests`, and exchanges rosters. `check` is asked again and again whether to go on.
pub fn hear(
    listener: &Mutex<Listener>,
    roster: &[u8],
    mut rests: Rests<impl Fn() -> String>,
    mut check: impl FnMut() -> Result<()>,
) -> Result<Vec<u8>> {
    loop {
        check()?;
        let heard = listener.lock().poll().map_err(|why| Fault::new(Class::Port).because(why))?;
        match heard {
            // One that has ended, or never was a process of this library: the next one may be better.
            Some(channel) => {
                if let Some(theirs) = exchange(channel, roster) {
                    return Ok(theirs);
                }
            }
            None => rests.beside(listener),
        }
    }
}

/// `None` if the other side does not answer.
fn exchange(mut channel: Channel, roster: &[u8]) -> Option<Vec<u8>> {
    // It sent its roster with its call.
    let until_ns = sys::monotonic_ns().saturating_add(ROSTER_NS);
    let mut rests = Rests::waiting_for(|| "the process that has connected to say who it is".into());
    let theirs = loop {
        match channel.poll().ok()? {
            Some(theirs) => break theirs,
            None if sys::monotonic_ns() >= until_ns => return None,
            None => rests.on(&channel),
        }
    };
    channel.send(roster).ok()?;
    // One that is stopped does not read it.
    while channel.has_unsent() {
        if sys::monotonic_ns() >= until_ns {
            return None;
        }
        channel.flush().ok()?;
        rests.on(&channel);
    }
    Some(theirs)
}

fn find(text: &str) -> Option<Arc<Mutex<Listener>>> {
    PORTS.lock().iter().find(|port| port.text == text).map(|port| port.listener.clone())
}

fn not_open() -> Fault {
    Fault::new(Class::Port).argument("port_name").because("this process has no such port open; MPI_Open_port gives one")
}

const ROSTER_NS: u64 = 10_000_000_000;
