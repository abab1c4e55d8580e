//! Parameters.

opal_core::params! {
    /// Names of interfaces, separated by commas, whose raw Ethernet frames this process may use: the first one that this host has. For
    /// btl/eth; takes the capability CAP_NET_RAW. Empty: none.
    pub static IF: Text = Text(""), "", level 2;
}
