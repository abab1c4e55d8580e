//! The proof that every component chosen for this image is linked, and that no other is.
//!
//! An archive member is linked only when somebody needs a symbol of it, so a component that merely registers itself
//! would vanish without a word. The generated image crate therefore names every component in a hook, and start-up
//! compares the hook with what linkme gathered, both ways.

use super::{Framework, Info};
use alloc::vec::Vec;

#[cfg(not(test))]
mod hook {
    #![allow(unsafe_code)]
    // Defined by `image!` exactly once per program; the linker refuses a program without it.
    // SAFETY: `image!` defines it with this very signature.
    unsafe extern "Rust" {
        #[link_name = "__mca_static_components_v1"]
        pub safe fn static_components() -> &'static [&'static super::Info];
    }
}
#[cfg(test)]
use crate::test_image as hook;

/// Names the components of this program: once, in the image crate or at the top of a test.
///
/// ```ignore
/// opal_core::image![btl_sm, btl_self, #[cfg(feature = "pml-ob1")] pml_ob1];
/// ```
#[macro_export]
macro_rules! image {
    ($($(#[$condition:meta])* $($component:ident)::+),* $(,)?) => {
        #[allow(unsafe_code)]
        const _: () = {
            #[unsafe(export_name = "__mca_static_components_v1")]
            fn image() -> &'static [&'static $crate::mca::Info] {
                static COMPONENTS: &[&$crate::mca::Info] = &[$($(#[$condition])* &$($component)::+::INFO),*];
                COMPONENTS
            }
        };
    };
}

/// Stands in for the image and for the static components in a crate's own unit tests: no component, a copy, a clock that
/// stands still.
///
/// ```ignore
/// #[cfg(test)]
/// opal_core::test_image!();
/// ```
#[macro_export]
macro_rules! test_image {
    () => {
        #[allow(unsafe_code)]
        mod test_image {
            $crate::image![];
            $crate::provide_memcpy!(copy);
            $crate::provide_timer!(ticks, frequency);

            unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
                // SAFETY: the contract of `framework::memcpy::copy`.
                unsafe { core::ptr::copy(from, to, bytes) }
            }

            fn ticks() -> u64 {
                0
            }

            fn frequency() -> u64 {
                1_000_000_000
            }
        }
    };
}

/// What the image claims to contain.
pub fn components() -> &'static [&'static Info] {
    hook::static_components()
}

/// A difference between the image's list and what is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Named by the image, but its registration is not in the program.
    NotRegistered(&'static str, &'static str),
    /// Registered, but the image does not name it.
    NotNamed(&'static str, &'static str),
    /// Built for another version of its framework's interface: theirs, ours.
    FrameworkVersion(&'static str, &'static str, u32, u32),
    /// A static framework has this many components instead of one.
    NotOne(&'static str, usize),
}

impl core::fmt::Display for Fault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Fault::NotRegistered(framework, name) => write!(
                f,
                "component {framework}/{name} was chosen for this library but its registration was not linked; \
                 build the library again with `cargo xtask build`"
            ),
            Fault::NotNamed(framework, name) => write!(
                f,
                "component {framework}/{name} is linked but was not chosen for this library; \
                 name it in `cargo xtask build --components` or in image![]"
            ),
            Fault::FrameworkVersion(framework, name, theirs, ours) => write!(
                f,
                "component {framework}/{name} was written for version {theirs} of the {framework} interface, \
                 this library has version {ours}; build both from the same source"
            ),
            Fault::NotOne(framework, count) => write!(
                f,
                "the static framework {framework} needs exactly one component, this library has {count}; \
                 name one in `cargo xtask build --components`"
            ),
        }
    }
}

/// Compares `named` with what registered in `frameworks`; returns every difference.
pub fn differences(frameworks: &[&'static Framework], named: &[&'static Info]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut registered: Vec<&'static Info> = Vec::new();
    for framework in frameworks {
        (framework.registered)(&mut |info| registered.push(info));
    }
    for info in named {
        if !registered.iter().any(|other| core::ptr::eq(*other, *info)) {
            faults.push(Fault::NotRegistered(info.framework.name, info.name));
        }
    }
    for info in &registered {
        if !named.iter().any(|other| core::ptr::eq(*other, *info)) {
            faults.push(Fault::NotNamed(info.framework.name, info.name));
        }
        if info.framework_version != info.framework.version {
            let (theirs, ours) = (info.framework_version, info.framework.version);
            faults.push(Fault::FrameworkVersion(info.framework.name, info.name, theirs, ours));
        }
    }
    for framework in frameworks.iter().filter(|framework| framework.policy == super::Policy::Static) {
        let count = registered.iter().filter(|info| core::ptr::eq(info.framework, *framework)).count();
        if count != 1 {
            faults.push(Fault::NotOne(framework.name, count));
        }
    }
    faults
}

/// Compares the image's hook with what is linked; says every difference and fails on any.
pub fn verify(frameworks: &[&'static Framework]) -> crate::Result<()> {
    let faults = differences(frameworks, components());
    for fault in &faults {
        crate::message!("{fault}");
    }
    if faults.is_empty() { Ok(()) } else { Err(crate::Error::Mismatch) }
}
