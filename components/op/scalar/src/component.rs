//! Registration.

use ompi_core::framework::op::{self, Kernel, Operation};
use opal_core::datatype::Primitive;
use opal_core::mca::{self, Declined};

/// The component.
pub struct ScalarOps;

impl mca::Component for ScalarOps {
    opal_core::component_info!();
}

impl op::Component for ScalarOps {
    fn query(&self) -> Result<i32, Declined> {
        Ok(10)
    }

    fn kernel(&self, operation: Operation, primitive: Primitive) -> Option<Kernel> {
        crate::table::kernel(operation, primitive)
    }
}

opal_core::component! {
    /// Kernels of the predefined reduction operations in portable code.
    pub static COMPONENT: ScalarOps = ScalarOps;
    in ompi_core::framework::op, name "scalar", params &[]
}
