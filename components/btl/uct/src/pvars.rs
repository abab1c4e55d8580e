//! Performance variables: what MPI's tool interface reads of this component.

use crate::module::UCT;
use opal_core::mca::Pvar;
use opal_core::mca::pvar::{PvarClass, Reading};

/// All of them.
pub static ALL: &[&Pvar] = &[&Pvar::new(
    "dropped",
    PvarClass::Counter,
    4,
    "Messages that came from UCX and that no process of the job has sent.",
    Reading::Of(|| UCT.get().map_or(0, |uct| uct.state.lock().dropped)),
)];
