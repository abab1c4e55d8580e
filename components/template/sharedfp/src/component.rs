//! Registration.

use crate::module::TemplateModule;
use alloc::boxed::Box;
use core::ffi::CStr;
use ompi_core::comm::Communicator;
use ompi_core::error::Result as Answer;
use ompi_core::framework::sharedfp::{self, Module};
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        // 1. Take this line out when the rest is written. Decline with half a sentence, which people read behind the
        // component's name, where what it needs is missing: a server of numbers.
        Err(Declined(NOT_WRITTEN))
    }
}

impl sharedfp::Component for Component {
    fn query(&self, _comm: &Communicator) -> Result<i32, Declined> {
        // 2. The highest one that all processes accept is used: sharedfp/sm has 20, sharedfp/lockedfile 10.
        Ok(PRIORITY)
    }

    fn make(&self, _comm: &Communicator, _path: &CStr) -> Answer<Option<Box<dyn Module>>> {
        // 3. Called by all processes, which may talk to each other here and not later. Make nothing that costs much: most
        // programs never use the pointer.
        Ok(Some(Box::new(TemplateModule)))
    }
}

opal_core::component! {
    /// A shared file pointer that is not written yet.
    pub static COMPONENT: Component = Component;
    in ompi_core::framework::sharedfp, name "template", params &[]
}

const PRIORITY: i32 = 5;
const NOT_WRITTEN: &str = "it is not written yet: src/component.rs of its crate says where to begin";
