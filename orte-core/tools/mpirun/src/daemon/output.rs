//! Output of the ranks of a host, on its way to mpirun. Only so much is under way as mpirun has room for: a slow reader there slows
//! the ranks, as it does on mpirun's own host.

use super::up::Up;
use orte_core::oob::Frame;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::fs::OFlags;
use rustix::io::Errno;

/// All streams.
pub struct DaemonOutput {
    sources: Vec<Source>,
    room: usize,
}

struct Source {
    descriptor: OwnedFd,
    rank: u32,
    stream: u8,
    is_terminal: bool,
    /// The keeper was asked to send SIGPIPE.
    is_asked: bool,
}

impl Default for DaemonOutput {
    fn default() -> DaemonOutput {
        DaemonOutput { sources: Vec::new(), room: WINDOW }
    }
}

impl DaemonOutput {
    /// Takes over the read ends of a rank's streams.
    pub fn add(&mut self, rank: u32, output: OwnedFd, error: OwnedFd) -> Result<(), Errno> {
        for (stream, descriptor) in [(0, output), (1, error)] {
            let flags = rustix::fs::fcntl_getfl(&descriptor)?;
            rustix::fs::fcntl_setfl(&descriptor, flags | OFlags::NONBLOCK)?;
            let is_terminal = rustix::termios::isatty(&descriptor);
            self.sources.push(Source { descriptor, rank, stream, is_terminal, is_asked: false });
        }
        Ok(())
    }

    /// mpirun has room for more.
    pub fn room(&mut self, bytes: u32) {
        self.room = self.room.saturating_add(bytes as usize).min(WINDOW);
    }

    /// Nobody reads this stream: a pipe is closed, so that the system sends SIGPIPE; for a terminal the keeper has to. Whether it
    /// is to be asked.
    pub fn unread(&mut self, rank: u32, stream: u8) -> bool {
        let is_it = |source: &Source| source.rank == rank && source.stream == stream;
        self.sources.retain(|source| !is_it(source) || source.is_terminal);
        let asked = self.sources.iter_mut().find(|source| is_it(source) && !source.is_asked);
        asked.map(|source| source.is_asked = true).is_some()
    }

    /// The keeper has sent it: who writes there from now on gets an error.
    pub fn close(&mut self, rank: u32) {
        self.sources.retain(|source| source.rank != rank || !source.is_asked);
    }

    /// Appends what has to be waited for; the sources, in this order.
    pub fn interests<'a>(&'a self, polls: &mut Vec<PollFd<'a>>, behind: usize) -> Vec<usize> {
        if self.room == 0 || behind > WINDOW {
            return Vec::new();
        }
        for source in &self.sources {
            polls.push(PollFd::new(&source.descriptor, PollFlags::IN));
        }
        (0..self.sources.len()).collect()
    }

    /// Passes on what is there. `ready` are places among the sources, ascending.
    pub fn pump(&mut self, up: &mut Up, ready: &[usize]) {
        // From the back, because one that has ended is replaced by the last one. Places may be out of date by a rank that nobody
        // reads; then there is nothing to be read.
        for index in ready.iter().rev() {
            if *index < self.sources.len() && self.room > 0 && !self.read(*index, up, true) {
                self.end(*index, up);
            }
        }
    }

    /// All ranks are dead: passes on what is left.
    pub fn last_call(&mut self, up: &mut Up) {
        while let Some(last) = self.sources.len().checked_sub(1) {
            let mut left = rustix::pipe::fcntl_getpipe_size(&self.sources[last].descriptor).unwrap_or(HELD_BY_TERMINAL);
            while left > 0 && self.read(last, up, false) {
                // A read takes 4 KiB of what a terminal holds; less is the end of what is there.
                left = left.saturating_sub(4096);
            }
            self.end(last, up);
        }
    }

    fn end(&mut self, index: usize, up: &mut Up) {
        let source = self.sources.swap_remove(index);
        up.send(&Frame::Output(source.rank, source.stream, Vec::new()));
    }

    /// False at the end, and with `waits` false where nothing is there now.
    fn read(&mut self, index: usize, up: &mut Up, waits: bool) -> bool {
        let source = &self.sources[index];
        let most = if waits { self.room.min(CHUNK) } else { CHUNK };
        let mut chunk = vec![0; most];
        match rustix::io::read(&source.descriptor, &mut chunk) {
            Ok(0) => false,
            Ok(read) => {
                chunk.truncate(read);
                self.room = self.room.saturating_sub(read);
                up.send(&Frame::Output(source.rank, source.stream, chunk));
                true
            }
            Err(Errno::AGAIN | Errno::INTR) => waits,
            // EIO: nobody has the terminal open any more.
            Err(_) => false,
        }
    }
}

/// Bytes that may be under way to mpirun.
pub const WINDOW: usize = 1 << 20;
const CHUNK: usize = 64 << 10;
/// What Linux keeps for the reader of a terminal.
const HELD_BY_TERMINAL: usize = 1 << 20;
