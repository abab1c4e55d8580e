//! What the program contains, gathered once and sorted, before anybody formats it.

use opal_core::mca::{Framework, Info, Kind, Layer, Param, Policy, framework, image, param};

/// Everything.
pub struct Facts {
    /// Sorted by name.
    pub frameworks: Vec<Family>,
    /// Sorted by full name.
    pub params: Vec<Row>,
}

/// One framework and its components.
pub struct Family {
    /// The framework.
    pub framework: &'static Framework,
    /// Sorted by name.
    pub components: Vec<&'static Info>,
}

/// One parameter.
pub struct Row {
    /// As users type it.
    pub name: String,
    /// The framework that it belongs to.
    pub framework: &'static str,
    /// The component, or empty for the framework's own.
    pub component: &'static str,
    /// The parameter.
    pub param: &'static Param,
}

impl Facts {
    /// Asks the image.
    pub fn collect() -> Facts {
        let all = ompi_core::init::frameworks();
        let mut frameworks: Vec<Family> = all.iter().map(|framework| Family::new(framework)).collect();
        frameworks.sort_by_key(|family| family.framework.name);
        let mut params = Vec::new();
        framework::each_param(&all, image::components(), &mut |framework, component, param| {
            params.push(Row { name: param::full_name(framework, component, param.name), framework, component, param });
        });
        params.sort_by(|a, b| a.name.cmp(&b.name));
        Facts { frameworks, params }
    }
}

impl Family {
    fn new(framework: &'static Framework) -> Family {
        let ours = image::components().iter().copied().filter(|info| core::ptr::eq(info.framework, framework));
        let mut components: Vec<&'static Info> = ours.collect();
        components.sort_by_key(|info| info.name);
        Family { framework, components }
    }

    /// How many of the components run, in words.
    pub fn policy(&self) -> &'static str {
        match self.framework.policy {
            Policy::ManyOfMany => "all that can run",
            Policy::OneOfMany => "one runs",
            Policy::Static => "built in",
            Policy::Parameters => "parameters only",
        }
    }

    /// The layer's package.
    pub fn layer(&self) -> &'static str {
        match self.framework.layer {
            Layer::Opal => "opal",
            Layer::Orte => "orte",
            Layer::Ompi => "ompi",
        }
    }
}

impl Row {
    /// The type, as users read it.
    pub fn kind(&self) -> &'static str {
        match self.param.kind {
            Kind::Int => "int",
            Kind::Size => "size",
            Kind::Bool => "bool",
            Kind::Text => "string",
            Kind::Choice(_) => "choice",
        }
    }

    /// The words that a choice accepts.
    pub fn choices(&self) -> &'static [&'static str] {
        match self.param.kind {
            Kind::Choice(words) => words,
            _ => &[],
        }
    }

    /// What it does, without the blanks that doc comments begin with.
    pub fn help(&self) -> String {
        self.param.help.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// `ompi-rs 0.1.0`, as MPI_Get_library_version begins.
pub const VERSION: &str = concat!("ompi-rs ", env!("CARGO_PKG_VERSION"));
/// The standard that the library follows.
pub const STANDARD: &str = "5.0";
/// MPI_ABI_VERSION and MPI_ABI_SUBVERSION of MPI 5.0 §20.
pub const ABI: &str = "1.0";
