//! The descriptions of frameworks and of their components. Each names the other: a component its framework, a framework the
//! list of its registered components.

use super::param::{Change, Kind, Param, Value};
use super::pvar::Pvar;

/// The layer that owns a framework.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// opal-core: one process.
    Opal,
    /// orte-core: a job of processes.
    Orte,
    /// ompi-core: MPI.
    Ompi,
}

/// How many of a framework's components run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// All that can (btl, coll, op).
    ManyOfMany,
    /// The one with the highest priority that accepts (pml, ess, shmem).
    OneOfMany,
    /// Exactly one, fixed when the image was built, called directly (memcpy, timer).
    Static,
    /// No components: a name for parameters of a whole layer (`mpi_…`).
    Parameters,
}

/// One framework: its name, rules, base parameters and how to list its registered components.
pub struct Framework {
    /// As users type it: `btl`.
    pub name: &'static str,
    /// One sentence for `ompi_info`.
    pub doc: &'static str,
    /// Owner.
    pub layer: Layer,
    /// Raised when the interface changes; a component built for another one is refused.
    pub version: u32,
    /// How many run.
    pub policy: Policy,
    /// `--mca btl sm,self` or `--mca btl ^tcp`; empty means all.
    pub selection: Param,
    /// `--mca btl_base_verbose 20`.
    pub verbose: Param,
    /// Parameters of the framework itself: `<name>_<param>`.
    pub params: &'static [&'static Param],
    /// Calls back with every component that linkme gathered.
    pub registered: fn(&mut dyn FnMut(&'static Info)),
}

impl Framework {
    /// For [`framework!`](macro@crate::framework).
    pub const fn new(
        name: &'static str,
        doc: &'static str,
        layer: Layer,
        version: u32,
        policy: Policy,
        registered: fn(&mut dyn FnMut(&'static Info)),
    ) -> Framework {
        let selection = Param::new(
            "",
            Kind::Text,
            Value::Text(""),
            "",
            2,
            "Components to use, separated by commas, or after one ^ those to leave out; empty: all.",
        );
        let verbose = Param::new(
            "base_verbose",
            Kind::Int,
            Value::Int(0),
            "",
            8,
            "How much to say: 0 nothing, 10 decisions, 40 every step, 100 every message.",
        )
        .with_change(Change::Local);
        Framework { name, doc, layer, version, policy, selection, verbose, params: &[], registered }
    }

    /// The same with parameters of its own.
    pub const fn with_params(mut self, params: &'static [&'static Param]) -> Framework {
        self.params = params;
        self
    }

    /// The value of `<name>_base_verbose`.
    pub fn verbosity(&self) -> i64 {
        self.verbose.int()
    }
}

impl core::fmt::Debug for Framework {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name)
    }
}

/// The facts about one component; `INFO` at the root of its crate, written by [`component!`](crate::component).
pub struct Info {
    /// Where it belongs.
    pub framework: &'static Framework,
    /// The framework version that it was written for.
    pub framework_version: u32,
    /// As users type it: `sm`.
    pub name: &'static str,
    /// The version of the component's crate.
    pub version: &'static str,
    /// One sentence for `ompi_info`.
    pub doc: &'static str,
    /// Its parameters, named `<framework>_<component>_<param>`.
    pub params: &'static [&'static Param],
    /// Its performance variables, named in the same way.
    pub pvars: &'static [&'static Pvar],
}

impl core::fmt::Debug for Info {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}/{}", self.framework.name, self.name)
    }
}

/// Calls back with every parameter of these frameworks and components: framework name, component name, parameter.
pub fn each_param(
    frameworks: &[&'static Framework],
    components: &[&'static Info],
    visit: &mut dyn FnMut(&'static str, &'static str, &'static Param),
) {
    for framework in frameworks {
        if matches!(framework.policy, Policy::ManyOfMany | Policy::OneOfMany) {
            visit(framework.name, "", &framework.selection);
        }
        visit(framework.name, "", &framework.verbose);
        for param in framework.params {
            visit(framework.name, "", param);
        }
        for info in components.iter().filter(|info| core::ptr::eq(info.framework, *framework)) {
            for param in info.params {
                visit(framework.name, info.name, param);
            }
        }
    }
}

/// Declares a framework in its file: the slice that its components register in and `FRAMEWORK`.
///
/// ```ignore
/// opal_core::framework! {
///     /// Byte transfer layer: moves active messages to one peer.
///     "btl", Opal, version 1, ManyOfMany, OMPI_BTLS: dyn Component
/// }
/// ```
/// The slice's name must be unique in the whole program: linkme keys by identifier.
#[macro_export]
macro_rules! framework {
    (#[doc = $doc:literal] $(#[doc = $more:literal])* $name:literal, $layer:ident, version $version:literal, $policy:ident,
     $slice:ident: $component:ty) => {
        /// Where the components of this framework register themselves.
        #[$crate::mca::linkme::distributed_slice]
        #[linkme(crate = $crate::mca::linkme)]
        pub static $slice: [&'static $component];

        #[doc = $doc]
        pub static FRAMEWORK: $crate::mca::Framework = $crate::mca::Framework::new(
            $name,
            $doc,
            $crate::mca::Layer::$layer,
            $version,
            $crate::mca::Policy::$policy,
            |each| $slice.iter().for_each(|component| each($crate::mca::Component::info(*component))),
        );

        #[doc(hidden)]
        pub use $slice as __SLICE;
        #[doc(hidden)]
        pub type __Registered = &'static $component;
        #[doc(hidden)]
        pub const __VERSION: u32 = $version;
    };
}
