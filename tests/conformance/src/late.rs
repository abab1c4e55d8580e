//! A transport whose operations on memory of its peer take their time, as those of a fabric do: made of one that does them at once.

use opal_core::framework::btl::{
    AmId, Atomic, Begun, Caps, Completion, Endpoint, Full, Module, Peer, Registration, Remote, Width,
};
use opal_core::{Error, Result};
use std::sync::Mutex;

/// Over another transport, which does everything at once.
pub struct Late {
    under: &'static dyn Module,
    mistake: Option<Mistake>,
    begun: Mutex<Vec<Operation>>,
}

/// What it can do wrong, to see that the suite finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Completions come before a poll.
    Early,
    /// Each third completion comes twice.
    Twice,
    /// Each completion says that an operation is done that is not.
    NotDone,
    /// Of an atomic operation what is there now is found.
    NewValue,
    /// Where it is full an operation is dropped.
    Dropped,
    /// Any key is good.
    AnyKey,
}

struct Operation {
    what: What,
    done: Completion,
}

enum What {
    Put(usize, Endpoint, Remote, usize),
    Get(Endpoint, usize, Remote, usize),
    Atomic(Endpoint, Remote, Atomic, Width),
}

impl Late {
    /// Over a transport that does everything at once; with a mistake.
    pub fn over(under: &'static dyn Module, mistake: Option<Mistake>) -> Late {
        Late { under, mistake, begun: Mutex::new(Vec::new()) }
    }

    fn begin(&self, what: What, done: Completion) -> core::result::Result<Begun, Full> {
        let mut begun = self.begun.lock().unwrap();
        if begun.len() == MOST {
            return if self.mistake == Some(Mistake::Dropped) { Ok(Begun::Later) } else { Err(Full) };
        }
        if self.mistake == Some(Mistake::Early) {
            (done.call)(done.token, Ok(0));
        }
        begun.push(Operation { what, done });
        Ok(Begun::Later)
    }

    fn end(&self, Operation { what, done }: Operation) {
        let not_called = Completion { call: |_, _| unreachable!("the transport below is complete at once"), token: 0 };
        let begun = match what {
            _ if self.mistake == Some(Mistake::NotDone) => Ok(Begun::Done(0)),
            // SAFETY: the caller of `put` keeps this until the completion, which is not told yet; so below.
            What::Put(from, to, remote, bytes) => unsafe {
                self.under.put(to, from as *const u8, remote, bytes, not_called)
            },
            // SAFETY: as above.
            What::Get(from, to, remote, bytes) => unsafe {
                self.under.get(from, to as *mut u8, remote, bytes, not_called)
            },
            What::Atomic(to, remote, atomic, width) => {
                // SAFETY: as above.
                let begun = unsafe { self.under.atomic(to, remote, atomic, width, not_called) };
                match self.mistake {
                    // SAFETY: as above.
                    Some(Mistake::NewValue) => unsafe {
                        self.under.atomic(to, remote, Atomic::Add(0), width, not_called)
                    },
                    _ => begun,
                }
            }
        };
        let Ok(Begun::Done(found)) = begun else { unreachable!("the transport below is complete at once") };
        if self.mistake != Some(Mistake::Early) {
            (done.call)(done.token, Ok(found));
        }
        if self.mistake == Some(Mistake::Twice) && done.token.is_multiple_of(3) {
            (done.call)(done.token, Ok(found));
        }
    }
}

impl Module for Late {
    fn caps(&self) -> &Caps {
        self.under.caps()
    }

    fn address(&self) -> Vec<u8> {
        self.under.address()
    }

    fn add_peer(&self, peer: Peer<'_>) -> Result<Option<Endpoint>> {
        self.under.add_peer(peer)
    }

    fn remove_peer(&self, endpoint: Endpoint) {
        self.under.remove_peer(endpoint);
    }

    fn peer_ended(&self, endpoint: Endpoint) {
        self.under.peer_ended(endpoint);
    }

    fn send(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        self.under.send(to, am, immediate, bytes, fill)
    }

    unsafe fn put(
        &self,
        to: Endpoint,
        from: *const u8,
        remote: Remote,
        bytes: usize,
        done: Completion,
    ) -> core::result::Result<Begun, Full> {
        self.begin(What::Put(from as usize, to, remote, bytes), done)
    }

    unsafe fn get(
        &self,
        from: Endpoint,
        to: *mut u8,
        remote: Remote,
        bytes: usize,
        done: Completion,
    ) -> core::result::Result<Begun, Full> {
        self.begin(What::Get(from, to as usize, remote, bytes), done)
    }

    unsafe fn atomic(
        &self,
        to: Endpoint,
        remote: Remote,
        atomic: Atomic,
        width: Width,
        done: Completion,
    ) -> core::result::Result<Begun, Full> {
        self.begin(What::Atomic(to, remote, atomic, width), done)
    }

    fn register_memory(&self, address: *mut u8, bytes: usize) -> Result<Registration> {
        let registration = self.under.register_memory(address, bytes)?;
        Ok(Registration { key: KEY.to_vec(), ..registration })
    }

    fn unregister_memory(&self, registration: Registration) {
        assert_eq!(registration.key, KEY);
        self.under.unregister_memory(registration);
    }

    fn import_key(&self, of: Endpoint, key: &[u8]) -> Result<u64> {
        match key == KEY || self.mistake == Some(Mistake::AnyKey) {
            true => self.under.import_key(of, &[]),
            false => Err(Error::Malformed),
        }
    }

    /// The last ones first: nobody may rely on an order.
    fn poll(&self) -> usize {
        let last = self.begun.lock().unwrap().pop();
        let ended = last.map(|operation| self.end(operation));
        self.under.poll() + usize::from(ended.is_some())
    }
}

const KEY: &[u8] = b"late";
const MOST: usize = 16;
