//! A component that declines ends the test with its own sentence.

use opal_core::mca::{Component, Declined, Info};

/// What the component answered.
///
/// # Panics
/// With its reason if it declined.
pub fn accepted<T>(info: &'static Info, answer: Result<T, Declined>) -> T {
    answer.unwrap_or_else(|Declined(why)| panic!("{}/{} declines: {why}", info.framework.name, info.name))
}

/// Opens the component.
///
/// # Panics
/// With its reason if it declined.
pub fn opened(component: &dyn Component) {
    accepted(component.info(), component.open());
}
