//! Standard input for the ranks of a host: mpirun sends it, and no more than the ranks here have room for.

use super::up::Up;
use orte_core::oob::{Frame, orders};
use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pipe::PipeFlags;

/// What came, and who reads it.
pub struct Input {
    readers: Vec<Reader>,
    /// Bytes that came and that mpirun was not told to be taken.
    owed: usize,
    /// Readers come with the ranks.
    is_for_all: bool,
    /// What came before all readers were there.
    kept: Vec<u8>,
    has_ended: bool,
    /// mpirun was told that nobody reads.
    is_told: bool,
}

struct Reader {
    descriptor: OwnedFd,
    waiting: Vec<u8>,
}

impl Input {
    /// For these readers; the second value is the keeper's standard input where a single rank reads.
    pub fn new(stdin: orders::Input) -> Result<(Input, Option<OwnedFd>), Errno> {
        let mut input = Input {
            readers: Vec::new(),
            owed: 0,
            is_for_all: stdin == orders::Input::All,
            kept: Vec::new(),
            has_ended: stdin == orders::Input::None,
            is_told: stdin == orders::Input::None,
        };
        if !matches!(stdin, orders::Input::Rank(_)) {
            return Ok((input, None));
        }
        let (read_end, write_end) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        input.add(write_end);
        Ok((input, Some(read_end)))
    }

    /// Takes over the write end of a rank's standard input.
    pub fn add(&mut self, descriptor: OwnedFd) {
        // It would merely block.
        let _ = rustix::fs::fcntl_getfl(&descriptor)
            .and_then(|flags| rustix::fs::fcntl_setfl(&descriptor, flags | OFlags::NONBLOCK));
        self.readers.push(Reader { descriptor, waiting: self.kept.clone() });
    }

    /// Takes what mpirun sent; nothing: there is no more.
    pub fn take(&mut self, bytes: Vec<u8>) {
        if bytes.is_empty() {
            self.has_ended = true;
            return;
        }
        self.owed += bytes.len();
        if self.is_for_all {
            // Who is started late must not miss the beginning; it is short, because mpirun waits for room.
            self.kept.extend_from_slice(&bytes);
        }
        self.readers.iter_mut().for_each(|reader| reader.waiting.extend_from_slice(&bytes));
    }

    /// All ranks are there.
    pub fn is_complete(&mut self) {
        self.kept = Vec::new();
        self.is_for_all = false;
    }

    /// Nobody is to read any more.
    pub fn close(&mut self) {
        self.readers.clear();
        self.has_ended = true;
        self.is_told = true;
    }

    /// Appends what has to be waited for.
    pub fn interest<'a>(&'a self, polls: &mut Vec<PollFd<'a>>) {
        for reader in self.readers.iter().filter(|reader| !reader.waiting.is_empty()) {
            polls.push(PollFd::new(&reader.descriptor, PollFlags::OUT));
        }
    }

    /// Moves what can be moved, and tells mpirun what there is room for.
    pub fn pump(&mut self, up: &mut Up) {
        self.readers.retain_mut(Reader::write);
        if self.has_ended && !self.is_for_all {
            // To close its end is what tells a rank that there is no more.
            self.readers.retain(|reader| !reader.waiting.is_empty());
        }
        let is_taken = self.readers.iter().all(|reader| reader.waiting.is_empty());
        if self.owed > 0 && is_taken && !self.is_for_all {
            up.send(&Frame::InputRoom(self.owed as u32));
            self.owed = 0;
        }
        if self.readers.is_empty() && !self.is_for_all && !self.is_told {
            self.is_told = true;
            up.send(&Frame::InputUnread);
        }
    }
}

impl Reader {
    /// False when nobody reads any more.
    fn write(&mut self) -> bool {
        while !self.waiting.is_empty() {
            match rustix::io::write(&self.descriptor, &self.waiting) {
                Ok(written) => _ = self.waiting.drain(..written),
                Err(Errno::INTR) => {}
                Err(errno) => return errno == Errno::AGAIN,
            }
        }
        true
    }
}
