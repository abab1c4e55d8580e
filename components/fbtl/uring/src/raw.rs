//! The queues, and transfers under way.
#![allow(unsafe_code)]

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::file::TransferCursor;
use ompi_core::framework::fbtl::{AccessKind, FRAMEWORK, Moved, OngoingTransfer, Piece};
use opal_core::sync::ConditionalLock;
use opal_core::sys::{Errno, File, MemoryRun};
use opal_core::{verbose, wait};
use rustix::fd::AsRawFd;
use rustix_uring::squeue::{Entry, Flags};
use rustix_uring::{IoUring, opcode, types};

/// Whether the system offers io_uring to this process: it looks at that before it looks at the number of entries.
pub fn offered() -> Result<(), Errno> {
    match IoUring::new(0).map_err(errno_of) {
        Ok(_) | Err(Errno::INVAL) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Begins a transfer, `beside` the program also what the system could copy at once. `None`: the system cannot take it now.
///
/// # Safety
/// The memory of each piece is writable (to read into it) or readable (to write it) until the transfer has ended.
pub unsafe fn start(
    file: &Arc<File>,
    pieces: &[Piece],
    direction: AccessKind,
    beside: bool,
) -> Option<Box<dyn OngoingTransfer>> {
    let mut transfer = UringTransfer {
        file: file.clone(),
        pieces: pieces.to_vec(),
        direction,
        flags: if beside { Flags::ASYNC } else { Flags::empty() },
        cursor: TransferCursor::default(),
        runs: Vec::new(),
        wanted: 0,
        part: Part::Next,
    };
    let mut queues = QUEUES.lock();
    let queues = Queues::made(&mut queues)?;
    transfer.submit(queues);
    match transfer.part {
        Part::Next => None,
        Part::Submitted(_) => Some(Box::new(transfer)),
    }
}

/// One transfer.
struct UringTransfer {
    // Stays open as long as the system may be given a part.
    file: Arc<File>,
    pieces: Vec<Piece>,
    direction: AccessKind,
    // ASYNC: not by this thread, which would copy all that is in memory before it came back.
    flags: Flags,
    cursor: TransferCursor,
    // Those of the part under way, which the system may read until it has ended.
    runs: Vec<MemoryRun>,
    wanted: usize,
    part: Part,
}

// SAFETY: the pieces are memory that the caller of `start` has lent until the transfer has ended, to whichever thread moves it on.
unsafe impl Send for UringTransfer {}

/// Where the next bytes are.
#[derive(Clone, Copy)]
enum Part {
    /// Still to be given to the system.
    Next,
    /// The system has them, in this place of the list of results.
    Submitted(usize),
}

impl UringTransfer {
    /// The next part by a plain call of the system, which has none of this transfer now.
    fn at_once(&mut self) -> Result<usize, Errno> {
        let (offset, wanted) = self.cursor.together(&self.pieces, &mut self.runs);
        self.wanted = wanted;
        match self.direction {
            // SAFETY: the promise of `start`.
            AccessKind::Read => unsafe { self.file.read_at(&self.runs, offset) },
            // SAFETY: as above.
            AccessKind::Write => unsafe { self.file.write_at(&self.runs, offset) },
        }
    }

    /// Gives the system the next part, if it takes it now.
    fn submit(&mut self, queues: &mut Queues) {
        let Some(place) = queues.results.iter().position(|result| matches!(result, Place::Free)) else { return };
        let (offset, wanted) = self.cursor.together(&self.pieces, &mut self.runs);
        let (descriptor, runs) = (types::Fd(self.file.descriptor()), self.runs.as_ptr().cast());
        let count = self.runs.len() as u32;
        let entry = match self.direction {
            AccessKind::Read => opcode::Readv::new(descriptor, runs, count).offset(offset).build(),
            AccessKind::Write => opcode::Writev::new(descriptor, runs, count).offset(offset).build(),
        };
        let entry = entry.flags(self.flags).user_data(place as u64);
        // SAFETY: the runs stay as they are until the result is there, and so does the memory, by the promise of `start`.
        if unsafe { queues.push(&entry, place) } {
            (self.wanted, self.part) = (wanted, Part::Submitted(place));
        }
    }
}

impl OngoingTransfer for UringTransfer {
    fn poll(&mut self) -> Option<Moved> {
        let mut queues = QUEUES.lock();
        let queues = Queues::made(&mut queues)?;
        queues.reap();
        if let Part::Submitted(place) = self.part {
            let Place::Ended(result) = queues.results[place] else { return None };
            queues.results[place] = Place::Free;
            self.part = Part::Next;
            // io_uring may refuse what the plain call does: without this flag (before Linux 5.6), or when the thread has ended that
            // gave it the part. So the plain call has the last word.
            let result = usize::try_from(result).or_else(|_| self.at_once());
            if let Some(moved) = self.cursor.advance(&self.pieces, self.wanted, result, self.direction) {
                return Some(moved);
            }
        }
        if !queues.is_broken {
            self.submit(queues);
            return None;
        }
        loop {
            let result = self.at_once();
            if let Some(moved) = self.cursor.advance(&self.pieces, self.wanted, result, self.direction) {
                return Some(moved);
            }
        }
    }
}

impl Drop for UringTransfer {
    fn drop(&mut self) {
        // Nobody drops what is under way; if somebody does, the system must not find its runs gone.
        if matches!(self.part, Part::Submitted(_)) {
            core::mem::forget(core::mem::take(&mut self.runs));
        }
    }
}

/// One io_uring instance, and what it has said.
struct Queues {
    ring: IoUring,
    results: [Place; PLACES],
    // Places whose entries lie in the queue, in its order: the system has not taken them yet.
    queued: VecDeque<usize>,
    // The system refuses to take entries: nothing is given to it any more.
    is_broken: bool,
}

#[derive(Clone, Copy)]
enum Place {
    Free,
    Submitted,
    Ended(i32),
}

impl Queues {
    /// Made when it is first needed; `None` if that failed.
    fn made(queues: &mut Option<Result<Queues, Errno>>) -> Option<&mut Queues> {
        let make = || {
            let ring = IoUring::new(PLACES as u32).map_err(errno_of);
            if let Ok(ring) = &ring {
                // It is readable while there are results. Where that cannot be watched, sleeps are short.
                wait::watch_descriptor(ring.as_raw_fd());
            }
            ring.map(|ring| Queues { ring, results: [Place::Free; PLACES], queued: VecDeque::new(), is_broken: false })
                .inspect_err(|errno| {
                    verbose!(
                        FRAMEWORK,
                        1,
                        "uring: io_uring_setup(2) fails: {errno}; nonblocking accesses are done at once"
                    );
                })
        };
        queues.get_or_insert_with(make).as_mut().ok()
    }

    /// Gives the system an entry whose result is to come to this place; whether one comes.
    ///
    /// # Safety
    /// What the entry names stays as it is until its result is there.
    unsafe fn push(&mut self, entry: &Entry, place: usize) -> bool {
        // SAFETY: the caller's promise.
        if self.is_broken || unsafe { self.ring.submission().push(entry) }.is_err() {
            return false;
        }
        self.results[place] = Place::Submitted;
        self.queued.push_back(place);
        self.submit();
        true
    }

    /// What the system does not take now lies in the queue, and the next call gives it, too.
    fn submit(&mut self) {
        let submitted = self.ring.submit().map_err(errno_of);
        while self.queued.len() > self.ring.submission().len() {
            self.queued.pop_front();
        }
        if let Err(errno) = submitted
            && !matches!(errno, Errno::INTR | AGAIN | BUSY | NO_MEMORY)
        {
            self.is_broken = true;
            verbose!(FRAMEWORK, 1, "uring: io_uring_enter(2) fails: {errno}; nonblocking accesses are done at once");
            // Nobody takes these any more: the plain call does.
            for place in self.queued.drain(..) {
                self.results[place] = Place::Ended(-errno.0);
            }
        }
    }

    /// Takes over what has ended.
    fn reap(&mut self) {
        if !self.is_broken && !self.ring.submission().is_empty() {
            self.submit();
        }
        for entry in self.ring.completion() {
            if let Some(place) = self.results.get_mut(entry.user_data_u64() as usize) {
                *place = Place::Ended(entry.raw_result());
            }
        }
    }
}

fn errno_of(errno: rustix_uring::Errno) -> Errno {
    Errno(errno.raw_os_error())
}

/// EAGAIN, EBUSY, ENOMEM.
const AGAIN: Errno = Errno(11);
const BUSY: Errno = Errno(16);
const NO_MEMORY: Errno = Errno(12);
/// Parts that the system may have at a time.
const PLACES: usize = 64;

static QUEUES: ConditionalLock<Option<Result<Queues, Errno>>> = ConditionalLock::new(None);
