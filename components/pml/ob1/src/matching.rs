//! Matching: which message goes to which receive. MPI 5.0 §3.5 (order) and §3.2.4 (wildcards).
//!
//! One [`Matcher`] per communicator and match context. Receives from one source wait in that source's list, receives from
//! MPI_ANY_SOURCE in a list of their own; a number in the order of posting decides between the two. Unexpected messages
//! are in two lists at once: their source's, and one of all in the order of arrival, for wildcards.
//!
//! A list is walked from its beginning, where nearly every message finds its receive. When a walk becomes long, the list
//! gets an [`Index`] by tag until it is empty again. What is rare (an index, wildcards) is counted: `arrival_slow_paths`
//! for messages that arrive, `post_slow_paths` for receives that are posted. The fast path ([`PostedList`], [`FreeSlot`])
//! compares one counter with 0.

/// Posted receives `P` and unexpected messages `U`.
pub struct Matcher<P, U> {
    posted: Vec<Posted<P>>,
    free: u32,
    // Receives posted for any source, and lists of receives with an index.
    arrival_slow_paths: u32,
    // Unexpected messages, and lists of receives with an index; one more where posted receives are counted, and where a source is gone.
    post_slow_paths: u32,
    unexpected: Slab<Unexpected<U>>,
    sources: Box<[Source]>,
    any_source: List,
    arrivals: List,
    order: u64,
    has_lost: bool,
    posted_index: Index,
    // Of lists by source, and of the one of all.
    unexpected_index: Index,
    arrivals_index: Index,
}

#[path = "matching/index.rs"]
mod index;
#[path = "matching/list.rs"]
mod list;
#[path = "matching/posted_list.rs"]
mod posted_list;
#[path = "matching/unexpected.rs"]
mod unexpected;

use self::index::Index;
pub use self::list::Tag;
use self::list::{EMPTY, List, NONE, Posted};
pub use self::posted_list::{FreeSlot, PostedList};
use crate::counters::{count_compared, count_posted, uncount_posted};
use crate::slab::Slab;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem::offset_of;
use opal_core::inspect::Fact;

struct Unexpected<U> {
    next: u32,
    previous: u32,
    next_arrival: u32,
    previous_arrival: u32,
    source: u32,
    tag: i32,
    message: U,
}

struct Source {
    posted: List,
    unexpected: List,
}

opal_core::zeroed_fields!(Source { posted: List, unexpected: List });

const ANY: u32 = u32::MAX;
/// Longest walk through a list without an index. Shorter lists are faster without: an entry costs some 50 ns in an index, and
/// a step 2.
const WALKED: usize = 32;

impl<P, U> Matcher<P, U> {
    /// What a debugger needs to know of the lists.
    pub const FACTS: [Fact; 16] = [
        Fact::number("matcher.posted", offset_of!(Matcher<P, U>, posted)),
        Fact::number("posted", size_of::<Posted<P>>()),
        Fact::number("posted.source", offset_of!(Posted<P>, source)),
        Fact::number("posted.tag", offset_of!(Posted<P>, tag)),
        Fact::number("posted.order", offset_of!(Posted<P>, order)),
        Fact::number("posted.receive", offset_of!(Posted<P>, receive)),
        Fact::number("matcher.arrivals", offset_of!(Matcher<P, U>, arrivals)),
        Fact::number("matcher.unexpected", offset_of!(Matcher<P, U>, unexpected)),
        Fact::number("unexpected.entries", Slab::<Unexpected<U>>::PLACES[0]),
        Fact::number("unexpected.entry", Slab::<Unexpected<U>>::PLACES[1]),
        Fact::number("unexpected.value", Slab::<Unexpected<U>>::PLACES[2]),
        Fact::number("unexpected.next_arrival", offset_of!(Unexpected<U>, next_arrival)),
        Fact::number("unexpected.source", offset_of!(Unexpected<U>, source)),
        Fact::number("unexpected.tag", offset_of!(Unexpected<U>, tag)),
        Fact::number("unexpected.message", offset_of!(Unexpected<U>, message)),
        Fact::number("list.first_plus", List::FIRST_PLUS),
    ];
}

impl<P: Default, U> Matcher<P, U> {
    /// For `sources` sources, numbered from 0.
    pub fn new(sources: usize) -> Matcher<P, U> {
        Matcher {
            posted: Vec::new(),
            free: NONE,
            arrival_slow_paths: 0,
            post_slow_paths: 0,
            unexpected: Slab::new(),
            sources: opal_core::mem::zeroed(sources),
            any_source: EMPTY,
            arrivals: EMPTY,
            order: 0,
            has_lost: false,
            posted_index: Index::new(),
            unexpected_index: Index::new(),
            arrivals_index: Index::new(),
        }
    }

    /// Whether a message from `source` can only match a receive that is posted from now on, and none is unexpected. May
    /// be `false` all the same.
    #[inline(always)]
    pub fn cannot_match(&self, source: u32) -> bool {
        let lists = &self.sources[source as usize];
        lists.posted.is_empty() && self.arrival_slow_paths == 0 && lists.unexpected.is_empty()
    }

    /// As `cannot_match` for all of these sources, and no message at all is unexpected.
    #[inline(always)]
    pub fn none_can_match(&self, mut sources: impl Iterator<Item = u32>) -> bool {
        let is_empty = |source: u32| self.sources[source as usize].posted.is_empty();
        self.post_slow_paths == 0 && self.arrival_slow_paths == 0 && sources.all(is_empty)
    }

    /// The exact form of `cannot_match`: no unexpected message matches such a receive, and no posted receive could take a
    /// message that does.
    pub fn cannot_match_exact(&mut self, source: u32, tag: Tag) -> bool {
        self.find_unexpected(source, tag).is_none() && !self.overlaps(source, tag) && !self.overlaps(ANY, tag)
    }

    /// The exact form of `none_can_match`.
    pub fn none_can_match_exact(&mut self, mut sources: impl Iterator<Item = u32>, tag: Tag) -> bool {
        // Whether a source that is gone matters is for the wait to say.
        !self.has_lost
            && self.find_unexpected(ANY, tag).is_none()
            && !self.overlaps(ANY, tag)
            && sources.all(|source| !self.overlaps(source, tag))
    }

    fn overlaps(&mut self, list: u32, tag: Tag) -> bool {
        match tag {
            Tag::ANY => !self.list_mut(list).is_empty(),
            Tag(tag) => self.first_posted(list, tag).is_some(),
        }
    }

    /// Whether any receive is posted. Walks the whole table.
    pub fn is_posted(&self) -> bool {
        self.posted.iter().any(|posted| posted.order != 0)
    }

    /// From now on no receive is posted on the fast path.
    pub fn close_fast_posts(&mut self) {
        self.post_slow_paths += 1;
    }

    /// A source is gone: whether a receive can wait for it is to be asked wherever one is posted, and no receive is posted on the fast path.
    pub fn mark_lost(&mut self) {
        if !core::mem::replace(&mut self.has_lost, true) {
            self.close_fast_posts();
        }
    }

    /// Whether a source is gone.
    #[inline(always)]
    pub fn has_lost(&self) -> bool {
        self.has_lost
    }

    /// Number of posted receives. Walks the whole table.
    pub fn posted_receives(&self) -> usize {
        self.posted.iter().filter(|posted| posted.order != 0).count()
    }

    /// Posts a receive that matches nothing that is here; `None` is any source. Returns its number.
    #[inline(always)]
    pub fn post(&mut self, source: Option<u32>, tag: Tag, receive: P) -> u32 {
        if self.free == NONE {
            self.grow();
        }
        let number = self.free;
        let source = source.unwrap_or(ANY);
        let list = self.list_mut(source);
        let previous = list.set_last(number);
        if previous == NONE {
            list.set_first(number);
        }
        self.order += 1;
        let entry = &mut self.posted[number as usize];
        self.free = entry.next;
        entry.next = NONE;
        entry.previous = previous;
        entry.source = source;
        entry.tag = tag;
        entry.order = self.order;
        entry.receive = receive;
        if previous != NONE {
            self.posted[previous as usize].next = number;
        }
        count_posted();
        if source == ANY {
            self.arrival_slow_paths += 1;
        }
        if self.posted_index.has(source) {
            self.posted_index.append(source, tag, number);
        }
        number
    }

    /// Takes the first receive that a message from `source` with `tag` matches.
    #[inline(always)]
    pub fn arrive(&mut self, source: u32, tag: i32) -> Option<P> {
        let own = self.first_posted(source, tag);
        let found = if self.any_source.is_empty() {
            own?
        } else {
            let any_source = self.first_posted(ANY, tag);
            self.earlier(own, any_source)?
        };
        Some(self.unpost(found))
    }

    /// The receives posted for a source, or for any source, if no other list can have a match for its messages.
    #[inline(always)]
    pub fn posted_list(&mut self, source: u32) -> Option<PostedList<'_, P>> {
        let own = &mut self.sources.get_mut(source as usize)?.posted;
        let any_source = self.arrival_slow_paths != 0;
        if any_source && (!own.is_empty() || self.posted_index.is_used()) {
            return None;
        }
        let list = if any_source { &mut self.any_source } else { own };
        let (free, arrival_slow_paths) = (&mut self.free, &mut self.arrival_slow_paths);
        Some(PostedList { list, posted: &mut self.posted, free, arrival_slow_paths, any_source: u32::from(any_source) })
    }

    /// A free entry for a receive from `source`, if no message is unexpected, no list has an index, and one is at hand.
    #[inline(always)]
    pub fn free_slot(&mut self, source: u32) -> Option<FreeSlot<'_, P>> {
        let list = &mut self.sources.get_mut(source as usize)?.posted;
        if self.post_slow_paths != 0 || self.free as usize >= self.posted.len() {
            return None;
        }
        Some(FreeSlot { list, posted: &mut self.posted, free: &mut self.free, order: &mut self.order, source })
    }

    /// Takes a posted receive back.
    pub fn cancel(&mut self, number: u32) -> P {
        self.unpost(number)
    }

    /// The receive with a number, if it is still posted.
    pub fn posted_mut(&mut self, number: u32) -> Option<&mut P> {
        self.posted.get_mut(number as usize).filter(|posted| posted.order != 0).map(|posted| &mut posted.receive)
    }

    /// As `posted_mut`, with its source, `None` for any, and its tag.
    pub fn posted(&self, number: u32) -> Option<(Option<u32>, Tag, &P)> {
        let posted = self.posted.get(number as usize).filter(|posted| posted.order != 0)?;
        Some(((posted.source != ANY).then_some(posted.source), posted.tag, &posted.receive))
    }

    /// Takes back the first receive from this very source, or of those from any.
    pub fn cancel_from(&mut self, source: Option<u32>) -> Option<P> {
        let first = self.list_mut(source.unwrap_or(ANY)).first();
        (first != NONE).then(|| self.unpost(first))
    }

    // The first of a list, a source's or that of any, that takes a message with the tag.
    #[inline(always)]
    fn first_posted(&mut self, list: u32, tag: i32) -> Option<u32> {
        if !self.posted_index.has(list) {
            let mut number = self.list_mut(list).first();
            for before in 0..WALKED {
                // NONE, the end, is no entry.
                let Some(posted) = self.posted.get(number as usize) else {
                    count_compared(before);
                    return None;
                };
                if posted.tag.takes(tag) {
                    count_compared(before + 1);
                    return Some(number);
                }
                number = posted.next;
            }
            count_compared(WALKED);
            self.index_posted(list);
        }
        self.earlier(self.posted_index.first(list, Tag(tag)), self.posted_index.first(list, Tag::ANY))
    }

    #[cold]
    #[inline(never)]
    fn index_posted(&mut self, list: u32) {
        self.posted_index.add_list(list);
        self.arrival_slow_paths += 1;
        self.post_slow_paths += 1;
        let mut number = self.list_mut(list).first();
        while let Some(posted) = self.posted.get(number as usize) {
            self.posted_index.append(list, posted.tag, number);
            number = posted.next;
        }
    }

    // Of two receives the one that was posted first.
    fn earlier(&self, one: Option<u32>, other: Option<u32>) -> Option<u32> {
        let order = |number: &u32| self.posted[*number as usize].order;
        one.into_iter().chain(other).min_by_key(order)
    }

    #[inline(always)]
    fn list_mut(&mut self, list: u32) -> &mut List {
        match list {
            ANY => &mut self.any_source,
            source => &mut self.sources[source as usize].posted,
        }
    }

    #[inline(always)]
    fn unpost(&mut self, number: u32) -> P {
        let free = self.free;
        let posted = &mut self.posted[number as usize];
        let (next, source, mut previous) = (posted.next, posted.source, posted.previous);
        uncount_posted();
        let receive = core::mem::take(&mut posted.receive);
        posted.order = 0;
        posted.next = free;
        self.free = number;
        let list = self.list_mut(source);
        if list.first() == number {
            list.set_first(next);
            previous = NONE;
        } else {
            self.posted[previous as usize].next = next;
        }
        match next {
            NONE => _ = self.list_mut(source).set_last(previous),
            next => self.posted[next as usize].previous = previous,
        }
        if source == ANY {
            self.arrival_slow_paths -= 1;
        }
        if self.posted_index.has(source) {
            self.unindex_posted(source, number);
        }
        receive
    }

    #[inline(never)]
    fn unindex_posted(&mut self, list: u32, number: u32) {
        self.posted_index.remove(number);
        if self.list_mut(list).is_empty() {
            self.posted_index.remove_list(list);
            self.arrival_slow_paths -= 1;
            self.post_slow_paths -= 1;
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let first = self.posted.len() as u32;
        let more = first.max(8);
        assert!(first + more < NONE, "four thousand million receives at once");
        for number in first..first + more {
            let next = if number + 1 == first + more { NONE } else { number + 1 };
            let entry = Posted { next, previous: NONE, source: ANY, tag: Tag::ANY, order: 0, receive: P::default() };
            self.posted.push(entry);
        }
        self.free = first;
    }
}

#[cfg(test)]
#[path = "matching/tests.rs"]
mod tests;
