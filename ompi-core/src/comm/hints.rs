//! Hints of communicators: MPI 5.0 §7.4.4. Assertions are recorded, so that MPI_Comm_get_info tells what was promised;
//! hints that are not understood are ignored, as the standard demands.

use crate::info::Info;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::sync::Mutex;

/// The hints that this library knows: with a value of true or false.
const ASSERTIONS: [&str; 5] = [
    "mpi_assert_no_any_tag",
    "mpi_assert_no_any_source",
    "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking",
    "mpi_assert_strict_persistent_collective_ordering",
];

/// Of which kind of hardware the processes share one: set by MPI_Comm_split_type.
pub const RESOURCE: &str = "mpi_hw_resource_type";

/// The hints in use on one communicator, or those that a new one shall have.
#[derive(Default)]
pub struct Hints(Mutex<Vec<(String, String)>>);

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

    /// Sets one.
    pub fn set(&self, key: &str, value: String) {
        let mut all = self.0.lock();
        match all.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = value,
            None => all.push((key.into(), value)),
        }
    }

    /// The value of one.
    pub fn get(&self, key: &str) -> Option<String> {
        self.0.lock().iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
    }

    /// MPI_Comm_get_info: what is in use, assertions that nobody made included.
    pub fn info(&self) -> Info {
        let info = Info::of([]);
        ASSERTIONS.iter().for_each(|key| info.set(key, self.get(key).as_deref().unwrap_or("false")));
        if let Some(resource) = self.get(RESOURCE) {
            info.set(RESOURCE, &resource);
        }
        info
    }

    fn set_known(&self, value_of: impl Fn(&str) -> Option<String>) {
        for key in ASSERTIONS {
            if let Some(value) = value_of(key).filter(|value| matches!(value.as_str(), "true" | "false")) {
                self.set(key, value);
            }
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
        hints.update(&Info::of([("mpi_assert_no_any_tag", "false")]));
        assert_eq!(hints.info().get("mpi_assert_no_any_tag").as_deref(), Some("false"));
    }
}
