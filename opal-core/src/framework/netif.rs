//! Network interfaces: raw Ethernet frames of one card, where no system has sockets, or past those that it has.
//!
//! A component drives a kind of card, a module is one card. It moves frames as they are: who knows a protocol registers its
//! EtherType ([`register`]) and gets the frames of that type from all cards ([`poll`]). Nothing here repairs, orders or
//! authenticates anything: a frame may be lost, come twice or come from anybody.
//!
//! # The life of a module
//! 1. [`open`] asks each component for its cards, once, before the environment is chosen.
//! 2. [`register`], by each protocol, once.
//! 3. [`send`] and [`poll`]. There are no interrupts: what is not polled for stays in the card's ring, and is lost when that is full.
//!    With a system below, a process that sleeps is woken by a frame ([`Module::listen`]).
//!
//! # Threads
//! One thread at a time is inside [`poll`]; a second one returns at once. A [`Handler`] may send and may not poll.
//!
//! # Hostile bytes
//! Anybody on the wire can send anything. A module hands out whole frames only, of [`HEADER_BYTES`] to [`HEADER_BYTES`] +
//! [`Caps::mtu`] bytes, and drops runts, giants and what the card calls damaged. Short frames are padded on the way
//! (IEEE 802.3, 4.2.3.3): a protocol that must know how long its payload is says so in it.
#![allow(unsafe_code)] // linkme's expansion

use crate::mca::select::{self, Verdict};
use crate::mca::{self, Declined};
use crate::sync::{ConditionalLock, Once};
use crate::{Error, Result, wait};
use alloc::vec::Vec;
use core::fmt;

pub use crate::framework::btl::Full;

/// The address of a card (IEEE 802, 8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// Every card of the network.
    pub const BROADCAST: Mac = Mac([0xff; 6]);

    /// Whether it can be the address of one card: not of a group, and not all zeros.
    pub fn is_one_card(self) -> bool {
        self.0[0] & 1 == 0 && self.0 != [0; 6]
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// Whether anything is at the other end of the cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Yes, at so many 10⁶ bits per second; 0 where the card does not say.
    Up {
        /// The rate.
        mbps: u32,
    },
    /// No.
    Down,
}

/// What a card is, as data: the same values for its whole life.
#[derive(Clone, Copy, Debug)]
pub struct Caps {
    /// Its address.
    pub mac: Mac,
    /// Bytes behind the header of the longest frame: 1500 unless the card and the driver do jumbo frames.
    pub mtu: usize,
}

/// Bytes before the payload of a frame: receiver, sender, EtherType.
pub const HEADER_BYTES: usize = 14;
/// Bytes of the shortest frame, without the checksum; drivers pad what is shorter.
pub const LEAST_BYTES: usize = 60;
/// The most cards that are used.
pub const CARDS_MAX: usize = 8;
/// The most protocols.
pub const PROTOCOLS_MAX: usize = 4;

/// A running card.
pub trait Module: Sync {
    /// What it is.
    fn caps(&self) -> &Caps;

    /// Whether its cable leads anywhere, now. Reads a register: not for every message.
    fn link(&self) -> Link;

    /// Sends a frame of `bytes` bytes, header included, that `fill` writes straight into the card's buffer.
    ///
    /// `Ok`: the card has it; nothing is known of its arrival. `Err(Full)`: the ring is full, `fill` was not called. A frame
    /// longer than [`Caps::mtu`] and header, or shorter than a header, is the caller's mistake. `fill` fills all of its
    /// place, and calls nothing of this module.
    fn send(&self, bytes: usize, fill: &mut dyn FnMut(&mut [u8])) -> core::result::Result<(), Full>;

    /// Takes the next frame that arrived and hands it to `take`, which may send; false if there is none. It may return true
    /// without a call: a frame was dropped. The checksum is not part of a frame.
    fn receive(&self, take: &mut dyn FnMut(&[u8])) -> bool;

    /// Hands out frames of this type from now on: [`register`] says it of each type, once. `Ok(Some)`: the descriptor that is readable while
    /// frames wait, on which a process may sleep for the rest of its life. `Err`, after a message, where the system refuses. A card that
    /// hands out everything that comes needs no call.
    fn listen(&self, _ethertype: u16) -> Result<Option<i32>> {
        Ok(None)
    }

    /// Frames that came and were dropped so far: runts, giants, damaged ones, and those for which the ring had no room, as far
    /// as the card counts them.
    fn dropped(&self) -> u64;
}

/// A kind of card.
pub trait Component: mca::Component {
    /// The cards of this kind that this machine has, at work; called once after `open`. Declines where there is none.
    fn query(&self) -> core::result::Result<Vec<&'static dyn Module>, Declined>;
}

crate::framework! {
    /// Network interfaces: raw Ethernet frames of one card.
    "netif", Opal, version 1, ManyOfMany, OMPI_NETIFS: dyn Component
}

/// A card in use.
#[derive(Clone, Copy)]
pub struct Card {
    /// The name of its component.
    pub name: &'static str,
    /// The card.
    pub module: &'static dyn Module,
}

static CARDS: Once<Vec<Card>> = Once::new();

/// Opens the components that the user's list wants: once. A machine without a card is none of its business.
pub fn open() -> Result<()> {
    let mut cards = Vec::new();
    for component in mca::open(&FRAMEWORK, &OMPI_NETIFS)? {
        let info = component.info();
        match component.query() {
            Ok(modules) => {
                select::record(info, Verdict::Chosen(None));
                cards.extend(modules.into_iter().map(|module| Card { name: info.name, module }));
            }
            Err(Declined(why)) => {
                component.close();
                select::record(info, Verdict::Declined(why));
            }
        }
    }
    use_cards(cards);
    Ok(())
}

/// Uses these cards and asks no component: instead of [`open`], by a program that brings a card of its own.
pub fn use_cards(mut cards: Vec<Card>) {
    cards.truncate(CARDS_MAX);
    CARDS.call_once(|| cards);
}

/// All cards, in the order of their numbers.
pub fn cards() -> &'static [Card] {
    CARDS.get().map_or(&[], |cards| cards)
}

/// A frame that arrived, of a type that was registered.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// Number of the card it came by.
    pub card: usize,
    /// Who says to have sent it.
    pub from: Mac,
    /// What is behind the header, with padding: any bytes.
    pub payload: &'a [u8],
}

/// Handles a frame; the payload is valid until it returns.
pub type Handler = fn(Received<'_>);

struct Protocol {
    ethertype: u16,
    handler: Handler,
}

static PROTOCOLS: [Once<Protocol>; PROTOCOLS_MAX] = [const { Once::new() }; PROTOCOLS_MAX];
static POLLING: ConditionalLock<()> = ConditionalLock::new(());

/// Registers the handler of an EtherType. `Err(Exists)` if it has one, `Err(OutOfResource)` after [`PROTOCOLS_MAX`], and what
/// [`Module::listen`] says, after its message.
pub fn register(ethertype: u16, handler: Handler) -> Result<()> {
    for place in &PROTOCOLS {
        let mut mine = false;
        let protocol = place.call_once(|| {
            mine = true;
            Protocol { ethertype, handler }
        });
        if mine {
            return cards().iter().try_for_each(|card| listen(card, ethertype));
        }
        if protocol.ethertype == ethertype {
            return Err(Error::Exists);
        }
    }
    Err(Error::OutOfResource)
}

fn listen(card: &Card, ethertype: u16) -> Result<()> {
    if let Some(descriptor) = card.module.listen(ethertype)?
        && !wait::watch_descriptor(descriptor)
    {
        wait::shorten_sleeps();
    }
    Ok(())
}

/// Takes what arrived at any card and calls the handlers; returns how many frames were handled. Stops after a while, so that
/// a flood of frames does not keep the caller.
pub fn poll() -> usize {
    let Some(_alone) = POLLING.try_lock() else { return 0 };
    let mut handled = 0;
    for (number, card) in cards().iter().enumerate() {
        let mac = card.module.caps().mac;
        let mut hand_out = |frame: &[u8]| handled += usize::from(dispatch(number, mac, frame));
        let mut turns = 0;
        while turns < FRAMES_PER_POLL && card.module.receive(&mut hand_out) {
            turns += 1;
        }
    }
    handled
}

/// Sends a frame by a card. `fill` gets a place of exactly `bytes` bytes, which are the payload. `Err(Full)`: nothing was sent.
pub fn send(
    card: &Card,
    to: Mac,
    ethertype: u16,
    bytes: usize,
    fill: &mut dyn FnMut(&mut [u8]),
) -> core::result::Result<(), Full> {
    let from = card.module.caps().mac;
    card.module.send(HEADER_BYTES + bytes, &mut |place| {
        let (header, payload) = place.split_at_mut(HEADER_BYTES);
        header[..6].copy_from_slice(&to.0);
        header[6..12].copy_from_slice(&from.0);
        header[12..].copy_from_slice(&ethertype.to_be_bytes());
        fill(payload);
    })
}

/// Gives a frame to the handler of its type. False for a frame that is not for this card, or of a type that nobody wants.
fn dispatch(card: usize, mac: Mac, frame: &[u8]) -> bool {
    let Some(Parts { to, from, ethertype, payload }) = parts(frame) else { return false };
    if (to != mac && to != Mac::BROADCAST) || !from.is_one_card() || from == mac {
        return false;
    }
    let wanted = PROTOCOLS.iter().map_while(|place| place.get()).find(|protocol| protocol.ethertype == ethertype);
    let Some(protocol) = wanted else { return false };
    (protocol.handler)(Received { card, from, payload });
    true
}

/// A frame in parts.
struct Parts<'a> {
    to: Mac,
    from: Mac,
    ethertype: u16,
    payload: &'a [u8],
}

/// `None` if it is shorter than a header.
fn parts(frame: &[u8]) -> Option<Parts<'_>> {
    let (to, rest) = frame.split_first_chunk()?;
    let (from, rest) = rest.split_first_chunk()?;
    let (ethertype, payload) = rest.split_first_chunk()?;
    Some(Parts { to: Mac(*to), from: Mac(*from), ethertype: u16::from_be_bytes(*ethertype), payload })
}

/// Of one card.
const FRAMES_PER_POLL: usize = 64;

// Models have no statics.
#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::{AtomicUsize, Ordering};
    use std::string::ToString;

    static SEEN: AtomicUsize = AtomicUsize::new(0);

    fn count(frame: Received<'_>) {
        assert_eq!((frame.card, frame.from, frame.payload), (3, Mac([2, 0, 0, 0, 0, 9]), &[7, 8][..]));
        SEEN.fetch_add(1, Ordering::Relaxed);
    }

    fn frame(to: Mac, from: Mac, ethertype: u16) -> Vec<u8> {
        [&to.0[..], &from.0, &ethertype.to_be_bytes(), &[7, 8]].concat()
    }

    #[test]
    fn a_handler_gets_what_is_for_it() {
        let (own, other) = (Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 9]));
        register(0x88b5, count).unwrap();
        assert_eq!(register(0x88b5, count), Err(Error::Exists));
        let good = [frame(own, other, 0x88b5), frame(Mac::BROADCAST, other, 0x88b5)];
        let bad = [
            frame(other, other, 0x88b5),
            frame(own, other, 0x88b6),
            frame(own, Mac::BROADCAST, 0x88b5),
            frame(own, Mac::default(), 0x88b5),
            // Its own frame, which a hub sends back.
            frame(own, own, 0x88b5),
        ];
        assert!(good.iter().all(|frame| dispatch(3, own, frame)));
        assert!(!bad.iter().any(|frame| dispatch(3, own, frame)));
        assert!((0..HEADER_BYTES).all(|bytes| !dispatch(3, own, &good[0][..bytes])));
        assert_eq!(SEEN.load(Ordering::Relaxed), good.len());
    }

    #[test]
    fn addresses() {
        assert_eq!(Mac([0x52, 0x54, 0, 0xab, 1, 0xff]).to_string(), "52:54:00:ab:01:ff");
        assert!(Mac([2, 0, 0, 0, 0, 0]).is_one_card());
        assert!(![Mac::BROADCAST, Mac::default(), Mac([1, 0, 0x5e, 0, 0, 1])].iter().any(|mac| mac.is_one_card()));
    }
}
