#![allow(unsafe_code)] // registers

use super::*;
use std::string::String;
use std::vec::Vec;

/// The registers here, as a signal handler would get them.
#[inline(always)]
fn here() -> Registers {
    let mut registers = [0u64; 17];
    // SAFETY: copies registers into an array of that size.
    unsafe {
        core::arch::asm!(
            "mov [rax + 24], rbx", "mov [rax + 48], rbp", "mov [rax + 56], rsp",
            "mov [rax + 96], r12", "mov [rax + 104], r13", "mov [rax + 112], r14", "mov [rax + 120], r15",
            "lea rcx, [rip]", "mov [rax + 128], rcx",
            in("rax") registers.as_mut_ptr(), out("rcx") _,
        );
    }
    registers
}

#[inline(never)]
fn ompi_test_innermost() -> Vec<String> {
    let process = Process::own().unwrap();
    let names = Walk::new(&process, here()).take(64).map(|frame| {
        let inside = frame.address - u64::from(frame.is_return);
        let image = process.image(inside).unwrap();
        Name::find(&process, &image, inside).map_or(String::new(), |name| name.text().into())
    });
    names.collect()
}

#[inline(never)]
fn ompi_test_middle(depth: u32) -> Vec<String> {
    let mut room = [depth; 100];
    core::hint::black_box(&mut room);
    let names = if depth == 0 { ompi_test_innermost() } else { ompi_test_middle(depth - 1) };
    core::hint::black_box(room[depth as usize]);
    names
}

#[test]
fn callers_are_found_and_named() {
    let names = ompi_test_middle(2);
    let wanted = ["ompi_test_innermost", "ompi_test_middle", "ompi_test_middle", "ompi_test_middle"];
    assert!(wanted.iter().zip(&names).all(|(part, name)| name.contains(part)), "{names:?}");
    // Down to the thread's beginning in the C library, where no caller is.
    assert!(names.len() > 8 && names.iter().any(|name| name.contains("thread_start")), "{names:?}");
}

#[test]
fn nonsense_ends_the_walk() {
    let process = Process::own().unwrap();
    assert_eq!(Walk::new(&process, [0; 17]).count(), 0);
    let mut wild = [0x1234_5678_9abc; 17];
    assert_eq!(Walk::new(&process, wild).count(), 1);
    wild[SP] = u64::MAX - 3;
    assert_eq!(Walk::new(&process, wild).count(), 1);
    assert!(process.image(1).is_none() && process.word(8).is_none());
}

/// A program that still runs may have been replaced by anything.
#[test]
fn a_pipe_in_the_place_of_a_program_is_not_waited_for() {
    let path = std::env::temp_dir().join(std::format!("ompi-rs-stack-pipe-{}", std::process::id()));
    let name = String::from(path.to_str().unwrap());
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, name.as_str(), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let process = Process::own().unwrap();
        let address = here()[PC];
        let own = process.image(address).unwrap();
        let replaced = Image::new(own.base, name.as_bytes()).unwrap();
        send.send((Name::find(&process, &own, address).is_some(), Name::find(&process, &replaced, address).is_some()))
    });
    let found = receive.recv_timeout(std::time::Duration::from_secs(20));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(found, Ok((true, false)));
}
