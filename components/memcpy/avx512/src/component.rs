//! Registration.

use opal_core::framework::memcpy;
use opal_core::mca::{self, Declined};
use opal_core::sys::cpu;

/// The component.
pub struct Avx512;

impl mca::Component for Avx512 {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        if cpu::has_avx512f() { Ok(()) } else { Err(Declined(MISSING)) }
    }
}

impl memcpy::Component for Avx512 {}

opal_core::component! {
    /// Copies by 64-byte vector registers.
    pub static COMPONENT: Avx512 = Avx512;
    in opal_core::framework::memcpy, name "avx512", params &[]
}

opal_core::provide_memcpy!(crate::raw::copy);

const MISSING: &str = "this processor or its system does not offer AVX-512F; build the library with memcpy/portable";
