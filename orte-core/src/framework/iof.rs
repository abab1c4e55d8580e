//! iof, "input and output forwarding": how output of the ranks reaches the launcher.
//!
//! It has no components. mpirun alone uses these parameters; ranks know their names, so that they do not warn of them.

use opal_core::mca::{Framework, Layer, Policy};
use opal_core::params;

params! {
    /// Standard output of the ranks is a pseudo terminal, so that programs write each line when it is printed: it is seen at
    /// once, and not lost when the job dies. 0: it is a pipe, programs collect some KiB before they write.
    pub static PTY: Bool = Bool(true), "", level 2, change Never;
    /// With iof_pty a rank's standard output becomes a pipe in MPI_Init, which is faster: what looked at it before goes on writing each
    /// line when it is printed. 0: it stays a pseudo terminal, for what the program starts or loads later (Python in a C program).
    pub static PTY_UNTIL_INIT: Bool = Bool(true), "", level 5, change Never;
}

/// The framework.
pub static FRAMEWORK: Framework =
    Framework::new("iof", "Output of the ranks.", Layer::Orte, 1, Policy::Parameters, |_| {}).with_params(ALL);
