//! Hints of communicators: MPI 5.0 §7.4.4.
//!
//! An implementation may ignore any hint. MPI_Comm_get_info returns those that it does not ignore, and the program must
//! comply with them. What becomes of each here:
//!
//! * `mpi_assert_no_any_source`: a receive or probe from MPI_ANY_SOURCE breaks the promise and is refused
//!   (MPI_ERR_RANK). Receives that name their source do not pay for the check.
//! * `mpi_assert_no_any_tag`, `mpi_assert_exact_length`, `mpi_assert_allow_overtaking`,
//!   `mpi_assert_strict_persistent_collective_ordering`: recorded, and not used: matching takes the same time with wildcards
//!   allowed, messages leave in order on one wire anyway, persistent collectives get their tags when they are made. A check of
//!   these promises would cost each message an instruction and save none.
//! * `mpi_assert_memory_alloc_kinds`: recorded if all its kinds are supported ([`MEMORY_KINDS`]); all of them are memory
//!   that every core can read and write, so no choice depends on it.
//! * `mpi_hw_resource_type`: set by MPI_Comm_split_type.
//!
//! Unknown hints and invalid values are ignored and not returned.

use crate::info::{Info, MEMORY_KINDS, is_memory_kind};
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::sync::{AtomicBool, Mutex, Ordering};

/// The hints that this library knows: with a value of true or false.
const ASSERTIONS: [&str; 5] = [
    "mpi_assert_no_any_tag",
    NO_ANY_SOURCE,
    "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking",
    "mpi_assert_strict_persistent_collective_ordering",
];

const NO_ANY_SOURCE: &str = "mpi_assert_no_any_source";
/// What memory the program uses with the communicator; MPI 5.0 §11.4.3.
const ASSERTED_KINDS: &str = "mpi_assert_memory_alloc_kinds";

/// Of which kind of hardware the processes share one: set by MPI_Comm_split_type.
pub const RESOURCE: &str = "mpi_hw_resource_type";

/// The hints in use on one communicator, or those that a new one shall have.
pub struct Hints {
    values: Mutex<Vec<(String, String)>>,
    no_any_source: AtomicBool,
}

impl Default for Hints {
    fn default() -> Hints {
        Hints { values: Mutex::default(), no_any_source: AtomicBool::new(false) }
    }
}

impl Hints {
    /// What a program asks for.
    pub fn of(info: Option<&Info>) -> Hints {
        let hints = Hints::default();
        if let Some(info) = info {
            hints.set_known(|key| info.get(key));
        }
        hints
    }

    /// Takes over what is understood of these.
    pub fn take_known(&self, wanted: &Hints) {
        self.set_known(|key| wanted.get(key));
        if let Some(resource) = wanted.get(RESOURCE) {
            self.set(RESOURCE, resource);
        }
    }

    /// MPI_Comm_set_info.
    pub fn update(&self, info: &Info) {
        self.set_known(|key| info.get(key));
    }

    /// Whether the program promised to name the source of each message.
    #[inline(always)]
    pub fn names_sources(&self) -> bool {
        // Relaxed: MPI_Comm_set_info is collective and no receive of another thread may be under way beside it.
        self.no_any_source.load(Ordering::Relaxed)
    }

    /// Sets one.
    pub fn set(&self, key: &str, value: String) {
        if key == NO_ANY_SOURCE {
            self.no_any_source.store(value == "true", Ordering::Relaxed);
        }
        let mut all = self.values.lock();
        match all.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = value,
            None => all.push((key.into(), value)),
        }
    }

    /// The value of one.
    pub fn get(&self, key: &str) -> Option<String> {
        self.values.lock().iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
    }

    /// MPI_Comm_get_info: what is in use, assertions that nobody made included.
    pub fn info(&self) -> Info {
        let info = Info::of([]);
        ASSERTIONS.iter().for_each(|key| info.set(key, self.get(key).as_deref().unwrap_or("false")));
        info.set(MEMORY_KINDS.0, MEMORY_KINDS.1);
        for key in [ASSERTED_KINDS, RESOURCE] {
            if let Some(value) = self.get(key) {
                info.set(key, &value);
            }
        }
        info
    }

    fn set_known(&self, value_of: impl Fn(&str) -> Option<String>) {
        for key in ASSERTIONS {
            if let Some(value) = value_of(key).filter(|value| matches!(value.as_str(), "true" | "false")) {
                self.set(key, value);
            }
        }
        let known = |kind: &str| is_memory_kind(kind.trim());
        if let Some(kinds) = value_of(ASSERTED_KINDS).filter(|kinds| kinds.split(',').all(known)) {
            self.set(ASSERTED_KINDS, kinds);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_understood_is_kept() {
        let asked =
            Info::of([("mpi_assert_no_any_tag", "true"), ("mpi_assert_exact_length", "yes"), ("other", "true")]);
        let hints = Hints::of(Some(&asked));
        assert_eq!(hints.get("mpi_assert_no_any_tag").as_deref(), Some("true"));
        assert_eq!((hints.get("mpi_assert_exact_length"), hints.get("other")), (None, None));
        assert_eq!(hints.info().get("mpi_assert_exact_length").as_deref(), Some("false"));
        let kinds = "mpi_assert_memory_alloc_kinds";
        hints.update(&Info::of([(kinds, "system,cuda:device")]));
        assert_eq!(hints.info().get(kinds), None, "not all of them are supported");
        hints.update(&Info::of([(kinds, "mpi, system")]));
        assert_eq!(hints.info().get(kinds).as_deref(), Some("mpi, system"));
        assert_eq!(hints.info().get("mpi_memory_alloc_kinds").as_deref(), Some("mpi,system"));
        hints.update(&Info::of([("mpi_assert_no_any_source", "true")]));
        assert!(hints.names_sources());
        hints.update(&Info::of([("mpi_assert_no_any_tag", "false"), ("mpi_assert_no_any_source", "false")]));
        assert!(!hints.names_sources());
        assert_eq!(hints.info().get("mpi_assert_no_any_tag").as_deref(), Some("false"));
    }
}
