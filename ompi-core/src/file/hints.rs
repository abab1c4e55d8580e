//! Hints of files. MPI 5.0 §14.2.8: those that are not understood are ignored, and so are values that make no sense.
//!
//! What is in force is what MPI_File_get_info returns.

use crate::info::Info;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::sync::Mutex;

/// The hints of a file.
#[derive(Default)]
pub struct FileHints(Mutex<Vec<(&'static str, String)>>);

impl FileHints {
    /// Takes over what is understood of these.
    pub fn update(&self, info: &Info) {
        let mut all = self.0.lock();
        for (key, makes_sense) in KNOWN {
            let Some(value) = info.get(key).filter(|value| makes_sense(value)) else { continue };
            match all.iter_mut().find(|(known, _)| *known == key) {
                Some((_, old)) => *old = value,
                None => all.push((key, value)),
            }
        }
    }

    /// Those in force.
    pub fn info(&self) -> Info {
        let info = Info::of([]);
        self.0.lock().iter().for_each(|(key, value)| info.set(key, value));
        info
    }

    /// The value of one.
    pub fn get(&self, key: &str) -> Option<String> {
        self.0.lock().iter().find(|(known, _)| *known == key).map(|(_, value)| value.clone())
    }

    /// Permissions of a file that is made.
    pub fn permissions(&self) -> Option<u32> {
        u32::from_str_radix(&self.get(PERMISSIONS)?, 8).ok()
    }
}

/// In octal, as chmod(1) has it; for files that are made.
const PERMISSIONS: &str = "file_perm";

/// A key, and whether a value of it makes sense.
type Known = (&'static str, fn(&str) -> bool);

const KNOWN: [Known; 1] = [(PERMISSIONS, |value| u32::from_str_radix(value, 8).is_ok_and(|bits| bits <= 0o777))];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_ignored() {
        let hints = FileHints::default();
        hints.update(&Info::of([("file_perm", "rw"), ("other", "1")]));
        assert!(hints.info().is_empty());
        hints.update(&Info::of([("file_perm", "640")]));
        assert_eq!((hints.permissions(), hints.info().get("file_perm").as_deref()), (Some(0o640), Some("640")));
        hints.update(&Info::of([("file_perm", "1777")]));
        assert_eq!(hints.permissions(), Some(0o640));
    }
}
