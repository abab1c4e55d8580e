//! Parameters.

opal_core::params! {
    /// The mpirun that is started when a process that nobody launched spawns others or uses names of ports. Empty: that beside the
    /// library, else the first one in PATH.
    pub static LAUNCHER: Text = Text(""), "", level 4;
}
