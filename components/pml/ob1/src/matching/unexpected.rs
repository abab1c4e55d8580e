//! Unexpected messages.

use super::{ANY, Index, Matcher, NONE, Tag, Unexpected, WALKED};
use crate::counters::{UNEXPECTED, WERE_UNEXPECTED, count_compared};

impl<P, U> Matcher<P, U> {
    /// Whether there is memory for one more.
    #[inline(always)]
    pub fn has_room(&mut self) -> bool {
        self.unexpected.has_room()
    }

    /// All unexpected messages, in no order.
    pub fn unexpected(&self) -> impl Iterator<Item = &U> {
        (0..self.unexpected.numbers()).filter_map(|number| Some(&self.unexpected.find(number)?.message))
    }

    /// Appends a message that no receive matches.
    pub fn enqueue(&mut self, source: u32, tag: i32, message: U) {
        let (list, all) = (&mut self.sources[source as usize].unexpected, &mut self.arrivals);
        let (previous, previous_arrival) = (list.last(), all.last());
        let entry = Unexpected { next: NONE, previous, next_arrival: NONE, previous_arrival, source, tag, message };
        let number = self.unexpected.insert(entry);
        UNEXPECTED.add(1);
        WERE_UNEXPECTED.count();
        list.set_last(number);
        all.set_last(number);
        match previous {
            NONE => _ = list.set_first(number),
            _ => self.unexpected.get_mut(previous).next = number,
        }
        match previous_arrival {
            NONE => _ = all.set_first(number),
            _ => self.unexpected.get_mut(previous_arrival).next_arrival = number,
        }
        self.post_slow_paths += 1;
        let tag = Tag(tag);
        if self.unexpected_index.has(source) {
            self.unexpected_index.append(source, tag, number);
        }
        if self.arrivals_index.has(ANY) {
            self.arrivals_index.append(ANY, tag, number);
        }
    }

    /// The first unexpected message that a receive would get: source, tag, message.
    pub fn peek(&mut self, source: Option<u32>, tag: Tag) -> Option<(u32, i32, &U)> {
        let number = self.find_unexpected(source.unwrap_or(ANY), tag)?;
        let entry = self.unexpected.get(number);
        Some((entry.source, entry.tag, &entry.message))
    }

    /// Takes the first unexpected message that a receive gets: source, tag, message.
    #[inline]
    pub fn take(&mut self, source: Option<u32>, tag: Tag) -> Option<(u32, i32, U)> {
        if self.arrivals.is_empty() {
            return None;
        }
        let number = self.find_unexpected(source.unwrap_or(ANY), tag)?;
        Some(self.dequeue(number))
    }

    /// Takes any unexpected message.
    pub fn take_any(&mut self) -> Option<(u32, i32, U)> {
        self.take(None, Tag::ANY)
    }

    // The first from a source, or of all.
    pub(super) fn find_unexpected(&mut self, list: u32, tag: Tag) -> Option<u32> {
        let first = self.first_unexpected(list);
        if tag == Tag::ANY {
            count_compared(usize::from(first != NONE));
            return (first != NONE).then_some(first);
        }
        if !self.index_of(list).has(list) {
            let mut number = first;
            for before in 0..WALKED {
                if number == NONE {
                    count_compared(before);
                    return None;
                }
                let entry = self.unexpected.get(number);
                if tag.takes(entry.tag) {
                    count_compared(before + 1);
                    return Some(number);
                }
                number = if list == ANY { entry.next_arrival } else { entry.next };
            }
            count_compared(WALKED);
            self.index_unexpected(list);
        }
        self.index_of(list).first(list, tag)
    }

    #[cold]
    #[inline(never)]
    fn index_unexpected(&mut self, list: u32) {
        let mut number = self.first_unexpected(list);
        let index = if list == ANY { &mut self.arrivals_index } else { &mut self.unexpected_index };
        index.add_list(list);
        while number != NONE {
            let entry = self.unexpected.get(number);
            index.append(list, Tag(entry.tag), number);
            number = if list == ANY { entry.next_arrival } else { entry.next };
        }
    }

    fn first_unexpected(&self, list: u32) -> u32 {
        match list {
            ANY => self.arrivals.first(),
            source => self.sources[source as usize].unexpected.first(),
        }
    }

    fn index_of(&mut self, list: u32) -> &mut Index {
        if list == ANY { &mut self.arrivals_index } else { &mut self.unexpected_index }
    }

    fn dequeue(&mut self, number: u32) -> (u32, i32, U) {
        let entry = self.unexpected.remove(number);
        UNEXPECTED.take(1);
        let list = &mut self.sources[entry.source as usize].unexpected;
        match entry.previous {
            NONE => _ = list.set_first(entry.next),
            previous => self.unexpected.get_mut(previous).next = entry.next,
        }
        match entry.next {
            NONE => _ = list.set_last(entry.previous),
            next => self.unexpected.get_mut(next).previous = entry.previous,
        }
        match entry.previous_arrival {
            NONE => _ = self.arrivals.set_first(entry.next_arrival),
            previous => self.unexpected.get_mut(previous).next_arrival = entry.next_arrival,
        }
        match entry.next_arrival {
            NONE => _ = self.arrivals.set_last(entry.previous_arrival),
            next => self.unexpected.get_mut(next).previous_arrival = entry.previous_arrival,
        }
        self.post_slow_paths -= 1;
        for list in [entry.source, ANY] {
            self.unindex_unexpected(list, number);
        }
        if self.arrivals.is_empty() {
            self.unexpected.give_back();
        }
        (entry.source, entry.tag, entry.message)
    }

    fn unindex_unexpected(&mut self, list: u32, number: u32) {
        let is_last = self.first_unexpected(list) == NONE;
        let index = self.index_of(list);
        if index.has(list) {
            index.remove(number);
            if is_last {
                index.remove_list(list);
            }
        }
    }
}
