//! The network of a job of machines that share nothing else: a switch in this process, to which the card of each machine is
//! joined by a socket. It can lose frames, send them twice or late, and send what no card would.
//!
//! On the socket a frame has its length before it, four bytes, highest first (QEMU, net/stream.c).

use super::options::Net;
use crate::failure::{At, Result};
use opal_core::random::Random;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process::Command;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// What goes wrong: of a hundred frames to a port so many.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// From the same one come the same faults.
    pub seed: u64,
    /// Do not arrive.
    pub lost: u64,
    /// Arrive twice.
    pub twice: u64,
    /// Arrive after the next one.
    pub late: u64,
    /// Follow a frame that nobody sent: garbage of any length, one that is too long.
    pub junk: u64,
    /// Follow a copy of themselves that is cut off or has some bits changed. A wire's own checksum finds these (IEEE 802.3, 3.2.9);
    /// QEMU's cards have none, so that they reach the program.
    pub changed: u64,
}

/// A switch at work, until it is dropped.
#[derive(Debug)]
pub struct Wire {
    name: String,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    faults: Faults,
    ports: Mutex<Ports>,
    /// What went wrong so far, of each kind: lost, twice, late, junk, changed.
    counts: [AtomicU64; KINDS],
}

#[derive(Debug, Default)]
struct Ports {
    senders: Vec<Option<SyncSender<Outgoing>>>,
    /// Which card was heard at which port.
    cards: BTreeMap<[u8; 6], usize>,
    closed: bool,
}

/// A frame on its way to a port; a late one goes behind the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Outgoing {
    frame: Vec<u8>,
    late: bool,
}

impl Wire {
    /// A switch with such faults, which listens.
    pub fn open(faults: Faults) -> Result<Wire> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("ompi-rs-wire-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let address = SocketAddr::from_abstract_name(&name).at("name a socket")?;
        let listener = UnixListener::bind_addr(&address).at("listen for the cards of machines")?;
        let shared = Arc::new(Shared { faults, ports: Mutex::default(), counts: Default::default() });
        let ours = Arc::clone(&shared);
        std::thread::spawn(move || listen(&listener, &ours));
        Ok(Wire { name, shared })
    }

    /// What machines call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many frames were lost, sent twice, sent late, made up, and changed.
    pub fn counts(&self) -> [u64; KINDS] {
        self.shared.counts.each_ref().map(|count| count.load(Ordering::Relaxed))
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.shared.ports().closed = true;
        // The listener looks when somebody comes.
        if let Ok(address) = SocketAddr::from_abstract_name(&self.name) {
            let _ = UnixStream::connect_addr(&address);
        }
    }
}

/// Gives a machine a card that is joined to a switch; the address has the rank in it.
pub fn plug(qemu: &mut Command, net: Net, wire: &str, rank: u32) {
    let [.., high, low] = rank.to_be_bytes();
    let device = match net {
        Net::Virtio => "virtio-net-pci",
        Net::E1000e => "e1000e",
    };
    // Without the ROM by which firmware boots from the network.
    let card = format!("{device},netdev=wire,romfile=,mac=52:54:00:6f:{high:02x}:{low:02x}");
    qemu.args(["-netdev", &format!("stream,id=wire,addr.type=unix,addr.path={wire},addr.abstract=on")]);
    qemu.args(["-device", &card]);
}

impl Shared {
    fn ports(&self) -> std::sync::MutexGuard<'_, Ports> {
        self.ports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes a frame on: to the port of its receiver, or to all others.
    fn forward(&self, from: usize, frame: &[u8], random: &mut Random) {
        let mut ports = self.ports();
        let card = |range: std::ops::Range<usize>| frame.get(range).and_then(|bytes| <[u8; 6]>::try_from(bytes).ok());
        let (to, source) = (card(0..6), card(6..12));
        if let Some(source) = source.filter(|source| source[0] & 1 == 0) {
            ports.cards.insert(source, from);
        }
        let known = to.and_then(|to| ports.cards.get(&to).copied());
        for (port, sender) in ports.senders.iter().enumerate().filter(|(port, _)| *port != from) {
            let Some(sender) = sender.as_ref().filter(|_| known.is_none_or(|known| known == port)) else { continue };
            for frame in self.spoiled(frame, random) {
                // A port that does not keep up loses frames, as that of any switch.
                if let Err(TrySendError::Disconnected(_) | TrySendError::Full(_)) = sender.try_send(frame) {
                    break;
                }
            }
        }
    }

    /// What arrives in the place of a frame.
    fn spoiled(&self, frame: &[u8], random: &mut Random) -> Vec<Outgoing> {
        let Faults { lost, twice, late, junk, changed, .. } = self.faults;
        let mut happens = |times: u64, kind: usize| {
            let happens = times > 0 && random.happens(times, 100);
            self.counts[kind].fetch_add(u64::from(happens), Ordering::Relaxed);
            happens
        };
        let (lost, twice, late) = (happens(lost, 0), happens(twice, 1), happens(late, 2));
        let (junk, changed) = (happens(junk, 3), happens(changed, 4));
        let mut frames = Vec::new();
        if junk {
            frames.push(Outgoing { frame: made_up(frame, random), late: false });
        }
        if changed {
            frames.push(Outgoing { frame: spoilt(frame, random), late: false });
        }
        let whole = |late| Outgoing { frame: frame.to_vec(), late };
        frames.extend((!lost).then(|| whole(late)));
        frames.extend((!lost && twice).then(|| whole(false)));
        frames
    }
}

/// A frame that nobody sent: noise of any length, to all or to nobody; or the real one, made longer than any may be. It has a byte at
/// least: QEMU takes no further frame behind one without any.
fn made_up(real: &[u8], random: &mut Random) -> Vec<u8> {
    let (choice, length) = (random.below(4), random.below(256));
    let mut noise = |bytes: u64| -> Vec<u8> { (0..bytes).map(|_| random.number() as u8).collect() };
    match choice {
        0 => noise(14 + 5 * length),
        1 => noise(1 + length % 13),
        2 => [&[0xff; 6][..], &noise(60 + length)].concat(),
        _ => [real, &noise(1515 + 200 * length)].concat(),
    }
}

/// The real one, cut off or with some bits changed.
fn spoilt(real: &[u8], random: &mut Random) -> Vec<u8> {
    let mut spoilt = real.to_vec();
    if random.happens(1, 2) {
        spoilt.truncate(1 + random.below(real.len().max(1) as u64) as usize);
        return spoilt;
    }
    for _ in 0..=random.below(8) {
        let place = random.below(spoilt.len().max(1) as u64) as usize;
        if let Some(byte) = spoilt.get_mut(place) {
            *byte ^= 1 << random.below(8);
        }
    }
    spoilt
}

fn listen(listener: &UnixListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        let mut ports = shared.ports();
        if ports.closed {
            return;
        }
        let (Ok(stream), port) = (stream, ports.senders.len()) else { continue };
        let Ok(reader) = stream.try_clone() else { continue };
        let (sender, frames) = sync_channel(QUEUE);
        ports.senders.push(Some(sender));
        drop(ports);
        std::thread::spawn(move || write(stream, &frames));
        let shared = Arc::clone(shared);
        std::thread::spawn(move || read(reader, port, &shared));
    }
}

/// Takes the frames of a port until its machine is gone.
fn read(mut stream: UnixStream, port: usize, shared: &Shared) {
    let mut random = Random::new(shared.faults.seed.wrapping_mul(1000).wrapping_add(port as u64));
    let mut length = [0; 4];
    while stream.read_exact(&mut length).is_ok() {
        let bytes = u32::from_be_bytes(length) as usize;
        let mut frame = vec![0; bytes.min(FRAME_MAX)];
        if bytes > FRAME_MAX || stream.read_exact(&mut frame).is_err() {
            break;
        }
        shared.forward(port, &frame, &mut random);
    }
    shared.ports().senders[port] = None;
}

/// Gives a port its frames.
fn write(mut stream: UnixStream, frames: &Receiver<Outgoing>) {
    let mut kept = None;
    while let Ok(Outgoing { frame, late }) = frames.recv() {
        if late && kept.is_none() {
            kept = Some(frame);
            continue;
        }
        for frame in [Some(frame), kept.take()].into_iter().flatten() {
            let bytes = [&(frame.len() as u32).to_be_bytes()[..], &frame].concat();
            if stream.write_all(&bytes).is_err() {
                return;
            }
        }
    }
}

/// Of faults.
pub const KINDS: usize = 5;
/// Frames that wait for a port.
const QUEUE: usize = 512;
/// The longest that QEMU takes, net/net.h.
const FRAME_MAX: usize = 69_632;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_come_again_from_the_same_seed() {
        let faults = Faults { seed: 1, lost: 20, twice: 20, late: 0, junk: 50, changed: 10 };
        let made = |seed| {
            let shared = Shared { faults, ports: Mutex::default(), counts: Default::default() };
            let mut random = Random::new(seed);
            let frames: Vec<_> = (0..200).flat_map(|_| shared.spoiled(&[7; 80], &mut random)).collect();
            (frames, shared.counts.map(AtomicU64::into_inner))
        };
        assert_eq!(made(3), made(3));
        let (frames, [lost, twice, late, junk, changed]) = made(3);
        assert!(
            lost > 20 && twice > 20 && late == 0 && junk > 60 && changed > 8,
            "{lost} {twice} {late} {junk} {changed}"
        );
        assert!(frames.iter().any(|out| out.frame.len() < 14) && frames.iter().any(|out| out.frame.len() > 1514));
        assert!(frames.iter().all(|out| !out.frame.is_empty()));
    }

    #[test]
    fn a_frame_goes_to_its_receiver_alone_once_that_was_heard() {
        let wire = Wire::open(Faults::default()).unwrap();
        let address = SocketAddr::from_abstract_name(wire.name()).unwrap();
        let mut ports: Vec<UnixStream> = (0..3)
            .map(|_| {
                let port = UnixStream::connect_addr(&address).unwrap();
                port.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
                port
            })
            .collect();
        while wire.shared.ports().senders.len() < 3 {
            std::thread::yield_now();
        }
        let frame = |to: u8, from: u8| [&[0, 0, 0, 14, to, 0, 0, 0, 0, to, from, 0, 0, 0, 0, from][..], b"xx"].concat();
        let take = |port: &mut UnixStream| {
            let mut bytes = [0; 18];
            port.read_exact(&mut bytes).unwrap();
            (bytes[4], bytes[10])
        };
        ports[0].write_all(&frame(4, 2)).unwrap();
        assert_eq!((take(&mut ports[1]), take(&mut ports[2])), ((4, 2), (4, 2)));
        ports[1].write_all(&frame(2, 4)).unwrap();
        assert_eq!(take(&mut ports[0]), (2, 4));
        ports[0].write_all(&frame(4, 2)).unwrap();
        assert_eq!(take(&mut ports[1]), (4, 2));
        ports[0].write_all(&frame(255, 2)).unwrap();
        // The third one saw only what was for all.
        assert_eq!((take(&mut ports[2]), take(&mut ports[1])), ((255, 2), (255, 2)));
    }
}
