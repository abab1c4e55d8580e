//! The short ways of matching: what nearly every message and every receive meets, with what it needs at hand.

use super::{List, NONE, Posted, Tag};

/// The receives that nearly every message meets: those posted for its source while none is posted for any source, or the
/// other way round, and no list has an index.
pub struct Line<'a, P> {
    pub(super) list: &'a mut List,
    pub(super) posted: &'a mut [Posted<P>],
    pub(super) free: &'a mut u32,
    pub(super) detours: &'a mut u32,
    // How many detours a receive of the list is.
    pub(super) wild: u32,
}

impl<P> Line<'_, P> {
    /// The receive that a message with `tag` matches, if that is the first.
    #[inline(always)]
    pub fn first(&mut self, tag: i32) -> Option<First<'_, P>> {
        let posted = self.posted.get_mut(self.list.first as usize)?;
        let (free, detours, wild) = (&mut *self.free, &mut *self.detours, self.wild);
        posted.tag.takes(tag).then_some(First { list: self.list, posted, free, detours, wild })
    }
}

/// The first receive of a [`Line`], which a message matches.
pub struct First<'a, P> {
    list: &'a mut List,
    posted: &'a mut Posted<P>,
    free: &'a mut u32,
    detours: &'a mut u32,
    wild: u32,
}

impl<P> First<'_, P> {
    /// The receive.
    #[inline(always)]
    pub fn receive(&mut self) -> &mut P {
        &mut self.posted.receive
    }

    /// It is served. Its place in the table keeps the value until it is used again and is then overwritten without being
    /// dropped: it must own nothing.
    #[inline(always)]
    pub fn settle(self) {
        let number = core::mem::replace(&mut self.list.first, self.posted.next);
        if self.posted.next == NONE {
            self.list.last = NONE;
        }
        self.posted.order = 0;
        self.posted.next = core::mem::replace(self.free, number);
        *self.detours -= self.wild;
    }
}

/// A place for a receive from one source.
pub struct Room<'a, P> {
    pub(super) list: &'a mut List,
    pub(super) posted: &'a mut [Posted<P>],
    pub(super) free: &'a mut u32,
    pub(super) order: &'a mut u64,
    pub(super) source: u32,
}

impl<P> Room<'_, P> {
    /// The receive's number, when it is posted.
    #[inline(always)]
    pub fn number(&self) -> u32 {
        *self.free
    }

    /// As [`Matcher::post`].
    #[inline(always)]
    pub fn post(self, tag: Tag, receive: P) {
        let number = *self.free;
        let previous = core::mem::replace(&mut self.list.last, number);
        match self.posted.get_mut(previous as usize) {
            Some(previous) => previous.next = number,
            None => self.list.first = number,
        }
        *self.order += 1;
        let place = &mut self.posted[number as usize];
        *self.free = place.next;
        place.next = NONE;
        place.previous = previous;
        place.source = self.source;
        place.tag = tag;
        place.order = *self.order;
        // Nothing is dropped: what `First::settle` left there owns nothing, and `unpost` leaves the default.
        core::mem::forget(core::mem::replace(&mut place.receive, receive));
    }
}
