//! Virtual time: a component of framework timer whose clock moves when the simulation says so.

use opal_core::framework::timer;
use opal_core::mca;
use std::sync::atomic::{AtomicU64, Ordering};

/// The component.
pub struct Virtual;

impl mca::Component for Virtual {
    opal_core::component_info!();
}

impl timer::Component for Virtual {}

opal_core::component! {
    /// A clock that moves when the simulation says so.
    pub static COMPONENT: Virtual = Virtual;
    in opal_core::framework::timer, name "virtual", params &[]
}

static NOW_NS: AtomicU64 = AtomicU64::new(0);

/// The time since the simulation began, in ns.
pub fn now_ns() -> u64 {
    NOW_NS.load(Ordering::Relaxed)
}

/// Lets time pass.
pub fn advance(ns: u64) {
    NOW_NS.fetch_add(ns, Ordering::Relaxed);
}

fn frequency() -> u64 {
    1_000_000_000
}

opal_core::provide_timer!(now_ns, frequency);
