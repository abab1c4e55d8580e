//! What each rank has counted so far, in words: all that is known if it dies.

use super::{Control, Shared};
use crate::segment::record::{self, TOLD_AT, TOLD_LENGTH, TOLD_PLACES, TOLD_TEXT, TOLD_TEXT_BYTES};
use alloc::string::String;
use opal_core::Result;
use opal_core::sync::Ordering;

impl<S: Shared> Control<S> {
    /// Says what a rank has counted until this time of the monotonic clock; no words: nothing that is to be shown.
    pub fn set_told(&self, rank: u32, at_ns: u64, words: &str) -> Result<()> {
        let record = self.record(rank)?;
        let told = self.shared.word(record + record::TOLD);
        // One writer: the rank.
        let turn = told.load(Ordering::Relaxed).wrapping_add(1);
        let place = record + TOLD_PLACES[turn as usize % 2];
        let text = &words[..words.floor_char_boundary(TOLD_TEXT_BYTES)];
        self.write(place + TOLD_AT, &at_ns.to_ne_bytes());
        self.write(place + TOLD_TEXT, text.as_bytes());
        self.shared.word(place + TOLD_LENGTH).store(text.len() as u32, Ordering::Relaxed);
        // Release pairs with the Acquire in `told`.
        told.store(turn, Ordering::Release);
        Ok(())
    }

    /// What a rank said last, and when. Whole once the rank has ended; until then it may be torn.
    pub fn told(&self, rank: u32) -> Option<(u64, String)> {
        let record = self.record(rank).ok()?;
        // Acquire pairs with the Release in `set_told`.
        let turn = self.shared.word(record + record::TOLD).load(Ordering::Acquire);
        let place = record + TOLD_PLACES[turn as usize % 2];
        let at_ns = self.read(place + TOLD_AT, 8).try_into().map(u64::from_ne_bytes).ok()?;
        let length = self.shared.word(place + TOLD_LENGTH).load(Ordering::Relaxed) as usize;
        let text = self.read(place + TOLD_TEXT, length.min(TOLD_TEXT_BYTES));
        (turn != 0 && length > 0).then(|| (at_ns, String::from_utf8_lossy(&text).into_owned()))
    }
}
