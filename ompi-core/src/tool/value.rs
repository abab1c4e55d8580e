//! Values as a tool sees them: one of the few datatypes that MPI 5.0 §15.3.5 allows.

use opal_core::mca::Kind;

/// The words of a parameter that has some; the value of a word is its number.
pub fn words(kind: Kind) -> Option<&'static [&'static str]> {
    match kind {
        Kind::Bool => Some(&["false", "true"]),
        Kind::Choice(words) => Some(words),
        Kind::Int | Kind::Size | Kind::Text => None,
    }
}

/// The datatype of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// MPI_INT.
    Int,
    /// MPI_COUNT.
    Count,
    /// MPI_UNSIGNED_LONG_LONG.
    Unsigned,
    /// MPI_DOUBLE.
    Double,
    /// MPI_CHAR: a text with its terminating NUL.
    Char,
}

impl ValueType {
    /// The handle of the datatype.
    pub fn handle(self) -> usize {
        match self {
            ValueType::Int => 0x209,
            ValueType::Count => 0x202,
            ValueType::Unsigned => 0x20f,
            ValueType::Double => 0x214,
            ValueType::Char => 0x243,
        }
    }
}

/// A value, of the datatype that its name says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Datum<'a> {
    /// MPI_INT.
    Int(i32),
    /// MPI_COUNT.
    Count(i64),
    /// MPI_UNSIGNED_LONG_LONG.
    Unsigned(u64),
    /// MPI_DOUBLE.
    Double(f64),
    /// MPI_CHAR.
    Text(&'a str),
}
