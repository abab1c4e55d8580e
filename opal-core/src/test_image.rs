//! Stands in for the image crate in this crate's own unit tests, which have no components.

use crate::mca::Info;

pub fn static_components() -> &'static [&'static Info] {
    &[]
}
