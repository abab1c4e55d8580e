//! How fast the counter runs.
//!
//! Measured against the system's monotonic clock from `open` to the first question, at least [`LEAST_NS`]; what the
//! processor tells wins if the measurement agrees, because it is the same for all ranks and exact. A counter that a
//! hypervisor scales, or a guest moved to another machine, may tell a wrong rate: then the measurement wins.

use crate::raw;
use opal_core::sync::Once;
use opal_core::sys;

/// Ticks per second. The first call may take [`LEAST_NS`].
pub fn frequency() -> u64 {
    static FREQUENCY: Once<u64> = Once::new();
    *FREQUENCY.call_once(|| said_at_boot().unwrap_or_else(|| choose(raw::told(), measured())))
}

/// Remembers where the measurement begins.
pub fn begin() {
    BEGIN.call_once(pair);
}

/// On bare metal there is no other clock: the boot line says it.
fn said_at_boot() -> Option<u64> {
    if cfg!(ompi_bare) { khz(sys::variable("TSC_KHZ")?) } else { None }
}

fn khz(text: &str) -> Option<u64> {
    text.trim().parse::<u64>().ok().filter(|khz| *khz != 0)?.checked_mul(1000)
}

fn choose(told: Option<u64>, measured: u64) -> u64 {
    told.filter(|told| told.abs_diff(measured) <= measured / 1000).unwrap_or(measured).max(1)
}

fn measured() -> u64 {
    let first = BEGIN.call_once(pair);
    let mut last = pair();
    while last.ns.saturating_sub(first.ns) < LEAST_NS {
        core::hint::spin_loop();
        last = pair();
    }
    let (ticks, ns) = (last.ticks.wrapping_sub(first.ticks), last.ns - first.ns);
    (u128::from(ticks) * 1_000_000_000 / u128::from(ns)) as u64
}

/// Both clocks at one moment.
#[derive(Clone, Copy, Debug)]
struct Pair {
    ticks: u64,
    ns: u64,
}

/// The tightest of several readings: a process that loses its core between two clocks reads them far apart.
fn pair() -> Pair {
    let mut best = (u64::MAX, Pair { ticks: 0, ns: 0 });
    for _ in 0..16 {
        let before = raw::ticks();
        let ns = sys::monotonic_ns();
        let width = raw::ticks().wrapping_sub(before);
        if width < best.0 {
            best = (width, Pair { ticks: before.wrapping_add(width / 2), ns });
        }
    }
    best.1
}

static BEGIN: Once<Pair> = Once::new();

/// Readings are about 50 ns off at most: 0.001 % of this.
const LEAST_NS: u64 = 5_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_wins_only_if_it_is_so() {
        assert_eq!(choose(Some(2_300_000_000), 2_300_100_000), 2_300_000_000);
        assert_eq!(choose(Some(2_300_000_000), 2_310_000_000), 2_310_000_000);
        assert_eq!(choose(None, 5), 5);
        assert_eq!(choose(None, 0), 1);
    }

    #[test]
    fn the_boot_line_is_in_kilohertz() {
        assert_eq!(khz("2300000"), Some(2_300_000_000));
        assert_eq!(khz("0"), None);
        assert_eq!(khz("fast"), None);
        assert_eq!(khz("99999999999999999999"), None);
    }
}
