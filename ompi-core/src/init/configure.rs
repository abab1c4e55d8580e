//! Gives all parameters their values.

use crate::errhandler;
use crate::parameters::{ALL, INITIAL_ERRHANDLER, INITIAL_HANDLERS};
use crate::report;
use alloc::vec::Vec;
use opal_core::mca::{self, Framework, image, source};
use opal_core::sync::Once;
use opal_core::{message, sys};
use orte_core::environment;

/// Parameters of MPI as a whole: `mpi_<name>`.
pub static FRAMEWORK: Framework =
    Framework::new("mpi", "MPI as a whole.", mca::Layer::Ompi, 1, mca::Policy::Parameters, |_| {}).with_params(ALL);

/// The handle of the error handler that is in force where nothing else was set: what `mpirun --initial-errhandler` says
/// (MPI 5.0 §9.3 and §11.5), else the standard's default.
pub fn initial_errhandler() -> usize {
    // Errors before MPI is started are handled like this, too.
    if configure().is_err() {
        return errhandler::FATAL;
    }
    match INITIAL_ERRHANDLER.text() {
        "mpi_errors_return" => errhandler::RETURN,
        "mpi_errors_abort" => errhandler::ABORT,
        _ => errhandler::FATAL,
    }
}

fn check_initial_errhandler() -> opal_core::Result<()> {
    let value = INITIAL_ERRHANDLER.text();
    if INITIAL_HANDLERS.contains(&value) {
        return Ok(());
    }
    message!("mpi_initial_errhandler is `{value}`; it must be one of {}", INITIAL_HANDLERS.join(", "));
    Err(opal_core::Error::Invalid)
}

/// All frameworks of all layers.
pub fn frameworks() -> Vec<&'static Framework> {
    let layers = [opal_core::framework::ALL, orte_core::framework::ALL, crate::framework::ALL];
    let mut all: Vec<_> = layers.into_iter().flatten().copied().collect();
    all.extend([&FRAMEWORK, &report::FRAMEWORK]);
    all
}

/// Proves the image and gives every parameter its value: the part of start-up that `ompi_info` needs, too.
pub fn configure() -> opal_core::Result<()> {
    static DONE: Once<opal_core::Result<()>> = Once::new();
    *DONE.call_once(|| {
        let frameworks = frameworks();
        image::verify(&frameworks)?;
        let mut fatal = false;
        // What ends no job is said once in it.
        let is_first = sys::variable(environment::RANK).is_none_or(|rank| rank == "0");
        for problem in source::apply(&frameworks, image::components(), &source::collect()) {
            if problem.fatal || is_first {
                message!("{}", problem.text);
            }
            fatal |= problem.fatal;
        }
        if fatal { Err(opal_core::Error::Invalid) } else { check_initial_errhandler() }
    })
}
