//! The trait of every component, and its registration.

use super::Info;

/// Why a component does not want to run: half a sentence after its name, such as "no usable interface".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declined(pub &'static str);

/// What every component offers, whatever its framework; each framework's own `Component` trait builds on it.
pub trait Component: Sync {
    /// Its facts; written by [`component!`](crate::component).
    fn info(&self) -> &'static Info;

    /// Called once, after its parameters have their values and before any query. Must not touch other processes.
    fn open(&self) -> core::result::Result<(), Declined> {
        Ok(())
    }

    /// Called once, when its last module is gone or it was not chosen; returns everything that `open` took.
    fn close(&self) {}
}

/// Registers a component: once, at the root of its crate.
///
/// ```ignore
/// opal_core::component! {
///     /// Shared memory on one node.
///     pub static COMPONENT: Sm = Sm::new();
///     in opal_core::framework::btl, name "sm", params [&params::EAGER_LIMIT]
/// }
/// ```
/// After the parameters there may be `, pvars &[&pvars::LENGTH]`, performance variables ([`mca::pvar`](crate::mca::pvar)).
/// The type implements `mca::Component` with `opal_core::component_info!();`, and the framework's trait.
#[macro_export]
macro_rules! component {
    (@pvars) => {
        &[]
    };
    (@pvars $pvars:expr) => {
        $pvars
    };
    (#[doc = $doc:literal] $(#[doc = $more:literal])* pub static $object:ident: $type:ty = $init:expr;
     in $($framework:ident)::+, name $name:literal, params $params:expr $(, pvars $pvars:expr)?) => {
        #[doc = $doc]
        $(#[doc = $more])*
        pub static $object: $type = $init;

        /// What the MCA knows of this component.
        pub static INFO: $crate::mca::Info = $crate::mca::Info {
            framework: &$($framework)::+::FRAMEWORK,
            framework_version: $($framework)::+::__VERSION,
            name: $name,
            version: env!("CARGO_PKG_VERSION"),
            doc: $doc,
            params: $params,
            pvars: $crate::component!(@pvars $($pvars)?),
        };

        #[allow(unsafe_code)] // linkme's expansion
        const _: () = {
            #[$crate::mca::linkme::distributed_slice($($framework)::+::__SLICE)]
            #[linkme(crate = $crate::mca::linkme)]
            static REGISTRATION: $($framework)::+::__Registered = &$object;
        };
    };
}

/// `fn info` of `mca::Component` for the type that this crate registers with [`component!`](crate::component).
#[macro_export]
#[allow(clippy::crate_in_macro_def)] // the caller's crate is what is meant
macro_rules! component_info {
    () => {
        fn info(&self) -> &'static $crate::mca::Info {
            &crate::INFO
        }
    };
}
