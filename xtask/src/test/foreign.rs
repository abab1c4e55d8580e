//! Libraries of others that components need: whether they are here, and a library of ours with those components.

use super::Session;
use crate::build;
use crate::failure::Result;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// A library of others.
pub struct Foreign {
    name: &'static str,
    pkg_config: &'static str,
    package: &'static str,
    components: &'static [&'static str],
}

/// What ess/pmix needs.
pub const PMIX: Foreign =
    Foreign { name: "PMIx", pkg_config: "pmix", package: "libpmix-dev", components: &["ess/pmix"] };
/// What btl/ofi needs; with the cache of its registrations, which needs to be told of memory that goes.
pub const LIBFABRIC: Foreign = Foreign {
    name: "libfabric",
    pkg_config: "libfabric",
    package: "libfabric-dev",
    components: &["btl/ofi", "osc/rdma", "rcache/grdma", "memory/hook"],
};
/// What btl/uct needs; with the cache of its registrations.
pub const UCX: Foreign = Foreign {
    name: "UCX",
    pkg_config: "ucx-uct",
    package: "libucx-dev",
    components: &["btl/uct", "rcache/grdma", "memory/hook"],
};

impl Foreign {
    /// What is missing for it here.
    pub fn lacks(&self) -> Option<String> {
        let asked = Command::new("pkg-config").args(["--exists", self.pkg_config]).status();
        let is_there = asked.is_ok_and(|status| status.success());
        let Foreign { name, package, .. } = self;
        (!is_there)
            .then(|| format!("{name} is not installed: apt-get install --no-install-recommends pkg-config {package}"))
    }
}

/// The default components and those for libraries of others that are here: built once, for all cases.
pub fn library(session: &mut Session) -> Result<PathBuf> {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    if let Some(dist) = BUILT.get() {
        return Ok(dist.clone());
    }
    let here = [PMIX, LIBFABRIC, UCX].into_iter().filter(|foreign| foreign.lacks().is_none());
    let components = ["default"].into_iter().chain(here.flat_map(|foreign| foreign.components.iter().copied()));
    let components = components.map(str::to_owned).collect();
    let out = session.scratch().join("foreign");
    let options = build::Options { components, variant: true, no_check: true, out: Some(out), ..Default::default() };
    let dist = build::build(&options, session.progress)?.dist;
    Ok(BUILT.get_or_init(|| dist).clone())
}
