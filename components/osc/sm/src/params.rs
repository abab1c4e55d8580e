//! Parameters.

opal_core::params! {
    /// Whether MPI_Alloc_mem gives memory that processes of the node can map, so that windows of MPI_Win_create over it are served
    /// without messages. A child of fork shares such memory with its parent.
    pub static ALLOC_MEM: Bool = Bool(true), "", level 5;
}
