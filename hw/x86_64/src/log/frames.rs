//! Frames of defmt, which end with a 0: `cargo xtask boot --log defmt` turns them into lines.

use super::{facade, give_port, send, take_port};
use crate::{rank, tsc};
use core::cell::UnsafeCell;
use defmt::{Display2Format, Encoder};

defmt::timestamp!("{=u64:us} core {=u32}", tsc::ns() / 1000, rank::core());

/// Crates that know only crate `log` are not lost; their texts travel as text.
pub struct Forward;
/// The only one.
pub static PORT: Forward = Forward;

impl facade::Log for Forward {
    fn enabled(&self, _: &facade::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &facade::Record<'_>) {
        let (target, text) = (record.target(), Display2Format(record.args()));
        match record.level() {
            facade::Level::Error => defmt::error!("{=str}: {}", target, text),
            facade::Level::Warn => defmt::warn!("{=str}: {}", target, text),
            facade::Level::Info => defmt::info!("{=str}: {}", target, text),
            facade::Level::Debug => defmt::debug!("{=str}: {}", target, text),
            facade::Level::Trace => defmt::trace!("{=str}: {}", target, text),
        }
    }

    fn flush(&self) {}
}

#[defmt::global_logger]
struct Frames;

// SAFETY: `take_port` keeps other cores out from `acquire` to `release`; within a core nothing interrupts a frame but its end.
unsafe impl defmt::Logger for Frames {
    fn acquire() {
        take_port();
        encode(|encoder| encoder.start_frame(send));
    }

    unsafe fn flush() {}

    unsafe fn release() {
        encode(|encoder| encoder.end_frame(send));
        give_port();
    }

    unsafe fn write(bytes: &[u8]) {
        encode(|encoder| encoder.write(bytes, send));
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
