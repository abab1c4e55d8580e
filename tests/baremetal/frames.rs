//! Frames between the cards of two machines, without MPI: rank 1 sends back what rank 0 sends, whatever else is on the wire.
//! `cargo xtask test boot/net_frames` runs it; its argument says how many frames.

use opal_core::framework::netif::{self, Card, Received, Link, Mac};
use opal_core::sync::{AtomicU64, Mutex, Ordering};
use opal_core::sys;

fn main() -> Result<(), String> {
    let count = hw_x86_64::program::arguments().first().and_then(|count| count.parse().ok()).ok_or("say how many")?;
    netif::open().map_err(|error| format!("{error:?}"))?;
    let card = netif::cards().first().ok_or("no component of netif drives a card of this machine")?;
    let Link::Up { mbps } = wait_for_link(card) else { return Err("the cable leads nowhere".into()) };
    netif::register(ETHERTYPE, take).map_err(|error| format!("{error:?}"))?;
    match sys::variable("RANK") {
        Some("0") => ask(card, count)?,
        _ => answer(card)?,
    }
    let junk = JUNK.load(Ordering::Relaxed);
    println!("{} {}: {mbps} Mb/s, {junk} changed, {} dropped", card.name, card.module.caps().mac, card.module.dropped());
    Ok(())
}

fn wait_for_link(card: &Card) -> Link {
    let end = sys::monotonic_ns() + PATIENCE_NS;
    while card.module.link() == Link::Down && sys::monotonic_ns() < end {
        sys::yield_now();
    }
    card.module.link()
}

/// Sends each frame until it comes back.
fn ask(card: &Card, count: u32) -> Result<(), String> {
    for number in (0..count).chain([LAST]) {
        let (end, mut again) = (sys::monotonic_ns() + PATIENCE_NS, 0);
        while CAME.lock().take().is_none_or(|(came, _)| came != number) {
            let now = sys::monotonic_ns();
            if now > end {
                return Err(format!("frame {number} does not come back"));
            }
            if now > again {
                // What does not fit the ring is sent next time.
                let _ = send(card, Mac::BROADCAST, number);
                again = now + AGAIN_NS;
            }
            netif::poll();
        }
    }
    println!("all {count} frames came back");
    Ok(())
}

/// Sends back what comes, until the last one has not been asked for again for a while.
fn answer(card: &Card) -> Result<(), String> {
    let (mut end, mut count) = (sys::monotonic_ns() + PATIENCE_NS, 0);
    while sys::monotonic_ns() < end {
        netif::poll();
        let Some((number, from)) = CAME.lock().take() else { continue };
        let _ = send(card, from, number);
        count += 1;
        end = sys::monotonic_ns() + if number == LAST { AFTER_NS } else { PATIENCE_NS };
        LAST_SEEN.fetch_max(u64::from(number), Ordering::Relaxed);
    }
    println!("{count} frames were sent back");
    if LAST_SEEN.load(Ordering::Relaxed) == u64::from(LAST) { Ok(()) } else { Err("no last frame came".into()) }
}

/// A payload of any length that there is, every byte of which follows from its number.
fn send(card: &Card, to: Mac, number: u32) -> Result<(), netif::Full> {
    netif::send(card, to, ETHERTYPE, length(number), &mut |place| {
        (0..).zip(place).for_each(|(at, byte)| *byte = wanted(number, at));
    })
}

fn take(frame: Received<'_>) {
    let number = frame.payload.first_chunk().map(|number| u32::from_le_bytes(*number));
    // Padding may follow.
    let sound = |number: &u32| {
        let payload = frame.payload.get(..length(*number));
        payload.is_some_and(|payload| (0..).zip(payload).all(|(at, byte)| *byte == wanted(*number, at)))
            && frame.payload.len() == length(*number).max(SHORTEST)
    };
    match number.filter(sound) {
        Some(number) => *CAME.lock() = Some((number, frame.from)),
        None => _ = JUNK.fetch_add(1, Ordering::Relaxed),
    }
}

/// Of a payload: 4 to 1500 bytes.
fn length(number: u32) -> usize {
    4 + (number as usize).wrapping_mul(37) % 1497
}

fn wanted(number: u32, at: usize) -> u8 {
    match number.to_le_bytes().get(at) {
        Some(byte) => *byte,
        None => (number as usize * 31 + at * 7) as u8,
    }
}

static CAME: Mutex<Option<(u32, Mac)>> = Mutex::new(None);
static JUNK: AtomicU64 = AtomicU64::new(0);
static LAST_SEEN: AtomicU64 = AtomicU64::new(0);
const ETHERTYPE: u16 = 0x88b5;
const LAST: u32 = u32::MAX;
/// Payload of the shortest frame.
const SHORTEST: usize = 46;
const AGAIN_NS: u64 = 20_000_000;
const AFTER_NS: u64 = 500_000_000;
const PATIENCE_NS: u64 = 60_000_000_000;
