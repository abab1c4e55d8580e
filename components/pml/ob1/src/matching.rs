//! Matching: which message goes to which receive. MPI 5.0 §3.5 (order) and §3.2.4 (wildcards).
//!
//! One [`Matcher`] per communicator and lane. Receives from one source wait in that source's list, receives from
//! MPI_ANY_SOURCE in a list of their own; a number in the order of posting decides between the two. Messages that nobody
//! waits for are in two lists at once: their source's, and one of all in the order of arrival, for wildcards.

/// A tag, or any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// MPI_ANY_TAG.
    Any,
    /// This one.
    Only(i32),
}

impl Tag {
    #[inline(always)]
    fn takes(self, tag: i32) -> bool {
        match self {
            Tag::Any => true,
            Tag::Only(only) => only == tag,
        }
    }
}

/// Posted receives `P` and unexpected messages `U`.
pub struct Matcher<P, U> {
    posted: Vec<Posted<P>>,
    free: u32,
    in_use: usize,
    unexpected: Slab<Unexpected<U>>,
    sources: Vec<Source>,
    wild: List,
    arrivals: List,
    order: u64,
}

use crate::slab::Slab;
use alloc::vec::Vec;

// Written and read field by field where it lies: a copy of the whole on its way would wait for its own stores.
struct Posted<P> {
    next: u32,
    previous: u32,
    source: u32,
    tag: Tag,
    // 0: not in use.
    order: u64,
    receive: P,
}

struct Unexpected<U> {
    next: u32,
    previous: u32,
    next_arrival: u32,
    previous_arrival: u32,
    source: u32,
    tag: i32,
    message: U,
}

#[derive(Clone, Copy)]
struct List {
    first: u32,
    last: u32,
}

#[derive(Clone, Copy)]
struct Source {
    posted: List,
    unexpected: List,
}

const NONE: u32 = u32::MAX;
const ANY: u32 = u32::MAX;
const EMPTY: List = List { first: NONE, last: NONE };

impl<P: Default, U> Matcher<P, U> {
    /// For `sources` sources, numbered from 0.
    pub fn new(sources: usize) -> Matcher<P, U> {
        let none = Source { posted: EMPTY, unexpected: EMPTY };
        let sources = alloc::vec![none; sources];
        Matcher {
            posted: Vec::new(),
            free: NONE,
            in_use: 0,
            unexpected: Slab::new(),
            sources,
            wild: EMPTY,
            arrivals: EMPTY,
            order: 0,
        }
    }

    /// Whether a message from `source` can only go to a receive that is posted from now on, and none is there already.
    #[inline(always)]
    pub fn is_quiet(&self, source: u32) -> bool {
        let lists = &self.sources[source as usize];
        lists.posted.first == NONE && self.wild.first == NONE && lists.unexpected.first == NONE
    }

    /// The exact form of `is_quiet`: no message that is here matches, and no receive that is posted could take what does.
    pub fn is_free(&self, source: u32, tag: Tag) -> bool {
        let overlap = |other: Tag| match (tag, other) {
            (Tag::Only(one), Tag::Only(other)) => one == other,
            _ => true,
        };
        let lists = &self.sources[source as usize];
        self.find_unexpected(Some(source), tag).is_none()
            && self.walk_posted(lists.posted).all(|posted| !overlap(posted.tag))
            && self.walk_posted(self.wild).all(|posted| !overlap(posted.tag))
    }

    /// Number of posted receives.
    pub fn posted(&self) -> usize {
        self.in_use
    }

    /// Posts a receive that matches nothing that is here; `None` is any source. Returns its number.
    #[inline(always)]
    pub fn post(&mut self, source: Option<u32>, tag: Tag, receive: P) -> u32 {
        if self.free == NONE {
            self.grow();
        }
        let number = self.free;
        let list = match source {
            Some(source) => &mut self.sources[source as usize].posted,
            None => &mut self.wild,
        };
        let previous = list.last;
        list.last = number;
        if previous == NONE {
            list.first = number;
        }
        self.order += 1;
        self.in_use += 1;
        let place = &mut self.posted[number as usize];
        self.free = place.next;
        place.next = NONE;
        place.previous = previous;
        place.source = source.unwrap_or(ANY);
        place.tag = tag;
        place.order = self.order;
        place.receive = receive;
        if previous != NONE {
            self.posted[previous as usize].next = number;
        }
        number
    }

    /// Takes the first receive that a message from `source` with `tag` matches.
    #[inline(always)]
    pub fn arrive(&mut self, source: u32, tag: i32) -> Option<P> {
        let own = self.first_posted(self.sources[source as usize].posted, tag);
        let found = if self.wild.first == NONE {
            own?
        } else {
            let wild = self.first_posted(self.wild, tag);
            match (own, wild) {
                (Some(own), Some(wild)) if self.order_of(own) > self.order_of(wild) => wild,
                (Some(own), _) => own,
                (None, wild) => wild?,
            }
        };
        Some(self.unpost(found))
    }

    /// The receive that a message from `source` with `tag` matches, if that is the first one posted for the source and none
    /// is posted for any source: what nearly every message meets. [`Matcher::settle_first`] takes it.
    #[inline(always)]
    pub fn first(&mut self, source: u32, tag: i32) -> Option<&mut P> {
        let first = self.sources.get(source as usize)?.posted.first;
        if self.wild.first != NONE {
            return None;
        }
        let posted = self.posted.get_mut(first as usize)?;
        posted.tag.takes(tag).then_some(&mut posted.receive)
    }

    /// Takes the receive that [`Matcher::first`] returned. Its place in the table keeps the value until it is used again and is
    /// then overwritten without being dropped: it must own nothing.
    #[inline(always)]
    pub fn settle_first(&mut self, source: u32) {
        let list = &mut self.sources[source as usize].posted;
        let number = list.first;
        let posted = &mut self.posted[number as usize];
        let next = posted.next;
        posted.order = 0;
        posted.next = self.free;
        self.free = number;
        self.in_use -= 1;
        list.first = next;
        match self.posted.get_mut(next as usize) {
            Some(next) => next.previous = NONE,
            None => list.last = NONE,
        }
    }

    /// Whether [`Matcher::post_at_once`] may be called: nothing has arrived that a receive could match, and there is a
    /// place for one.
    #[inline(always)]
    pub fn takes_at_once(&self) -> bool {
        self.arrivals.first == NONE && self.free != NONE
    }

    /// As [`Matcher::post`], from one source, when [`Matcher::takes_at_once`].
    #[inline(always)]
    pub fn post_at_once(&mut self, source: u32, tag: Tag, receive: P) -> u32 {
        let number = self.free;
        let list = &mut self.sources[source as usize].posted;
        let previous = list.last;
        list.last = number;
        match self.posted.get_mut(previous as usize) {
            Some(previous) => previous.next = number,
            None => list.first = number,
        }
        self.order += 1;
        self.in_use += 1;
        let place = &mut self.posted[number as usize];
        self.free = place.next;
        place.next = NONE;
        place.previous = previous;
        place.source = source;
        place.tag = tag;
        place.order = self.order;
        // Nothing is dropped: what `settle_first` left there owns nothing, and `unpost` leaves the default.
        core::mem::forget(core::mem::replace(&mut place.receive, receive));
        number
    }

    /// Takes a posted receive back.
    pub fn cancel(&mut self, number: u32) -> P {
        self.unpost(number)
    }

    /// The receive with a number, if it is still posted.
    pub fn posted_mut(&mut self, number: u32) -> Option<&mut P> {
        self.posted.get_mut(number as usize).filter(|posted| posted.order != 0).map(|posted| &mut posted.receive)
    }

    /// Takes back the first receive from this very source.
    pub fn cancel_from(&mut self, source: u32) -> Option<P> {
        let first = self.sources[source as usize].posted.first;
        (first != NONE).then(|| self.unpost(first))
    }

    /// Keeps a message that no receive matches.
    pub fn keep(&mut self, source: u32, tag: i32, message: U) {
        let (list, all) = (&mut self.sources[source as usize].unexpected, &mut self.arrivals);
        let (previous, previous_arrival) = (list.last, all.last);
        let entry = Unexpected { next: NONE, previous, next_arrival: NONE, previous_arrival, source, tag, message };
        let number = self.unexpected.insert(entry);
        (list.last, all.last) = (number, number);
        match previous {
            NONE => list.first = number,
            _ => self.unexpected.get_mut(previous).next = number,
        }
        match previous_arrival {
            NONE => all.first = number,
            _ => self.unexpected.get_mut(previous_arrival).next_arrival = number,
        }
    }

    /// The first kept message that a receive would get: source, tag, message.
    pub fn look(&self, source: Option<u32>, tag: Tag) -> Option<(u32, i32, &U)> {
        let entry = self.unexpected.get(self.find_unexpected(source, tag)?);
        Some((entry.source, entry.tag, &entry.message))
    }

    /// Takes the first kept message that a receive gets: source, tag, message.
    #[inline]
    pub fn take(&mut self, source: Option<u32>, tag: Tag) -> Option<(u32, i32, U)> {
        if self.arrivals.first == NONE {
            return None;
        }
        let number = self.find_unexpected(source, tag)?;
        Some(self.unkeep(number))
    }

    /// Takes any kept message.
    pub fn take_any(&mut self) -> Option<(u32, i32, U)> {
        self.take(None, Tag::Any)
    }

    #[inline(always)]
    fn first_posted(&self, list: List, tag: i32) -> Option<u32> {
        let mut number = list.first;
        while number != NONE {
            let posted = &self.posted[number as usize];
            if posted.tag.takes(tag) {
                return Some(number);
            }
            number = posted.next;
        }
        None
    }

    fn walk_posted(&self, list: List) -> impl Iterator<Item = &Posted<P>> {
        let mut number = list.first;
        core::iter::from_fn(move || {
            let posted = (number != NONE).then(|| &self.posted[number as usize])?;
            number = posted.next;
            Some(posted)
        })
    }

    fn find_unexpected(&self, source: Option<u32>, tag: Tag) -> Option<u32> {
        let mut number = match source {
            Some(source) => self.sources[source as usize].unexpected.first,
            None => self.arrivals.first,
        };
        while number != NONE {
            let entry = self.unexpected.get(number);
            if tag.takes(entry.tag) {
                return Some(number);
            }
            number = if source.is_some() { entry.next } else { entry.next_arrival };
        }
        None
    }

    fn order_of(&self, number: u32) -> u64 {
        self.posted[number as usize].order
    }

    #[inline(always)]
    fn unpost(&mut self, number: u32) -> P {
        let free = self.free;
        let posted = &mut self.posted[number as usize];
        let (next, previous, source) = (posted.next, posted.previous, posted.source);
        let receive = core::mem::take(&mut posted.receive);
        posted.order = 0;
        posted.next = free;
        self.free = number;
        self.in_use -= 1;
        let list = match source {
            ANY => &mut self.wild,
            source => &mut self.sources[source as usize].posted,
        };
        match previous {
            NONE => list.first = next,
            previous => self.posted[previous as usize].next = next,
        }
        match next {
            NONE => list.last = previous,
            next => self.posted[next as usize].previous = previous,
        }
        receive
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let first = self.posted.len() as u32;
        let more = first.max(8);
        assert!(first + more < NONE, "four thousand million receives at once");
        for number in first..first + more {
            let next = if number + 1 == first + more { NONE } else { number + 1 };
            let place = Posted { next, previous: NONE, source: ANY, tag: Tag::Any, order: 0, receive: P::default() };
            self.posted.push(place);
        }
        self.free = first;
    }

    fn unkeep(&mut self, number: u32) -> (u32, i32, U) {
        let entry = self.unexpected.remove(number);
        let list = &mut self.sources[entry.source as usize].unexpected;
        match entry.previous {
            NONE => list.first = entry.next,
            previous => self.unexpected.get_mut(previous).next = entry.next,
        }
        match entry.next {
            NONE => list.last = entry.previous,
            next => self.unexpected.get_mut(next).previous = entry.previous,
        }
        match entry.previous_arrival {
            NONE => self.arrivals.first = entry.next_arrival,
            previous => self.unexpected.get_mut(previous).next_arrival = entry.next_arrival,
        }
        match entry.next_arrival {
            NONE => self.arrivals.last = entry.previous_arrival,
            next => self.unexpected.get_mut(next).previous_arrival = entry.previous_arrival,
        }
        (entry.source, entry.tag, entry.message)
    }
}

#[cfg(test)]
#[path = "matching/tests.rs"]
mod tests;
