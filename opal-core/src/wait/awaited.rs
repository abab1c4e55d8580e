//! What a wait is for.

/// Something that is waited for.
pub trait Awaited {
    /// Whether it is there.
    fn is_done(&mut self) -> bool;

    /// What it is; asked only before a sleep, with no lock held.
    fn subject(&self) -> Subject {
        Subject::UNKNOWN
    }
}

/// What a wait is for, in numbers to which the layers above give a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// What kind of thing; 0: nobody knows.
    pub kind: u32,
    /// Index of the process that is to do something; [`Subject::NO_PROCESS`]: any of several, or nobody knows.
    pub process: u32,
    /// The name of that process for people.
    pub rank: i32,
    /// The tag of a message.
    pub tag: i32,
    /// The communicator of a message.
    pub context: u32,
}

impl Subject {
    /// No single process.
    pub const NO_PROCESS: u32 = u32::MAX;
    /// Nobody knows.
    pub const UNKNOWN: Subject = Subject { kind: 0, process: Subject::NO_PROCESS, rank: 0, tag: 0, context: 0 };
}

/// What is waited for, of two functions.
#[inline(always)]
pub fn awaiting<D: FnMut() -> bool, S: Fn() -> Subject>(done: D, subject: S) -> impl Awaited {
    Waiting { done, subject }
}

struct Waiting<D, S> {
    done: D,
    subject: S,
}

impl<D: FnMut() -> bool, S: Fn() -> Subject> Awaited for Waiting<D, S> {
    #[inline(always)]
    fn is_done(&mut self) -> bool {
        (self.done)()
    }

    fn subject(&self) -> Subject {
        (self.subject)()
    }
}
