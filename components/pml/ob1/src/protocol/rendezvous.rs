//! Long messages and synchronous sends: ask, clear, fragments, acknowledge.
//!
//! The receiver says how much it wants, so what would be cut off is never sent. Fragments go out as the transport has
//! room; a transport that is full is tried again by progress.

use crate::context::{Announced, Receive};
use crate::peers::backlog::Control;
use crate::peers::endpoint::{self as link, Link};
use crate::protocol::rts_data as lead;
use crate::protocol::selection::{Way, Ways};
use crate::protocol::smsc::{self as single, Pull, Push};
use crate::raw::Place;
use crate::state::{State, aborted};
use crate::wire;
use alloc::boxed::Box;
use core::ops::Range;
use ompi_core::error::Class;
use ompi_core::framework::pml;
use ompi_core::request::{self, Id};
use ompi_core::status::Status;
use opal_core::framework::btl::{Fill, Full};
use opal_core::mem::Untrusted;
use opal_core::sync::{AtomicBool, Ordering};
use opal_core::verbose;

/// Something that takes more than one message.
pub struct Operation {
    serial: u64,
    /// With whom.
    pub process: u32,
    /// For whom.
    pub request: Id,
    /// Of a send its envelope.
    pub immediate: u64,
    /// What is left to do.
    pub work: Work,
}

/// How far an operation is.
pub enum Work {
    /// A synchronous send that was sent and not yet matched.
    Acknowledge,
    /// A long send that was announced: what it says of a single copy, how much was sent along.
    Announced { place: Place, push: Push, sent: usize },
    /// A long send whose receiver is ready: its cookie, how much it wants, how much was sent.
    Streaming { place: Place, to: u64, wanted: usize, sent: usize },
    /// A long receive: what its status will be, how much is wanted, how much came, the way that was chosen.
    Receiving { place: Place, status: Status, wanted: usize, got: usize, chosen: Option<Way> },
    /// A long receive in a single copy.
    Pulling(Pull),
}

/// Where a part of a long message belongs: to which receive, where in it, its place, and how it comes.
struct Room<'a> {
    number: u32,
    offset: usize,
    place: &'a mut Place,
    way: Option<Way>,
}

// Once is enough for who wants to know.
#[cold]
#[inline(never)]
fn say_streamed(process: u32, bytes: usize) {
    if !SAID_STREAMED.swap(true, Ordering::Relaxed) {
        verbose!(pml::FRAMEWORK, 20, "{bytes} bytes from process {process} are stored around the cache");
    }
}

static SAID_STREAMED: AtomicBool = AtomicBool::new(false);

const NUMBER_BITS: u32 = 24;
const SERIALS: u64 = wire::LEAD >> NUMBER_BITS;

impl State {
    /// A synchronous send waits for its match; returns the cookie.
    pub fn expect_acknowledge(&mut self, process: u32, immediate: u64, request: Id) -> u64 {
        self.begin_send(process, immediate, request, Work::Acknowledge)
    }

    /// A long send asks its receiver.
    pub fn announce(&mut self, link: &'static Link, immediate: u64, request: Id, place: Place) {
        let (bytes, lead) = (place.bytes(), lead::bytes(link, place.bytes()));
        let run = link.copier.filter(|way| bytes >= way.module.caps().min_bytes).and_then(|_| place.run());
        let push = if run.is_some() { Push::Offered } else { Push::No };
        let cookie = self.begin_send(link.process, immediate, request, Work::Announced { place, push, sent: 0 });
        let numbers = [bytes as u64, cookie, run.map_or(0, |run| run.address()), lead as u64];
        let sent = self.control_by(link, Control::new(wire::ASK, immediate, &numbers));
        if sent && lead > 0 {
            self.send_lead(link, cookie, lead);
        }
    }

    /// Tells the sender of a synchronous message that it was matched.
    pub fn acknowledge(&mut self, process: u32, cookie: u64) {
        self.control(process, Control::new(wire::ACKNOWLEDGE, cookie, &[]));
    }

    /// A receive met the announcement of a long message.
    pub fn clear(&mut self, receive: Receive, mut status: Status, context: u32, process: u32, announced: Announced) {
        let Announced { bytes, cookie, address, lead } = announced;
        let wanted = receive.place.bytes().min(usize::try_from(bytes).unwrap_or(usize::MAX));
        if bytes > wanted as u64 {
            status.fail(Class::Truncate as i32, context);
        }
        status.set_bytes(wanted as u64);
        let Receive { place, request, .. } = receive;
        let single = address.zip(single::reachable(process, &place, wanted));
        // Through a wire there is nothing to choose.
        let near =
            wanted > 0 && (single.is_some() || link::existing(process).is_some_and(|link| link.fifo_pair.is_some()));
        let chosen = near.then(|| self.ways_of(process).begin(wanted, single.is_some()));
        if let (Some(Way::Single), Some((remote, (link, run)))) = (chosen, single) {
            lead.into_iter().for_each(|kept| self.drop_lead(process, cookie, kept));
            return self.pull(link, Pull::new(place, run, status, wanted, (cookie, remote)), request);
        }
        if wanted == 0 {
            lead.into_iter().for_each(|kept| self.drop_lead(process, cookie, kept));
            request::complete(request, status);
            return self.control(process, Control::new(wire::CLEAR, cookie, &[0, 0]));
        }
        let (_, ours) = self.begin(process, request, Work::Receiving { place, status, wanted, got: 0, chosen });
        let again = lead.is_some_and(|kept| self.is_lead_refused(kept));
        let clear = [ours, wanted as u64, 0];
        self.control(process, Control::new(wire::CLEAR, cookie, if again { &clear } else { &clear[..2] }));
        match lead {
            Some(kept) if again => self.drop_lead(process, cookie, kept),
            Some(kept) => self.receive_lead(process, cookie, kept, ours),
            None => {}
        }
    }

    /// The receiver of a long send is ready, `again` if the lead is to be sent once more. `false` if the cookie is none of
    /// that process's.
    pub fn cleared(&mut self, process: u32, cookie: u64, (theirs, wanted): (u64, u64), again: bool) -> bool {
        let Some((number, operation)) = self.find(process, cookie) else { return false };
        let Work::Announced { place, sent, .. } = &mut operation.work else { return false };
        let (bytes, sent) = (place.bytes(), if again { 0 } else { *sent });
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX).min(bytes);
        if wanted > sent {
            operation.work = Work::Streaming { place: core::mem::take(place), to: theirs, wanted, sent };
        }
        if let Some(link) = link::existing(process) {
            link.habit.note(bytes, Way::Fragments);
        }
        if wanted <= sent {
            request::complete(self.operations.remove(number).request, Status::EMPTY);
            return true;
        }
        self.start_stream(process, number);
        true
    }

    /// How much of a long send was sent.
    pub fn sent(&self, number: u32) -> usize {
        match self.operations.get(number).work {
            Work::Streaming { sent, .. } => sent,
            _ => 0,
        }
    }

    /// Sends the next fragments of a long send; `Ok` when all are sent.
    pub fn stream(&mut self, number: u32, link: &Link) -> Result<(), Full> {
        let Operation { request, work, .. } = self.operations.get_mut(number);
        let request = *request;
        if let Work::Streaming { place, to, wanted, sent } = work {
            while *sent < *wanted {
                *sent += link.spread(|lane| {
                    let bytes = lane.fragment_bytes.min(*wanted - *sent);
                    place.send_part(lane.path, wire::FRAGMENT, *to, *sent as u64, *sent, bytes)?;
                    Ok(bytes)
                })?;
            }
        }
        self.operations.remove(number);
        request::complete(request, Status::EMPTY);
        Ok(())
    }

    /// A part of a long message arrived. `false` if it belongs to nothing.
    pub fn fragment(&mut self, process: u32, cookie: u64, offset: u64, data: Untrusted<'_>) -> bool {
        let Some(Room { number, offset, place, way }) = self.room_for(process, cookie, offset, data.len()) else {
            return false;
        };
        match way {
            Some(Way::Streamed) => {
                place.stream_at(offset, data);
                if !SAID_STREAMED.load(Ordering::Relaxed) {
                    say_streamed(process, data.len());
                }
            }
            _ => place.write_at(offset, data),
        }
        self.came(number, data.len());
        true
    }

    /// Calls `take` with the place for what is missing of a part of a long message, if that is one run.
    pub fn place(&mut self, process: u32, cookie: u64, offset: u64, part: Range<usize>, take: Fill<'_>) -> bool {
        let Some(Room { offset, place, .. }) = self.room_for(process, cookie, offset, part.end) else { return false };
        place.with_run(offset + part.start, part.len(), take)
    }

    /// All of a part of a long message is in its place. `false` if it belongs to nothing any more.
    pub fn landed(&mut self, process: u32, cookie: u64, offset: u64, bytes: usize) -> bool {
        let Some(Room { number, .. }) = self.room_for(process, cookie, offset, bytes) else { return false };
        self.came(number, bytes);
        true
    }

    /// Where a part of so many bytes belongs.
    fn room_for(&mut self, process: u32, cookie: u64, offset: u64, bytes: usize) -> Option<Room<'_>> {
        let (number, operation) = self.find(process, cookie)?;
        let Work::Receiving { place, wanted, got, chosen, .. } = &mut operation.work else { return None };
        let offset = usize::try_from(offset).ok()?;
        // Each byte once: the sum of the lengths must not exceed what is wanted either.
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= *wanted) && bytes <= *wanted - *got;
        (fits && bytes > 0).then_some(Room { number, offset, place, way: *chosen })
    }

    fn came(&mut self, number: u32, bytes: usize) {
        let Work::Receiving { wanted, got, .. } = &mut self.operations.get_mut(number).work else { return };
        *got += bytes;
        if *got == *wanted {
            let Operation { process, request, work, .. } = self.operations.remove(number);
            if let Work::Receiving { status, chosen, wanted, .. } = work {
                if chosen.is_some() {
                    self.ways_of(process).end(wanted);
                }
                request::complete(request, status);
            }
        }
    }

    /// Which way long messages of a process come.
    pub fn ways_of(&mut self, process: u32) -> &mut Ways {
        let index = process as usize;
        if self.ways.len() <= index {
            self.ways.resize_with(index + 1, || None);
        }
        self.ways[index].get_or_insert_with(|| {
            let streams = link::existing(process).is_some_and(|link| link.fifo_pair.is_some());
            Box::new(Ways::new(process, Way::forced(), streams))
        })
    }

    /// A synchronous send was matched, or a message copied. `false` if the cookie is none of that process's.
    pub fn acknowledged(&mut self, process: u32, cookie: u64) -> bool {
        let Some((number, operation)) = self.find(process, cookie) else { return false };
        let (Work::Acknowledge | Work::Announced { push: Push::Offered | Push::Asked(_) | Push::Done, .. }) =
            operation.work
        else {
            return false;
        };
        if let (Work::Announced { place, .. }, Some(link)) = (&operation.work, link::existing(process)) {
            link.habit.note(place.bytes(), Way::Single);
        }
        request::complete(self.operations.remove(number).request, Status::EMPTY);
        true
    }

    /// The process is gone.
    pub fn fail_operations(&mut self, process: u32) {
        if let Some(ways) = self.ways.get_mut(process as usize) {
            *ways = None;
        }
        for number in 0..self.operations.numbers() {
            let Some(operation) = self.operations.find_mut(number) else { continue };
            if operation.process == process {
                let context = 0;
                request::complete(self.operations.remove(number).request, aborted(context));
            }
        }
    }

    /// Enters a send that waits for its receive; returns its cookie.
    fn begin_send(&mut self, process: u32, immediate: u64, request: Id, work: Work) -> u64 {
        let (number, cookie) = self.begin(process, request, work);
        self.operations.get_mut(number).immediate = immediate;
        cookie
    }

    /// Enters an operation; returns its number and its cookie.
    pub fn begin(&mut self, process: u32, request: Id, work: Work) -> (u32, u64) {
        self.serial = (self.serial + 1) % SERIALS;
        let serial = self.serial;
        let number = self.operations.insert(Operation { serial, process, request, immediate: 0, work });
        assert!(number >> NUMBER_BITS == 0, "sixteen million long messages at once");
        (number, serial << NUMBER_BITS | u64::from(number))
    }

    /// The operation with a cookie that may be anything, if it is one with that process.
    pub fn find(&mut self, process: u32, cookie: u64) -> Option<(u32, &mut Operation)> {
        self.find_own(cookie).filter(|(_, operation)| operation.process == process)
    }

    /// The operation with a cookie, if it is still under way.
    pub fn find_own(&mut self, cookie: u64) -> Option<(u32, &mut Operation)> {
        let number = cookie as u32 & ((1 << NUMBER_BITS) - 1);
        let operation = self.operations.find_mut(number)?;
        (operation.serial == cookie >> NUMBER_BITS).then_some((number, operation))
    }
}
