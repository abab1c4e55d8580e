//! Several owners of bits in one register, and a card whose registers are memory.

use hw_pport::mapped::Mapped;
use hw_pport::{Lines, Port};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// The latches of a port, and how often the data register was written.
#[derive(Default)]
struct Latches {
    data: AtomicU8,
    control: AtomicU8,
}

struct Fake(Arc<Latches>);

impl Port for Fake {
    fn put_data(&self, value: u8) {
        come_between();
        self.0.data.store(value, Ordering::Relaxed);
    }

    fn put_control(&self, value: u8) {
        come_between();
        self.0.control.store(value, Ordering::Relaxed);
    }

    fn status(&self) -> u8 {
        0
    }

    fn settle(&self) -> bool {
        true
    }

    fn name(&self) -> &str {
        "fake"
    }
}

/// Time for another thread to come between shadow and latch, if nothing keeps it out.
fn come_between() {
    std::thread::sleep(std::time::Duration::from_micros(100));
}

/// Two channels on one port: what one thread writes never undoes what the other one wrote.
#[test]
fn bits_of_one_register_have_several_owners() {
    let latches = Arc::new(Latches::default());
    let lines = Lines::new(Box::new(Fake(latches.clone())), 0, 0);
    std::thread::scope(|scope| {
        for bit in 0..4u8 {
            let (lines, latches) = (&lines, &latches);
            scope.spawn(move || {
                for turn in 0..40u16 {
                    let value = if turn % 2 == 0 { 1 << bit } else { 0 };
                    lines.change_data(1 << bit, value);
                    // It must still be there when others have written.
                    come_between();
                    assert_eq!(latches.data.load(Ordering::Relaxed) & 1 << bit, value, "data bit {bit}, turn {turn}");
                    lines.change_control(1 << bit, value);
                    come_between();
                    assert_eq!(latches.control.load(Ordering::Relaxed) & 1 << bit, value, "control bit {bit}");
                }
            });
        }
    });
    assert_eq!((lines.data(), lines.control()), (0, 0));
}

/// A file in the place of a card's page of registers.
#[test]
fn registers_of_a_card_are_bytes_of_its_page() {
    let path = format!("{}/registers.{}", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    let open = |offset, stride| Mapped::open(&path, offset, stride);
    assert!(open(0, 1).is_err(), "there is no such file");
    let page = std::fs::File::create_new(&path).unwrap();
    page.set_len(4096).unwrap();
    assert!(open(0, 0).is_err() && open(4094, 1).is_err() && open(0, usize::MAX).is_err());
    for (offset, stride) in [(0, 1), (0x40, 4)] {
        let card = open(offset, stride).unwrap();
        page.write_all_at(&[0x5a], (offset + stride) as u64).unwrap();
        card.put_data(0x12);
        card.put_control(0x34);
        let mut bytes = [0u8; 3];
        for (register, byte) in bytes.iter_mut().enumerate() {
            page.read_exact_at(std::slice::from_mut(byte), (offset + register * stride) as u64).unwrap();
        }
        assert_eq!((bytes, card.status(), card.settle()), ([0x12, 0x5a, 0x34], 0x5a, true));
    }
    std::fs::remove_file(&path).unwrap();
}
