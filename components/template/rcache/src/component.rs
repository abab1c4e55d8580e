//! Registration.

use crate::module::Keeper;
use alloc::boxed::Box;
use opal_core::framework::{btl, rcache};
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        // 1. Take this line out when the rest is written. Decline with half a sentence, which people read behind the
        // component's name, where nobody tells of memory that goes.
        Err(Declined(NOT_WRITTEN))
    }
}

impl rcache::Component for Component {
    fn query(&self) -> Result<i32, Declined> {
        // 2. Have `opal_core::framework::memory::on_release` tell. The highest priority is used: rcache/grdma has 50.
        Ok(5)
    }

    fn keep(&self, of: &'static dyn btl::Module) -> Box<dyn rcache::Module + Send> {
        Box::new(Keeper::new(of))
    }
}

opal_core::component! {
    /// A registration cache that is not written yet.
    pub static COMPONENT: Component = Component;
    in opal_core::framework::rcache, name "template", params &[]
}

const NOT_WRITTEN: &str = "it is not written yet: src/component.rs of its crate says where to begin";
