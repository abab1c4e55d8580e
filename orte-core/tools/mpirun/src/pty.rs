//! Pseudo terminals for standard output of the ranks.
//!
//! C's stdio, C++'s cout, Python and others look where standard output goes. To a terminal they write each line at
//! once, to a pipe some KiB together, and what they still hold when they die is lost. No environment variable and no
//! preloaded library changes that for all of them, static programs included. So ranks see a terminal that changes no
//! byte, as with Open MPI.
//!
//! A pipe takes half the time for what is printed in lines. So the library puts one in the terminal's place when MPI starts: a
//! runtime that has looked at standard output by then goes on writing line by line, and C's stdio is told to.
//!
//! **Invariant:** it is nobody's controlling terminal and sends no signals; ranks have it open for writing only.

use crate::cli::{Job, Output};
use crate::refusal::{Refusal, say};
use opal_core::mca::Source;
use opal_core::mca::source::{self, Assignment};
use orte_core::framework::iof;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::pty::OpenptFlags;
use rustix::termios::{OptionalActions, Winsize};

/// What the pseudo terminals of a job are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pty {
    /// Lines of mpirun's own terminal; 0: it has none, as programs know it.
    pub rows: u16,
    /// Characters of a line there.
    pub columns: u16,
    /// MPI_Init puts a pipe in its place.
    pub until_init: bool,
}

/// What a job wants: parameter `iof_pty`.
pub fn wanted(job: &Job) -> Result<Option<Pty>, Refusal> {
    let mut said = source::collect();
    said.extend(job.mca.iter().map(|(name, value)| Assignment {
        name: String::leak(name.clone()),
        value: String::leak(value.clone()),
        source: Source::CommandLine,
    }));
    said.retain(|assignment| NAMES.contains(&assignment.name));
    if let Some(problem) = source::apply(&[&iof::FRAMEWORK], &[], &said).into_iter().find(|problem| problem.fatal) {
        return Err(Refusal::usage(problem.text));
    }
    let size = match is_seen(&job.output) {
        true => rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok(),
        false => None,
    };
    let (rows, columns) = size.map_or((0, 0), |size| (size.ws_row, size.ws_col));
    Ok(iof::PTY.flag().then_some(Pty { rows, columns, until_init: iof::PTY_UNTIL_INIT.flag() }))
}

/// Whether a terminal shows what the ranks write, and no file keeps it.
pub fn is_seen(output: &Output) -> bool {
    let is_kept = output.files.is_some() || output.instead[0].is_some();
    !is_kept && rustix::termios::isatty(rustix::stdio::stdout())
}

/// Opens one: the end that mpirun reads, and the end that the rank writes.
pub fn open(pty: Pty) -> Result<(OwnedFd, OwnedFd), Errno> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let reader = rustix::pty::openpt(flags)?;
    rustix::pty::unlockpt(&reader)?;
    // By this call and not by its name: a container may have mounted other terminals under it.
    let writer = rustix::pty::ioctl_tiocgptpeer(&reader, flags.difference(OpenptFlags::RDWR) | WRITE_ONLY)?;
    let mut mode = rustix::termios::tcgetattr(&writer)?;
    mode.make_raw();
    rustix::termios::tcsetattr(&writer, OptionalActions::Now, &mode)?;
    let size = Winsize { ws_row: pty.rows, ws_col: pty.columns, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&writer, size)?;
    Ok((reader, writer))
}

impl Pty {
    /// As one word.
    pub fn encode(self) -> String {
        format!("{},{},{}", self.rows, self.columns, u8::from(self.until_init))
    }

    /// The same from this word; `None` if that is not what it is.
    pub fn decode(word: &str) -> Option<Pty> {
        let mut words = word.split(',');
        let (rows, columns, until_init) = (words.next()?, words.next()?, words.next()?);
        Some(Pty { rows: rows.parse().ok()?, columns: columns.parse().ok()?, until_init: until_init == "1" })
    }
}

/// Says that there is none.
pub fn complain(errno: Errno) {
    say(&format!(
        "no pseudo terminal for standard output of the ranks: {errno}; they write to pipes, so what they print may come late, \
         and be lost if they die (--mca iof_pty 0 asks for none)"
    ));
}

/// What keeps colours and the like out of files: ranks see a terminal, but what they write goes to none.
/// <https://no-color.org>, and what terminals are called that only show letters.
pub const PLAIN: [(&str, &str); 2] = [("TERM", "dumb"), ("NO_COLOR", "1")];

const NAMES: [&str; 2] = ["iof_pty", "iof_pty_until_init"];
const WRITE_ONLY: OpenptFlags = OpenptFlags::from_bits_retain(rustix::fs::OFlags::WRONLY.bits());
