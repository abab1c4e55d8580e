//! oob, "out of band": the connections of mpirun with the daemons of other hosts ([`crate::oob`] holds what they say).
//!
//! It has no components. mpirun uses these parameters, and ranks use those about interfaces for ports.

use opal_core::mca::{Framework, Layer, Policy};
use opal_core::params;

params! {
    /// Interfaces (eth0) or networks (10.0.0.0/8), separated by commas, on which mpirun listens for its daemons, and ports of
    /// MPI_Open_port for other hosts; empty: all that are up, but loopback ones.
    pub static TCP_IF_INCLUDE: Text = Text(""), "", level 2, change Never;
    /// Interfaces or networks on which they do not listen.
    pub static TCP_IF_EXCLUDE: Text = Text(""), "", level 2, change Never;
    /// Ports that mpirun, and daemons that start further ones, listen on for daemons, such as 5000-5100 for a firewall; empty: any. Each
    /// job takes one on each host.
    pub static TCP_PORT: Text = Text(""), "", level 2, change Never;
    /// Where names of ports are published and looked up: file:FILE, or the words in that file, which mpirun --name-server writes; empty:
    /// among the jobs of the user on this host.
    pub static NAME_SERVER: Text = Text(""), "", level 2, change Never;
    /// After so long without a sign of life a host counts as lost, and the job ends. A switch that starts again takes half a minute.
    pub static TCP_SILENCE_TIMEOUT_S: Int = Int(60), "s", level 3, change Never;
}

/// The framework.
pub static FRAMEWORK: Framework =
    Framework::new("oob", "Messages between mpirun and its daemons.", Layer::Orte, 1, Policy::Parameters, |_| {})
        .with_params(ALL);
