//! Frames of defmt, which end with a 0: `cargo xtask boot --log defmt` turns them into lines.

use super::port;
use crate::{rank, tsc};
use core::cell::UnsafeCell;
use defmt::{Display2Format, Encoder};

defmt::timestamp!("{=u64:us} core {=u32}", tsc::ns() / 1000, rank::core());

/// Crates that know only crate `log` are not lost; their texts travel as text.
pub struct Forward;
/// The only one.
pub static PORT: Forward = Forward;

impl ::log::Log for Forward {
    fn enabled(&self, _: &::log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &::log::Record<'_>) {
        let (target, text) = (record.target(), Display2Format(record.args()));
        match record.level() {
            ::log::Level::Error => defmt::error!("{=str}: {}", target, text),
            ::log::Level::Warn => defmt::warn!("{=str}: {}", target, text),
            ::log::Level::Info => defmt::info!("{=str}: {}", target, text),
            ::log::Level::Debug => defmt::debug!("{=str}: {}", target, text),
            ::log::Level::Trace => defmt::trace!("{=str}: {}", target, text),
        }
    }

    fn flush(&self) {}
}

#[defmt::global_logger]
struct Frames;

// SAFETY: `port::take` keeps other cores out from `acquire` to `release`; within a core nothing interrupts a frame but its end.
unsafe impl defmt::Logger for Frames {
    fn acquire() {
        port::take();
        encode(|encoder| encoder.start_frame(port::send));
    }

    unsafe fn flush() {}

    unsafe fn release() {
        encode(|encoder| encoder.end_frame(port::send));
        port::give();
    }

    unsafe fn write(bytes: &[u8]) {
        encode(|encoder| encoder.write(bytes, port::send));
    }
}

fn encode(step: impl FnOnce(&mut Encoder)) {
    // SAFETY: each core has one of its own, one thread, and no step calls another.
    step(unsafe { &mut *ENCODER.0.get() });
}

struct Own(UnsafeCell<Encoder>);
// SAFETY: never shared between cores: it is in the data of which each of them has a copy.
unsafe impl Sync for Own {}
static ENCODER: Own = Own(UnsafeCell::new(Encoder::new()));
