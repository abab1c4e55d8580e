//! oob, "out of band": the connections between mpirun and the daemons of other hosts ([`crate::oob`] holds what they say).
//!
//! It has no components. mpirun alone uses these parameters; ranks know their names, so that they do not warn of them.

use opal_core::mca::{Framework, Layer, Policy};
use opal_core::params;

params! {
    /// Interfaces (eth0) or networks (10.0.0.0/8), separated by commas, on which mpirun listens for its daemons; empty: all
    /// that are up, but loopback ones.
    pub static TCP_IF_INCLUDE: Text = Text(""), "", level 2, change Never;
    /// Interfaces or networks on which it does not listen.
    pub static TCP_IF_EXCLUDE: Text = Text(""), "", level 2, change Never;
    /// After so long without a sign of life a host counts as lost, and the job ends.
    pub static TCP_SILENCE_TIMEOUT_S: Int = Int(10), "s", level 3, change Never;
}

/// The framework.
pub static FRAMEWORK: Framework =
    Framework::new("oob", "Messages between mpirun and its daemons.", Layer::Orte, 1, Policy::Parameters, |_| {})
        .with_params(ALL);
