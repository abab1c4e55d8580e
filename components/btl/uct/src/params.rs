//! Parameters.

opal_core::params! {
    /// Transports of UCX's to use, the preferred one first, separated by commas; one that moves memory alone (cma) goes with one that
    /// carries messages (posix,cma). Empty: those of hardware, and where `--mca btl` names uct also tcp.
    pub static TRANSPORTS: Text = Text(""), "", level 2;
    /// Devices by UCX's names (such as eth0 or mlx5_0:1) to use, the preferred one first, separated by commas; empty means the first one
    /// that reaches other nodes.
    pub static DEVICES: Text = Text(""), "", level 2;
    /// UCX's uppermost library, as the system's loader finds it; it brings the others.
    pub static LIBRARY: Text = Text("libucp.so.0"), "", level 6;
    /// Largest message that is sent before the receiver asks for it.
    pub static EAGER_LIMIT: Size = Int(16352), "bytes", level 4;
    /// Largest piece of a long message that is sent at once, where the transport can be told (tcp). All ranks of a job need the same.
    pub static FRAGMENT_SIZE: Size = Int(65504), "bytes", level 5;
}
