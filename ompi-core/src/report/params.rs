//! Parameters: `--mca ompi_…`, as Open MPI spells them.

use opal_core::mca::{Framework, Layer, Policy};

opal_core::params! {
    /// Rank 0 prints the path between every pair of ranks as a table: 1 or mpi_init when MPI starts, mpi_finalize when it ends. Equal
    /// rows are printed once.
    pub static DISPLAY_COMM: Choice(&["0", "1", "mpi_init", "mpi_finalize"]) = Text("0"), "", level 2;
    /// What ranks did, gathered when MPI ends: 1 prints it to standard error, - to standard output, a path gets it as JSON or SVG if it ends like that, else as text. Rank 0
    /// writes the file.
    pub static STATS: Text = Text(""), "", level 2;
    /// A file for what happened when, as JSON for Perfetto and chrome://tracing. Rank 0 writes it when MPI ends.
    pub static TRACE: Text = Text(""), "", level 2;
    /// How many events a rank keeps for ompi_trace, the last ones; of those before them only number and time are kept.
    pub static TRACE_EVENTS: Size = Int(65536), "", level 3;
}

/// What a job tells people of itself.
pub static FRAMEWORK: Framework =
    Framework::new("ompi", "What a job tells people of itself.", Layer::Ompi, 1, Policy::Parameters, |_| {})
        .with_params(ALL);
