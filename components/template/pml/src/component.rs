//! Registration.

use crate::module::TemplateModule;
use ompi_core::framework::pml;
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        // 1. Take this line out when the rest is written. Decline with half a sentence, which people read behind the
        // component's name, where what it needs is missing: a network.
        Err(Declined(NOT_WRITTEN))
    }
}

impl pml::Component for Component {
    fn query(&self) -> Result<(i32, &'static dyn pml::Module), Declined> {
        // 2. Say which kinds of messages this component handles, with `opal_core::framework::btl::register`: there are eight, and
        // pml/ob1 takes all of them.
        Ok((PRIORITY, &TemplateModule))
    }
}

opal_core::component! {
    /// A point-to-point layer that is not written yet.
    pub static COMPONENT: Component = Component;
    in ompi_core::framework::pml, name "template", params &[]
}

/// 3. The highest one that accepts is used: pml/ob1 has 20.
const PRIORITY: i32 = 10;
const NOT_WRITTEN: &str = "it is not written yet: src/component.rs of its crate says where to begin";
