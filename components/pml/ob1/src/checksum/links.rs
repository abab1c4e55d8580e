//! All peers: their channels, behind one lock. It is taken below the state's lock, and never held while a handler runs.

use super::frame::{BYTES, Frame, Kind};
use super::incoming::{Arrived, Incoming};
use super::outgoing::{Content, Medium, Outgoing};
use super::segmentation::ChannelPath;
use alloc::vec::Vec;
use ompi_core::framework::bml::Path;
use opal_core::framework::btl::Full;
use opal_core::sparse::Table;
use opal_core::sync::{AtomicBool, ConditionalLock, Ordering};
use opal_core::wait::Timed;

/// The one table.
pub static LINKS: ConditionalLock<Links> = ConditionalLock::new(Links::new());

static BUSY: AtomicBool = AtomicBool::new(false);

/// Whether a pass of progress has anything to do.
#[inline(always)]
pub fn are_busy() -> bool {
    // Relaxed: what another thread has just sent is seen by the next pass.
    BUSY.load(Ordering::Relaxed)
}

/// By process.
pub struct Links {
    links: Table<Link>,
    // Processes that keep or owe something.
    busy: Vec<u32>,
    // Whether there are any.
    timed: Timed,
    buffers: Vec<Vec<u8>>,
}

#[derive(Default)]
struct Link {
    // By channel; of the peer's there may be more or fewer.
    outgoing: Vec<(ChannelPath, Outgoing)>,
    // The transports that reach the peer.
    living: Vec<Path>,
    incoming: Vec<Incoming>,
    is_busy: bool,
    // At the end of the job: since when the peer has been silent, and how often it was told what arrived.
    silent_since_ns: Option<u64>,
    farewells: u32,
}

impl Links {
    const fn new() -> Links {
        Links { links: Table::new(), busy: Vec::new(), timed: Timed::new(), buffers: Vec::new() }
    }

    /// These are the paths to a process, by channel.
    pub fn connect(&mut self, process: u32, paths: &[Path]) {
        let outgoing =
            (0..).zip(paths).map(|(channel, path)| (ChannelPath::new(*path, channel), Outgoing::new(channel)));
        let link = self.links.entry(process as usize);
        (link.outgoing, link.living) = (outgoing.collect(), paths.to_vec());
    }

    /// See [`super::fail_over`].
    pub fn fail_over(&mut self, process: u32, wire_id: u32) -> Option<Path> {
        let link = self.links.get_mut(process as usize)?;
        link.living.retain(|path| path.module.caps().wire_id != wire_id);
        let other = *link.living.first()?;
        for (path, outgoing) in link.outgoing.iter_mut().filter(|(path, _)| path.is_by(wire_id)) {
            path.fail_over(other);
            outgoing.start_again();
        }
        self.list_busy(process);
        Some(other)
    }

    /// A piece of a frame of a process arrived: the frame, if it was the last one.
    pub fn piece(&mut self, process: u32, head: Frame, piece: &[u8]) -> Option<Vec<u8>> {
        let incoming = self.links.get_mut(process as usize)?.incoming_on(usize::from(head.channel));
        incoming.pieces.add(head.number as usize, head.expected as usize, piece)
    }

    /// The process is lost, or was left.
    pub fn forget(&mut self, process: u32, left: bool) {
        if left {
            self.links.take(process as usize);
        } else if let Some(link) = self.links.get_mut(process as usize) {
            link.outgoing.iter_mut().for_each(|(_, outgoing)| outgoing.drop_all());
            link.incoming.truncate(0);
        }
    }

    /// Memory for a frame.
    pub fn take_buffer(&mut self) -> Vec<u8> {
        self.buffers.pop().unwrap_or_default()
    }

    /// Gives it back.
    pub fn give_buffer(&mut self, buffer: Vec<u8>) {
        give(&mut self.buffers, buffer);
    }

    /// Sends a message on a channel to a process. After `Ok` it arrives.
    pub fn send(&mut self, process: u32, channel: u8, message: Content<'_>, now_ns: u64) -> Result<(), Full> {
        let buffer = self.buffers.pop().unwrap_or_default();
        let link = self.links.get_mut(process as usize).ok_or(Full)?;
        let (path, outgoing) = link.outgoing.get_mut(usize::from(channel)).ok_or(Full)?;
        outgoing.flush(path);
        if outgoing.is_full() {
            give(&mut self.buffers, buffer);
            return Err(Full);
        }
        let incoming = link.incoming.get_mut(usize::from(channel));
        let expected = incoming.as_ref().map_or(0, |incoming| incoming.expected());
        outgoing.push(message, expected, buffer, path, now_ns);
        if let Some(incoming) = incoming {
            incoming.told(Kind::Data);
        }
        self.list_busy(process);
        Ok(())
    }

    /// A frame of a process arrived, of so many bytes.
    pub fn arrived(&mut self, process: u32, frame: Frame, bytes: usize, now_ns: u64) -> Arrived {
        // Before the process is connected here nothing of it is taken: it comes again.
        let Some(link) = self.links.get_mut(process as usize) else { return Arrived::Nothing };
        let channel = usize::from(frame.channel);
        link.silent_since_ns = None;
        if let Some((_, outgoing)) = link.outgoing.get_mut(channel) {
            outgoing.acknowledge(frame.expected, &mut |buffer| give(&mut self.buffers, buffer), now_ns);
            if frame.kind == Kind::Repeat {
                outgoing.repeat(frame.round);
            }
        }
        if matches!(frame.kind, Kind::Data | Kind::Probe) {
            link.incoming_on(channel);
        }
        let arrived = link.incoming.get_mut(channel).map(|incoming| incoming.arrived(frame, bytes, now_ns));
        self.list_busy(process);
        arrived.unwrap_or(Arrived::Nothing)
    }

    /// Something of a process arrived damaged: on which channel, nobody knows.
    pub fn damaged(&mut self, process: u32, now_ns: u64) {
        let Some(link) = self.links.get_mut(process as usize) else { return };
        if link.incoming.is_empty() {
            link.incoming.push(Incoming::default());
        }
        link.incoming.iter_mut().for_each(|incoming| incoming.repeat(now_ns));
        self.list_busy(process);
    }

    fn list_busy(&mut self, process: u32) {
        let link = self.links.entry(process as usize);
        if !link.is_busy && link.is_waiting() {
            link.is_busy = true;
            self.busy.push(process);
            self.publish_busy();
        }
    }

    fn publish_busy(&mut self) {
        let is_busy = !self.busy.is_empty();
        BUSY.store(is_busy, Ordering::Relaxed);
        self.timed.set(is_busy);
    }

    /// What is due to all processes; returns how many messages were sent, and which processes are lost.
    pub fn pass(&mut self, now_ns: u64) -> (usize, Vec<u32>) {
        let (mut moved, mut lost, mut index) = (0, Vec::new(), 0);
        while let Some(process) = self.busy.get(index).copied() {
            let link = self.links.entry(process as usize);
            moved += link.pass(now_ns);
            if link.outgoing.iter().any(|(_, outgoing)| outgoing.is_lost()) {
                lost.push(process);
            }
            if link.is_waiting() {
                index += 1;
            } else {
                link.is_busy = false;
                self.busy.swap_remove(index);
            }
        }
        self.publish_busy();
        (moved, lost)
    }

    /// See [`super::is_drained`].
    pub fn is_drained(&mut self, now_ns: u64) -> bool {
        let processes: Vec<usize> = self.links.iter().map(|(process, _)| process).collect();
        processes.into_iter().all(|process| self.links.entry(process).is_drained(now_ns))
    }

    /// See [`super::has_parted`].
    pub fn has_parted(&mut self, process: u32, now_ns: u64) -> bool {
        self.links.get_mut(process as usize).is_none_or(|link| link.has_parted(now_ns))
    }
}

impl Link {
    /// The peer's channel, which is made where it is not known yet.
    fn incoming_on(&mut self, channel: usize) -> &mut Incoming {
        if self.incoming.len() <= channel {
            self.incoming.resize_with(channel + 1, Incoming::default);
        }
        &mut self.incoming[channel]
    }

    fn is_waiting(&self) -> bool {
        self.outgoing.iter().any(|(_, outgoing)| !outgoing.is_empty()) || self.incoming.iter().any(Incoming::owes)
    }

    fn pass(&mut self, now_ns: u64) -> usize {
        let mut moved = 0;
        for channel in 0..self.outgoing.len() {
            let (path, outgoing) = &mut self.outgoing[channel];
            moved += outgoing.flush(path);
            if outgoing.is_probe_due(now_ns) && self.tell(channel, Kind::Probe) {
                self.outgoing[channel].1.probed(now_ns);
            }
        }
        for channel in 0..self.incoming.len() {
            if let Some(kind) = self.incoming[channel].due(now_ns)
                && self.tell(channel, kind)
            {
                self.incoming[channel].told(kind);
            }
        }
        moved
    }

    /// Sends a frame without a message about a channel, by its transport or another one.
    fn tell(&self, channel: usize, kind: Kind) -> bool {
        let Some((path, outgoing)) = self.outgoing.get(channel).or(self.outgoing.last()) else { return false };
        let (expected, round) =
            self.incoming.get(channel).map_or((0, 0), |incoming| (incoming.expected(), incoming.round()));
        let header = match kind {
            Kind::Probe => Frame { expected, ..outgoing.probe() },
            kind => Frame { kind, am: 0, channel: channel as u8, round, number: 0, expected },
        };
        let mut frame = [0; BYTES];
        header.seal(0, &mut frame);
        path.carry(0, &frame).is_ok()
    }

    fn is_drained(&mut self, now_ns: u64) -> bool {
        if !self.is_heard(now_ns) {
            return false;
        }
        // No answer comes to the last one, so it is said more than once.
        while self.farewells < FAREWELLS {
            if !self.tell_all_status() {
                return false;
            }
            self.farewells += 1;
        }
        true
    }

    /// As [`Link::is_drained`] of a process that may have left meanwhile, and takes no farewell then.
    fn has_parted(&mut self, now_ns: u64) -> bool {
        let is_heard = self.is_heard(now_ns);
        if is_heard {
            (0..FAREWELLS).all(|_| self.tell_all_status());
        }
        is_heard
    }

    /// Whether the process has all that was sent to it, or has been silent for long.
    fn is_heard(&mut self, now_ns: u64) -> bool {
        self.outgoing.iter_mut().for_each(|(path, outgoing)| _ = outgoing.flush(path));
        if self.outgoing.iter().all(|(_, outgoing)| outgoing.is_empty()) {
            return true;
        }
        let since = *self.silent_since_ns.get_or_insert(now_ns);
        now_ns.saturating_sub(since) >= LEAVING_NS
    }

    fn tell_all_status(&self) -> bool {
        (0..self.incoming.len()).all(|channel| self.tell(channel, Kind::Status))
    }
}

fn give(buffers: &mut Vec<Vec<u8>>, buffer: Vec<u8>) {
    if buffers.len() < BUFFERS_KEPT {
        buffers.push(buffer);
    }
}

/// How long a peer that leaves the job may be silent.
pub const LEAVING_NS: u64 = 5_000_000_000;
/// That all of them arrive damaged is as likely as that one does, to this power.
const FAREWELLS: u32 = 8;
const BUFFERS_KEPT: usize = 64;

#[cfg(test)]
mod tests {
    use super::super::segmentation::tests::Narrow;
    use super::*;
    use opal_core::framework::btl::Endpoint;

    #[test]
    fn another_transport_carries_what_the_peer_may_lack() {
        let transports = [Narrow::new(1000, 7), Narrow::new(1000, 8)];
        let paths = transports.map(|module| Path { module, endpoint: Endpoint(0) });
        let mut links = Links::new();
        links.connect(1, &paths);
        *transports[0].room.lock().unwrap() = 1;
        for byte in [1, 2] {
            let mut fill = |place: *mut u8| crate::raw::frame::copy_frame(place, &[byte]);
            links.send(1, 0, Content { am: 4, immediate: 9, bytes: 1, fill: &mut fill }, 0).unwrap();
        }
        assert_eq!(links.fail_over(2, 7).map(|path| path.endpoint), None, "of a process that was never met");
        assert!(links.fail_over(1, 7).is_some());
        *transports[1].room.lock().unwrap() = 9;
        links.pass(0);
        let carried = transports[1].carried.lock().unwrap();
        let frames = carried.iter().map(|(immediate, frame)| Frame::check(*immediate, frame).unwrap());
        let frames: Vec<_> = frames.map(|frame| (frame.kind, frame.channel, frame.number)).collect();
        assert_eq!(frames, [(Kind::Data, 0, 0), (Kind::Data, 0, 1)], "both, one of which had gone by the other one");
        assert_eq!(transports[0].carried.lock().unwrap().len(), 1);
        assert!(links.fail_over(1, 8).is_none(), "none is left");
    }
}
