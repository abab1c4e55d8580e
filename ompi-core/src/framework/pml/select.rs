//! Which PML runs.

use super::{FRAMEWORK, Module, OMPI_PMLS};
use opal_core::mca;
use opal_core::sync::Once;

pub(super) static SELECTED: Once<&'static dyn Module> = Once::new();

/// Chooses the component, once.
pub fn select() -> opal_core::Result<()> {
    let (_, module) = mca::select_one(&FRAMEWORK, &OMPI_PMLS, |component| component.query())?;
    SELECTED.call_once(|| module);
    Ok(())
}

/// The running PML.
///
/// # Panics
/// Before [`select`]; every caller is behind the check that MPI is initialised.
#[cfg(not(ompi_direct = "pml"))]
#[inline(always)]
pub fn selected() -> &'static dyn Module {
    *SELECTED.get().expect("the PML is chosen during MPI_Init")
}
