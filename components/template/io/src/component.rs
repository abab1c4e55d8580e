//! Registration.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::ffi::CStr;
use ompi_core::comm::Communicator;
use ompi_core::error::{Class, Result as Answer};
use ompi_core::framework::io::{self, FileArguments, Module};
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        // 1. Take this line out when the rest is written. Decline with half a sentence, which people read behind the
        // component's name, where what it needs is missing: files.
        Err(Declined(NOT_WRITTEN))
    }
}

impl io::Component for Component {
    fn query(&self) -> Result<i32, Declined> {
        // 2. The highest one that accepts is used: io/ompio has 10.
        Ok(PRIORITY)
    }

    fn open_file(&self, _comm: Arc<Communicator>, _arguments: Answer<FileArguments<'_>>) -> Answer<Box<dyn Module>> {
        // 3. What this returns serves every function on the file: `io::Module` says what each of them promises. Where the
        // arguments are a fault, this process tells the others, and none of them opens the file.
        Err(Class::UnsupportedOperation.into())
    }

    fn delete_file(&self, _path: &CStr) -> Answer<()> {
        Err(Class::UnsupportedOperation.into())
    }
}

opal_core::component! {
    /// MPI-IO that is not written yet.
    pub static COMPONENT: Component = Component;
    in ompi_core::framework::io, name "template", params &[]
}

const PRIORITY: i32 = 5;
const NOT_WRITTEN: &str = "it is not written yet: src/component.rs of its crate says where to begin";
