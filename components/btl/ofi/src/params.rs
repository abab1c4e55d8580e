//! Parameters.

opal_core::params! {
    /// Providers of libfabric to use, the preferred one first, separated by commas; `tcp` stands for `tcp;ofi_rxm`, too. Empty: fabrics
    /// of hardware, and where `--mca btl` names ofi also providers over the system's sockets that emulate nothing.
    pub static PROVIDER_INCLUDE: Text = Text(""), "", level 2;
    /// Providers of libfabric not to use, written as for provider_include.
    pub static PROVIDER_EXCLUDE: Text = Text(""), "", level 2;
    /// Interfaces (libfabric's domains such as eth0, or its fabrics such as 10.1.0.0/16) to use, the preferred one first, separated by
    /// commas; empty means the first one that reaches other nodes.
    pub static INTERFACE: Text = Text(""), "", level 2;
    /// libfabric, as the system's loader finds it.
    pub static LIBRARY: Text = Text("libfabric.so.1"), "", level 6;
    /// Largest message that is sent before the receiver asks for it.
    pub static EAGER_LIMIT: Size = Int(16352), "bytes", level 4;
    /// Largest piece of a long message that is sent at once. Each buffer has this size, and all ranks of a job need the same.
    pub static FRAGMENT_SIZE: Size = Int(65504), "bytes", level 5;
    /// How many receives are posted for messages of all peers.
    pub static RECEIVES: Size = Int(128), "", level 5;
    /// How many messages of each other rank may be on their way to this one before it must have taken some of them.
    pub static WINDOW: Size = Int(32), "", level 5;
    /// How many messages to all peers may be on their way before senders must wait.
    pub static SENDS: Size = Int(128), "", level 5;
}
