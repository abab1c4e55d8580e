//! Hints: ordered pairs of key and value. MPI 5.0 §10.

use crate::{Error, Result};
use alloc::string::String;
use core::fmt;
use ompi_core::info;

/// Hints for the library, by key. What it does not know it ignores.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{info::Info, traits::*};
///
/// let hints = Info::new().with("mpi_assert_no_any_tag", "true")?.with("unknown", "7")?;
/// let world = universe.world().duplicate_with_info(&hints)?;
/// assert_eq!(world.info().get("mpi_assert_no_any_tag").as_deref(), Some("true"));
/// assert_eq!(world.info().get("unknown"), None);
/// # Ok::<(), ompi::Error>(())
/// ```
pub struct Info(info::Info);

impl Info {
    /// None.
    pub fn new() -> Info {
        Info(info::Info::of([]))
    }

    /// These, and one more.
    pub fn with(mut self, key: &str, value: &str) -> Result<Info> {
        self.set(key, value)?;
        Ok(self)
    }

    /// Sets a value. `Err(InfoKey)` if the key is empty or longer than 255 bytes, `Err(InfoValue)` if the value is longer
    /// than 1023.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        info::check_key(key).and_then(|()| info::check_value(value)).map_err(Error::from)?;
        self.0.set(key, value);
        Ok(())
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<String> {
        self.0.get(key)
    }

    /// Deletes a key; says whether it was there.
    pub fn remove(&mut self, key: &str) -> bool {
        self.0.delete(key)
    }

    /// The keys with their values, in the order in which the keys were first set.
    pub fn pairs(&self) -> impl Iterator<Item = (String, String)> {
        let keys = (0..self.0.len()).filter_map(|number| self.0.key(number));
        keys.filter_map(|key| self.0.get(&key).map(|value| (key, value)))
    }

    pub(crate) fn of(info: info::Info) -> Info {
        Info(info)
    }

    pub(crate) fn inner(&self) -> &info::Info {
        &self.0
    }
}

impl Default for Info {
    fn default() -> Info {
        Info::new()
    }
}

impl Clone for Info {
    fn clone(&self) -> Info {
        Info(self.0.duplicate())
    }
}

impl fmt::Debug for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.pairs()).finish()
    }
}
