//! Atomics: static, and the one framework whose components are crates below opal-core, so that they inline in
//! every build. [`crate::sync`] re-exports the one that `--cfg ompi_atomics` selects; it is registered here.
#![allow(unsafe_code)] // linkme's expansion

use crate::mca;
use crate::sync::component;

/// Atomics have no calls of their own beyond [`crate::sync`].
pub trait Component: mca::Component {}

crate::framework! {
    /// Atomic loads, stores and read-modify-writes.
    "atomics", Opal, version 1, Static, OMPI_ATOMICS: dyn Component
}

/// The chosen component as the MCA sees it.
pub struct Chosen;

impl mca::Component for Chosen {
    fn info(&self) -> &'static mca::Info {
        &INFO
    }
}

impl Component for Chosen {}

/// The registered object.
pub static COMPONENT: Chosen = Chosen;

/// What the MCA knows of it.
pub static INFO: mca::Info = mca::Info {
    framework: &FRAMEWORK,
    framework_version: FRAMEWORK.version,
    name: component::NAME,
    version: env!("CARGO_PKG_VERSION"),
    doc: component::DOC,
    params: &[],
    pvars: &[],
};

#[linkme::distributed_slice(OMPI_ATOMICS)]
static REGISTRATION: &'static dyn Component = &COMPONENT;
