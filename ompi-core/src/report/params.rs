//! Parameters: `--mca ompi_…`, as Open MPI spells them.

use opal_core::mca::{Framework, Layer, Policy};

opal_core::params! {
    /// Rank 0 prints the path between every pair of ranks as a table: 1 or mpi_init when MPI starts, mpi_finalize when it ends. Equal
    /// rows are printed once.
    pub static DISPLAY_COMM: Choice(&["0", "1", "mpi_init", "mpi_finalize"]) = Text("0"), "", level 2;
}

/// What a job tells people of itself.
pub static FRAMEWORK: Framework =
    Framework::new("ompi", "What a job tells people of itself.", Layer::Ompi, 1, Policy::Parameters, |_| {})
        .with_params(ALL);
