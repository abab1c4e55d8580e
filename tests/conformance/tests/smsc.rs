//! The suite of framework smsc for every component, and what becomes of dead peers and very long copies.

#![allow(unsafe_code)] // fork, and copies

use opal_core::framework::{shmem, smsc};
use opal_core::shareable;
use opal_core::sync::{AtomicU32, Ordering};
use opal_core::{Error, mca::Component as _};
use std::time::{Duration, Instant};
use test_conformance::pair::{self, Pair};
use test_conformance::smsc::between_two;

opal_core::image![opal_core::framework::atomics, memcpy_portable, shmem_memfd, smsc_cma, smsc_map];

fn main() {
    let tests: [(&str, fn()); 6] = [
        ("cma", cma),
        ("map", map),
        ("a dead peer's shareable memory", dead_and_mapped),
        ("dead peer", dead_peer),
        ("a dead peer's number", number_taken_again),
        ("beyond two GiB", very_long),
    ];
    for (name, test) in tests {
        in_a_child(name, test);
        println!("test {name} ... ok");
    }
}

fn in_a_child(name: &str, test: fn()) {
    // SAFETY: this process has one thread.
    let child = unsafe { libc::fork() };
    if child == 0 {
        test();
        std::process::exit(0);
    }
    let mut status = 0;
    // SAFETY: a child of this process.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!((ended, status), (child, 0), "test {name} failed");
}

fn opened(pair: &Pair) -> &'static dyn smsc::Module {
    assert!(smsc_cma::COMPONENT.open().is_err(), "alone on its node");
    shmem::select(Some(pair.inherited)).expect("shmem/memfd runs");
    smsc_cma::COMPONENT.open().expect("it opens");
    smsc::Component::query(&smsc_cma::COMPONENT, Some(1)).expect("it runs").1
}

fn connected(pair: &mut Pair) -> (&'static dyn smsc::Module, smsc::PeerId) {
    let module = opened(pair);
    let address = pair.exchange(&module.address());
    let peer = module.connect(&address).expect("the peer is who it says");
    pair.barrier();
    (module, peer)
}

fn cma() {
    between_two(&smsc_cma::COMPONENT);
}

fn map() {
    between_two(&smsc_map::COMPONENT);
}

/// What was mapped of a peer stays readable after its death, what was not is refused, and nothing is left when it is let go.
fn dead_and_mapped() {
    const BYTES: usize = 8 << 20;
    let mut pair = pair::fork();
    shmem::select(Some(pair.inherited)).expect("shmem/memfd runs");
    let module = smsc::Component::query(&smsc_map::COMPONENT, None).expect("it runs").1;
    let address = pair.exchange(&module.address());
    let peer = module.connect(&address).expect("the peer is who it says");
    let [near, _between, far] = [(); 3].map(|()| shareable::allocate(BYTES, 64).expect("there is memory"));
    // SAFETY: just allocated.
    unsafe { near.write_bytes(7, BYTES) };
    let told = [near.addr() as u64, far.addr() as u64, u64::from(std::process::id())];
    let theirs = pair.exchange(&told.map(u64::to_le_bytes).concat());
    let word = |number: usize| u64::from_le_bytes(theirs[8 * number..][..8].try_into().unwrap());
    if pair.side == 1 {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    let mut room = vec![0u8; BYTES];
    let mut copy = |remote: u64| {
        room.fill(0);
        // SAFETY: not longer than the vector.
        let copied = unsafe { module.copy_from(peer, remote, room.as_mut_ptr(), BYTES) };
        copied.map(|()| room.iter().all(|byte| *byte == 7))
    };
    assert_eq!(copy(word(0)), Ok(true));
    let pid = word(2) as i32;
    // SAFETY: a child of this process.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
    let mut status = 0;
    // SAFETY: as above.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    assert_eq!(copy(word(0)), Ok(true));
    assert_eq!(copy(word(1)), Err(Error::Unreachable), "it was never mapped");
    module.close();
    assert_eq!(copy(word(0)), Err(Error::Unreachable), "it is no longer mapped");
}

/// A peer that is killed while it is copied from ends the copies with an error, and soon.
fn dead_peer() {
    const BYTES: usize = 8 << 20;
    let mut pair = pair::fork();
    let (module, peer) = connected(&mut pair);
    let data = vec![7u8; BYTES];
    let theirs =
        pair.exchange(&[&(data.as_ptr() as u64).to_le_bytes()[..], &std::process::id().to_le_bytes()].concat());
    let remote = u64::from_le_bytes(theirs[..8].try_into().unwrap());
    let pid = u32::from_le_bytes(theirs[8..].try_into().unwrap()) as i32;
    if pair.side == 1 {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    let mut room = vec![0u8; BYTES];
    let mut copy = || {
        // SAFETY: not longer than the vector.
        unsafe { module.copy_from(peer, remote, room.as_mut_ptr(), BYTES) }
    };
    assert_eq!(copy(), Ok(()));
    // SAFETY: a child of this process, which is waited for below.
    let killed = unsafe { libc::kill(pid, libc::SIGKILL) };
    assert_eq!(killed, 0);
    let end = Instant::now() + Duration::from_secs(20);
    // A copy that is under way when it dies may end in the middle of its memory.
    let mut last = copy();
    while last != Err(Error::Unreachable) {
        assert!(matches!(last, Ok(()) | Err(Error::Invalid)), "{last:?}");
        assert!(Instant::now() < end, "the dead peer is noticed");
        last = copy();
    }
    let mut status = 0;
    // SAFETY: a child of this process.
    unsafe { libc::waitpid(pid, &raw mut status, 0) };
    assert_eq!(copy(), Err(Error::Unreachable));
}

static LOST: AtomicU32 = AtomicU32::new(0);

/// A process that gets a dead peer's number is neither read nor written.
fn number_taken_again() {
    opal_core::wait::watch_epoch(|| LOST.load(Ordering::Relaxed));
    let mut pair = pair::fork();
    let (module, peer) = connected(&mut pair);
    let data = vec![7u8; 4096];
    let theirs =
        pair.exchange(&[&(data.as_ptr() as u64).to_le_bytes()[..], &std::process::id().to_le_bytes()].concat());
    let pid = u32::from_le_bytes(theirs[8..].try_into().unwrap()) as i32;
    if pair.side == 1 {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    // SAFETY: a child of this process.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
    let mut status = 0;
    // SAFETY: as above.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    let wanted = [pid];
    let request = CloneArguments {
        exit_signal: libc::SIGCHLD as u64,
        set_tid: wanted.as_ptr() as u64,
        set_tid_size: 1,
        ..CloneArguments::default()
    };
    // SAFETY: as fork, of a process with one thread; the request is as long as it says.
    let child = unsafe { libc::syscall(libc::SYS_clone3, &raw const request, size_of::<CloneArguments>()) };
    if child == 0 {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    if child != i64::from(pid) {
        println!("left out: the system gives nobody a number of his choice ({})", std::io::Error::last_os_error());
        return;
    }
    let mut room = vec![0u8; 4096];
    // SAFETY: not longer than the vector; the impostor's memory is a copy of this process's.
    let mut copy = || unsafe { module.copy_from(peer, data.as_ptr() as u64, room.as_mut_ptr(), 4096) };
    // Nobody has noticed yet: so would it be without the second proof.
    assert_eq!(copy(), Ok(()));
    LOST.store(1, Ordering::Relaxed);
    let read = copy();
    // SAFETY: not longer than the vector, and memory that the impostor has, too.
    let written = unsafe { module.copy_to(peer, data.as_ptr() as u64, data.as_ptr(), 4096) };
    // SAFETY: a child of this process.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    // SAFETY: as above.
    unsafe { libc::waitpid(pid, &raw mut status, 0) };
    assert_eq!((read, written), (Err(Error::Unreachable), Err(Error::Unreachable)));
}

/// clone(2): struct clone_args, its second version.
#[repr(C)]
#[derive(Default)]
struct CloneArguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
}

/// More than the system copies in one call. The memory is the same 4 MiB again and again.
fn very_long() {
    const PIECE: usize = 4 << 20;
    const PIECES: usize = 513;
    let source = repeated(PIECE, PIECES);
    for index in 0..PIECE / 8 {
        // SAFETY: within the first piece, before another process knows it.
        unsafe { source.cast::<u64>().wrapping_add(index).write(index as u64 * 0x9e37_79b9) };
    }
    let mut pair = pair::fork();
    let (module, peer) = connected(&mut pair);
    if pair.side == 0 {
        let target = repeated(PIECE, PIECES);
        let bytes = PIECE * PIECES - 12_345;
        // SAFETY: `target` is that long.
        let read = unsafe { module.copy_from(peer, source as u64, target, bytes) };
        assert_eq!(read, Ok(()));
        for index in 0..PIECE / 8 {
            // SAFETY: within the first piece; nobody else knows it.
            let got = unsafe { target.cast::<u64>().wrapping_add(index).read() };
            assert_eq!(got, index as u64 * 0x9e37_79b9);
        }
    }
    pair.end();
}

fn repeated(piece: usize, pieces: usize) -> *mut u8 {
    // SAFETY: a NUL-terminated name.
    let descriptor = unsafe { libc::memfd_create(c"piece".as_ptr(), 0) };
    // SAFETY: no pointers.
    assert_eq!(unsafe { libc::ftruncate(descriptor, piece as libc::off_t) }, 0);
    let (protection, none) = (libc::PROT_READ | libc::PROT_WRITE, core::ptr::null_mut());
    // SAFETY: a new mapping.
    let base =
        unsafe { libc::mmap(none, piece * pieces, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
    assert_ne!(base, libc::MAP_FAILED);
    for index in 0..pieces {
        let at = base.wrapping_add(index * piece);
        // SAFETY: replaces a part of the mapping above.
        let mapped = unsafe { libc::mmap(at, piece, protection, libc::MAP_SHARED | libc::MAP_FIXED, descriptor, 0) };
        assert_eq!(mapped, at);
    }
    base.cast()
}
