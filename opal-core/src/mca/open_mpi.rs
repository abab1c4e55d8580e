//! Names of Open MPI's that mean nothing here: users carry its files and variables along. They are ignored, and said
//! once; what is none of these was meant for this library and is mistyped.

use super::name::{Selection, canonical};

/// Whether a selection list may name a component that is not among `have` because it is one of Open MPI's.
pub fn is_ignored(framework: &str, name: &str, have: &[&str]) -> bool {
    !have.contains(&canonical(name)) && is_component(framework, name)
}

/// What is left of the selection list of a framework with the components `have` without those that are ignored. Where only
/// such are wanted nothing was said.
pub fn known<'a>(list: Selection<'a>, framework: &str, have: &[&str]) -> Selection<'a> {
    let Selection::Only(mut names) = list else { return list };
    names.retain(|name| !is_ignored(framework, name, have));
    if names.is_empty() { Selection::All } else { Selection::Only(names) }
}

/// Whether Open MPI (4 or 5, with its launcher) has a parameter of this name.
pub fn is_parameter(name: &str) -> bool {
    let mut parts = name.splitn(3, '_');
    let (framework, component, rest) =
        (parts.next().unwrap_or_default(), parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    listed(FRAMEWORKS, framework)
        || (is_component(framework, component) && !rest.is_empty())
        || (listed(TRANSPORT, rest) && framework == "btl")
        || NAMES.iter().any(|pattern| matches(pattern, name))
}

/// Whether Open MPI has a component of this name in a framework that this library has, too.
pub fn is_component(framework: &str, component: &str) -> bool {
    let own = COMPONENTS.iter().find(|(known, _)| *known == framework);
    own.is_some_and(|(_, components)| listed(components, component))
}

/// Whether Open MPI's own launcher sets a parameter to this value for the processes that it starts, though no user said so. Of `ess`
/// only what it writes itself is one: a list of the user's stays as it is.
pub fn is_of_launcher(name: &str, value: &str) -> bool {
    (name, value) == ("ess", "^singleton")
        || ["pmix", "initial_wdir", "mpi_oversubscribe", "shmem_RUNTIME_QUERY_hint"].contains(&name)
        || ["orte_", "ess_base_", "rmaps_base_"].iter().any(|beginning| name.starts_with(beginning))
}

/// The parameter by which a process sees that Open MPI's own launcher started it.
pub const LAUNCHER_MARK: &str = "orte_launch";

fn listed(list: &str, name: &str) -> bool {
    !name.is_empty() && list.split(' ').any(|listed| listed == name)
}

/// `*` stands for any text, once.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, behind)) => {
            name.len() >= before.len() + behind.len() && name.starts_with(before) && name.ends_with(behind)
        }
    }
}

/// Frameworks and parts of Open MPI, PRRTE and PMIx that have no counterpart of the same name.
const FRAMEWORKS: &str = "accelerator allocator backtrace bfrops compress crcp crs dl dpm errmgr event fbtl fcoll filem fs gds \
    grpcomm hook hwloc if installdirs io iof mca memchecker memheap mpool mtl odls ompi oob opal orte osc oshmem part patcher \
    pcompress pdl pfexec pgpu pinstalldirs plm plog pmdl pmix pnet preg prm prte prtereachable psec psensor psquash pstat pstrg \
    ptl pubsub ras rcache regx rmaps rml routed rtc rte schizo scoll sharedfp shmemx spml sshmem state threads \
    vprotocol";

/// Components of frameworks that exist here, too.
const COMPONENTS: &[(&str, &str)] = &[
    ("btl", "ofi openib portals4 scif smcuda template ucx uct ugni usnic"),
    ("coll", "accelerator acoll adapt cuda demo fca ftagree hcoll libnbc ml monitoring portals4 sync ucc xhc"),
    ("ess", "alps hnp lsf pmi slurm tm tool"),
    ("memory", "linux patcher"),
    ("op", "aarch64 avx x86"),
    ("pml", "bfo cm monitoring mxm ucx v yalla"),
    ("shmem", "mmap sysv"),
    ("smsc", "accelerator knem xpmem"),
    ("timer", "altix darwin linux solaris"),
    ("topo", "unity"),
];

/// Parameters that each transport of Open MPI has.
const TRANSPORT: &str = "atomic_flags bandwidth eager_limit exclusivity flags free_list_inc free_list_max free_list_num \
    get_alignment get_limit latency max_send_size min_rdma_pipeline_size put_alignment put_limit rdma_pipeline_frag_size \
    rdma_pipeline_send_length rndv_eager_limit if_seq";

/// Parameters of components that exist here, too.
const NAMES: &[&str] = &[
    "bml_r2_show_unreach_errors",
    "btl_base_exclude",
    "btl_base_include",
    "btl_base_thread_multiple_override",
    "btl_base_warn_component_unused",
    "btl_base_warn_peer_error",
    "btl_sm_backing_directory",
    "btl_sm_fbox_*",
    "btl_sm_max_inline_send",
    "btl_sm_memcpy_limit",
    "btl_sm_segment_size",
    "btl_sm_single_copy_mechanism",
    "btl_tcp_disable_family",
    "btl_tcp_endpoint_cache",
    "btl_tcp_links",
    "btl_tcp_port_*",
    "btl_tcp_progress_thread",
    "btl_tcp_rcvbuf",
    "btl_tcp_sndbuf",
    "btl_tcp_use_nagle",
    "btl_tcp_warn_all_unfound_interfaces",
    "btl_vader_*",
    "coll_base_*",
    "coll_basic_crossover",
    "coll_han_*",
    "coll_inter_verbose",
    "coll_sm_*",
    "coll_tuned_*",
    "*_priority",
    "ess_base_*",
    "ess_singleton_*",
    "ess_tool_*",
    "mpi_abort_*",
    "mpi_add_procs_cutoff",
    "mpi_built_with_cuda_support",
    "mpi_cuda_support",
    "mpi_dynamics_enabled",
    "mpi_event_tick_rate",
    "mpi_ft_*",
    "mpi_leave_pinned*",
    "mpi_no_free_handles",
    "mpi_oversubscribe",
    "mpi_param_check",
    "mpi_paffinity_alone",
    "mpi_preconnect_*",
    "mpi_show_*",
    "mpi_spc_*",
    "mpi_use_sparse_group_storage",
    "mpi_warn_on_fork",
    "mpi_yield_when_idle",
    "pml_base_*",
    "pml_ob1_*",
    "topo_treematch_*",
];

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn names_of_open_mpi() {
        for name in [
            "btl_vader_single_copy_mechanism",
            "btl_openib_allow_ib",
            "orte_base_help_aggregate",
            "plm_rsh_agent",
            "io",
            "osc",
            "mtl",
            "pml_ucx_tls",
            "coll_hcoll_enable",
            "coll_tuned_use_dynamic_rules",
            "coll_sm_priority",
            "btl_tcp_exclusivity",
            "mpi_leave_pinned",
            "rmaps_base_oversubscribe",
        ] {
            assert!(is_parameter(name), "{name}");
        }
        for name in
            ["btl_sm_eger_limit", "bttl", "mpi_show", "btl_tcp_if_inlcude", "pml", "collx", "ob1", "btl_openib", ""]
        {
            assert!(!is_parameter(name), "{name}");
        }
        assert_eq!(known(Selection::parse("ucx"), "pml", &["ob1"]), Selection::All);
        assert_eq!(known(Selection::parse("vader,openib"), "btl", &["sm"]), Selection::parse("vader"));
        assert_eq!(known(Selection::parse("ob2"), "pml", &["ob1"]), Selection::parse("ob2"));
        assert!(is_of_launcher("ess", "^singleton") && is_of_launcher("ess_base_vpid", "0"));
        assert!(!is_of_launcher("ess", "^pmix") && !is_of_launcher("btl", "sm"), "the user said it");
        // A component of that name that is there is meant.
        assert_eq!(known(Selection::parse("ucx"), "pml", &["ucx"]), Selection::parse("ucx"));
        assert!(is_component("pml", "ucx") && !is_component("pml", "ob2") && !is_component("nothing", "ucx"));
    }
}
