//! The forms that a column can have in a message.

/// Raised when the format changes.
pub const VERSION: u8 = 1;

/// How a column lies in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Form {
    /// One number for all: varint.
    Same = 0,
    /// Numbers that follow from the place `i`: base + (i / block mod cycle) · stride. Four varints: base, stride, block,
    /// cycle. The nodes and local ranks of a job that was mapped by slot or by node have this form.
    Regular = 1,
    /// A byte that says how wide they are (1, 2, 4, 8), then a number for each.
    Numbers = 2,
    /// Varint of a length, then so many bytes for each.
    Fixed = 3,
    /// A byte that says how wide an end is (1, 2, 4), the end of each value, then all the bytes.
    Varying = 4,
    /// As [`Form::Fixed`], UTF-8.
    FixedText = 5,
    /// As [`Form::Varying`], UTF-8.
    VaryingText = 6,
}

impl Form {
    /// The form of that number.
    pub fn of(number: u8) -> Option<Form> {
        use Form::*;
        [Same, Regular, Numbers, Fixed, Varying, FixedText, VaryingText].get(usize::from(number)).copied()
    }
}
