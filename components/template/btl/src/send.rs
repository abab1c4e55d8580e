//! Sending.

use crate::module::{CAPS, TemplateModule};
use opal_core::framework::btl::{AmId, Endpoint, Full};

impl TemplateModule {
    /// 5. Queues a message whose `bytes` bytes `fill` writes to where they travel from. Every message that is answered with
    /// `Ok` arrives, in order; `Full` if there is no room now, without a call of `fill`.
    pub fn push(
        &self,
        _to: Endpoint,
        _am: AmId,
        _immediate: u64,
        bytes: usize,
        _fill: &mut dyn FnMut(*mut u8),
    ) -> Result<(), Full> {
        debug_assert!(bytes <= CAPS.send_bytes);
        Err(Full)
    }
}
