//! Which bytes are registered, and who uses them. Data only: nothing is registered or unregistered here.

use alloc::vec::Vec;
use core::ops::Range;
use opal_core::framework::btl::Registration;

/// The registrations with one transport.
pub struct Cache {
    /// By number.
    entries: Vec<Option<Entry>>,
    /// Numbers without an entry.
    free: Vec<u32>,
    /// What can be found, by address; nothing overlaps.
    spans: Vec<Span>,
    /// By address, what was found there last: a guess, which is looked at.
    recent: [u32; RECENT],
    /// How many bytes these have.
    bytes: usize,
    /// Counts uses.
    clock: u64,
}

struct Entry {
    start: usize,
    end: usize,
    registration: Registration,
    users: u32,
    last_used: u64,
    /// It is found no more, and ends with its last user.
    is_retired: bool,
}

struct Span {
    start: usize,
    end: usize,
    number: u32,
}

/// How much may be kept.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Registrations.
    pub entries: usize,
    /// Their bytes.
    pub bytes: usize,
}

impl Cache {
    /// Nothing is registered.
    pub const fn new() -> Cache {
        Cache { entries: Vec::new(), free: Vec::new(), spans: Vec::new(), recent: [0; RECENT], bytes: 0, clock: 0 }
    }

    /// A registration of all of these bytes, which has one user more now.
    #[inline]
    pub fn find(&mut self, range: &Range<usize>) -> Option<u32> {
        let guess = &mut self.recent[(range.start / GRAIN) % RECENT];
        let covers = |entry: &Entry| !entry.is_retired && entry.start <= range.start && range.end <= entry.end;
        if !self.entries.get(*guess as usize).and_then(Option::as_ref).is_some_and(covers) {
            let behind = self.spans.partition_point(|span| span.start <= range.start);
            *guess = self.spans.get(behind.checked_sub(1)?).filter(|span| range.end <= span.end)?.number;
        }
        let number = *guess;
        let entry = self.entries[number as usize].as_mut()?;
        self.clock += 1;
        entry.users += 1;
        entry.last_used = self.clock;
        Some(number)
    }

    /// The key of a registration with a user.
    pub fn key(&self, number: u32) -> &[u8] {
        self.entries[number as usize].as_ref().map_or(&[], |entry| &entry.registration.key)
    }

    /// What to register for these bytes: they and all that overlaps them, if that is not much more. What is read in
    /// pieces that overlap would otherwise be registered again for each piece.
    pub fn joined(&self, range: &Range<usize>) -> Range<usize> {
        let overlapping = &self.spans[self.overlapping(range)];
        let start = overlapping.first().map_or(range.start, |span| span.start.min(range.start));
        let end = overlapping.last().map_or(range.end, |span| span.end.max(range.end));
        if end - start <= JOINED_BYTES.max(2 * range.len()) { start..end } else { range.clone() }
    }

    /// Nothing of these bytes is found any more; calls `end` with the registrations that nobody uses.
    pub fn forget(&mut self, range: &Range<usize>, mut end: impl FnMut(Registration)) {
        let overlapping = self.overlapping(range);
        let numbers: Vec<u32> = self.spans[overlapping.clone()].iter().map(|span| span.number).collect();
        self.bytes -= self.spans[overlapping.clone()].iter().map(|span| span.end - span.start).sum::<usize>();
        self.spans.drain(overlapping);
        for number in numbers {
            let Some(entry) = self.entries[number as usize].as_mut() else { continue };
            entry.is_retired = true;
            if entry.users == 0 {
                self.remove(number).into_iter().for_each(&mut end);
            }
        }
    }

    /// Whether so many bytes more may be kept.
    pub fn has_room(&self, bytes: usize, bounds: Bounds) -> bool {
        self.spans.len() < bounds.entries && self.bytes.saturating_add(bytes) <= bounds.bytes
    }

    /// Gives up the registration that has not been used for the longest time. `None`: all are in use.
    pub fn give_up(&mut self) -> Option<Registration> {
        let last_used = |number: u32| {
            let entry = self.entries[number as usize].as_ref()?;
            (entry.users == 0).then_some(entry.last_used)
        };
        let idle = self.spans.iter().enumerate().filter_map(|(at, span)| Some((last_used(span.number)?, at)));
        let (_, at) = idle.min()?;
        let Span { start, end, number } = self.spans.remove(at);
        self.bytes -= end - start;
        self.remove(number)
    }

    /// Keeps a registration of bytes of which nothing is found; it has one user. Its number.
    pub fn keep(&mut self, range: &Range<usize>, registration: Registration) -> u32 {
        self.clock += 1;
        let Range { start, end } = *range;
        let entry = Entry { start, end, registration, users: 1, last_used: self.clock, is_retired: false };
        let number = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() as u32 - 1
        });
        self.entries[number as usize] = Some(entry);
        let at = self.spans.partition_point(|span| span.start < range.start);
        self.spans.insert(at, Span { start: range.start, end: range.end, number });
        self.bytes += range.len();
        number
    }

    /// A user is done. What nobody finds or uses any more.
    pub fn release(&mut self, number: u32) -> Option<Registration> {
        let entry = self.entries.get_mut(number as usize)?.as_mut()?;
        entry.users -= 1;
        if entry.users == 0 && entry.is_retired { self.remove(number) } else { None }
    }

    /// How many are found, and their bytes.
    pub fn size(&self) -> (usize, usize) {
        (self.spans.len(), self.bytes)
    }

    fn overlapping(&self, range: &Range<usize>) -> Range<usize> {
        let first = self.spans.partition_point(|span| span.end <= range.start);
        let behind = self.spans.partition_point(|span| span.start < range.end);
        first..behind.max(first)
    }

    fn remove(&mut self, number: u32) -> Option<Registration> {
        let entry = self.entries[number as usize].take()?;
        self.free.push(number);
        Some(entry.registration)
    }
}

/// How many guesses there are, and of addresses how far apart.
const RECENT: usize = 1 << 11;
const GRAIN: usize = 2048;
/// Up to here what overlaps becomes one registration.
const JOINED_BYTES: usize = 16 << 20;
