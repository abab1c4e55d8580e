//! What every registration cache promises: who acquires memory has a registration of it that was made after its pages came, for as long
//! as it is wanted.

use opal_core::framework::btl::{self, Caps, Endpoint, Full, Peer, Registration};
use opal_core::framework::memory;
use opal_core::framework::rcache::{self, Component, Lease};
use opal_core::random::Random;
use opal_core::{Error, Result as OpalResult};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;

/// A transport that only registers memory, and knows what is registered. A key is the number of a registration: they count up.
#[derive(Default)]
pub struct Card {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    live: HashMap<u64, Range<usize>>,
    made: u64,
    most: Option<usize>,
}

impl Card {
    /// One that registers at most so many ranges at once, for the life of the process.
    pub fn new(most: Option<usize>) -> &'static Card {
        Box::leak(Box::new(Card { known: Mutex::new(Known { most, ..Known::default() }) }))
    }

    /// How many registrations were made.
    pub fn made(&self) -> u64 {
        self.known.lock().unwrap().made
    }

    /// How many there are.
    pub fn live(&self) -> usize {
        self.known.lock().unwrap().live.len()
    }

    /// Whether this registration is there and is of all these bytes.
    pub fn covers(&self, number: u64, address: usize, bytes: usize) -> bool {
        let known = self.known.lock().unwrap();
        known.live.get(&number).is_some_and(|range| range.start <= address && address + bytes <= range.end)
    }
}

impl btl::Module for Card {
    fn caps(&self) -> &Caps {
        unreachable!("a cache asks for nothing but registrations")
    }

    fn address(&self) -> Vec<u8> {
        Vec::new()
    }

    fn add_peer(&self, _peer: Peer<'_>) -> OpalResult<Option<Endpoint>> {
        Ok(None)
    }

    fn remove_peer(&self, _endpoint: Endpoint) {}

    fn send(&self, _: Endpoint, _: u8, _: u64, _: usize, _: &mut dyn FnMut(*mut u8)) -> Result<(), Full> {
        Err(Full)
    }

    fn register_memory(&self, address: *mut u8, bytes: usize) -> OpalResult<Registration> {
        let mut known = self.known.lock().unwrap();
        if known.most.is_some_and(|most| known.live.len() >= most) {
            return Err(Error::OutOfResource);
        }
        known.made += 1;
        let number = known.made;
        known.live.insert(number, address.addr()..address.addr() + bytes);
        Ok(Registration { handle: number, key: number.to_le_bytes().to_vec() })
    }

    fn unregister_memory(&self, registration: Registration) {
        let ended = self.known.lock().unwrap().live.remove(&registration.handle);
        assert!(ended.is_some(), "registration {} ended twice", registration.handle);
    }

    fn poll(&self) -> usize {
        0
    }
}

/// Acquires memory; the lease and its key's number.
pub fn acquire(cache: &dyn rcache::Module, address: usize, bytes: usize) -> OpalResult<(Lease, u64)> {
    let mut number = None;
    let lease = cache.acquire(std::ptr::with_exposed_provenance_mut(address), bytes, &mut |key| {
        number = Some(u64::from_le_bytes(key.try_into().expect("the card's keys have eight bytes")));
    })?;
    Ok((lease, number.expect("the key is given")))
}

/// Runs every case: how many acquisitions were made; the first broken promise is the error. Where nobody tells of memory, nothing may be kept.
pub fn suite(component: &dyn Component) -> Result<usize, String> {
    let watched = memory::watches();
    if let Err(declined) = component.query() {
        return match watched {
            true => Err(format!("it declines although memory is watched: {}", declined.0)),
            false => Ok(0),
        };
    }
    let card = Card::new(Some(40));
    let cache = component.keep(card);
    // On the heap, which is seen where anything is.
    let place = vec![0u8; 4 << 20];
    let first = place.as_ptr().expose_provenance();
    let (mut random, mut held, mut cases) = (Random::new(5), Vec::new(), 0);
    // Up to which registration any may be found for memory from this page on.
    let mut gone = vec![0; PAGES];
    for _ in 0..2000 {
        let page = random.below(PAGES as u64) as usize;
        let pages = 1 + random.below(8).min((PAGES - page) as u64 - 1) as usize;
        let (address, bytes) = (first + page * PAGE, pages * PAGE);
        match random.below(4) {
            0 => {
                memory::released(address, bytes);
                gone[page..page + pages].fill(card.made());
            }
            1 if !held.is_empty() => {
                let (lease, number, address, bytes) = held.swap_remove(random.below(held.len() as u64) as usize);
                if !card.covers(number, address, bytes) {
                    return Err(format!("registration {number} ended while it was in use"));
                }
                cache.release(lease);
            }
            _ if held.len() < 20 => {
                let (lease, number) = acquire(&*cache, address, bytes).map_err(|error| format!("{error:?}"))?;
                if !card.covers(number, address, bytes) {
                    return Err(format!("registration {number} is not of {bytes} bytes at {address:#x}"));
                }
                if gone[page..page + pages].iter().any(|last| number <= *last) {
                    return Err(format!("registration {number} was found although its memory had gone"));
                }
                held.push((lease, number, address, bytes));
                cases += 1;
            }
            _ => {}
        }
    }
    held.into_iter().for_each(|(lease, ..)| cache.release(lease));
    match watched || card.live() == 0 {
        true => Ok(cases),
        false => {
            Err(format!("{} registrations are kept, and nobody would tell of the end of their memory", card.live()))
        }
    }
}

const PAGE: usize = 4096;
const PAGES: usize = 1 << 10;
