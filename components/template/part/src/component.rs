//! Registration.

use crate::module::TemplatePart;
use ompi_core::framework::part;
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        // 1. Take this line out when the rest is written. Decline with half a sentence, which people read behind the
        // component's name, where what it needs is missing: nothing, as a rule.
        Err(Declined(NOT_WRITTEN))
    }
}

impl part::Component for Component {
    fn query(&self) -> Result<(i32, &'static dyn part::Module), Declined> {
        // 2. Asked when a program makes its first partitioned request. The highest one that accepts is used: part/persist has 20.
        Ok((PRIORITY, &TemplatePart))
    }
}

opal_core::component! {
    /// A way to partitioned communication that is not written yet.
    pub static COMPONENT: Component = Component;
    in ompi_core::framework::part, name "template", params &[]
}

const PRIORITY: i32 = 10;
const NOT_WRITTEN: &str = "it is not written yet: src/component.rs of its crate says where to begin";
