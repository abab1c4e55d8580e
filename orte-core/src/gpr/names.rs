//! The registry's name service: a name that the schema lacks gets a number once, and keeps it.

use super::key::{DYNAMIC, KEYS_MAX, Key, Kind};
use alloc::string::String;
use alloc::vec::Vec;

/// The dynamic keys of a registry, in the order in which they were asked for.
#[derive(Clone, Debug, Default)]
pub struct Names(Vec<(String, Kind)>);

/// Why a name gets no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoKey {
    /// The name is known, and its values are of another kind.
    Kind(Kind),
    /// All numbers are given out.
    Full,
}

impl Names {
    /// The key of `name`: the one that it has, else the next number.
    pub fn assign(&mut self, name: &str, kind: Kind) -> Result<Key, NoKey> {
        if let Some(at) = self.0.iter().position(|known| known.0 == name) {
            let known = self.0[at].1;
            return if known == kind { Ok(Key(DYNAMIC + at as u16)) } else { Err(NoKey::Kind(known)) };
        }
        if self.0.len() >= usize::from(KEYS_MAX - DYNAMIC) {
            return Err(NoKey::Full);
        }
        self.0.push((name.into(), kind));
        Ok(Key(DYNAMIC + (self.0.len() - 1) as u16))
    }

    /// What values of this key are; `None` for a number that nobody was given.
    pub fn kind(&self, key: Key) -> Option<Kind> {
        match key.info() {
            Some(info) => Some(info.kind),
            None => self.0.get(usize::from(key.0.checked_sub(DYNAMIC)?)).map(|known| known.1),
        }
    }

    /// What people call this key.
    pub fn name(&self, key: Key) -> Option<&str> {
        match key.info() {
            Some(info) => Some(info.name),
            None => self.0.get(usize::from(key.0.checked_sub(DYNAMIC)?)).map(|known| known.0.as_str()),
        }
    }

    /// Dynamic keys that were given out.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The dynamic keys from the `first` on, with names and kinds.
    pub(super) fn since(&self, first: usize) -> &[(String, Kind)] {
        self.0.get(first..).unwrap_or_default()
    }
}

impl core::fmt::Display for NoKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            NoKey::Kind(kind) => write!(f, "the name has a key already, whose values are of the kind {kind:?}"),
            NoKey::Full => write!(f, "all {} dynamic keys are given out", KEYS_MAX - DYNAMIC),
        }
    }
}
