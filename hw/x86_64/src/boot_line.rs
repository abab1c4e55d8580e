//! The boot line: which rank a core is, its parameters, and the program's arguments, in one line of text.
//!
//! `rank=0 size=4 tsc_khz=2100000 --mca coll_base_verbose 40 NAME=value -- arguments of the program`
//!
//! `key=value` in small letters says something to the library, as a variable KEY; [`KEYS`] lists them. `NAME=value` in
//! capitals is a variable of the environment as it is. Double quotes keep spaces together.
//!
//! Reading a line takes no memory from a heap, so that a rank can say what is wrong with its line whatever state the heap is in:
//! each table has a bound, and a line with one word more than fits is refused.

use core::fmt::{self, Write};
use heapless::{String, Vec};

/// What a boot line can say, how it is written, and what it means.
pub const KEYS: &[(&str, Written, &str)] = &[
    ("rank", Written::Number, "rank of the first core in the job"),
    ("size", Written::Number, "ranks of the job; more than 1 needs the job's shared memory"),
    ("local_rank", Written::Number, "rank of the first core among those that share memory (default: rank)"),
    ("local_size", Written::Number, "ranks that share memory (default: size)"),
    ("smp", Written::Number, "ranks on this machine, one per core (default: 1)"),
    ("job", Written::Hexadecimal, "the job's number, hexadecimal; it is in the shared memory, too"),
    ("secret", Written::Text, "64 hexadecimal digits, by which machines that share no memory know each other"),
    ("universe", Written::Number, "ranks that the job could have (default: size)"),
    ("app", Written::Number, "which of the job's programs this is, counted from 0"),
    ("hostname", Written::Text, "the machine's name"),
    ("tsc_khz", Written::Number, "how fast the time-stamp counter runs"),
    ("cores", Written::Hexadecimal, "mask of the host's cores that the job shares; makes waiting polite to the host"),
    (
        "shared_mib",
        Written::Number,
        "MiB of this machine's memory for a job of its own ranks, instead of a device's memory",
    ),
    (
        "log",
        Written::Level,
        "what goes to serial port 2, where there is one: error, warn, info, debug (default), trace",
    ),
    ("program", Written::Text, "name of the program, its argument 0"),
];

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Decimal digits.
    Number,
    /// Hexadecimal digits, without 0x.
    Hexadecimal,
    /// How much is logged.
    Level,
    /// Anything.
    Text,
}

impl Written {
    /// `Err` with what it should have been.
    fn check(self, value: &str) -> Result<(), &'static str> {
        match self {
            Written::Number => value.parse::<u32>().map(drop).map_err(|_| "no number"),
            Written::Hexadecimal => u64::from_str_radix(value, 16).map(drop).map_err(|_| "no hexadecimal number"),
            Written::Level if !["off", "error", "warn", "info", "debug", "trace"].contains(&value) => {
                Err("none of off, error, warn, info, debug, trace")
            }
            Written::Level | Written::Text => Ok(()),
        }
    }
}

/// A boot line in parts: at most [`VARIABLES_MAX`] variables and [`ARGUMENTS_MAX`] arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BootLine {
    /// Names and values, one behind the other.
    text: String<TEXT_BYTES>,
    variables: Vec<[Span; 2], VARIABLES_MAX>,
    arguments: Vec<Span, ARGUMENTS_MAX>,
}

/// A part of [`BootLine::text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: u16,
    end: u16,
}

/// What is wrong with a boot line; names the word as it is written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw<'a> {
    /// An option without what it wants.
    Incomplete(&'a str),
    /// Neither an option nor a variable.
    Word(&'a str),
    /// No key of [`KEYS`].
    Key(&'a str),
    /// A key's value is not written as it should be, and what it is instead.
    Value(&'a str, &'static str),
    /// A double quote that is never closed.
    Quote,
    /// More than [`LINE_BYTES`].
    Long,
    /// More than [`VARIABLES_MAX`].
    Variables,
    /// More than [`ARGUMENTS_MAX`].
    Arguments,
}

impl BootLine {
    /// Reads a line for core `core` of the machine.
    pub fn parse(text: &str, core: u32) -> Result<BootLine, Flaw<'_>> {
        if text.len() > LINE_BYTES {
            return Err(Flaw::Long);
        }
        let mut line = BootLine::default();
        let mut typed: String<LINE_BYTES> = String::new();
        let mut rest = words(text);
        while let Some(word) = rest.next().transpose()? {
            match &*unquoted(word) {
                "--" => {
                    for argument in rest.by_ref() {
                        let span = line.keep(format_args!("{}", unquoted(argument?)))?;
                        line.arguments.push(span).map_err(|_| Flaw::Arguments)?;
                    }
                }
                "--mca" | "-mca" => {
                    let (Some(name), Some(value)) = (rest.next().transpose()?, rest.next().transpose()?) else {
                        return Err(Flaw::Incomplete(word));
                    };
                    let name = unquoted(name);
                    line.variable(format_args!("OMPI_MCA_{name}"), format_args!("{}", unquoted(value)))?;
                    let comma = if typed.is_empty() { "" } else { "," };
                    write!(typed, "{comma}{name}").map_err(|_| Flaw::Long)?;
                }
                assignment => line.assignment(word, assignment, core)?,
            }
        }
        if !typed.is_empty() {
            line.variable(format_args!("OMPI_RS_MCA_COMMAND_LINE"), format_args!("{typed}"))?;
        }
        Ok(line)
    }

    /// Name and value of each variable.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|[name, value]| (self.part(*name), self.part(*value)))
    }

    /// What stands behind `--`.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().map(|span| self.part(*span))
    }

    /// `word` is `assignment` with its quotes.
    fn assignment<'a>(&mut self, word: &'a str, assignment: &str, core: u32) -> Result<(), Flaw<'a>> {
        let Some((name, value)) = assignment.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(Flaw::Word(word));
        };
        if !name.contains(|c: char| c.is_ascii_lowercase()) {
            return self.variable(format_args!("{name}"), format_args!("{value}"));
        }
        let (_, written, _) = KEYS.iter().find(|(key, ..)| *key == name).ok_or(Flaw::Key(word))?;
        written.check(value).map_err(|what| Flaw::Value(word, what))?;
        let name = Capitals(name);
        // The other cores are the ranks that follow.
        match (name.0, value.parse::<u32>()) {
            ("rank" | "local_rank", Ok(first)) => {
                self.variable(format_args!("{name}"), format_args!("{}", first.saturating_add(core)))
            }
            _ => self.variable(format_args!("{name}"), format_args!("{value}")),
        }
    }

    fn variable(&mut self, name: fmt::Arguments<'_>, value: fmt::Arguments<'_>) -> Result<(), Flaw<'static>> {
        let pair = [self.keep(name)?, self.keep(value)?];
        self.variables.push(pair).map_err(|_| Flaw::Variables)
    }

    fn keep(&mut self, text: fmt::Arguments<'_>) -> Result<Span, Flaw<'static>> {
        let start = self.text.len() as u16;
        self.text.write_fmt(text).map_err(|_| Flaw::Long)?;
        Ok(Span { start, end: self.text.len() as u16 })
    }

    fn part(&self, span: Span) -> &str {
        &self.text[usize::from(span.start)..usize::from(span.end)]
    }
}

impl fmt::Display for Flaw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::Incomplete(word) => write!(f, "{word} wants a name and a value; {ADVICE}"),
            Flaw::Word(word) => write!(f, "`{word}` is no key=value and no option; {ADVICE}"),
            Flaw::Key(word) => {
                write!(f, "there is no key {}; there are ", word.split('=').next().unwrap_or(word))?;
                (0..).zip(KEYS).try_for_each(|(index, (key, ..))| {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{key}")
                })
            }
            Flaw::Value(word, what) => write!(f, "it says {word}, which is {what}"),
            Flaw::Quote => write!(f, "a double quote is never closed; {ADVICE}"),
            Flaw::Long => write!(f, "it is longer than {LINE_BYTES} bytes"),
            Flaw::Variables => {
                write!(
                    f,
                    "it says more than {VARIABLES_MAX} variables and parameters; leave some out, or raise VARIABLES_MAX"
                )
            }
            Flaw::Arguments => {
                write!(
                    f,
                    "it has more than {ARGUMENTS_MAX} arguments behind --; leave some out, or raise ARGUMENTS_MAX"
                )
            }
        }
    }
}

/// A key as the name of a variable.
struct Capitals<'a>(&'a str);

impl fmt::Display for Capitals<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| f.write_char(letter.to_ascii_uppercase()))
    }
}

/// The number that a key is given, without memory from the heap; `None` if it is not said or is none.
pub fn number(text: &str, key: &str) -> Option<u64> {
    word(text, key)?.parse().ok()
}

/// What a key is given, likewise.
pub fn word<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut said = text.split(' ').take_while(|word| *word != "--").filter_map(|word| word.split_once('='));
    said.find(|(name, _)| *name == key).map(|(_, value)| value)
}

/// The words of a line, with their quotes.
fn words(text: &str) -> impl Iterator<Item = Result<&str, Flaw<'_>>> {
    let mut rest = text;
    core::iter::from_fn(move || {
        rest = rest.trim_start_matches(SPACES);
        let mut quoted = false;
        let end = rest.find(|letter: char| {
            quoted ^= letter == '"';
            !quoted && SPACES.contains(&letter)
        });
        let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
        rest = behind;
        match quoted {
            true => Some(Err(Flaw::Quote)),
            false => (!word.is_empty()).then_some(Ok(word)),
        }
    })
}

/// A word of a line that is not too long, without its quotes.
fn unquoted(word: &str) -> String<LINE_BYTES> {
    word.chars().filter(|letter| *letter != '"').collect()
}

/// Bytes of the longest line.
pub const LINE_BYTES: usize = 4096;
/// The most variables, parameters among them.
pub const VARIABLES_MAX: usize = 128;
/// The most arguments of the program.
pub const ARGUMENTS_MAX: usize = 256;
/// `-mca x y` becomes a variable's longer name and one more word in the list of those that were typed: no part of a line takes
/// twice as much.
const TEXT_BYTES: usize = 2 * LINE_BYTES;
const _: () = assert!(TEXT_BYTES <= u16::MAX as usize);
const SPACES: [char; 3] = [' ', '\t', '\n'];
const ADVICE: &str = "a boot line is key=value …, --mca name value …, -- arguments";

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use core::iter::repeat_n;

    #[test]
    fn a_line_in_parts() {
        let text = "rank=2 size=8  --mca btl sm,self -mca x \"a b\" HOME=/ -- -n \"\" \"one two\" --mca";
        let line = BootLine::parse(text, 1).unwrap();
        let wanted = [
            ("RANK", "3"),
            ("SIZE", "8"),
            ("OMPI_MCA_btl", "sm,self"),
            ("OMPI_MCA_x", "a b"),
            ("HOME", "/"),
            ("OMPI_RS_MCA_COMMAND_LINE", "btl,x"),
        ];
        assert_eq!(line.variables().collect::<Vec<_>>(), wanted);
        assert_eq!(line.arguments().collect::<Vec<_>>(), ["-n", "", "one two", "--mca"]);
        let line = BootLine::parse("\"--mca\" x=\"y z\" 1 \"NAME=a b\"", 0).unwrap();
        assert_eq!(line.variables().nth(1), Some(("NAME", "a b")));
        assert_eq!(BootLine::parse("", 0), Ok(BootLine::default()));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (text, word) in [
            ("rank", "`rank`"),
            ("=3", "`=3`"),
            ("ranks=3", "ranks"),
            ("--mca btl", "--mca"),
            ("a=\"b", "quote"),
            ("--frob", "`--frob`"),
            ("smp=two", "smp=two"),
            ("log=much", "log=much"),
            ("rank=-1", "rank=-1"),
            ("size=4294967296", "size=4294967296"),
            ("cores=0x3", "cores=0x3, which is no hexadecimal number"),
        ] {
            let sentence = BootLine::parse(text, 0).unwrap_err().to_string();
            assert!(sentence.contains(word), "{text}: {sentence}");
        }
    }

    #[test]
    fn one_more_than_fits_is_refused() {
        let variables = |count| repeat_n("A=b", count).collect::<Vec<_>>().join(" ");
        assert_eq!(BootLine::parse(&variables(VARIABLES_MAX), 0).unwrap().variables().count(), VARIABLES_MAX);
        let sentence = BootLine::parse(&variables(VARIABLES_MAX + 1), 0).unwrap_err().to_string();
        assert!(sentence.contains("more than 128 variables"), "{sentence}");

        let arguments = |count| repeat_n("x", count).fold("--".to_string(), |line, word| line + " " + word);
        assert_eq!(BootLine::parse(&arguments(ARGUMENTS_MAX), 0).unwrap().arguments().count(), ARGUMENTS_MAX);
        let sentence = BootLine::parse(&arguments(ARGUMENTS_MAX + 1), 0).unwrap_err().to_string();
        assert!(sentence.contains("more than 256 arguments"), "{sentence}");

        let long = |bytes: usize| "A=".to_string() + &"b".repeat(bytes - 2);
        assert!(BootLine::parse(&long(LINE_BYTES), 0).is_ok());
        let sentence = BootLine::parse(&long(LINE_BYTES + 1), 0).unwrap_err().to_string();
        assert!(sentence.contains("longer than 4096 bytes"), "{sentence}");
    }

    /// Whatever is on a line that is not too long, its parts have room: the bounds of the tables come first.
    #[test]
    fn the_text_has_room_for_every_line() {
        for name in [1, 16, 60, 1000, 4000] {
            let one = ["-mca ", &"n".repeat(name), " v "].concat();
            let line = one.repeat((LINE_BYTES / one.len()).min(VARIABLES_MAX - 1));
            assert!(BootLine::parse(&line, 0).is_ok(), "names of {name} bytes");
        }
    }

    #[test]
    fn numbers_before_there_is_a_heap() {
        assert_eq!(number("rank=1 smp=4 -- smp=5", "smp"), Some(4));
        assert_eq!(number("rank=1 -- smp=5", "smp"), None);
        assert_eq!(number("smp=x", "smp"), None);
    }
}
