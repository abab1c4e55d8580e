//! The families of rows: each has a page. Which row belongs to which family stands here; the figures do not.

/// One page.
pub struct Family {
    /// Its file below docs/performance, without extension.
    pub file: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Notes on what was tried, or nothing. Written by hand.
    pub tried: &'static str,
    holds: fn(&str) -> bool,
}

/// Where a row belongs.
pub fn of(row: &str) -> &'static Family {
    FAMILIES.iter().find(|family| (family.holds)(row)).unwrap_or(&FAMILIES[FAMILIES.len() - 1])
}

/// In the order of the pages. The last one holds whatever the others leave.
pub static FAMILIES: [Family; 17] = [
    Family {
        file: "latency",
        title: "Latency",
        tried: include_str!("tried/latency.md"),
        holds: |row| row.starts_with("latency"),
    },
    Family {
        file: "bandwidth",
        title: "Bandwidth and message rate",
        tried: include_str!("tried/bandwidth.md"),
        holds: |row| ["bandwidth", "bidirectional", "rate"].iter().any(|word| row.starts_with(word)),
    },
    Family { file: "matching", title: "Matching", tried: "", holds: |row| row.starts_with("matching-") },
    Family {
        file: "partitioned",
        title: "Partitioned communication",
        tried: include_str!("tried/partitioned.md"),
        holds: |row| row.starts_with("partitioned-"),
    },
    Family { file: "fortran", title: "Fortran", tried: "", holds: |row| row.starts_with("fortran-") },
    Family { file: "tcp", title: "TCP", tried: include_str!("tried/tcp.md"), holds: |row| row.starts_with("tcp-") },
    Family {
        file: "neighborhoods",
        title: "Halos and neighborhood collectives",
        tried: include_str!("tried/neighborhoods.md"),
        holds: |row| row.starts_with("neighbor-") || row.starts_with("halo"),
    },
    Family {
        file: "overlap",
        title: "Computing meanwhile",
        tried: include_str!("tried/overlap.md"),
        holds: |row| row.starts_with("overlap-"),
    },
    Family { file: "rma", title: "One-sided communication", tried: "", holds: |row| row.starts_with("rma-") },
    Family { file: "objects", title: "Objects made and freed", tried: "", holds: |row| row.starts_with("objects-") },
    Family { file: "files", title: "Files", tried: "", holds: |row| row.starts_with("file-") },
    Family {
        file: "first-messages",
        title: "First messages of a job",
        tried: include_str!("tried/first-messages.md"),
        holds: |row| row.starts_with("first-"),
    },
    Family {
        file: "programs",
        title: "Programs: mpi4py and HPC Challenge",
        tried: include_str!("tried/programs.md"),
        holds: |row| row.starts_with("mpi4py") || row.starts_with("hpcc"),
    },
    Family {
        file: "collectives-2",
        title: "Collectives of two ranks",
        tried: include_str!("tried/collectives-2.md"),
        holds: |row| row.ends_with("-2"),
    },
    Family {
        file: "collectives-4",
        title: "Collectives of four ranks",
        tried: include_str!("tried/collectives-4.md"),
        holds: |row| row.ends_with("-4"),
    },
    Family { file: "collectives-8", title: "Collectives of eight ranks", tried: "", holds: |row| row.ends_with("-8") },
    Family { file: "others", title: "Other rows", tried: "", holds: |_| true },
];
