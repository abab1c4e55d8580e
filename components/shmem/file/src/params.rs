//! Parameters.

opal_core::params! {
    /// Folder of the files that hold shared memory, the same for all ranks of a node; empty: TMPDIR, else /tmp.
    pub static FOLDER: Text = Text(""), "", level 4;
}
