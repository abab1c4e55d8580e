//! Hints of files. MPI 5.0 §14.2.8: those that are not understood are ignored, and so are values that make no sense.
//!
//! What is in force is what MPI_File_get_info returns.

use crate::info::Info;
use alloc::format;

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

/// The hints that are understood. MPI 5.0 §14.2.8 and, beginning with romio_ or ind_, those of ROMIO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileHints {
    /// file_perm: permissions of a file that is made, in octal as chmod(1) has it.
    pub permissions: Option<u32>,
    /// cb_buffer_size: bytes of the file that a process gathers at a time in a collective access.
    pub gather_bytes: Option<u64>,
    /// cb_nodes: how many processes gather.
    pub gatherers: Option<u32>,
    /// romio_cb_read: whether processes gather what all read.
    pub gather_read: HintChoice,
    /// romio_cb_write: whether processes gather what all write.
    pub gather_write: HintChoice,
    /// romio_ds_read: whether gaps are read over.
    pub sieve_read: HintChoice,
    /// romio_ds_write: whether gaps are read and written back, with the range locked. Only if it says so.
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
            gather_bytes: None,
            gatherers: None,
            gather_read: HintChoice::Automatic,
            gather_write: HintChoice::Automatic,
            sieve_read: HintChoice::Automatic,
            sieve_write: HintChoice::Disable,
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
        self.gather_bytes = number("cb_buffer_size").or(self.gather_bytes);
        self.gatherers = number("cb_nodes").and_then(|number| u32::try_from(number).ok()).or(self.gatherers);
        let both = match info.get("collective_buffering").as_deref().map(str::trim) {
            Some("true") => Some(HintChoice::Enable),
            Some("false") => Some(HintChoice::Disable),
            _ => None,
        };
        self.gather_read = wish("romio_cb_read").or(both).unwrap_or(self.gather_read);
        self.gather_write = wish("romio_cb_write").or(both).unwrap_or(self.gather_write);
        self.sieve_read = wish("romio_ds_read").unwrap_or(self.sieve_read);
        self.sieve_write = match wish("romio_ds_write") {
            // Where it pays would be nowhere: nobody but the program knows that no other program writes the file.
            Some(HintChoice::Automatic) => HintChoice::Disable,
            other => other.unwrap_or(self.sieve_write),
        };
        self.read_bytes = number("ind_rd_buffer_size").unwrap_or(self.read_bytes);
        self.write_bytes = number("ind_wr_buffer_size").unwrap_or(self.write_bytes);
        self
    }

    /// A word that is equal where the values are that all processes of a file need alike: all but the permissions.
    pub fn fingerprint(&self) -> u64 {
        let gather =
            u64::from(self.gatherers.unwrap_or(0)) << 8 | (self.gather_read as u64) << 2 | self.gather_write as u64;
        [self.gather_bytes.unwrap_or(0), gather, (self.sieve_read as u64) << 2 | self.sieve_write as u64]
            .into_iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29))
    }

    /// Those in force, as MPI_File_get_info has them.
    pub fn info(&self) -> Info {
        let info = Info::of([]);
        if let Some(permissions) = self.permissions {
            info.set("file_perm", &format!("{permissions:o}"));
        }
        if let Some(bytes) = self.gather_bytes {
            info.set("cb_buffer_size", &format!("{bytes}"));
        }
        if let Some(gatherers) = self.gatherers {
            info.set("cb_nodes", &format!("{gatherers}"));
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
        assert_eq!((some.permissions, some.gather_bytes, some.gatherers), (Some(0o640), Some(65536), Some(2)));
        assert_eq!(some.updated(&Info::of([("file_perm", "1777")])), some);
        assert_eq!(nothing.updated(&some.info()), some);
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
