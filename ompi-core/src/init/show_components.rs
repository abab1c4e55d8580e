//! `mpi_show_components`: which components run, and why the others do not.

use opal_core::mca::{self, image};
use opal_core::message;

/// Says it on standard error.
pub(super) fn show_components() {
    let decisions = mca::select::decisions();
    for decision in &decisions {
        use mca::select::Verdict;
        let (framework, component) = (decision.framework, decision.component);
        match decision.verdict {
            Verdict::Chosen(Some(priority)) => {
                message!("component {framework}/{component}: chosen (priority {priority})")
            }
            Verdict::Chosen(None) => message!("component {framework}/{component}: chosen"),
            Verdict::LowerPriority(priority) => {
                message!("component {framework}/{component}: another component has a higher priority than {priority}")
            }
            Verdict::Declined(why) => message!("component {framework}/{component}: declined: {why}"),
            Verdict::Excluded => message!("component {framework}/{component}: left out by the selection list"),
        }
    }
    for info in image::components() {
        let (framework, component) = (info.framework.name, info.name);
        if decisions.iter().any(|decision| (decision.framework, decision.component) == (framework, component)) {
            continue;
        }
        match info.framework.policy {
            mca::Policy::Static => message!("component {framework}/{component}: built in"),
            _ => message!("component {framework}/{component}: linked, not needed here"),
        }
    }
}
