//! `--stdin all`: a copy of standard input for every rank.
//!
//! mpirun reads only while each rank has taken nearly everything so far: the slowest reader sets the pace, and memory
//! stays bounded. A rank that closes its end gets no more, and holds up nobody.

use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::fs::OFlags;
use rustix::io::Errno;

/// Standard input and its readers.
pub struct Fan {
    /// Readers that are still to come.
    awaited: usize,
    readers: Vec<Reader>,
    /// Standard input has ended, or nobody wants it.
    ended: bool,
}

struct Reader {
    descriptor: OwnedFd,
    waiting: Vec<u8>,
}

/// Something that [`Fan`] waits for.
#[derive(Clone, Copy, Debug)]
pub enum FanInterest {
    /// Standard input has something.
    Source,
    /// A rank has room, or has gone.
    Reader(usize),
}

impl Fan {
    /// Without readers it does nothing.
    pub fn new() -> Fan {
        Fan { awaited: 0, readers: Vec::new(), ended: true }
    }

    /// So many more readers will come.
    pub fn expect(&mut self, readers: usize) {
        self.awaited += readers;
        self.ended &= readers == 0;
    }

    /// Takes over the write end of a rank's standard input.
    pub fn add(&mut self, descriptor: OwnedFd) -> Result<(), Errno> {
        let flags = rustix::fs::fcntl_getfl(&descriptor)?;
        rustix::fs::fcntl_setfl(&descriptor, flags | OFlags::NONBLOCK)?;
        self.readers.push(Reader { descriptor, waiting: Vec::new() });
        self.awaited = self.awaited.saturating_sub(1);
        Ok(())
    }

    /// Lets go of everything: the ranks are gone.
    pub fn close(&mut self) {
        self.ended = true;
        self.readers.clear();
    }

    /// Appends what has to be waited for; hand the result and the answers to [`Fan::pump`].
    pub fn interests<'a>(&'a self, polls: &mut Vec<PollFd<'a>>) -> Vec<FanInterest> {
        let mut interests = Vec::new();
        for (index, reader) in self.readers.iter().enumerate().filter(|(_, reader)| !reader.waiting.is_empty()) {
            polls.push(PollFd::new(&reader.descriptor, PollFlags::OUT));
            interests.push(FanInterest::Reader(index));
        }
        // Who is started late must not miss the beginning.
        if !self.ended && self.awaited == 0 && self.readers.iter().all(|reader| reader.waiting.len() < FULL) {
            polls.push(PollFd::from_borrowed_fd(rustix::stdio::stdin(), PollFlags::IN));
            interests.push(FanInterest::Source);
        }
        interests
    }

    /// Moves what can be moved: `ready` are the answers for `interests`, in their order.
    pub fn pump(&mut self, interests: &[FanInterest], ready: &[PollFlags]) {
        let mut gone = Vec::new();
        for (interest, _) in interests.iter().zip(ready).filter(|(_, flags)| !flags.is_empty()) {
            match *interest {
                FanInterest::Reader(index) => {
                    if !self.readers[index].write() {
                        gone.push(index);
                    }
                }
                FanInterest::Source => self.read(),
            }
        }
        for index in gone.into_iter().rev() {
            self.readers.remove(index);
        }
        if self.awaited == 0 && self.readers.is_empty() {
            self.ended = true;
        }
        if self.ended {
            // To close its end is what tells a rank that there is no more.
            self.readers.retain(|reader| !reader.waiting.is_empty());
        }
    }

    fn read(&mut self) {
        let mut chunk = [0; FULL];
        match rustix::io::read(rustix::stdio::stdin(), &mut chunk) {
            Ok(0) => self.ended = true,
            Ok(read) => self.readers.iter_mut().for_each(|reader| reader.waiting.extend_from_slice(&chunk[..read])),
            Err(Errno::AGAIN | Errno::INTR) => {}
            // Not open, or the terminal is gone: there is nothing to be had.
            Err(_) => self.ended = true,
        }
    }
}

impl Reader {
    /// False when nobody reads any more.
    fn write(&mut self) -> bool {
        match rustix::io::write(&self.descriptor, &self.waiting) {
            Ok(written) => {
                self.waiting.drain(..written);
                true
            }
            Err(errno) => matches!(errno, Errno::AGAIN | Errno::INTR),
        }
    }
}

const FULL: usize = 64 << 10;
