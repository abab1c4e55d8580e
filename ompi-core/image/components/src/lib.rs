//! The components of a Rust program that Cargo builds: each is a feature, `default` those of the default library, `minimal`
//! the least that runs on one node.
//!
//! Crate `ompi` depends on this crate with its default features. A program that names components itself switches those off
//! and says `use ompi_components as _;`.
//!
//! **Invariant:** names components and holds no code; a program has it or an `opal_core::image!` of its own, never both.
#![no_std]

opal_core::image![
    opal_core::framework::atomics,
    #[cfg(feature = "bml-r2")]
    bml_r2,
    #[cfg(feature = "btl-eth")]
    btl_eth,
    #[cfg(feature = "btl-faulty")]
    btl_faulty,
    #[cfg(feature = "btl-ofi")]
    btl_ofi,
    #[cfg(feature = "btl-self")]
    btl_self,
    #[cfg(feature = "btl-sm")]
    btl_sm,
    #[cfg(feature = "btl-tcp")]
    btl_tcp,
    #[cfg(feature = "btl-uct")]
    btl_uct,
    #[cfg(feature = "btl-xsm")]
    btl_xsm,
    #[cfg(feature = "coll-basic")]
    coll_basic,
    #[cfg(feature = "coll-han")]
    coll_han,
    #[cfg(feature = "coll-hwbarr")]
    coll_hwbarr,
    #[cfg(feature = "coll-inter")]
    coll_inter,
    #[cfg(feature = "coll-self")]
    coll_self,
    #[cfg(feature = "coll-sm")]
    coll_sm,
    #[cfg(feature = "coll-tuned")]
    coll_tuned,
    #[cfg(feature = "ess-env")]
    ess_env,
    #[cfg(feature = "ess-pmi1")]
    ess_pmi1,
    #[cfg(feature = "ess-pmi2")]
    ess_pmi2,
    #[cfg(feature = "ess-pmix")]
    ess_pmix,
    #[cfg(feature = "ess-singleton")]
    ess_singleton,
    #[cfg(feature = "fbtl-faulty")]
    fbtl_faulty,
    #[cfg(feature = "fbtl-posix")]
    fbtl_posix,
    #[cfg(feature = "fbtl-uring")]
    fbtl_uring,
    #[cfg(feature = "fcoll-dynamic")]
    fcoll_dynamic,
    #[cfg(feature = "fcoll-individual")]
    fcoll_individual,
    #[cfg(feature = "fcoll-two_phase")]
    fcoll_two_phase,
    #[cfg(feature = "fs-lustre")]
    fs_lustre,
    #[cfg(feature = "fs-ufs")]
    fs_ufs,
    #[cfg(feature = "io-ompio")]
    io_ompio,
    #[cfg(feature = "memcpy-avx2")]
    memcpy_avx2,
    #[cfg(feature = "memcpy-avx512")]
    memcpy_avx512,
    #[cfg(feature = "memcpy-portable")]
    memcpy_portable,
    #[cfg(feature = "memcpy-repmovs")]
    memcpy_repmovs,
    #[cfg(feature = "memory-hook")]
    memory_hook,
    #[cfg(feature = "memory-none")]
    memory_none,
    #[cfg(feature = "memory-shheap")]
    memory_shheap,
    #[cfg(feature = "netif-packet")]
    netif_packet,
    #[cfg(feature = "op-avx2")]
    op_avx2,
    #[cfg(feature = "op-avx512")]
    op_avx512,
    #[cfg(feature = "op-scalar")]
    op_scalar,
    #[cfg(feature = "osc-am")]
    osc_am,
    #[cfg(feature = "osc-cma")]
    osc_cma,
    #[cfg(feature = "osc-han")]
    osc_han,
    #[cfg(feature = "osc-rdma")]
    osc_rdma,
    #[cfg(feature = "osc-sm")]
    osc_sm,
    #[cfg(feature = "part-persist")]
    part_persist,
    #[cfg(feature = "pml-ob1")]
    pml_ob1,
    #[cfg(feature = "rcache-grdma")]
    rcache_grdma,
    #[cfg(feature = "sharedfp-lockedfile")]
    sharedfp_lockedfile,
    #[cfg(feature = "sharedfp-sm")]
    sharedfp_sm,
    #[cfg(feature = "shmem-file")]
    shmem_file,
    #[cfg(feature = "shmem-memfd")]
    shmem_memfd,
    #[cfg(feature = "shmem-posix")]
    shmem_posix,
    #[cfg(feature = "smsc-cma")]
    smsc_cma,
    #[cfg(feature = "smsc-faulty")]
    smsc_faulty,
    #[cfg(feature = "smsc-map")]
    smsc_map,
    #[cfg(feature = "timer-clock")]
    timer_clock,
    #[cfg(feature = "timer-tsc")]
    timer_tsc,
    #[cfg(feature = "topo-basic")]
    topo_basic,
    #[cfg(feature = "topo-treematch")]
    topo_treematch,
];
