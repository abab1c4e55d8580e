//! How fast a connection is: bytes that the peer acknowledged while something was always under way, and the time that took.
//!
//! What the wire had carried before the measurement began does not count, and neither does time in which nothing was to be sent. So
//! a connection that has little to do is not taken for a slow one.

/// The measurement of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    /// The number of the first byte that counts and when that was sent, or acknowledged the one before it.
    since: Option<(u64, u64)>,
    mbps: Option<u32>,
    measured_ns: u64,
}

impl Meter {
    /// Nothing is known.
    pub const fn new() -> Meter {
        Meter { since: None, mbps: None, measured_ns: 0 }
    }

    /// In 10⁶ bits per second; more than 0. `None` also where that was long ago: a link that got nothing since may be better now.
    pub fn mbps(&self, now_ns: u64) -> Option<u32> {
        self.mbps.filter(|_| now_ns.saturating_sub(self.measured_ns) < KNOWN_NS)
    }

    /// Whether time passes.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.since.is_some()
    }

    /// Much is sent, and from this byte of the stream on the wire has it still to carry.
    pub fn begin(&mut self, first: u64, now_ns: u64) {
        self.since = Some((first, now_ns));
    }

    /// The first byte that counts, while time passes.
    #[cfg(test)]
    pub fn first(&self) -> Option<u64> {
        self.since.map(|(first, _)| first)
    }

    /// The peer has all before this byte. `is_idle`: nothing else is on its way that it will acknowledge.
    pub fn acknowledged(&mut self, number: u64, is_idle: bool, now_ns: u64) {
        let Some((first, since_ns)) = self.since else { return };
        let (bytes, took_ns) = (number.saturating_sub(first), now_ns.saturating_sub(since_ns));
        if bytes >= WINDOW_BYTES || is_idle && bytes >= LEAST_BYTES {
            let sample = (bytes.saturating_mul(8000) / took_ns.max(1)).clamp(1, u64::from(u32::MAX));
            // Half of it is new: a link that slows down is known after a few windows, and one that stumbles is not left for good.
            self.mbps = Some(self.mbps.map_or(sample, |before| u64::from(before).midpoint(sample)).max(1) as u32);
            (self.since, self.measured_ns) = (Some((number, now_ns)), now_ns);
        }
        if is_idle {
            self.since = None;
        }
    }

    /// Another socket, perhaps another path: nothing is known of it.
    pub fn forget(&mut self) {
        *self = Meter::new();
    }
}

/// So long a measurement counts.
const KNOWN_NS: u64 = 1_000_000_000;
const WINDOW_BYTES: u64 = 1 << 20;
/// What an acknowledgement says at least.
const LEAST_BYTES: u64 = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    /// Acknowledgements each 256 KiB over a wire of so many Mb/s; returns the time at the end.
    fn carry(meter: &mut Meter, at: &mut u64, now: &mut u64, bytes: u64, mbps: u64) {
        meter.begin(*at, *now);
        let end = *at + bytes;
        while *at < end {
            *at += LEAST_BYTES;
            *now += LEAST_BYTES * 8000 / mbps;
            meter.acknowledged(*at, *at >= end, *now);
        }
    }

    #[test]
    fn rates_are_those_of_the_wire() {
        let (mut meter, mut at, mut now) = (Meter::new(), 0, 0);
        assert_eq!(meter.mbps(0), None);
        carry(&mut meter, &mut at, &mut now, 8 << 20, 1000);
        assert!(meter.mbps(now).unwrap().abs_diff(1000) < 20, "{meter:?}");
        // Nothing is sent for a minute, which is not the wire's fault.
        assert!(!meter.is_on());
        now += 60_000_000_000;
        carry(&mut meter, &mut at, &mut now, 512 << 10, 1000);
        assert!(meter.mbps(now).unwrap().abs_diff(1000) < 20, "{meter:?}");
        carry(&mut meter, &mut at, &mut now, 16 << 20, 100);
        assert!(meter.mbps(now).unwrap().abs_diff(100) < 10, "it slowed down: {meter:?}");
        carry(&mut meter, &mut at, &mut now, 16 << 20, 2000);
        assert!(meter.mbps(now).unwrap().abs_diff(2000) < 40, "and is fast again: {meter:?}");
    }

    #[test]
    fn what_was_carried_before_does_not_count() {
        let mut meter = Meter::new();
        meter.begin(1 << 20, 0);
        meter.acknowledged(1 << 20, false, 5);
        assert_eq!(meter.mbps(5), None);
        meter.acknowledged(2 << 20, false, 8_388_608);
        assert_eq!(meter.mbps(8_388_608), Some(1000));
        assert_eq!(meter.mbps(2_000_000_000), None, "long ago");
        meter.forget();
        assert!(meter.mbps(8_388_608).is_none() && !meter.is_on());
    }
}
