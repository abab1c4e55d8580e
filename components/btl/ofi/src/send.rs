//! Sending: header and payload into a buffer of this component's own, and the buffer to the provider.

use crate::module::Ofi;
use crate::wire::HEADER_BYTES;
use opal_core::framework::btl::{AmId, Endpoint, Full};

impl Ofi {
    /// Sends a message whose payload `fill` writes. Where the provider has no room the message waits in its buffer, and the next one to
    /// this peer is refused.
    pub fn send_filled(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> Result<(), Full> {
        let mut state = self.state.lock();
        let (slot, header) = state.begin(to.0, am, immediate).ok_or(Full)?;
        state.fabric.fill(slot, &header.encode(), bytes, fill);
        state.send(to.0, slot, HEADER_BYTES + bytes);
        Ok(())
    }
}
