//! Sending: header and payload into UCT's buffer.

use crate::module::Uct;
use opal_core::framework::btl::{AmId, Endpoint, Full};

impl Uct {
    /// Sends a message whose payload `fill` writes, which is called only if there is room.
    pub fn send_filled(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> Result<(), Full> {
        let mut state = self.state.lock();
        let (ep, head) = state.begin(to.0, immediate).ok_or(Full)?;
        let posted = state.interface.send(ep, am, &head, bytes, fill);
        if state.sent(to.0, posted) { Ok(()) } else { Err(Full) }
    }
}
