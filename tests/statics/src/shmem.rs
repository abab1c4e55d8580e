//! What every way to share memory must do: two processes, the test program and a copy of it.
//!
//! The copy runs the one test `child`, which does nothing unless its environment names a component. The two speak in
//! lines over the copy's standard input and output.
#![allow(unsafe_code)] // bytes shared by two processes

use opal_core::Error;
use opal_core::framework::shmem::{Address, Component, Inherited, Module, Segment};
use opal_core::mca::Declined;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

/// The components under test by name; ends the test if it is none of them.
pub type Components = fn(&str) -> &'static dyn Component;

/// The tests of these components, by name, at the root of a test program whose image holds them.
#[macro_export]
macro_rules! shmem_suite {
    ($($name:ident: $component:expr;)*) => {
        fn component(name: &str) -> &'static dyn opal_core::framework::shmem::Component {
            match name {
                $(stringify!($name) => &$component,)*
                _ => panic!("no component {name}"),
            }
        }

        /// What the second process runs.
        #[test]
        fn child() {
            $crate::shmem::child(component);
        }

        $(mod $name {
            use $crate::shmem::{self, alone};

            #[test]
            fn both_see_the_same_bytes() {
                alone(stringify!($name), "both_see_the_same_bytes", super::component, shmem::both_see_the_same_bytes);
            }

            #[test]
            fn a_killed_owner_leaves_its_receive_segment_and_nothing_else() {
                alone(
                    stringify!($name),
                    "a_killed_owner_leaves_its_receive_segment_and_nothing_else",
                    super::component,
                    shmem::a_killed_owner_leaves_its_receive_segment_and_nothing_else,
                );
            }

            #[test]
            fn what_is_refused() {
                alone(stringify!($name), "what_is_refused", super::component, shmem::what_is_refused);
            }
        })*
    };
}

/// The second process.
pub fn child(components: Components) {
    let Ok(name) = std::env::var("SHMEM_SUITE") else { return };
    let descriptor = std::env::var("SHMEM_SUITE_DESCRIPTOR").unwrap().parse().unwrap();
    let module = opened(components(&name), inherited(descriptor, 1));
    let own = module.create(BYTES).unwrap();
    assert_zero(&own);
    // The harness writes to standard output, too: what is ours is marked.
    println!("\naddress {}", hex(&module.address()));
    // A test that needs no more than this process's address closes the pipe.
    let Some(address) = next_line(&mut std::io::stdin().lock(), "address ") else { return };
    let peer = module.attach(&unhex(&address)).unwrap();
    fill(&peer, 0x51);
    println!("\nfilled");
    line(&mut std::io::stdin().lock(), "filled");
    assert_filled(&own, 0x15);
    println!("\nseen");
    // Waits to be killed, or for the other end to close.
    let mut rest = String::new();
    while std::io::stdin().lock().read_line(&mut rest).is_ok_and(|read| read > 0) {}
}

/// Runs a test in a process of its own: a component hands out one module per process.
pub fn alone(name: &str, test: &str, components: Components, run: fn(&str, Components)) {
    if std::env::var_os("SHMEM_SUITE_ALONE").is_some() {
        return run(name, components);
    }
    let _one_at_a_time = ALONE.lock();
    let mut copy = Command::new(std::env::current_exe().unwrap());
    copy.args(["--exact", &format!("{name}::{test}"), "--nocapture"]).env("SHMEM_SUITE_ALONE", "1");
    let outcome = copy.output().unwrap();
    let said = String::from_utf8_lossy(&outcome.stdout);
    let passed = outcome.status.success() && said.contains("1 passed");
    assert!(passed, "{said}{}", String::from_utf8_lossy(&outcome.stderr));
}

/// Each writes to the other one's receive segment.
pub fn both_see_the_same_bytes(name: &str, components: Components) {
    let mut pair = Pair::new(name, components);
    pair.exchange();
    assert_filled(&pair.own, 0x51);
    pair.module.detach(pair.peer);
    pair.end();
}

/// What a process that is killed leaves.
pub fn a_killed_owner_leaves_its_receive_segment_and_nothing_else(name: &str, components: Components) {
    let before = names();
    let mut pair = Pair::new(name, components);
    assert_eq!(names(), before, "{name} has a name somewhere");
    pair.exchange();
    pair.child.kill().unwrap();
    pair.child.wait().unwrap();
    // What was mapped stays, with what was in it.
    assert_filled(&pair.peer, 0x15);
    fill(&pair.peer, 0x77);
    assert_filled(&pair.peer, 0x77);
    assert_eq!(names(), before, "{name} left something behind");
    pair.module.detach(pair.peer);
}

/// Addresses of nobody, and a second receive segment.
pub fn what_is_refused(name: &str, components: Components) {
    let pair = Pair::new(name, components);
    assert_eq!(pair.module.create(1).unwrap_err(), Error::Exists);
    for byte in [0, 0xff] {
        assert_eq!(pair.module.attach(&[byte; 24]).unwrap_err(), Error::Malformed);
    }
    let good = pair.module.address();
    // Whatever one byte is changed: refused, or a part of the job's memory, every byte of which can be touched.
    for at in 0..good.len() {
        let mut bad = good;
        bad[at] ^= 0x40;
        match pair.module.attach(&bad) {
            Err(Error::Malformed | Error::System) => {}
            Ok(segment) if segment.bytes as u64 <= STRIDE => {
                fill(&segment, 1);
                pair.module.detach(segment);
            }
            other => panic!("byte {at} of the address changed: {other:?}"),
        }
    }
    let again = pair.module.attach(&good).unwrap();
    fill(&pair.own, 0x42);
    assert_filled(&again, 0x42);
    pair.module.detach(again);
    pair.end();
}

/// This process and its copy, receive segments created and attached.
struct Pair {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
    module: &'static dyn Module,
    own: Segment,
    peer: Segment,
    _segment: OwnedFd,
}

impl Pair {
    fn new(name: &str, components: Components) -> Pair {
        let segment = segment();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture", "--test-threads=1"])
            .env("SHMEM_SUITE", name)
            .env("SHMEM_SUITE_DESCRIPTOR", segment.as_raw_fd().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let module = opened(components(name), inherited(segment.as_raw_fd(), 0));
        let own = module.create(BYTES).unwrap();
        assert!(own.bytes >= BYTES && (own.base as usize).is_multiple_of(4096));
        assert_zero(&own);
        let peer = module.attach(&unhex(&line(&mut output, "address "))).unwrap();
        assert!(peer.bytes >= BYTES);
        assert_zero(&peer);
        Pair { child, output, module, own, peer, _segment: segment }
    }

    /// Each fills the other's receive segment; afterwards both have seen what they got.
    fn exchange(&mut self) {
        fill(&self.peer, 0x15);
        let address = hex(&self.module.address());
        let input = self.child.stdin.as_mut().unwrap();
        writeln!(input, "address {address}").unwrap();
        writeln!(input, "filled").unwrap();
        line(&mut self.output, "filled");
        line(&mut self.output, "seen");
    }

    fn end(mut self) {
        if self.child.stdin.is_some() {
            drop(self.child.stdin.take());
        }
        let _ = self.child.wait();
    }
}

/// The component's module, or the end of the test with the component's own sentence.
fn opened(component: &'static dyn Component, inherited: Inherited) -> &'static dyn Module {
    let answer = component.open().and_then(|()| component.query(Some(inherited)));
    answer.unwrap_or_else(|Declined(why)| panic!("{:?} declines: {why}", component.info())).1
}

/// What a launcher leaves.
fn segment() -> OwnedFd {
    // SAFETY: a C string and flags without CLOEXEC: the copy inherits it.
    let number = unsafe { libc::memfd_create(c"suite".as_ptr(), libc::MFD_ALLOW_SEALING) };
    // SAFETY: just opened; nobody else has it.
    let file = unsafe { OwnedFd::from_raw_fd(number) };
    // SAFETY: an open descriptor.
    assert_eq!(unsafe { libc::ftruncate(number, 2 * STRIDE as i64) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { libc::fcntl(number, libc::F_ADD_SEALS, libc::F_SEAL_SHRINK) }, 0);
    file
}

fn inherited(descriptor: i32, local_rank: u32) -> Inherited {
    Inherited { descriptor, offset: 0, stride: STRIDE, local_rank, local_size: 2 }
}

/// The rest of the next line that begins so; `None` if the other end is gone.
fn next_line(from: &mut impl BufRead, begin: &str) -> Option<String> {
    loop {
        let mut text = String::new();
        if from.read_line(&mut text).unwrap() == 0 {
            return None;
        }
        if let Some(rest) = text.trim_end().strip_prefix(begin) {
            return Some(rest.to_owned());
        }
    }
}

fn line(from: &mut impl BufRead, begin: &str) -> String {
    next_line(from, begin).unwrap_or_else(|| panic!("the other end is gone; `{begin}` was awaited"))
}

fn hex(address: &Address) -> String {
    address.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Address {
    std::array::from_fn(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap())
}

fn fill(segment: &Segment, byte: u8) {
    for at in (0..segment.bytes).step_by(509) {
        // SAFETY: within the segment, which is mapped for writing.
        unsafe { segment.base.wrapping_add(at).write_volatile(byte) };
    }
}

fn assert_filled(segment: &Segment, byte: u8) {
    for at in (0..segment.bytes).step_by(509) {
        // SAFETY: within the segment, which is mapped for reading.
        assert_eq!(unsafe { segment.base.wrapping_add(at).read_volatile() }, byte, "at {at}");
    }
}

fn assert_zero(segment: &Segment) {
    assert_filled(segment, 0);
}

/// Everything that has a name where a component could leave something.
fn names() -> Vec<std::ffi::OsString> {
    let entries = ["/dev/shm", "/tmp"].into_iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    // Other programs of this machine come and go.
    names.retain(|name| {
        ["ompi", "shmem", ".", "#", "psx", "fil"].iter().any(|ours| name.to_string_lossy().starts_with(ours))
    });
    names.sort();
    names
}

static ALONE: Mutex<()> = Mutex::new(());
const BYTES: usize = 100_000;
const STRIDE: u64 = 1 << 20;
