//! The algorithms that are forced in turn, and the trace that each must leave.

/// What is forced, and what must be found in the trace where it applies.
pub struct Forced {
    /// Of the case.
    pub name: &'static str,
    /// The algorithm of coll/sm, for each function that has several.
    pub sm: &'static str,
    /// Parameters, or options of mpirun, and their values.
    pub options: &'static [&'static str],
    /// Function and algorithm as the trace names them, and the numbers of ranks for which it is what runs.
    pub traces: &'static [Trace],
}

/// Function and algorithm, and the numbers of ranks for which the trace must show them.
pub type Trace = (&'static str, &'static str, fn(u32) -> bool);

/// All of them.
pub const CHOICES: &[Forced] = &[
    Forced { name: "default", sm: "auto", options: &[], traces: CHOSEN },
    // The others run where the system puts them: here ranks share cores that they cannot leave.
    Forced { name: "bound", sm: "auto", options: &["--bind-to", "core"], traces: CHOSEN },
    Forced { name: "flags", sm: "flags", options: &[], traces: FLAGS },
    // As ranks with a core each do by themselves, of which a small machine has only two.
    Forced { name: "flags-of-ranks", sm: "flags", options: &["coll_sm_arrival", "flags"], traces: FLAGS },
    Forced { name: "message", sm: "message", options: &[], traces: MESSAGE },
    Forced { name: "direct", sm: "direct", options: &[], traces: DIRECTLY },
    Forced {
        name: "direct-in-pieces",
        sm: "direct",
        options: &["coll_sm_reduce_piece", "1000", "smsc_cma_chunk_size", "4k"],
        traces: DIRECTLY,
    },
    // The component with the next priority does what cannot be done directly.
    Forced {
        name: "direct-refused",
        sm: "direct",
        options: &["smsc", "^cma"],
        traces: &[("sm: copies", ": refused", several), ("tuned: Bcast", "", several)],
    },
    Forced { name: "pipeline", sm: "pipeline", options: &[], traces: PIPELINE },
    // Every slot is used again and again, and elements are cut apart from each other.
    Forced {
        name: "pipeline-in-pieces",
        sm: "pipeline",
        options: &["coll_sm_pipeline_piece", "3000", "coll_sm_pipeline_ring", "64k"],
        traces: PIPELINE,
    },
    // There is no room for rings of that length, and so they are shorter.
    Forced {
        name: "pipeline-shorter",
        sm: "pipeline",
        options: &["coll_sm_pipeline_ring", "16m"],
        traces: &[("sm: rings", ": no room", several), ("sm: Bcast", ": pipeline", several)],
    },
    // A piece for each of the others is shorter than most elements, which other algorithms then carry.
    Forced {
        name: "pipeline-bits",
        sm: "pipeline",
        options: &["coll_sm_pipeline_piece", "50"],
        traces: &[("sm: Bcast", ": pipeline", several), ("tuned: Allreduce", "", beyond_three)],
    },
    // Where copies are refused everything long goes through shared memory.
    Forced { name: "pipeline-only", sm: "auto", options: &["smsc", "^cma"], traces: PIPELINE },
    Forced {
        name: "without-sm",
        sm: "auto",
        options: &["coll", "^sm"],
        traces: &[("tuned: Bcast", ": next", several), ("tuned: Allreduce", ": next", several)],
    },
    Forced { name: "basic", sm: "auto", options: &["coll", "basic,self"], traces: &[] },
    // What is forced comes before coll/sm, which has a higher priority.
    Forced {
        name: "rings",
        sm: "auto",
        options: &[
            "coll_tuned_bcast_algorithm",
            "scatter_allgather",
            "coll_tuned_allreduce_algorithm",
            "ring",
            "coll_tuned_allgather_algorithm",
            "neighbor",
            "coll_tuned_alltoall_algorithm",
            "pairwise",
            "coll_tuned_reduce_scatter_algorithm",
            "ring",
        ],
        traces: &[
            ("tuned: Bcast", ": scatter_allgather", several),
            ("tuned: Allreduce", ": ring", several),
            ("tuned: Allgather", ": neighbor", even),
            ("tuned: Alltoall", ": pairwise", several),
            ("tuned: ReduceScatter", ": ring", several),
        ],
    },
    Forced {
        name: "halvings",
        sm: "auto",
        options: &[
            "coll_tuned_bcast_algorithm",
            "chain",
            "coll_tuned_bcast_segment",
            "1000",
            "coll_tuned_allreduce_algorithm",
            "halving",
            "coll_tuned_allgather_algorithm",
            "doubling",
            "coll_tuned_alltoall_algorithm",
            "bruck",
            "coll_tuned_reduce_scatter_algorithm",
            "halving",
        ],
        traces: &[
            ("tuned: Bcast", ": chain", several),
            ("tuned: Allreduce", ": halving", several),
            ("tuned: Allgather", ": doubling", power_of_two),
            ("tuned: Alltoall", ": bruck", several),
            ("tuned: ReduceScatter", ": halving", power_of_two),
        ],
    },
    // coll/han believes that the ranks are on several nodes: two on each, unlike numbers, the ranks of a node apart.
    Forced { name: "nodes-even", sm: "auto", options: &on_nodes("0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,7"), traces: LEADERS },
    Forced {
        name: "nodes-uneven",
        sm: "auto",
        options: &on_nodes("0,1,1,1,1,2,2,3,3,3,3,3,3,3,4,5"),
        traces: &[
            LEADERS[0],
            LEADERS[1],
            LEADERS[2],
            LEADERS[3],
            LEADERS[4],
            LEADERS[5],
            ("sm: Bcast", ": flags", full),
        ],
    },
    Forced { name: "nodes-apart", sm: "auto", options: &on_nodes("0,1,2"), traces: LEADERS_APART },
    Forced {
        name: "bruck",
        sm: "auto",
        options: &["coll_tuned_allgather_algorithm", "bruck"],
        traces: &[("tuned: Allgather", ": bruck", several)],
    },
];

const CHOSEN: &[Trace] = &[("sm: Allreduce", ": flags", several), ("sm: Allreduce", ": pipeline", several)];

const FLAGS: &[Trace] = &[
    ("sm: Bcast", ": flags", several),
    ("sm: Gather", ": flags", many),
    ("sm: Scatter", ": flags", many),
    ("sm: Allgather", ": flags", several),
    ("sm: Allgatherv", ": flags", many),
    ("sm: Alltoall", ": flags", several),
    ("sm: Alltoallv", ": flags", many),
    ("sm: Alltoallw", ": flags", many),
    ("sm: Reduce", ": flags", several),
    ("sm: Allreduce", ": flags", several),
    ("sm: ReduceScatter", ": flags", several),
    ("sm: ReduceScatterBlock", ": flags", several),
    ("sm: Scan", ": flags", many),
    ("sm: Exscan", ": flags", many),
];

const MESSAGE: &[Trace] = &[
    ("sm: Bcast", ": message", two),
    ("sm: Gather", ": message", two),
    ("sm: Scatter", ": message", two),
    ("sm: Allgather", ": message", two),
    ("sm: Allgatherv", ": message", two),
    ("sm: Alltoall", ": message", two),
    ("sm: Alltoallv", ": message", two),
    ("sm: Alltoallw", ": message", two),
    ("sm: ReduceScatter", ": message", two),
    ("sm: ReduceScatterBlock", ": message", two),
    ("sm: Scan", ": message", two),
    ("sm: Exscan", ": message", two),
    ("tuned: Bcast", "", many),
    ("tuned: Alltoall", "", many),
];

const DIRECTLY: &[Trace] = &[
    ("sm: Bcast", ": direct", several),
    ("sm: Allgather", ": direct", several),
    ("sm: Alltoall", ": direct", several),
    ("sm: Reduce", ": direct", several),
    ("sm: Allreduce", ": direct", several),
];

const PIPELINE: &[Trace] = &[
    ("sm: Bcast", ": pipeline", several),
    ("sm: Gather", ": pipeline", many),
    ("sm: Scatter", ": pipeline", many),
    ("sm: Allgather", ": pipeline", several),
    ("sm: Allgatherv", ": pipeline", several),
    ("sm: Alltoall", ": pipeline", several),
    ("sm: Alltoallv", ": pipeline", many),
    ("sm: Alltoallw", ": pipeline", many),
    ("sm: Reduce", ": pipeline", several),
    ("sm: Allreduce", ": pipeline", several),
    ("sm: ReduceScatter", ": pipeline", many),
    ("sm: ReduceScatterBlock", ": pipeline", many),
    ("sm: Scan", ": pipeline", several),
    ("sm: Exscan", ": pipeline", several),
];

/// In two levels, whatever the size.
pub const fn on_nodes(nodes: &'static str) -> [&'static str; 16] {
    [
        "coll_han_pretend_nodes",
        nodes,
        "coll_han_barrier_algorithm",
        "leaders",
        "coll_han_bcast_algorithm",
        "leaders",
        "coll_han_reduce_algorithm",
        "leaders",
        "coll_han_allreduce_algorithm",
        "leaders",
        "coll_han_allgather_algorithm",
        "leaders",
        "coll_han_gather_algorithm",
        "leaders",
        "coll_han_scatter_algorithm",
        "leaders",
    ]
}

const LEADERS: &[Trace] = &[
    ("han: Bcast", ": leaders", many),
    ("han: Reduce", ": leaders", many),
    ("han: Allreduce", ": leaders", many),
    ("han: Allgather", ": leaders", many),
    ("han: Gather", ": leaders", many),
    ("han: Scatter", ": leaders", many),
];

const LEADERS_APART: &[Trace] = &[
    ("han: Bcast", ": leaders", beyond_three),
    ("han: Reduce", ": next", beyond_three),
    ("han: Reduce", ": leaders", beyond_three),
    ("han: Allgather", ": leaders", beyond_three),
    ("han: Gather", ": leaders", beyond_three),
    ("han: Scatter", ": leaders", beyond_three),
];

/// Everywhere but alone.
pub fn several(ranks: u32) -> bool {
    ranks > 1
}

/// With two ranks coll/sm leaves to messages what it has no name for.
pub fn many(ranks: u32) -> bool {
    ranks > 2
}

/// With more, none of the drawn calls is long enough; with two it would have to be tried first.
fn two(ranks: u32) -> bool {
    ranks == 2
}

/// More than there are nodes.
fn beyond_three(ranks: u32) -> bool {
    ranks > 3
}

/// The second node has four ranks, which share flags.
fn full(ranks: u32) -> bool {
    ranks > 4
}

fn even(ranks: u32) -> bool {
    ranks > 1 && ranks.is_multiple_of(2)
}

fn power_of_two(ranks: u32) -> bool {
    ranks > 1 && ranks.is_power_of_two()
}
