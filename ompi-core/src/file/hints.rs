//! Hints of files. MPI 5.0 §14.2.8: those that are not understood are ignored, and so are values that make no sense.
//!
//! What is in force is what MPI_File_get_info returns.

use crate::framework::fbtl::AccessKind;
use crate::info::Info;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::str;

/// Whether a hint wants something done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HintChoice {
    /// Where it pays.
    #[default]
    Automatic,
    /// Wherever it can be done.
    Enable,
    /// Never.
    Disable,
}

impl HintChoice {
    fn named(name: &str) -> Option<HintChoice> {
        match name {
            "automatic" => Some(HintChoice::Automatic),
            "enable" | "true" => Some(HintChoice::Enable),
            "disable" | "false" => Some(HintChoice::Disable),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            HintChoice::Automatic => "automatic",
            HintChoice::Enable => "enable",
            HintChoice::Disable => "disable",
        }
    }
}

/// The name of a component in a hint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HintName([u8; 16]);

impl HintName {
    fn new(name: &str) -> Option<HintName> {
        let mut bytes = [0; 16];
        bytes.get_mut(..name.len()).filter(|place| !place.is_empty())?.copy_from_slice(name.as_bytes());
        Some(HintName(bytes))
    }

    /// As it was given.
    pub fn as_str(&self) -> &str {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        str::from_utf8(&self.0[..end]).unwrap_or("")
    }
}

/// How a program means to access a file, of the words of hint access_style.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessStyle(u8);

impl AccessStyle {
    const WORDS: [&str; 7] =
        ["read_once", "write_once", "read_mostly", "write_mostly", "sequential", "reverse_sequential", "random"];

    /// Of words with commas between them; `None` if one of them is none of the standard's.
    fn named(words: &str) -> Option<AccessStyle> {
        let bit = |word: &str| AccessStyle::WORDS.iter().position(|known| *known == word.trim());
        words.split(',').try_fold(AccessStyle(0), |style, word| Some(AccessStyle(style.0 | 1 << bit(word)?)))
    }

    /// As it was given.
    fn words(self) -> String {
        let some = AccessStyle::WORDS.iter().enumerate().filter(|(bit, _)| self.0 >> bit & 1 != 0);
        some.map(|(_, word)| *word).collect::<Vec<_>>().join(",")
    }

    /// Whether the next byte is mostly the one behind the last.
    pub fn is_sequential(self) -> bool {
        self.0 >> 4 & 1 != 0
    }

    /// Whether it mostly lies elsewhere.
    pub fn is_random(self) -> bool {
        self.0 >> 5 != 0 && !self.is_sequential()
    }
}

/// How a file that is made is to be laid over several storage devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Striping {
    /// striping_factor: over how many.
    pub factor: Option<u32>,
    /// striping_unit: bytes on one before the next one.
    pub unit: Option<u64>,
    /// start_iodevice: the number of the first one.
    pub start_device: Option<u32>,
}

impl Striping {
    /// Whether anything is asked for.
    pub fn is_wanted(&self) -> bool {
        self.factor.is_some() || self.unit.is_some() || self.start_device.is_some()
    }

    /// As processes tell each other.
    pub fn words(&self) -> [u64; 4] {
        let word = |number: Option<u64>| number.map_or(0, |number| number.saturating_add(1));
        [word(self.factor.map(u64::from)), word(self.unit), word(self.start_device.map(u64::from)), 0]
    }

    /// Of words.
    pub fn of_words([factor, unit, start_device, _]: [u64; 4]) -> Striping {
        let number = |word: u64| u32::try_from(word.checked_sub(1)?).ok();
        Striping { factor: number(factor), unit: unit.checked_sub(1), start_device: number(start_device) }
    }
}

/// The hints that are understood. MPI 5.0 §14.2.8 and, beginning with romio_ or ind_, those of ROMIO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileHints {
    /// file_perm: permissions of a file that is made, in octal as chmod(1) has it.
    pub permissions: Option<u32>,
    /// ompio_fcoll: the component of framework fcoll that does collective accesses.
    pub fcoll: Option<HintName>,
    /// access_style: what the system is told of how the file is accessed.
    pub access_style: Option<AccessStyle>,
    /// striping_factor, striping_unit and start_iodevice. Parts of the file that processes gather begin at multiples of the unit.
    pub striping: Striping,
    /// cb_buffer_size: bytes of memory that a process takes to gather in, in a collective access.
    pub aggregator_bytes: Option<u64>,
    /// cb_nodes: how many processes gather.
    pub aggregators: Option<u32>,
    /// romio_cb_read: whether processes gather what all read.
    pub gather_read: HintChoice,
    /// romio_cb_write: whether processes gather what all write.
    pub gather_write: HintChoice,
    /// romio_ds_read: whether gaps are read over.
    pub sieve_read: HintChoice,
    /// romio_ds_write: whether gaps are read and written back, with the range locked. Automatic: only where nobody else has the file open,
    /// since nobody but the program knows that no other program writes the file.
    pub sieve_write: HintChoice,
    /// ind_rd_buffer_size: bytes of the file that are read over gaps at a time.
    pub read_bytes: u64,
    /// ind_wr_buffer_size: bytes of the file that are written over gaps at a time.
    pub write_bytes: u64,
}

impl Default for FileHints {
    fn default() -> FileHints {
        FileHints {
            permissions: None,
            fcoll: None,
            access_style: None,
            striping: Striping { factor: None, unit: None, start_device: None },
            aggregator_bytes: None,
            aggregators: None,
            gather_read: HintChoice::Automatic,
            gather_write: HintChoice::Automatic,
            sieve_read: HintChoice::Automatic,
            sieve_write: HintChoice::Automatic,
            read_bytes: 512 << 10,
            write_bytes: 512 << 10,
        }
    }
}

impl FileHints {
    /// These, with what is understood of an info object.
    #[must_use]
    pub fn updated(mut self, info: &Info) -> FileHints {
        let number = |key| info.get(key)?.trim().parse::<u64>().ok().filter(|number| (1..=MOST_BYTES).contains(number));
        let wish = |key| HintChoice::named(info.get(key)?.trim());
        let permissions = info.get("file_perm").and_then(|value| u32::from_str_radix(value.trim(), 8).ok());
        self.permissions = permissions.filter(|bits| *bits <= 0o777).or(self.permissions);
        self.fcoll = info.get("ompio_fcoll").and_then(|name| HintName::new(name.trim())).or(self.fcoll);
        self.access_style = info.get("access_style").and_then(|words| AccessStyle::named(&words)).or(self.access_style);
        self.striping.factor =
            number("striping_factor").and_then(|number| u32::try_from(number).ok()).or(self.striping.factor);
        self.striping.unit = number("striping_unit").or(self.striping.unit);
        let device = info.get("start_iodevice").and_then(|number| number.trim().parse().ok());
        self.striping.start_device = device.or(self.striping.start_device);
        self.aggregator_bytes = number("cb_buffer_size").or(self.aggregator_bytes);
        self.aggregators = number("cb_nodes").and_then(|number| u32::try_from(number).ok()).or(self.aggregators);
        let both = match info.get("collective_buffering").as_deref().map(str::trim) {
            Some("true") => Some(HintChoice::Enable),
            Some("false") => Some(HintChoice::Disable),
            _ => None,
        };
        self.gather_read = wish("romio_cb_read").or(both).unwrap_or(self.gather_read);
        self.gather_write = wish("romio_cb_write").or(both).unwrap_or(self.gather_write);
        self.sieve_read = wish("romio_ds_read").unwrap_or(self.sieve_read);
        self.sieve_write = wish("romio_ds_write").unwrap_or(self.sieve_write);
        self.read_bytes = number("ind_rd_buffer_size").unwrap_or(self.read_bytes);
        self.write_bytes = number("ind_wr_buffer_size").unwrap_or(self.write_bytes);
        self
    }

    /// Whether processes gather what all move this way: who names the component wants it to.
    pub fn gather(&self, direction: AccessKind) -> HintChoice {
        let choice = match direction {
            AccessKind::Read => self.gather_read,
            AccessKind::Write => self.gather_write,
        };
        match choice {
            HintChoice::Automatic if self.fcoll.is_some() => HintChoice::Enable,
            choice => choice,
        }
    }

    /// A word that is equal where the values are that all processes of a file need alike: all but the permissions.
    pub fn fingerprint(&self) -> u64 {
        let gather =
            u64::from(self.aggregators.unwrap_or(0)) << 8 | (self.gather_read as u64) << 2 | self.gather_write as u64;
        let name = self.fcoll.map_or([0; 2], |name| {
            [0, 8].map(|at| name.0[at..at + 8].iter().fold(0, |word, byte| word << 8 | u64::from(*byte)))
        });
        let sieve = (self.sieve_read as u64) << 2 | self.sieve_write as u64;
        let unit = self.striping.unit.unwrap_or(0);
        [self.aggregator_bytes.unwrap_or(0), gather, sieve, name[0], name[1], unit]
            .into_iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29))
    }

    /// Those in force, as MPI_File_get_info has them.
    pub fn info(&self) -> Info {
        let info = Info::of([]);
        if let Some(permissions) = self.permissions {
            info.set("file_perm", &format!("{permissions:o}"));
        }
        if let Some(style) = self.access_style {
            info.set("access_style", &style.words());
        }
        if let Some(factor) = self.striping.factor {
            info.set("striping_factor", &format!("{factor}"));
        }
        if let Some(unit) = self.striping.unit {
            info.set("striping_unit", &format!("{unit}"));
        }
        if let Some(device) = self.striping.start_device {
            info.set("start_iodevice", &format!("{device}"));
        }
        if let Some(name) = self.fcoll {
            info.set("ompio_fcoll", name.as_str());
        }
        if let Some(bytes) = self.aggregator_bytes {
            info.set("cb_buffer_size", &format!("{bytes}"));
        }
        if let Some(aggregators) = self.aggregators {
            info.set("cb_nodes", &format!("{aggregators}"));
        }
        for (key, wish) in [
            ("romio_cb_read", self.gather_read),
            ("romio_cb_write", self.gather_write),
            ("romio_ds_read", self.sieve_read),
            ("romio_ds_write", self.sieve_write),
        ] {
            info.set(key, wish.name());
        }
        match (self.gather_read, self.gather_write) {
            (HintChoice::Enable, HintChoice::Enable) => info.set("collective_buffering", "true"),
            (HintChoice::Disable, HintChoice::Disable) => info.set("collective_buffering", "false"),
            _ => {}
        }
        info.set("ind_rd_buffer_size", &format!("{}", self.read_bytes));
        info.set("ind_wr_buffer_size", &format!("{}", self.write_bytes));
        info
    }
}

/// A buffer is not longer than this, whatever a hint says.
const MOST_BYTES: u64 = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_ignored() {
        let nothing = FileHints::default();
        let wrong =
            [("file_perm", "rw"), ("other", "1"), ("cb_nodes", "0"), ("cb_buffer_size", "-4"), ("romio_ds_read", "x")];
        assert_eq!(nothing.updated(&Info::of(wrong)), nothing);
        let some = nothing.updated(&Info::of([("file_perm", "640"), ("cb_buffer_size", "65536"), ("cb_nodes", "2")]));
        assert_eq!((some.permissions, some.aggregator_bytes, some.aggregators), (Some(0o640), Some(65536), Some(2)));
        assert_eq!(some.updated(&Info::of([("file_perm", "1777")])), some);
        assert_eq!(nothing.updated(&some.info()), some);
    }

    #[test]
    fn styles_and_stripes_are_kept_if_they_make_sense() {
        let given = [
            ("access_style", "read_once, random"),
            ("striping_factor", "4"),
            ("striping_unit", "1048576"),
            ("start_iodevice", "0"),
        ];
        let some = FileHints::default().updated(&Info::of(given));
        assert!(some.access_style.is_some_and(|style| style.is_random() && !style.is_sequential()));
        assert_eq!(some.striping, Striping { factor: Some(4), unit: Some(1 << 20), start_device: Some(0) });
        for striping in [some.striping, Striping { unit: None, ..some.striping }, Striping::default()] {
            assert_eq!(Striping::of_words(striping.words()), striping);
        }
        assert_eq!(some.info().get("access_style").as_deref(), Some("read_once,random"));
        assert_eq!(FileHints::default().updated(&some.info()), some);
        let wrong = [
            ("access_style", "read_once,never"),
            ("striping_factor", "0"),
            ("striping_unit", "x"),
            ("start_iodevice", "-1"),
        ];
        assert_eq!(some.updated(&Info::of(wrong)), some);
        let both = FileHints::default().updated(&Info::of([("access_style", "sequential,random")]));
        assert!(both.access_style.is_some_and(|style| style.is_sequential() && !style.is_random()));
    }

    #[test]
    fn a_component_is_named_and_gathers() {
        let named = FileHints::default().updated(&Info::of([("ompio_fcoll", "dynamic"), ("romio_cb_read", "disable")]));
        assert_eq!(named.fcoll.as_ref().map(HintName::as_str), Some("dynamic"));
        assert_eq!(named.info().get("ompio_fcoll").as_deref(), Some("dynamic"));
        assert_eq!(named.gather(AccessKind::Write), HintChoice::Enable);
        assert_eq!(named.gather(AccessKind::Read), HintChoice::Disable);
        let other = FileHints::default().updated(&Info::of([("ompio_fcoll", "two_phase")]));
        assert_ne!(named.fingerprint(), other.updated(&Info::of([("romio_cb_read", "disable")])).fingerprint());
        let long = FileHints::default().updated(&Info::of([("ompio_fcoll", "a name of seventeen")]));
        assert_eq!(long, FileHints::default());
    }

    #[test]
    fn collective_buffering_stands_for_both_ways() {
        let off =
            FileHints::default().updated(&Info::of([("collective_buffering", "false"), ("romio_cb_read", "enable")]));
        assert_eq!((off.gather_read, off.gather_write), (HintChoice::Enable, HintChoice::Disable));
        assert_ne!(off.fingerprint(), FileHints::default().fingerprint());
        let on = off.updated(&Info::of([("collective_buffering", "true")]));
        assert_eq!(on.info().get("collective_buffering").as_deref(), Some("true"));
    }
}
