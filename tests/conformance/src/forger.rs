//! A card on whose wire somebody changes copies of what passes.

use opal_core::framework::netif::{Caps, Full, HEADER_BYTES, Link, Module};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Before each frame that comes by the card below come copies of it with changes.
pub struct Forger<M> {
    below: M,
    /// Changes so far.
    turn: AtomicUsize,
}

impl<M: Module> Forger<M> {
    /// Over a card.
    pub fn over(below: M) -> Forger<M> {
        Forger { below, turn: AtomicUsize::new(0) }
    }
}

impl<M: Module> Module for Forger<M> {
    fn caps(&self) -> &Caps {
        self.below.caps()
    }

    fn link(&self) -> Link {
        self.below.link()
    }

    fn send(&self, bytes: usize, fill: &mut dyn FnMut(&mut [u8])) -> Result<(), Full> {
        self.below.send(bytes, fill)
    }

    fn receive(&self, take: &mut dyn FnMut(&[u8])) -> bool {
        self.below.receive(&mut |frame| {
            // Fields of btl/eth: number, wanted, am and flag, immediate, tag, payload. Each change would do harm if it were believed.
            let fields = [20, 24, 28, 32, 40, 48].map(|offset| HEADER_BYTES + offset);
            for field in fields.into_iter().filter(|field| *field < frame.len()) {
                let mut changed = frame.to_vec();
                changed[field] ^= 1 << (self.turn.fetch_add(1, Ordering::Relaxed) % 5);
                take(&changed);
            }
            take(frame);
        })
    }

    fn dropped(&self) -> u64 {
        self.below.dropped()
    }
}
