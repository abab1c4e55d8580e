//! Receiving.

use crate::module::TemplateModule;

impl TemplateModule {
    /// 6. Hands out whatever arrived, in order for each peer, with `opal_core::framework::btl::deliver`; returns how many. The
    /// payload may lie where it arrived, as `mem::Untrusted`: it is gone when the handler returns. A handler may send.
    pub fn take_all(&self) -> usize {
        0
    }
}
