//! Two processes that share the memory a launcher would leave, and a line between them.

use opal_core::framework::shmem::Inherited;
use orte_core::segment::Layout;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// One of two processes.
pub struct Pair {
    /// 0 in the parent, 1 in the child.
    pub side: u32,
    /// What `shmem::select` wants.
    pub inherited: Inherited,
    line: UnixStream,
    child: Option<i32>,
}

/// Forks; both return. Before any thread exists and before any component is opened.
pub fn fork() -> Pair {
    let (here, there) = UnixStream::pair().expect("a pair of sockets");
    let stride = Layout::new(0, 2).expect("two ranks").rx_segment_stride;
    let descriptor = memory(2 * stride);
    // SAFETY: one thread; the child uses nothing that another thread of the parent might hold.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork works");
    let side = u32::from(child == 0);
    let inherited = Inherited { descriptor, offset: 0, stride, local_rank: side, local_size: 2 };
    let (line, child) = if side == 1 { (there, None) } else { (here, Some(child)) };
    Pair { side, inherited, line, child }
}

impl Pair {
    /// Gives the other side some bytes and takes its.
    pub fn exchange(&mut self, mine: &[u8]) -> Vec<u8> {
        self.line.write_all(&(mine.len() as u32).to_le_bytes()).expect("the other side lives");
        self.line.write_all(mine).expect("the other side lives");
        let mut length = [0; 4];
        self.line.read_exact(&mut length).expect("the other side lives");
        let mut theirs = vec![0; u32::from_le_bytes(length) as usize];
        self.line.read_exact(&mut theirs).expect("the other side lives");
        theirs
    }

    /// The same, calling `meanwhile` until the other side's bytes are there: for what needs the help of both.
    pub fn exchange_while(&mut self, mine: &[u8], meanwhile: &mut dyn FnMut()) -> Vec<u8> {
        self.line.write_all(&(mine.len() as u32).to_le_bytes()).expect("the other side lives");
        self.line.write_all(mine).expect("the other side lives");
        let mut length = [0; 4];
        self.read_while(&mut length, meanwhile);
        let mut theirs = vec![0; u32::from_le_bytes(length) as usize];
        self.read_while(&mut theirs, meanwhile);
        theirs
    }

    fn read_while(&mut self, mut bytes: &mut [u8], meanwhile: &mut dyn FnMut()) {
        self.line.set_nonblocking(true).expect("a socket");
        while !bytes.is_empty() {
            match self.line.read(bytes) {
                Ok(0) => panic!("the other side has ended"),
                Ok(read) => bytes = &mut bytes[read..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => meanwhile(),
                Err(error) => panic!("the other side lives: {error}"),
            }
        }
        self.line.set_nonblocking(false).expect("a socket");
    }

    /// Waits for the other side.
    pub fn barrier(&mut self) {
        self.exchange(&[]);
    }

    /// Ends: the child exits, the parent learns how.
    pub fn end(mut self) {
        self.barrier();
        let Some(child) = self.child else {
            std::process::exit(0);
        };
        let mut status = 0;
        // SAFETY: a child of this process; `status` is a place for its status.
        let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!((ended, status), (child, 0), "the other side ended well");
    }
}

fn memory(bytes: u64) -> i32 {
    // SAFETY: a NUL-terminated name.
    let descriptor = unsafe { libc::memfd_create(c"pair".as_ptr(), libc::MFD_ALLOW_SEALING) };
    assert!(descriptor >= 0, "memfd_create works");
    // SAFETY: a descriptor that nobody else owns.
    let file = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(descriptor) });
    file.set_len(bytes).expect("there is memory");
    // SAFETY: no pointers.
    let sealed = unsafe { libc::fcntl(descriptor, libc::F_ADD_SEALS, libc::F_SEAL_SHRINK) };
    assert_eq!(sealed, 0, "it can be sealed");
    // It stays open for both sides, as what a launcher leaves does.
    std::mem::forget(file);
    descriptor
}
