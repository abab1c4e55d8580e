//! Labels of lines of output.

use crate::cli::Tag;

/// Which stream of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// A rank's stream, as its lines are labelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Rank in the job.
    pub rank: u32,
    /// Its process.
    pub pid: u32,
    /// The node that it runs on.
    pub node: u32,
    /// Which of its streams.
    pub stream: Stream,
}

/// The label of a line of this job that is written now; `host` is the name of the rank's host.
pub fn label(job: u32, tag: &Tag, timestamp: bool, origin: Origin, host: &str) -> String {
    let Origin { rank, pid, stream, .. } = origin;
    let time = if timestamp { crate::raw::local_time() } else { String::new() };
    let name = if stream == Stream::Output { "stdout" } else { "stderr" };
    match (tag, timestamp) {
        (Tag::None, false) => String::new(),
        (Tag::None, true) => format!("{time}<{name}>: "),
        (Tag::Rank, _) => format!("{time}[{job},{rank}]<{name}>: "),
        (Tag::Detailed, _) => format!("{time}[{job},{rank}][{host}:{pid}]<{name}>: "),
        (Tag::Pattern(pattern), false) => filled(job, pattern, rank, pid, host),
        (Tag::Pattern(pattern), true) => format!("{time} {}", filled(job, pattern, rank, pid, host)),
    }
}

/// A pattern with its places filled: `%r` the rank, `%p` the process, `%h` the machine, `%g` the job, counted from 0.
pub fn filled(job: u32, pattern: &str, rank: u32, pid: u32, host: &str) -> String {
    let mut text = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match (letter, letters.clone().next()) {
            ('%', Some(place @ ('r' | 'p' | 'h' | 'g' | '%'))) => {
                letters.next();
                match place {
                    'r' => text.push_str(&rank.to_string()),
                    'p' => text.push_str(&pid.to_string()),
                    'h' => text.push_str(host),
                    'g' => text.push_str(&job.saturating_sub(1).to_string()),
                    _ => text.push('%'),
                }
            }
            _ => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        let origin = Origin { rank: 3, pid: 47, node: 0, stream: Stream::Error };
        let plain = |tag: Tag| label(1, &tag, false, origin, "n1");
        assert_eq!(plain(Tag::None), "");
        assert_eq!(plain(Tag::Rank), "[1,3]<stderr>: ");
        assert_eq!(plain(Tag::Pattern("[%r] %p %x 100%% %".into())), "[3] 47 %x 100% %");
        assert!(plain(Tag::Detailed).contains("[n1:47]<stderr>: "));
        assert!(label(2, &Tag::Rank, true, origin, "n1").ends_with("[2,3]<stderr>: "));
        assert_eq!(label(2, &Tag::Pattern("%g".into()), false, origin, "n1"), "1");
    }
}
