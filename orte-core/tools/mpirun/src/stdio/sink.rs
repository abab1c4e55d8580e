//! mpirun's own standard output and error: what waits for their readers. Nothing is written that would block.

use crate::tag::Origin;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::BorrowedFd;
use rustix::fs::FileType;
use rustix::io::Errno;

/// One of them.
pub struct Sink {
    pub descriptor: BorrowedFd<'static>,
    waiting: Vec<u8>,
    written: usize,
    /// Whose unfinished line stands last.
    unfinished: Option<Origin>,
    pub state: SinkState,
    /// Most bytes of one write that do not block after the system said that there is room.
    most: usize,
}

/// Whether a stream of mpirun's own can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SinkState {
    /// It takes what is written.
    Open,
    /// Nobody reads it any more: the ranks are told as if they wrote there themselves.
    Unread,
    /// The system refuses what is written, for lack of room: the ranks go on, and their output is lost.
    Lost,
}

impl Sink {
    /// For a stream of this process.
    pub fn new(descriptor: BorrowedFd<'static>) -> Sink {
        let regular = rustix::fs::fstat(descriptor)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
        // POSIX: a pipe that poll calls writable takes PIPE_BUF bytes without blocking.
        let most = if regular { usize::MAX } else { 4096 };
        Sink { descriptor, waiting: Vec::new(), written: 0, unfinished: None, state: SinkState::Open, most }
    }

    /// Takes lines, each behind its label. A line of one rank that has not ended is ended before another rank's begins.
    pub fn append(&mut self, origin: Origin, lines: &[u8], label: impl Fn() -> String) {
        if self.state != SinkState::Open {
            return;
        }
        if self.unfinished.is_some_and(|other| other != origin) {
            self.waiting.push(b'\n');
            self.unfinished = None;
        }
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            if self.unfinished.is_none() {
                self.waiting.extend_from_slice(label().as_bytes());
            }
            self.waiting.extend_from_slice(line);
            self.unfinished = (!line.ends_with(b"\n")).then_some(origin);
        }
    }

    /// Writes what there is room for.
    pub fn write(&mut self) {
        while !self.is_idle() {
            let rest = &self.waiting[self.written..];
            match rustix::io::write(self.descriptor, &rest[..rest.len().min(self.most)]) {
                Ok(written) => self.written += written,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(errno) => {
                    self.state = if errno == Errno::PIPE { SinkState::Unread } else { SinkState::Lost };
                    self.written = self.waiting.len();
                    if self.state == SinkState::Lost {
                        self.say_lost(errno);
                    }
                }
            }
            if !self.has_room() {
                break;
            }
        }
        if self.is_idle() {
            self.waiting.clear();
            self.written = 0;
        } else if self.written >= CHUNK {
            self.waiting.drain(..self.written);
            self.written = 0;
        }
    }

    fn say_lost(&self, errno: Errno) {
        use std::os::fd::AsRawFd;
        let is_output = self.descriptor.as_raw_fd() == rustix::stdio::stdout().as_raw_fd();
        let name = if is_output { "standard output" } else { "standard error" };
        crate::refusal::say(&format!(
            "{name} cannot be written: {errno}; what the ranks write there from now on is lost, they go on"
        ));
    }

    fn has_room(&self) -> bool {
        let mut ready = [PollFd::from_borrowed_fd(self.descriptor, PollFlags::OUT)];
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        rustix::event::poll(&mut ready, Some(&now)).is_ok_and(|count| count > 0)
    }

    /// Nothing waits.
    pub fn is_idle(&self) -> bool {
        self.written == self.waiting.len()
    }

    /// So much waits that ranks have to.
    pub fn is_full(&self) -> bool {
        self.waiting.len() - self.written > FULL
    }
}

/// Bytes that are written at once, and behind which what was written is forgotten.
const CHUNK: usize = 64 << 10;
/// Ranks are not read while this much waits for a reader.
const FULL: usize = 256 << 10;
