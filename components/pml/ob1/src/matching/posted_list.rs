//! The fast path of matching: nearly every message and every receive needs no more.

use super::list::{List, NONE, Posted, Tag};

/// The receives that nearly every message meets: those posted for its source while none is posted for any source, or the
/// other way round, and no list has an index.
pub struct PostedList<'a, P> {
    pub(super) list: &'a mut List,
    pub(super) posted: &'a mut [Posted<P>],
    pub(super) free: &'a mut u32,
    pub(super) arrival_slow_paths: &'a mut u32,
    // What a receive of the list counts for in `arrival_slow_paths`: 1 if it is from any source.
    pub(super) any_source: u32,
}

impl<P> PostedList<'_, P> {
    /// The receive that a message with `tag` matches, if that is the first.
    #[inline(always)]
    pub fn first(&mut self, tag: i32) -> Option<FirstReceive<'_, P>> {
        let posted = self.posted.get_mut(self.list.first() as usize)?;
        let (free, arrival_slow_paths, any_source) = (&mut *self.free, &mut *self.arrival_slow_paths, self.any_source);
        posted.tag.takes(tag).then_some(FirstReceive { list: self.list, posted, free, arrival_slow_paths, any_source })
    }
}

/// The first receive of a [`PostedList`], which a message matches.
pub struct FirstReceive<'a, P> {
    list: &'a mut List,
    posted: &'a mut Posted<P>,
    free: &'a mut u32,
    arrival_slow_paths: &'a mut u32,
    any_source: u32,
}

impl<P> FirstReceive<'_, P> {
    /// The receive.
    #[inline(always)]
    pub fn receive(&mut self) -> &mut P {
        &mut self.posted.receive
    }

    /// Takes it off the list. Its entry in the table keeps the value until it is used again and is then overwritten without
    /// being dropped: it must own nothing.
    #[inline(always)]
    pub fn consume(self) {
        let number = self.list.set_first(self.posted.next);
        if self.posted.next == NONE {
            self.list.set_last(NONE);
        }
        self.posted.order = 0;
        self.posted.next = core::mem::replace(self.free, number);
        *self.arrival_slow_paths -= self.any_source;
    }
}

/// A free entry for a receive from one source.
pub struct FreeSlot<'a, P> {
    pub(super) list: &'a mut List,
    pub(super) posted: &'a mut [Posted<P>],
    pub(super) free: &'a mut u32,
    pub(super) order: &'a mut u64,
    pub(super) source: u32,
}

impl<P> FreeSlot<'_, P> {
    /// The receive's number, when it is posted.
    #[inline(always)]
    pub fn number(&self) -> u32 {
        *self.free
    }

    /// As [`Matcher::post`](super::Matcher::post).
    #[inline(always)]
    pub fn post(self, tag: Tag, receive: P) {
        let number = *self.free;
        let previous = self.list.set_last(number);
        match self.posted.get_mut(previous as usize) {
            Some(previous) => previous.next = number,
            None => _ = self.list.set_first(number),
        }
        *self.order += 1;
        let entry = &mut self.posted[number as usize];
        *self.free = entry.next;
        entry.next = NONE;
        entry.previous = previous;
        entry.source = self.source;
        entry.tag = tag;
        entry.order = *self.order;
        // Nothing is dropped: what `FirstReceive::consume` left there owns nothing, and `unpost` leaves the default.
        core::mem::forget(core::mem::replace(&mut entry.receive, receive));
    }
}
