//! How files are opened and accessed.

/// How to open a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenFlags {
    /// To read it.
    pub read: bool,
    /// To write it.
    pub write: bool,
    /// Make it if it is not there.
    pub create: bool,
    /// With `create`: it must not be there.
    pub exclusive: bool,
    /// Permissions of a file that is made, before the process's mask.
    pub mode: u32,
}

/// In which order a program asks for the bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOrder {
    /// Nothing is known.
    Normal,
    /// One behind the other.
    Sequential,
    /// In no order.
    Random,
}
