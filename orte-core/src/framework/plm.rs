//! plm, "process lifecycle management": how the daemons of a job's other hosts are started.
//!
//! It has no components. mpirun alone uses these parameters; ranks know their names, so that they do not warn of them.

use opal_core::mca::{Framework, Layer, Policy};
use opal_core::params;

params! {
    /// The program that starts a daemon on another host, with its options: it gets the host's name and a command line, and passes
    /// standard input on. Several are parted by a colon; the first one that is there is used.
    pub static SSH_AGENT: Text = Text("ssh:rsh"), "", level 2, change Never;
    /// Further options for the agent, before the name of the host.
    pub static SSH_ARGS: Text = Text(""), "", level 2, change Never;
    /// The same as plm_ssh_agent, under Open MPI's older name. plm_ssh_agent goes first where both are set.
    pub static RSH_AGENT: Text = Text(""), "", level 2, change Never;
    /// The same as plm_ssh_args, under Open MPI's older name.
    pub static RSH_ARGS: Text = Text(""), "", level 2, change Never;
    /// How long a daemon may take to call back, with whatever the login does before it starts.
    pub static START_TIMEOUT_S: Int = Int(60), "s", level 3, change Never;
}

/// The framework.
pub static FRAMEWORK: Framework =
    Framework::new("plm", "Starting the daemons of other hosts.", Layer::Orte, 1, Policy::Parameters, |_| {})
        .with_params(ALL);
