//! Registration.

use crate::raw::run;
use ompi_core::framework::op::{self, Kernel, Operation};
use ompi_core::vector_kernel;
use opal_core::datatype::Primitive;
use opal_core::mca::{self, Declined};
use opal_core::sys::cpu;

/// The component.
pub struct Avx512Ops;

impl mca::Component for Avx512Ops {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        let missing = Declined("this processor or its system does not offer AVX-512");
        if cpu::has_avx512() { Ok(()) } else { Err(missing) }
    }
}

impl op::Component for Avx512Ops {
    fn query(&self) -> Result<i32, Declined> {
        Ok(30)
    }

    fn kernel(&self, operation: Operation, primitive: Primitive) -> Option<Kernel> {
        vector_kernel!(operation, primitive, run)
    }
}

opal_core::component! {
    /// Kernels of the predefined reduction operations by 64-byte vector registers.
    pub static COMPONENT: Avx512Ops = Avx512Ops;
    in ompi_core::framework::op, name "avx512", params &[]
}
