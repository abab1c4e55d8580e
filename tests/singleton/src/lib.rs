//! MPI started in a process alone, with the components that crate `ompi` brings along, for the examples in its documentation.

/// MPI, started.
///
/// # Panics
/// If it was started before.
pub fn universe() -> ompi::Universe {
    ompi::initialize().expect("each example is a process of its own")
}
