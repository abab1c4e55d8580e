//! Registration.

use crate::raw::run;
use ompi_core::framework::op::{self, Kernel, Operation};
use ompi_core::vector_kernel;
use opal_core::datatype::Primitive;
use opal_core::mca::{self, Declined};
use opal_core::sys::cpu;

/// The component.
pub struct Avx2Ops;

impl mca::Component for Avx2Ops {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        let missing = Declined("this processor or its system does not offer AVX2");
        if cpu::has_avx2() { Ok(()) } else { Err(missing) }
    }
}

impl op::Component for Avx2Ops {
    fn query(&self) -> Result<i32, Declined> {
        Ok(20)
    }

    fn kernel(&self, operation: Operation, primitive: Primitive) -> Option<Kernel> {
        vector_kernel!(operation, primitive, run)
    }
}

opal_core::component! {
    /// Kernels of the predefined reduction operations by 32-byte vector registers.
    pub static COMPONENT: Avx2Ops = Avx2Ops;
    in ompi_core::framework::op, name "avx2", params &[]
}
