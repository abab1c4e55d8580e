//! A port that is open.

use super::far::{self, Knock, Progress};
use super::{Channel, Name, Secret, Text, address, here, is_own_user, pause, socket, user_address};
use crate::oob::interfaces::Chosen;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::SocketAddr;
use opal_core::sys;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with, bind, listen};

/// A port that is open.
pub struct Listener {
    socket: OwnedFd,
    name: Name,
    secret: Secret,
    // In the order in which they came.
    knocking: Vec<Knocking>,
    // Where others call from other hosts.
    far: Vec<(OwnedFd, SocketAddr)>,
}

/// Somebody who has not said the secret.
struct Knocking {
    who: Who,
    until_ns: u64,
}

enum Who {
    /// A process of this user on this host.
    Near(Channel),
    /// Anybody.
    Far(Knock),
}

impl Listener {
    /// Processes of this host can call from now on. `Err` with half a sentence.
    pub fn open() -> Result<Listener, String> {
        let refused = |errno: Errno| format!("the system refuses a socket ({errno})");
        let socket = socket().map_err(refused)?;
        let name = sys::random().map_err(refused)?;
        bind(&socket, &address(&name).map_err(refused)?).map_err(refused)?;
        listen(&socket, BACKLOG).map_err(refused)?;
        let secret = sys::random().map_err(refused)?;
        Ok(Listener { socket, name, secret, knocking: Vec::new(), far: Vec::new() })
    }

    /// The one port of this user for names, which all mpiruns of the user find without being told; `None` if another process has it.
    /// It has no secret: who may call is decided by the user that the system names. `Err` with half a sentence.
    pub fn of_user() -> Result<Option<Listener>, String> {
        let refused = |errno: Errno| format!("the system refuses a socket ({errno})");
        let socket = socket().map_err(refused)?;
        match bind(&socket, &user_address().map_err(refused)?) {
            Ok(()) => {}
            Err(Errno::ADDRINUSE) => return Ok(None),
            Err(errno) => return Err(refused(errno)),
        }
        listen(&socket, BACKLOG).map_err(refused)?;
        Ok(Some(Listener { socket, name: [0; 16], secret: [0; 32], knocking: Vec::new(), far: Vec::new() }))
    }

    /// Processes of other hosts can call, too, from now on: its text changes. On a machine without a network nothing changes. `Err`
    /// with a sentence if the parameters do not fit this machine.
    pub fn listen_far(&mut self) -> Result<(), String> {
        if self.far.is_empty() {
            // One family may be switched off.
            let listening = Chosen::by_parameters()?.addresses.into_iter().map(far::listening);
            self.far = listening.filter_map(|one| one.ok()).collect();
        }
        Ok(())
    }

    /// Its text.
    pub fn text(&self) -> String {
        let addresses = self.far.iter().map(|(_, address)| *address).collect();
        Text { host: here(), name: self.name, secret: self.secret, addresses }.encode()
    }

    /// A connection of somebody who knows the secret, if there is one.
    pub fn poll(&mut self) -> Result<Option<Channel>, String> {
        self.hear_near()?;
        self.hear_far();
        let now_ns = sys::monotonic_ns();
        let (mut waiting, mut heard) = (Vec::new(), None);
        for Knocking { who, until_ns } in core::mem::take(&mut self.knocking) {
            if heard.is_some() {
                waiting.push(Knocking { who, until_ns });
                continue;
            }
            let who = match who {
                Who::Near(mut channel) => match channel.poll() {
                    Ok(Some(said)) if is_equal(&said, &self.secret) => {
                        heard = Some(channel);
                        continue;
                    }
                    Ok(None) => Who::Near(channel),
                    _ => continue,
                },
                Who::Far(knock) => match knock.advance() {
                    Ok(Progress::Trusted(trusted)) => {
                        heard = Some(Channel::trusted(trusted));
                        continue;
                    }
                    Ok(Progress::Waiting(knock)) => Who::Far(knock),
                    Err(()) => continue,
                },
            };
            if now_ns < until_ns {
                waiting.push(Knocking { who, until_ns });
            }
        }
        self.knocking = waiting;
        [false, true].into_iter().for_each(|far| self.thin_out(far));
        Ok(heard)
    }

    /// Of a crowd those go that have said nothing of use for longest: strangers keep nobody out for long.
    fn thin_out(&mut self, far: bool) {
        let mut excess = self.knocking(far).saturating_sub(CROWD);
        self.knocking.retain(|one| {
            let goes = excess > 0 && matches!(one.who, Who::Far(_)) == far;
            excess -= usize::from(goes);
            !goes
        });
    }

    fn hear_near(&mut self) -> Result<(), String> {
        for _ in 0..CROWD {
            match accept_with(&self.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok(socket) if is_own_user(&socket) => {
                    let until_ns = sys::monotonic_ns().saturating_add(STRANGER_NS);
                    self.knocking.push(Knocking { who: Who::Near(Channel::over(socket)), until_ns });
                }
                Ok(_) | Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::AGAIN) => break,
                Err(errno) => return Err(format!("the system refuses a connection ({errno})")),
            }
        }
        Ok(())
    }

    fn hear_far(&mut self) {
        for place in 0..self.far.len() {
            for _ in 0..CROWD {
                // Lack of descriptors passes; whoever left again is not here.
                let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
                let Ok(socket) = accept_with(&self.far[place].0, flags) else { break };
                if let Ok(knock) = Knock::new(socket, self.secret) {
                    let until_ns = sys::monotonic_ns().saturating_add(FAR_STRANGER_NS);
                    self.knocking.push(Knocking { who: Who::Far(knock), until_ns });
                }
            }
        }
    }

    fn knocking(&self, far: bool) -> usize {
        self.knocking.iter().filter(|one| matches!(one.who, Who::Far(_)) == far).count()
    }

    /// Sleeps until it is time to poll, at most so long.
    pub fn pause(&self, at_most_ms: u32) {
        let mut polls: Vec<PollFd<'_>> =
            self.descriptors().map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN)).collect();
        pause(&mut polls, at_most_ms);
    }

    /// What becomes readable when it is time to poll.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let far = self.far.iter().map(|(socket, _)| socket.as_fd());
        let knocking = self.knocking.iter().filter_map(|one| match &one.who {
            Who::Near(channel) => channel.descriptor(),
            Who::Far(knock) => Some(knock.as_fd()),
        });
        core::iter::once(self.socket.as_fd()).chain(far).chain(knocking)
    }

    #[cfg(test)]
    pub(super) fn name(&self) -> &Name {
        &self.name
    }
}

impl core::fmt::Debug for Listener {
    fn fmt(&self, to: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        to.debug_struct("Listener").finish_non_exhaustive()
    }
}

/// Every byte is looked at: how long it takes tells nothing.
fn is_equal(said: &[u8], secret: &Secret) -> bool {
    said.len() == secret.len() && said.iter().zip(secret).fold(0, |all, (left, right)| all | (left ^ right)) == 0
}

const BACKLOG: i32 = 1024;
const STRANGER_NS: u64 = 1_000_000_000;
const FAR_STRANGER_NS: u64 = 10_000_000_000;
/// So many of this host and of others may be silent at once. A test has not the descriptors for as many.
const CROWD: usize = if cfg!(test) { 16 } else { 512 };
