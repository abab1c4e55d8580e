//! The module: one card.

use opal_core::framework::netif::{Caps, Full, Link, Mac, Module};

/// The one module.
pub static MODULE: TemplateModule = TemplateModule;

/// A card.
pub struct TemplateModule;

/// 3. Its address, as the card says it.
const CAPS: Caps = Caps { mac: Mac([2, 0, 0, 0, 0, 0]), mtu: 1500 };

impl Module for TemplateModule {
    fn caps(&self) -> &Caps {
        &CAPS
    }

    fn link(&self) -> Link {
        // 4. Whether anything is at the other end.
        Link::Down
    }

    fn send(&self, _bytes: usize, _fill: &mut dyn FnMut(&mut [u8])) -> Result<(), Full> {
        // 5. Takes back what the card has sent, lets `fill` write to a free buffer, pads it, and gives it to the card.
        Err(Full)
    }

    fn receive(&self, _take: &mut dyn FnMut(&[u8])) -> bool {
        // 6. The next frame that the card marks as done. No lock may be held while `take` runs: it sends.
        false
    }

    fn dropped(&self) -> u64 {
        0
    }
}
