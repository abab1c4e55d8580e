//! The instructions that the emulation carries out are those that reach a real port: they stand in this program's code,
//! and the machine at the other end of the cable sees what they write.
#![allow(unsafe_code)]

use hw_fpga::wire;
use hw_pport::emulated::Emulated;
use hw_pport::inout::InOut;
use hw_pport::{Lines, Port};
use hw_rig::cable::Cable;
use hw_rig::fpga::{Kind, Machine, Stuck};
use object::{Object, ObjectSection, ObjectSymbol};

#[test]
fn in_and_out_are_in_the_code() {
    let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    for (name, opcode, other) in [("ompi_pport_in", 0xec, 0xee), ("ompi_pport_out", 0xee, 0xec)] {
        let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name)).expect(name);
        let section = file.section_by_index(symbol.section_index().unwrap()).unwrap();
        let start = (symbol.address() - section.address()) as usize;
        let code = &section.data().unwrap()[start..start + symbol.size() as usize];
        assert_eq!(code.iter().filter(|byte| **byte == opcode).count(), 1, "{name}: {code:x?}");
        assert!(!code.contains(&other), "{name}: {code:x?}");
    }
}

#[test]
fn a_real_port_needs_rights() {
    if rustix::process::geteuid().is_root() {
        return;
    }
    assert!(InOut::open(0x378).is_err());
    assert!(InOut::open(0xffff).is_err());
}

/// One port per process: all that needs one is here.
#[test]
fn the_machine_sees_what_out_writes_and_in_reads_its_answer() {
    let path = format!("{}/instructions.{}", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    assert!(Emulated::open(&path, 0x378, 0).is_err());
    let cable = Cable::create(&path).unwrap();
    assert!(Emulated::open(&path, 0x378, 60).is_err());
    assert!(Emulated::open(&path, 0xfffe, 0).is_err());
    let port = Emulated::open(&path, 0x378, 1).unwrap();
    std::fs::remove_file(&path).unwrap();
    let lines = Lines::new(Box::new(port), 0, wire::control_register(0));
    // Nobody is plugged in.
    assert_eq!(wire::status(lines.status()), (0xf, false));
    assert!(!lines.settle());

    let mut machine = Machine::new(Kind::Classic, 2, Stuck::No);
    cable.power_up();
    machine.turn(&cable, 2);
    assert!(lines.settle());
    assert_eq!(wire::status(lines.status()), (0b1110, true));
    lines.change_data(wire::OUT[0].mask(), 0xff);
    assert_eq!(cable.outputs(1), (1, wire::control_register(0)));
    machine.turn(&cable, 2);
    assert_eq!(wire::status(lines.status()).0 & 1, 0);
    cable.put_data(0, 1);
    machine.turn(&cable, 2);
    assert_eq!(wire::status(lines.status()), (0b1111, true));
    // Bits of others stay as they are.
    lines.change_data(wire::OUT[2].mask(), 0xff);
    lines.change_data(wire::OUT[0].mask(), 0);
    assert_eq!((lines.data(), cable.outputs(1).0), (0b100, 0b100));
    lines.change_control(0xf, wire::control_register(0b0110));
    assert_eq!(wire::control_lines(cable.outputs(1).1), 0b0110);
    assert!(cable.accesses(1) >= 9);
    faults_of_others_end_the_process();
    assert!(child("small").success());
}

fn faults_of_others_end_the_process() {
    // The last one is in al at an immediate address, which is not this port's.
    for what in ["null", "other_port", "immediate"] {
        assert_eq!(signal_of(child(what)), Some(11), "{what}");
    }
}

fn child(what: &str) -> std::process::ExitStatus {
    let program = std::env::current_exe().unwrap();
    let mut child = std::process::Command::new(program);
    child.args(["--exact", "misbehave", "--test-threads=1"]).env("MISBEHAVE", what);
    child.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).status().unwrap()
}

fn signal_of(status: std::process::ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

/// What the children of the test above do; by itself nothing.
#[test]
fn misbehave() {
    let Ok(what) = std::env::var("MISBEHAVE") else { return };
    let path = format!("{}/misbehave.{}", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    let cable = Cable::create(&path).unwrap();
    let port = Emulated::open(&path, if what == "small" { 0x78 } else { 0x378 }, 0).unwrap();
    std::fs::remove_file(&path).unwrap();
    port.put_data(1);
    match what.as_str() {
        // SAFETY: it ends the process, which is what the test wants.
        "null" => unsafe { std::ptr::without_provenance_mut::<u8>(8).write_volatile(1) },
        // `in al, imm8` and `out imm8, al`, which compilers never write for a variable port.
        "small" => {
            let status: u8;
            // SAFETY: both are carried out on the cable.
            unsafe { std::arch::asm!("out 0x7a, al", "in al, 0x79", inout("al") 5u8 => status) };
            assert_eq!((cable.outputs(0).1, status), (5, cable.status(0)));
        }
        // SAFETY: as above.
        "immediate" => unsafe { std::arch::asm!("out 0x7a, al", in("al") 1u8) },
        // SAFETY: as above.
        _ => unsafe { std::arch::asm!("out dx, al", in("dx") 0x80u16, in("al") 1u8) },
    }
}
