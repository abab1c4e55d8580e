//! Registration.

use crate::module::TemplateModule;
use ompi_core::framework::fcoll;
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

impl fcoll::Component for Component {
    fn query(&self, _processes: usize) -> Result<&'static dyn fcoll::Module, Declined> {
        // 2. Decline files of so many processes where it can do nothing for them. All processes must answer alike.
        Ok(&TemplateModule)
    }
}

opal_core::component! {
    /// Collective access to files that is not written yet.
    pub static COMPONENT: Component = Component;
    in ompi_core::framework::fcoll, name "template", params &[]
}

const NOT_WRITTEN: &str = "it is not written yet: src/component.rs of its crate says where to begin";
