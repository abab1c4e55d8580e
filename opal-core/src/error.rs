//! The errors inside one process. `Copy`, without text: details are logged where the error happens.

/// The result of an operation of this layer.
pub type Result<T> = core::result::Result<T, Error>;

/// Every failure of layer 1 and 2; layer 3 converts them to the error classes of MPI in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// An argument is outside its domain.
    Invalid,
    /// A named thing does not exist.
    NotFound,
    /// Memory, descriptors or another resource is used up.
    OutOfResource,
    /// The operation is not offered here.
    Unsupported,
    /// The peer or the path to it is gone.
    Unreachable,
    /// A deadline passed.
    Timeout,
    /// The data is longer than the place for it.
    Truncated,
    /// Bytes from a peer do not follow the format.
    Malformed,
    /// The two ends speak different formats.
    Mismatch,
    /// The right to do it is missing.
    Permission,
    /// It exists or was done already.
    Exists,
    /// The system refused for a reason of its own.
    System,
}
