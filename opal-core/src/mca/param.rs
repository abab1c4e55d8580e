//! Parameters: typed, documented, with one value and its origin.

use crate::sync::{AtomicI64, Mutex, Ordering};
use alloc::format;
use alloc::string::String;

/// What a parameter accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A decimal or 0x number, may be negative.
    Int,
    /// A non-negative number of bytes or things; k, m and g multiply by 1024.
    Size,
    /// true/false, yes/no, on/off, 1/0.
    Bool,
    /// Any text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// A value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Of `Int` and `Size`.
    Int(i64),
    /// Of `Bool`.
    Bool(bool),
    /// Of `Text` and `Choice`.
    Text(&'static str),
}

impl core::fmt::Display for Value {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Value::Int(number) => write!(f, "{number}"),
            Value::Bool(flag) => write!(f, "{flag}"),
            Value::Text(text) => f.write_str(text),
        }
    }
}

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The parameter's own default.
    Default,
    /// A file: path and line.
    File(&'static str, u32),
    /// `OMPI_MCA_<name>`.
    Environment,
    /// `mpirun --mca <name> <value>`.
    CommandLine,
    /// The boot line of a bare-metal image.
    BootLine,
    /// The program, through MPI's tool interface.
    Program,
}

impl core::fmt::Display for Source {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::File(path, line) => write!(f, "file {path}:{line}"),
            Source::Environment => f.write_str("environment"),
            Source::CommandLine => f.write_str("command line"),
            Source::BootLine => f.write_str("boot line"),
            Source::Program => f.write_str("program"),
        }
    }
}

/// When a program may give a parameter another value, through MPI's tool interface, and on which processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Until MPI has started, the same on all processes: it is read then.
    BeforeStart,
    /// At any time: it is read whenever it is needed, by this process alone.
    Local,
    /// At any time, but the same on all processes.
    AllEqual,
    /// Never: no rank reads it, or only once and early.
    Never,
}

/// One parameter. Reading a number or flag is one relaxed load.
pub struct Param {
    /// Without framework and component; empty for a framework's selection list.
    pub name: &'static str,
    /// What it accepts.
    pub kind: Kind,
    /// Its value when nobody says otherwise.
    pub default: Value,
    /// `bytes`, `ms`, … or empty.
    pub unit: &'static str,
    /// Which people are expected to change it: 1–3 users, 4–6 tuners, 7–9 developers, as in MPI_T's verbosity.
    pub level: u8,
    /// What it does, in full sentences.
    pub help: &'static str,
    /// When it may be changed.
    pub change: Change,
    number: AtomicI64,
    text: Mutex<(&'static str, Source)>,
}

impl Param {
    /// For [`params!`](crate::params).
    pub const fn new(
        name: &'static str,
        kind: Kind,
        default: Value,
        unit: &'static str,
        level: u8,
        help: &'static str,
    ) -> Param {
        let (number, text) = match default {
            Value::Int(number) => (number, ""),
            Value::Bool(flag) => (flag as i64, ""),
            Value::Text(text) => (0, text),
        };
        let number = AtomicI64::new(number);
        let text = Mutex::new((text, Source::Default));
        Param { name, kind, default, unit, level, help, change: Change::BeforeStart, number, text }
    }

    /// The same, to be changed at another time.
    pub const fn with_change(mut self, change: Change) -> Param {
        self.change = change;
        self
    }

    /// The number; for `Int` and `Size`.
    #[inline]
    pub fn int(&self) -> i64 {
        self.number.load(Ordering::Relaxed)
    }

    /// The number of bytes or things; for `Size`.
    #[inline]
    pub fn size(&self) -> usize {
        self.int() as usize
    }

    /// The flag; for `Bool`.
    #[inline]
    pub fn flag(&self) -> bool {
        self.int() != 0
    }

    /// The text; for `Text` and `Choice`.
    pub fn text(&self) -> &'static str {
        self.text.lock().0
    }

    /// The value in force.
    pub fn value(&self) -> Value {
        match self.kind {
            Kind::Int | Kind::Size => Value::Int(self.int()),
            Kind::Bool => Value::Bool(self.flag()),
            Kind::Text | Kind::Choice(_) => Value::Text(self.text()),
        }
    }

    /// Where the value in force came from.
    pub fn source(&self) -> Source {
        self.text.lock().1
    }

    /// Gives it a value; `Err` says in half a sentence what it accepts.
    pub fn set(&self, text: &'static str, source: Source) -> Result<(), String> {
        self.store(parse(self.kind, text)?, source);
        Ok(())
    }

    /// Gives it a value that a program holds. `false`: it is none that the parameter accepts.
    pub fn set_value(&self, value: Value, source: Source) -> bool {
        let value = match (self.kind, value) {
            (Kind::Int, Value::Int(_)) | (Kind::Bool, Value::Bool(_)) | (Kind::Text, Value::Text(_)) => value,
            (Kind::Size, Value::Int(number)) if number >= 0 => value,
            (Kind::Choice(words), Value::Text(text)) => match words.iter().find(|word| **word == text) {
                Some(word) => Value::Text(word),
                None => return false,
            },
            _ => return false,
        };
        self.store(value, source);
        true
    }

    fn store(&self, value: Value, source: Source) {
        match value {
            Value::Int(number) => self.number.store(number, Ordering::Relaxed),
            Value::Bool(flag) => self.number.store(i64::from(flag), Ordering::Relaxed),
            Value::Text(_) => {}
        }
        let stored = if let Value::Text(text) = value { text } else { "" };
        *self.text.lock() = (stored, source);
    }
}

/// The full name that users type.
pub fn full_name(framework: &str, component: &str, param: &str) -> String {
    match (component.is_empty(), param.is_empty()) {
        (_, true) => String::from(framework),
        (true, false) => format!("{framework}_{param}"),
        (false, false) => format!("{framework}_{component}_{param}"),
    }
}

impl Kind {
    /// What is wanted instead of `text`, if it is no value of this kind.
    pub fn check(self, text: &str) -> Result<(), String> {
        plain(self, text).map(drop)
    }
}

fn parse(kind: Kind, text: &'static str) -> Result<Value, String> {
    plain(kind, text).map(|value| value.unwrap_or(Value::Text(text)))
}

/// `None` for a text, which is its own value.
fn plain(kind: Kind, text: &str) -> Result<Option<Value>, String> {
    let trimmed = text.trim();
    let value = match kind {
        Kind::Int => number(trimmed).map(Value::Int).ok_or_else(|| String::from("a whole number is wanted")),
        Kind::Size => size(trimmed)
            .map(Value::Int)
            .ok_or_else(|| String::from("a non-negative number is wanted, with k, m or g for 1024 and its powers")),
        Kind::Bool => match trimmed {
            "1" | "true" | "yes" | "on" | "t" | "y" => Ok(Value::Bool(true)),
            "0" | "false" | "no" | "off" | "f" | "n" => Ok(Value::Bool(false)),
            _ => Err(String::from("true or false is wanted")),
        },
        Kind::Text => return Ok(None),
        Kind::Choice(words) => match words.iter().find(|word| **word == trimmed) {
            Some(word) => Ok(Value::Text(word)),
            None => Err(format!("one of {} is wanted", words.join(", "))),
        },
    };
    value.map(Some)
}

fn number(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn size(text: &str) -> Option<i64> {
    let last = text.bytes().last()?.to_ascii_lowercase();
    let factor = match last {
        b'k' => 1i64 << 10,
        b'm' => 1 << 20,
        b'g' => 1 << 30,
        _ => 1,
    };
    let digits = if factor == 1 { text } else { &text[..text.len() - 1] };
    number(digits)?.checked_mul(factor).filter(|value| *value >= 0)
}

/// Declares parameters as statics in a component's `params.rs` or framework file, and `ALL`, the slice of them.
///
/// ```ignore
/// opal_core::params! {
///     /// Largest message that travels with its header.
///     pub static EAGER_LIMIT: Size = Int(4096), "bytes", level 4;
///     /// Way to move large messages.
///     pub static PATH: Choice(&["copy", "cma"]) = Text("cma"), "", level 5, change Local;
/// }
/// ```
/// `change` is one of [`Change`]; without it, it is `BeforeStart`.
#[macro_export]
macro_rules! params {
    ($($(#[doc = $help:literal])+ pub static $name:ident: $kind:ident $(($words:expr))? = $value:ident($default:expr), $unit:literal, level $level:literal $(, change $change:ident)?;)*) => {
        $crate::mca::pastey::paste! {
            $(
                $(#[doc = $help])+
                pub static $name: $crate::mca::Param = $crate::mca::Param::new(
                    stringify!([<$name:lower>]),
                    $crate::mca::Kind::$kind $(($words))?,
                    $crate::mca::Value::$value($default),
                    $unit,
                    $level,
                    concat!($($help),+),
                )$(.with_change($crate::mca::param::Change::$change))?;
            )*
            /// All parameters declared here.
            pub static ALL: &[&$crate::mca::Param] = &[$(&$name),*];
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    params! {
        /// A size.
        pub static SOME_LIMIT: Size = Int(4096), "bytes", level 4;
        /// A word.
        pub static SOME_PATH: Choice(&["copy", "cma"]) = Text("cma"), "", level 5;
        /// A flag.
        pub static SOME_FLAG: Bool = Bool(true), "", level 5, change Local;
    }

    #[test]
    fn values_and_sources() {
        assert_eq!(ALL.len(), 3);
        assert_eq!((SOME_LIMIT.name, SOME_LIMIT.size(), SOME_LIMIT.source()), ("some_limit", 4096, Source::Default));
        SOME_LIMIT.set("16k", Source::Environment).unwrap();
        assert_eq!((SOME_LIMIT.size(), SOME_LIMIT.source()), (16384, Source::Environment));
        assert!(SOME_LIMIT.set("-1", Source::Environment).is_err());
        assert!(SOME_LIMIT.set("99999999999g", Source::Environment).is_err());
        assert!(SOME_LIMIT.set("", Source::Environment).is_err());
        assert_eq!(SOME_LIMIT.size(), 16384);
        assert!(SOME_PATH.set("mmap", Source::CommandLine).unwrap_err().contains("copy, cma"));
        SOME_PATH.set("copy", Source::CommandLine).unwrap();
        assert_eq!(SOME_PATH.text(), "copy");
        SOME_FLAG.set("off", Source::Environment).unwrap();
        assert!(!SOME_FLAG.flag());
    }

    #[test]
    fn values_of_a_program() {
        params! {
            /// A size.
            pub static LIMIT: Size = Int(1), "bytes", level 4;
            /// A word.
            pub static PATH: Choice(&["copy", "cma"]) = Text("cma"), "", level 5, change AllEqual;
        }
        assert_eq!((LIMIT.change, PATH.change), (Change::BeforeStart, Change::AllEqual));
        assert_eq!(ALL.len(), 2);
        assert!(LIMIT.set_value(Value::Int(7), Source::Program));
        assert!(
            !LIMIT.set_value(Value::Int(-7), Source::Program) && !LIMIT.set_value(Value::Bool(true), Source::Program)
        );
        assert_eq!((LIMIT.size(), LIMIT.source()), (7, Source::Program));
        assert!(!PATH.set_value(Value::Text("mmap"), Source::Program));
        assert!(PATH.set_value(Value::Text("copy"), Source::Program));
        assert_eq!(PATH.text(), "copy");
    }

    #[test]
    fn names() {
        assert_eq!(full_name("btl", "sm", "eager_limit"), "btl_sm_eager_limit");
        assert_eq!(full_name("btl", "", "base_verbose"), "btl_base_verbose");
        assert_eq!(full_name("btl", "", ""), "btl");
    }
}
