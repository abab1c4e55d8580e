//! The groups that `--components` knows, as data.

/// A group and what it is for.
pub const GROUPS: &[(&str, &str)] = &[
    ("default", "what a laptop, a cluster or a container wants"),
    ("minimal", "the least that runs on one node"),
    ("all", "every component that runs under an operating system and whose header is there"),
];

/// What a group takes for a static framework, where exactly one can be.
pub const STATIC_CHOICE: &[&str] = &["atomics/core", "memcpy/portable", "memory/none", "timer/clock"];

/// `minimal`, beside the static choice.
pub const MINIMAL: &[&str] = &[
    "bml/r2",
    "btl/self",
    "btl/sm",
    "coll/basic",
    "coll/inter",
    "ess/env",
    "ess/singleton",
    "op/scalar",
    "osc/am",
    "pml/ob1",
    "shmem/memfd",
    "topo/basic",
];

/// The same without an operating system.
pub const MINIMAL_BARE: &[&str] = &[
    "bml/r2",
    "btl/self",
    "btl/sm",
    "coll/basic",
    "ess/singleton",
    "ess/static",
    "op/scalar",
    "osc/am",
    "pml/ob1",
    "shmem/ivshmem",
    "topo/basic",
];

/// In `all` but not in `default`: needs a device, privileges, a library of others or a component that does, is for tests, or exists to be
/// compared with others.
pub const NOT_DEFAULT: &[&str] =
    &["btl/faulty", "btl/ofi", "btl/uct", "ess/pmix", "fbtl/faulty", "osc/rdma", "rcache/grdma", "smsc/faulty"];

/// Without these no MPI runs: a framework, and the component of it that must be there, or `None` for any.
/// A framework that has no crates yet is not asked for.
pub const REQUIRED: &[(&str, Option<&str>)] =
    &[("ess", None), ("pml", None), ("bml", None), ("btl", Some("self")), ("coll", Some("basic"))];

/// Other names for components.
pub const ALIASES: &[(&str, &str)] = &[("btl/vader", "btl/sm")];
