//! What can be wrong with a message.

use super::form::VERSION;

/// A flaw of a message, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageFlaw {
    /// The byte of the message at which it was found.
    pub at: usize,
    /// What was found.
    pub fault: Fault,
}

/// What is wrong at some byte of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It ends too early.
    Short,
    /// It was written in another version of the format.
    Version(u8),
    /// A number is too large, or longer than it need be.
    Number,
    /// There can be no segment of that number.
    Segment(u64),
    /// Containers are none, too many, or not ascending.
    Containers,
    /// There can be no key of that number.
    Key(u64),
    /// The keys of a section are not ascending.
    Order,
    /// A column has an unknown form, or one that does not suit its key.
    Form,
    /// The ends of values are not ascending.
    Ends,
    /// A text is not UTF-8.
    Text,
}

impl Fault {
    /// The flaw of a message that has this fault there.
    pub(super) fn at(self, at: usize) -> MessageFlaw {
        MessageFlaw { at, fault: self }
    }
}

impl core::fmt::Display for MessageFlaw {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let at = self.at;
        match self.fault {
            Fault::Short => write!(f, "the message ends too early, at byte {at}"),
            Fault::Version(theirs) => {
                write!(f, "the message has format {theirs}, this library reads format {VERSION}")
            }
            Fault::Number => write!(f, "the number at byte {at} is too large or longer than it need be"),
            Fault::Segment(number) => write!(f, "the segment at byte {at} is {number}, which does not exist"),
            Fault::Containers => write!(f, "the containers at byte {at} are none, too many or not ascending"),
            Fault::Key(number) => write!(f, "the key at byte {at} is {number}, which does not exist"),
            Fault::Order => write!(f, "the key at byte {at} does not come after the one before it"),
            Fault::Form => write!(f, "the column at byte {at} has a form that does not suit its key"),
            Fault::Ends => write!(f, "the values of the column at byte {at} overlap"),
            Fault::Text => write!(f, "a text of the column at byte {at} is not UTF-8"),
        }
    }
}
