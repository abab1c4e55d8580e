//! Output of the ranks, line by line: output of another rank never comes into the middle of a line.
//!
//! mpirun reads a pseudo terminal or pipe per rank and stream, and writes whole lines. A line whose end does not come
//! within half a second, or that is longer than 64 MiB, is passed on in parts. With one rank and no labels bytes go as
//! they come.
//!
//! A rank's pseudo terminal has a pipe as its successor, which MPI_Init makes standard output (`pty.rs`). What stands in the
//! terminal was written before, so it is read before.
//!
//! mpirun never blocks on a slow reader of its own output: it writes only what the reader has room for, and stops reading
//! ranks while much is waiting, so that they wait as they would for the reader itself.

mod output_file;
mod sink;

use crate::cli::{Output, Tag};
use crate::tag::{self, Origin, Stream};
use output_file::OutputFile;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::fs::OFlags;
use rustix::io::Errno;
use sink::{Sink, SinkState};
use std::fs::File;
use std::time::{Duration, Instant};

/// All streams.
pub struct Streams {
    sources: Vec<Source>,
    sinks: [Sink; 2],
    /// Index of the sink for standard error: the same as for standard output if both are one file.
    error_sink: usize,
    /// Lines are kept whole; with a single rank bytes are passed on as they come.
    whole_lines: bool,
    job: u32,
    tags: [Tag; 2],
    timestamp: bool,
    /// Write to this process's own streams, too, and not only to files: standard output and error.
    copy: [bool; 2],
    /// Files of the ranks.
    files: Vec<OutputFile>,
    /// Streams whose ranks are to be told that nobody reads them any more.
    unread: Vec<Origin>,
    scratch: Vec<u8>,
    /// The name of each node.
    hosts: Vec<String>,
}

/// Something that [`Streams`] waits for.
#[derive(Clone, Copy, Debug)]
pub enum Interest {
    /// A reader of ours has room, or is gone.
    Sink(usize),
    /// A file of a rank has room.
    File(usize),
    /// A rank wrote.
    Source(usize),
    /// A rank wrote to the pipe that MPI_Init put in place of its terminal, or will never do so.
    Next(usize),
}

struct Source {
    /// None for a rank of another host: its daemon sends what comes.
    descriptor: Option<OwnedFd>,
    /// What MPI_Init puts in its place.
    next: Option<OwnedFd>,
    origin: Origin,
    /// The beginning of a line that has not ended.
    partial: Vec<u8>,
    /// When the last byte came.
    heard: Instant,
    /// Where everything is written as well: its index.
    file: Option<usize>,
    /// How a rank notices that nobody reads this any more.
    end: End,
}

/// What a rank gets when it writes what nobody reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// From a pipe SIGPIPE, by the system.
    Pipe,
    /// From a pseudo terminal an error only, which many programs do not look at: the keeper sends the signal first.
    Terminal,
    /// The keeper was asked to.
    Asked,
}

/// What came from a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    Bytes(usize),
    Nothing,
    End,
}

impl Streams {
    /// For a job of this many ranks.
    pub fn new(ranks: u32, hosts: Vec<String>, wish: &Output) -> Streams {
        let (output, error) = (rustix::stdio::stdout(), rustix::stdio::stderr());
        let identity = |descriptor| rustix::fs::fstat(descriptor).ok().map(|stat| (stat.st_dev, stat.st_ino));
        let error_sink = usize::from(identity(output) != identity(error));
        Streams {
            sources: Vec::new(),
            sinks: [Sink::new(output), Sink::new(error)],
            error_sink,
            whole_lines: !wish.raw && (ranks > 1 || wish.timestamp || wish.tags != [Tag::None, Tag::None]),
            job: wish.job,
            tags: wish.tags.clone(),
            timestamp: wish.timestamp,
            copy: wish
                .instead
                .each_ref()
                .map(|instead| instead.is_none() && !wish.files.as_ref().is_some_and(|files| files.nocopy)),
            files: Vec::new(),
            unread: Vec::new(),
            scratch: vec![0; CHUNK],
            hosts,
        }
    }

    /// Streams that nobody reads, each once: the keeper is to send its rank SIGPIPE, then [`Streams::close`].
    pub fn unread(&mut self) -> Vec<Origin> {
        core::mem::take(&mut self.unread)
    }

    /// A rank was told that nobody reads it: who writes there from now on gets an error.
    pub fn close(&mut self, rank: u32) {
        self.sources.retain(|source| source.origin.rank != rank || source.end != End::Asked);
    }

    /// Takes over the read end of a rank's stream.
    pub fn add(
        &mut self,
        origin: Origin,
        descriptor: OwnedFd,
        next: Option<OwnedFd>,
        file: Option<File>,
    ) -> Result<(), Errno> {
        for descriptor in [Some(&descriptor), next.as_ref()].into_iter().flatten() {
            let flags = rustix::fs::fcntl_getfl(descriptor)?;
            rustix::fs::fcntl_setfl(descriptor, flags | OFlags::NONBLOCK)?;
        }
        let end = if rustix::termios::isatty(&descriptor) { End::Terminal } else { End::Pipe };
        let file = file.map(|file| self.add_file(file, origin.rank));
        self.sources.push(Source { next, ..Source::new(Some(descriptor), origin, file, end) });
        Ok(())
    }

    /// Expects a stream of a rank of another host.
    pub fn add_elsewhere(&mut self, origin: Origin, file: Option<File>) {
        let file = file.map(|file| self.add_file(file, origin.rank));
        self.sources.push(Source::new(None, origin, file, End::Terminal));
    }

    fn add_file(&mut self, file: File, rank: u32) -> usize {
        self.files.push(OutputFile::new(file, rank));
        self.files.len() - 1
    }

    /// What a rank of another host wrote; nothing: its stream has ended.
    pub fn take_elsewhere(&mut self, rank: u32, stream: Stream, bytes: &[u8]) {
        let is_it = |source: &Source| source.origin.rank == rank && source.origin.stream == stream;
        let is_elsewhere = |source: &Source| source.descriptor.is_none() && is_it(source);
        let Some(index) = self.sources.iter().position(is_elsewhere) else { return };
        if bytes.is_empty() {
            self.finish(index);
        }
        for chunk in bytes.chunks(CHUNK) {
            self.scratch[..chunk.len()].copy_from_slice(chunk);
            self.take(index, chunk.len());
        }
    }

    /// Of ranks on this node nothing more will come.
    pub fn end_of(&mut self, node: u32) {
        for index in (0..self.sources.len()).rev() {
            if self.sources[index].descriptor.is_none() && self.sources[index].origin.node == node {
                self.finish(index);
            }
        }
    }

    /// More may be taken from other hosts.
    pub fn has_room(&self) -> bool {
        self.sinks.iter().all(|sink| !sink.is_full()) && self.files.iter().all(|file| !file.is_full())
    }

    /// Appends what has to be waited for; hand the result and the answers to [`Streams::pump`].
    pub fn interests<'a>(&'a self, polls: &mut Vec<PollFd<'a>>) -> Vec<Interest> {
        let mut interests = Vec::with_capacity(self.sinks.len() + self.sources.len());
        for (index, sink) in self.sinks.iter().enumerate().filter(|(_, sink)| sink.state == SinkState::Open) {
            // An idle one is watched for errors alone, which are always told: nobody reads it any more.
            let flags = if sink.is_idle() { PollFlags::empty() } else { PollFlags::OUT };
            polls.push(PollFd::new(&sink.descriptor, flags));
            interests.push(Interest::Sink(index));
        }
        for (index, file) in self.files.iter().enumerate().filter(|(_, file)| !file.is_idle()) {
            polls.push(PollFd::new(&file.file, PollFlags::OUT));
            interests.push(Interest::File(index));
        }
        for (index, source) in self.sources.iter().enumerate() {
            if let Some(descriptor) = &source.descriptor
                && !self.is_behind(source)
            {
                polls.push(PollFd::new(descriptor, PollFlags::IN));
                interests.push(Interest::Source(index));
                if let Some(next) = &source.next {
                    polls.push(PollFd::new(next, PollFlags::IN));
                    interests.push(Interest::Next(index));
                }
            }
        }
        interests
    }

    /// Moves what can be moved: `ready` are the answers for `interests`, in their order.
    pub fn pump(&mut self, interests: &[Interest], ready: &[PollFlags]) {
        let mut ended = Vec::new();
        for (interest, _) in interests.iter().zip(ready).filter(|(_, flags)| !flags.is_empty()) {
            match *interest {
                Interest::Sink(index) if self.sinks[index].is_idle() => self.sinks[index].state = SinkState::Unread,
                Interest::Sink(index) => self.sinks[index].write(),
                Interest::File(index) => self.files[index].flush(),
                Interest::Source(index) => {
                    if self.read(index) == Read::End {
                        ended.push(index);
                    }
                }
                Interest::Next(index) => self.go_on(index),
            }
        }
        // From the back, because `finish` moves the last one into the gap.
        for index in ended.into_iter().rev() {
            self.finish(index);
        }
        self.drop_unread();
    }

    /// When the next beginning of a line has waited long enough for its end.
    pub fn next_prompt(&self) -> Option<Instant> {
        let waiting = self.sources.iter().filter(|source| !source.partial.is_empty());
        waiting.map(|source| source.heard + PROMPT).min()
    }

    /// Passes on beginnings of lines whose ends do not come: somebody may be asked a question there.
    pub fn pass_prompts(&mut self, now: Instant) {
        for index in 0..self.sources.len() {
            let source = &self.sources[index];
            let has_waited = !source.partial.is_empty() && now >= source.heard + PROMPT;
            // While much waits for a reader nothing is read: the end of the line may be there, then and later.
            if has_waited && (self.is_behind(&self.sources[index]) || self.read(index) != Read::Nothing) {
                self.sources[index].heard = now;
            } else if has_waited {
                self.forward(index, self.sources[index].partial.len());
            }
        }
    }

    /// Whether every byte that will come has been written.
    pub fn is_done(&self) -> bool {
        self.sources.is_empty() && self.sinks.iter().all(Sink::is_idle) && self.files.iter().all(OutputFile::is_idle)
    }

    /// Whether something that the ranks wrote could not be kept.
    pub fn has_lost(&self) -> bool {
        self.files.iter().any(|file| file.is_lost) || self.sinks.iter().any(|sink| sink.state == SinkState::Lost)
    }

    /// All ranks are dead: reads what is left in terminals and pipes, and expects nothing more even if a stranger holds one open
    /// or goes on writing.
    pub fn last_call(&mut self) {
        (0..self.sources.len()).for_each(|index| self.go_on(index));
        // From the back, because `finish` moves the last one into the gap.
        for index in (0..self.sources.len()).rev() {
            let Some(mut left) = self.sources[index].held() else { continue };
            // A read takes 4 KiB of what a terminal holds.
            while left > 0
                && let Read::Bytes(bytes) = self.read(index)
            {
                left = left.saturating_sub(bytes);
            }
            self.finish(index);
        }
    }

    /// Reads a terminal to its end, and then what has taken its place, if that was ever used.
    fn go_on(&mut self, index: usize) {
        // The system gives all that was written to a terminal before it says that there is nothing.
        let mut left = HELD_BY_TERMINAL;
        while left > 0
            && self.sources[index].next.is_some()
            && let Read::Bytes(bytes) = self.read(index)
        {
            left = left.saturating_sub(bytes);
        }
        let source = &mut self.sources[index];
        let Some(next) = source.next.take() else { return };
        let (terminal, end) = (source.descriptor.replace(next), core::mem::replace(&mut source.end, End::Pipe));
        if self.read(index) == Read::End {
            let source = &mut self.sources[index];
            (source.descriptor, source.end) = (terminal, end);
            return;
        }
        // Others may have it open: the shell that started the rank, and what has opened it by name.
        let source = &self.sources[index];
        self.sources.push(Source::new(terminal, source.origin, source.file, end));
    }

    /// Reads one source once.
    fn read(&mut self, index: usize) -> Read {
        let Some(descriptor) = &self.sources[index].descriptor else { return Read::Nothing };
        match rustix::io::read(descriptor, &mut self.scratch[..]) {
            Ok(0) => Read::End,
            Ok(read) => {
                self.take(index, read);
                Read::Bytes(read)
            }
            Err(Errno::AGAIN | Errno::INTR) => Read::Nothing,
            // EIO: nobody has the terminal open any more.
            Err(_) => {
                let source = &mut self.sources[index];
                let Some(next) = source.next.take() else { return Read::End };
                (source.descriptor, source.end) = (Some(next), End::Pipe);
                Read::Nothing
            }
        }
    }

    fn take(&mut self, index: usize, read: usize) {
        let sink = self.sink_of(self.sources[index].origin.stream);
        let source = &mut self.sources[index];
        if self.sinks[sink].state == SinkState::Unread {
            if source.end == End::Terminal {
                source.end = End::Asked;
                self.unread.push(source.origin);
            }
            return;
        }
        source.heard = Instant::now();
        if let Some(file) = source.file {
            self.files[file].write(&self.scratch[..read]);
        }
        if !self.copy[source.origin.stream as usize] {
            return;
        }
        source.partial.extend_from_slice(&self.scratch[..read]);
        let fresh = source.partial.len() - read;
        let whole = match source.partial[fresh..].iter().rposition(|byte| *byte == b'\n') {
            Some(newline) => fresh + newline + 1,
            None => 0,
        };
        if !self.whole_lines || source.partial.len() - whole > LONGEST_LINE {
            self.forward(index, self.sources[index].partial.len());
        } else if whole > 0 {
            self.forward(index, whole);
        }
    }

    /// Moves the first `bytes` of a source's partial line to its sink.
    fn forward(&mut self, index: usize, bytes: usize) {
        let sink = self.sink_of(self.sources[index].origin.stream);
        let (source, sink) = (&mut self.sources[index], &mut self.sinks[sink]);
        let rest = source.partial.split_off(bytes);
        let lines = core::mem::replace(&mut source.partial, rest);
        let tag = &self.tags[source.origin.stream as usize];
        let host = self.hosts.get(source.origin.node as usize).map_or("", String::as_str);
        sink.append(source.origin, &lines, || tag::label(self.job, tag, self.timestamp, source.origin, host));
    }

    fn finish(&mut self, index: usize) {
        let bytes = self.sources[index].partial.len();
        if bytes > 0 {
            self.forward(index, bytes);
        }
        self.sources.swap_remove(index);
    }

    /// A rank whose output nobody reads gets SIGPIPE when it writes, as it would without mpirun in between.
    fn drop_unread(&mut self) {
        let (sinks, error_sink) = (&self.sinks, self.error_sink);
        let sink = |source: &Source| &sinks[if source.origin.stream == Stream::Error { error_sink } else { 0 }];
        self.sources.retain(|source| sink(source).state != SinkState::Unread || source.end != End::Pipe);
        // The beginning of a line would wait for ever.
        let unread = self.sources.iter_mut().filter(|source| sink(source).state == SinkState::Unread);
        unread.for_each(|source| source.partial.clear());
    }

    /// So much waits for readers of its output that a rank has to wait for them, too.
    fn is_behind(&self, source: &Source) -> bool {
        self.sinks[self.sink_of(source.origin.stream)].is_full()
            || source.file.is_some_and(|file| self.files[file].is_full())
    }

    fn sink_of(&self, stream: Stream) -> usize {
        if stream == Stream::Error { self.error_sink } else { 0 }
    }
}

impl Source {
    fn new(descriptor: Option<OwnedFd>, origin: Origin, file: Option<usize>, end: End) -> Source {
        Source { descriptor, next: None, origin, partial: Vec::new(), heard: Instant::now(), file, end }
    }

    /// The most bytes that it can hold unread; `None` for a rank of another host.
    fn held(&self) -> Option<usize> {
        let descriptor = self.descriptor.as_ref()?;
        Some(rustix::pipe::fcntl_getpipe_size(descriptor).unwrap_or(HELD_BY_TERMINAL))
    }
}

/// How long the beginning of a line waits for its end before it is passed on by itself.
const PROMPT: Duration = Duration::from_millis(500);
/// What Linux keeps for the reader of a terminal: 64 KiB, newer kernels 640, and a line buffer of 4.
const HELD_BY_TERMINAL: usize = 1 << 20;
/// Bytes read at once.
const CHUNK: usize = 64 << 10;
/// A longer line is passed on in pieces, so that mpirun's memory stays bounded.
const LONGEST_LINE: usize = 64 << 20;
