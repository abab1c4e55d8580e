//! Jobs of processes whose barriers go by wire, and their failures.

/// Barriers by wire, on emulated ports.
pub struct Run {
    /// Of the test.
    pub name: &'static str,
    /// The Verilog is the machine, not its model.
    pub verilog: bool,
    /// Arguments of tuc-fpga.
    pub machine: &'static [&'static str],
    /// Parameters and their values.
    pub component: &'static [&'static str],
    /// What barriers.c is to do.
    pub what: &'static str,
    /// How many ranks share a port.
    pub per_port: usize,
    /// Barriers of each rank.
    pub barriers: usize,
    /// How many barriers the machine must have done at least, of so many of each rank.
    pub by_wire: fn(barriers: usize) -> usize,
    /// How many machines at least, one after the other.
    pub machines: usize,
    /// A word that the ranks must say.
    pub says: &'static str,
}

/// What most have in common: the model of the machine as published, and a rank for each port.
const WHOLE: Run = Run {
    name: "",
    verilog: false,
    machine: &["--classic"],
    component: &[],
    what: "world",
    per_port: 1,
    barriers: 500,
    // The first one finds out that there is a machine.
    by_wire: |barriers| barriers - 1,
    machines: 1,
    says: "",
};

/// 100,000 barriers in all, of those without a fault alone; with --all a million at each number of ranks.
pub const RUNS: &[Run] = &[
    Run { name: "classic", component: &["coll_hwbarr_mode", "classic"], barriers: 18_000, ..WHOLE },
    Run {
        name: "channels",
        machine: &["--channels"],
        component: &["coll_hwbarr_mode", "channels"],
        what: "several",
        barriers: 14_000,
        // Of seven communicators up to four get a channel; each rank is a member of at most five.
        by_wire: |barriers| barriers / 2,
        ..WHOLE
    },
    // The machine's process is killed and comes up knowing nothing, again and again. As published it goes on only if all
    // outputs agree when it comes up; otherwise, and always with channels, the agreement decides and software goes on.
    // Prime, so that it dies at any point of a barrier.
    Run {
        name: "classic_restarts",
        machine: &["--classic", "--restart-writes", "1009"],
        component: &["coll_hwbarr_timeout_ms", "500"],
        barriers: 2_000,
        by_wire: |_| 50,
        machines: 2,
        ..WHOLE
    },
    Run {
        name: "channels_restarts",
        machine: &["--channels", "--restart-writes", "2003"],
        component: &["coll_hwbarr_mode", "channels", "coll_hwbarr_timeout_ms", "200"],
        what: "several",
        barriers: 8_000,
        by_wire: |_| 50,
        machines: 2,
        says: "took more than 200 ms",
        ..WHOLE
    },
    // A wire breaks: the barrier after that is late, and decided in software.
    Run {
        name: "late",
        machine: &["--classic", "--stick-after", "101"],
        component: &["coll_hwbarr_timeout_ms", "300"],
        by_wire: |_| 101,
        says: "took more than 300 ms",
        ..WHOLE
    },
    // One rank does not see that the last barrier, that of MPI_Finalize, is over, and asks the others: a rank that is
    // through must not have gone.
    Run {
        name: "deaf_at_the_end",
        machine: &["--classic", "--deafen-after", "499"],
        component: &["coll_hwbarr_timeout_ms", "300"],
        by_wire: |barriers| barriers,
        says: "took more than 300 ms",
        ..WHOLE
    },
    // Its power fails for good.
    Run {
        name: "machine_dies",
        machine: &["--classic", "--die-after", "101"],
        component: &["coll_hwbarr_timeout_ms", "300"],
        by_wire: |_| 101,
        says: "took more than 300 ms",
        ..WHOLE
    },
    // The machine as published serves one communicator; the others say why they go without.
    Run {
        name: "classic_several",
        component: &["coll_base_verbose", "20"],
        what: "several",
        by_wire: |barriers| barriers / 5 - 10,
        says: "the classic machine serves MPI_COMM_WORLD only",
        ..WHOLE
    },
    Run { name: "verilog", verilog: true, barriers: 6_000, ..WHOLE },
    Run {
        name: "verilog_restarts",
        verilog: true,
        machine: &["--channels", "--restart-writes", "2003"],
        component: &["coll_hwbarr_mode", "channels", "coll_hwbarr_timeout_ms", "200"],
        what: "several",
        barriers: 4_000,
        by_wire: |_| 50,
        machines: 2,
        says: "took more than 200 ms",
        ..WHOLE
    },
    // Two ranks of a port: one of them drives it.
    Run { name: "shared", per_port: 2, barriers: 4_000, ..WHOLE },
    Run {
        name: "shared_channels",
        machine: &["--channels"],
        component: &["coll_hwbarr_mode", "channels", "coll_base_verbose", "20"],
        what: "several",
        per_port: 2,
        barriers: 4_000,
        // Two of at most five communicators of a rank; those without all drivers of their ports go without.
        by_wire: |barriers| barriers / 3,
        says: "the rank that drives the port which this one shares is not in the communicator",
        ..WHOLE
    },
    Run {
        name: "shared_restarts",
        machine: &["--channels", "--restart-writes", "2003"],
        component: &["coll_hwbarr_mode", "channels", "coll_hwbarr_timeout_ms", "200"],
        what: "several",
        per_port: 2,
        barriers: 2_000,
        by_wire: |_| 50,
        machines: 2,
        says: "took more than 200 ms",
        ..WHOLE
    },
    // A rank that drives nothing comes late: its driver has not arrived for it, and answers the stop of the others.
    Run {
        name: "shared_nap",
        component: &["coll_hwbarr_timeout_ms", "300"],
        what: "nap",
        per_port: 2,
        by_wire: |barriers| barriers / 2 - 1,
        says: "took more than 300 ms",
        ..WHOLE
    },
];

/// A rank that dies before a barrier.
pub struct Death {
    /// Of the test.
    pub name: &'static str,
    /// Of the job.
    pub ranks: usize,
    /// How many of them share a port.
    pub per_port: usize,
    /// What barriers.c is to do.
    pub what: &'static str,
}

/// The rank that dies, of how many.
pub const DEATHS: &[Death] = &[
    Death { name: "death", ranks: 2, per_port: 1, what: "death1" },
    Death { name: "death", ranks: 4, per_port: 1, what: "death1" },
    Death { name: "death_of_follower", ranks: 4, per_port: 2, what: "death1" },
    Death { name: "death_of_driver", ranks: 4, per_port: 2, what: "death2" },
];
