//! PCI configuration space by the ports 0xcf8 and 0xcfc (PCI Local Bus Specification 3.0, 3.2.2.3.2 and 6.1).
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 2 | vendor |
//! | 2 | 2 | device |
//! | 4 | 2 | command |
//! | 6 | 2 | status |
//! | 16 | 6 · 4 | regions: base address registers (BARs) |
#![allow(unsafe_code)]

use core::mem::offset_of;
use memoffset::span_of;
use x86_64::instructions::port::Port;

/// One function of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    bus: u8,
    slot: u8,
}

impl Device {
    /// The first one with these numbers; bridges are not followed, all buses are looked at.
    pub fn find(vendor: u16, device: u16) -> Option<Device> {
        let wanted = u32::from(device) << 16 | u32::from(vendor);
        let all = (0..=255).flat_map(|bus| (0..32).map(move |slot| Device { bus, slot }));
        all.take_while(|one| one.bus == 0 || HOST_BRIDGE.read(IDENTITY) != NOBODY)
            .find(|one| one.read(IDENTITY) == wanted)
    }

    /// Reads a register, a multiple of 4.
    pub fn read(self, register: u8) -> u32 {
        self.select(register);
        // SAFETY: the data port of configuration space; one core of the machine uses it at a time.
        unsafe { Port::new(DATA).read() }
    }

    /// Writes a register.
    pub fn write(self, register: u8, value: u32) {
        self.select(register);
        // SAFETY: as above; callers write only what the specification lets software write.
        unsafe { Port::new(DATA).write(value) }
    }

    /// The function 0 at a place.
    pub fn at(bus: u8, slot: u8) -> Device {
        Device { bus, slot: slot & 31 }
    }

    /// Bus and slot.
    pub fn place(self) -> (u8, u8) {
        (self.bus, self.slot)
    }

    /// Lets it answer to accesses of its memory.
    pub fn enable_memory(self) {
        self.command(MEMORY_SPACE);
    }

    /// Lets it answer to accesses of its memory and read and write the machine's, and never interrupt.
    pub fn enable_bus_master(self) {
        self.command(MEMORY_SPACE | BUS_MASTER | INTERRUPT_DISABLE);
    }

    /// Sets bits of the command. The status beside it is written as 0, which changes nothing of it (6.2.3).
    fn command(self, bits: u32) {
        self.write(COMMAND, self.read(COMMAND) & 0xffff | bits);
    }

    /// Address and length of a memory region; `None` if it has none.
    pub fn region(self, index: u8) -> Option<(u64, u64)> {
        let register = region_register(index)?;
        let low = self.read(register);
        if low & 1 != 0 {
            return None;
        }
        let is_long = low & 6 == 4;
        if is_long {
            region_register(index + 1)?;
        }
        let high = if is_long { self.read(register + 4) } else { 0 };
        let base = u64::from(high) << 32 | u64::from(low & !15);
        // Which bits stay 0 says how long it is (6.2.5.1).
        self.write(register, u32::MAX);
        let mask_low = self.read(register) & !15;
        self.write(register, low);
        let mask_high = match is_long {
            true => {
                self.write(register + 4, u32::MAX);
                let mask = self.read(register + 4);
                self.write(register + 4, high);
                mask
            }
            false => u32::MAX,
        };
        let bytes = (!(u64::from(mask_high) << 32 | u64::from(mask_low))).wrapping_add(1);
        (base != 0 && mask_low | mask_high != 0).then_some((base, bytes))
    }

    fn select(self, register: u8) {
        let address = 1 << 31 | u32::from(self.bus) << 16 | u32::from(self.slot) << 11 | u32::from(register & !3);
        // SAFETY: the address port of configuration space.
        unsafe { Port::new(ADDRESS).write(address) }
    }
}

/// The register of a region; `None` beyond the last one.
fn region_register(index: u8) -> Option<u8> {
    let register = span_of!(Configuration, regions).nth(4 * usize::from(index))?;
    Some(register as u8)
}

/// What configuration space begins with. No value of it ever exists: it says where registers lie.
#[repr(C)]
struct Configuration {
    vendor: u16,
    device: u16,
    command: u16,
    status: u16,
    revision_and_class: u32,
    cache_line_latency_type_test: u32,
    regions: [u32; 6],
}

const HOST_BRIDGE: Device = Device { bus: 0, slot: 0 };
const NOBODY: u32 = u32::MAX;
const ADDRESS: u16 = 0xcf8;
const DATA: u16 = 0xcfc;
const IDENTITY: u8 = offset_of!(Configuration, vendor) as u8;
const COMMAND: u8 = offset_of!(Configuration, command) as u8;
const MEMORY_SPACE: u32 = 1 << 1;
const BUS_MASTER: u32 = 1 << 2;
const INTERRUPT_DISABLE: u32 = 1 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_lie_where_the_table_says() {
        let words = [
            span_of!(Configuration, vendor),
            span_of!(Configuration, device),
            span_of!(Configuration, command),
            span_of!(Configuration, status),
        ];
        assert_eq!(words, [0..2, 2..4, 4..6, 6..8]);
        assert_eq!(span_of!(Configuration, regions), 16..40);
        assert_eq!([0, 5, 6, 63, 255].map(region_register), [Some(16), Some(36), None, None, None]);
    }
}
