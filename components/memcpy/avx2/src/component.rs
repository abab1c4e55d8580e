//! Registration.

use opal_core::framework::memcpy;
use opal_core::mca::{self, Declined};
use opal_core::sys::cpu;

/// The component.
pub struct Avx2;

impl mca::Component for Avx2 {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        if cpu::has_avx2() { Ok(()) } else { Err(Declined(MISSING)) }
    }
}

impl memcpy::Component for Avx2 {}

opal_core::component! {
    /// Copies by 32-byte vector registers.
    pub static COMPONENT: Avx2 = Avx2;
    in opal_core::framework::memcpy, name "avx2", params &[]
}

opal_core::provide_memcpy!(crate::raw::copy);

const MISSING: &str = "this processor or its system does not offer AVX2; build the library with memcpy/portable";
