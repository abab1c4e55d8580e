//! Hints of windows: MPI 5.0 §12.2.7.
//!
//! MPI_Win_get_info returns those that are understood, with the standard's defaults. What becomes of each here:
//!
//! * `no_locks`: a lock breaks the promise and is refused (MPI_ERR_RMA_SYNC).
//! * `alloc_shared_noncontig`, `mpi_minimum_memory_alignment`: when the memory is made.
//! * `mpi_accumulate_granularity`: when the window is made. From 1 to 8, many elements of an accumulate are changed by an instruction each,
//!   where others would wait for a lock meanwhile.
//! * `accumulate_ordering`, `accumulate_ops`, `same_size`, `same_disp_unit`: recorded, and not used: accumulates of one process to one
//!   element are always done in their order, and of any two operations at one element each is atomic.
//!
//! Hints that are not understood, and values that are none, are ignored and not returned.

use crate::info::{Info, MEMORY_KINDS};
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::sync::{AtomicBool, Mutex, Ordering};

/// The hints in use on one window.
pub struct WinHints {
    values: Mutex<Vec<(&'static str, String)>>,
    // Each lock asks for it.
    no_locks: AtomicBool,
}

impl WinHints {
    /// What a program asks for.
    pub fn of(info: Option<&Info>) -> WinHints {
        let defaults = DEFAULTS.iter().map(|(key, value, _)| (*key, String::from(*value))).collect();
        let hints = WinHints { values: Mutex::new(defaults), no_locks: AtomicBool::new(false) };
        if let Some(info) = info {
            hints.update(info);
        }
        hints
    }

    /// MPI_Win_set_info.
    pub fn update(&self, info: &Info) {
        for ((key, current), (_, _, allowed)) in self.values.lock().iter_mut().zip(DEFAULTS) {
            if let Some(value) = info.get(key).filter(|value| allowed(value)) {
                *current = value;
            }
        }
        self.no_locks.store(self.is_true(NO_LOCKS), Ordering::Relaxed);
    }

    /// Whether the program promises that no process locks the window.
    #[inline(always)]
    pub fn no_locks(&self) -> bool {
        self.no_locks.load(Ordering::Relaxed)
    }

    /// Whether one is set to true.
    pub fn is_true(&self, wanted: &str) -> bool {
        self.values.lock().iter().any(|(key, value)| *key == wanted && value == "true")
    }

    /// What one is set to.
    pub fn number(&self, wanted: &str) -> u64 {
        let hints = self.values.lock();
        let found = hints.iter().find(|(key, _)| *key == wanted);
        found.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
    }

    /// MPI_Win_get_info.
    pub fn info(&self) -> Info {
        let info = Info::of([]);
        self.values.lock().iter().for_each(|(key, value)| info.set(key, value));
        info.set(MEMORY_KINDS.0, MEMORY_KINDS.1);
        info
    }
}

/// No process locks the window.
const NO_LOCKS: &str = "no_locks";
/// The parts of a shared window need not follow each other.
pub const NONCONTIGUOUS: &str = "alloc_shared_noncontig";

/// For how many bytes accumulates hold something.
pub const GRANULARITY: &str = "mpi_accumulate_granularity";

type Allowed = fn(&str) -> bool;

/// Key, default, and which values are understood.
const DEFAULTS: [(&str, &str, Allowed); 7] = [
    (NO_LOCKS, "false", is_flag),
    ("accumulate_ordering", "rar,raw,war,waw", is_ordering),
    ("accumulate_ops", "same_op_no_op", |value| matches!(value, "same_op" | "same_op_no_op")),
    (GRANULARITY, "0", |value| value.parse::<u64>().is_ok()),
    ("same_size", "false", is_flag),
    ("same_disp_unit", "false", is_flag),
    (NONCONTIGUOUS, "false", is_flag),
];

fn is_flag(value: &str) -> bool {
    matches!(value, "true" | "false")
}

fn is_ordering(value: &str) -> bool {
    value == "none" || value.split(',').all(|one| matches!(one.trim(), "rar" | "raw" | "war" | "waw"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_said_and_only_what_is_understood_is_kept() {
        let asked = [("no_locks", "true"), ("accumulate_ordering", "rar,waw"), ("same_size", "perhaps"), ("x", "y")];
        let hints = WinHints::of(Some(&Info::of(asked)));
        let info = hints.info();
        let said = ["no_locks", "accumulate_ordering", "same_size", "accumulate_ops", "x"].map(|key| info.get(key));
        let wanted = [Some("true"), Some("rar,waw"), Some("false"), Some("same_op_no_op"), None];
        assert_eq!(said.each_ref().map(|value| value.as_deref()), wanted);
        assert!(hints.no_locks() && hints.is_true(NO_LOCKS) && !hints.is_true("same_size"));
        hints.update(&Info::of([("accumulate_ordering", "raw,often"), ("no_locks", "false")]));
        assert_eq!(hints.info().get("accumulate_ordering").as_deref(), Some("rar,waw"));
        assert!(!hints.is_true(NO_LOCKS) && !hints.no_locks());
    }
}
