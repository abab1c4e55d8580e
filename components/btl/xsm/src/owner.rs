//! Whether the process that owns a board is still there. The system tells nobody of another process's end, so whoever waits looks.
//!
//! A process is known by its number and the time at which it started, since numbers are used again. No descriptor of it is kept: there may
//! be hundreds of peers.

use crate::board_file;
use crate::wire::Place;
use alloc::format;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// The owner of a board.
#[derive(Debug)]
pub struct Owner {
    place: Place,
    // In clock ticks since the system started; `None`: the system does not say it.
    started: Option<u64>,
}

impl Owner {
    /// Of the board at this place, which was there just now.
    pub fn of(place: Place) -> Owner {
        Owner { place, started: read_stat(place.pid).ok().flatten().map(|stat| stat.started) }
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        // Most often the board is still there; a program that closes all descriptors takes it away and goes on.
        if board_file::is_at(&self.place) {
            return false;
        }
        match read_stat(self.place.pid) {
            Ok(Some(stat)) => stat.is_dead || self.started.is_some_and(|started| started != stat.started),
            // What the system does not show is taken for alive.
            Ok(None) => false,
            Err(errno) => errno == Errno::NOENT || errno == Errno::SRCH,
        }
    }
}

struct Stat {
    started: u64,
    // Nothing of it runs any more, and its parent has not heard yet.
    is_dead: bool,
}

/// Of proc_pid_stat(5); `None` if there is no sense in it.
fn read_stat(pid: u32) -> Result<Option<Stat>, Errno> {
    let path = format!("/proc/{pid}/stat");
    let file = rustix::fs::open(path.as_str(), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut bytes = [0; STAT_BYTES];
    let read = rustix::io::read(&file, &mut bytes[..])?;
    Ok(parse_stat(&bytes[..read]))
}

fn parse_stat(text: &[u8]) -> Option<Stat> {
    // The name in brackets may hold anything.
    let behind = text.iter().rposition(|byte| *byte == b')')? + 1;
    let mut fields = text[behind..].split(|byte| *byte == b' ').filter(|field| !field.is_empty());
    let state = fields.next()?;
    let started = core::str::from_utf8(fields.nth(FIELDS_BETWEEN)?).ok()?.trim_end().parse().ok()?;
    Some(Stat { started, is_dead: matches!(state, b"Z" | b"X" | b"x") })
}

/// Field 3 is the state, field 22 the time of the start.
const FIELDS_BETWEEN: usize = 22 - 3 - 1;
const STAT_BYTES: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_process() {
        let text = b"7 (a) R) b) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21\n";
        let stat = parse_stat(text).unwrap();
        assert!(stat.is_dead && stat.started == 4711);
        assert!(parse_stat(b"7 (a) S 1 2").is_none() && parse_stat(b"").is_none());
    }
}
