//! A column: the values of one key in the order of the containers, and when each last changed.

use super::key::{Kind, Value};
use alloc::vec;
use alloc::vec::Vec;

/// The values of one key.
#[derive(Clone, Debug)]
pub struct Column {
    kind: Kind,
    /// Per container the epoch of its last change, 0 for one without a value.
    changed: Vec<u32>,
    /// The greatest of them.
    last: u32,
    /// Containers that have a value.
    filled: u32,
    cells: Cells,
}

#[derive(Clone, Debug)]
enum Cells {
    Numbers(Vec<u64>),
    /// Where each value lies in `bytes`, and how many of them nobody refers to any more.
    Bytes {
        places: Vec<(u32, u32)>,
        bytes: Vec<u8>,
        stale: usize,
    },
}

/// A column cannot take so many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnFull;

impl Column {
    /// A column for so many containers, without any value.
    pub fn new(kind: Kind, containers: u32) -> Column {
        let count = containers as usize;
        let cells = match kind {
            Kind::Number => Cells::Numbers(vec![0; count]),
            Kind::Bytes | Kind::Text => Cells::Bytes { places: vec![(0, 0); count], bytes: Vec::new(), stale: 0 },
        };
        Column { kind, changed: vec![0; count], last: 0, filled: 0, cells }
    }

    /// What its values are.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The epoch of the last change of any value; 0 if there is none.
    pub fn last(&self) -> u32 {
        self.last
    }

    /// Containers that have a value.
    pub fn filled(&self) -> u32 {
        self.filled
    }

    /// Gives a container its value. The value that it has already is no change.
    ///
    /// # Panics
    /// If there is no such container, or the value is of another kind: the registry asks before.
    pub fn put(&mut self, container: u32, value: Value<'_>, epoch: u32) -> Result<(), ColumnFull> {
        assert_eq!(value.kind(), self.kind);
        if self.get(container) == Some(value) {
            return Ok(());
        }
        let at = container as usize;
        match (&mut self.cells, value) {
            (Cells::Numbers(numbers), Value::Number(number)) => numbers[at] = number,
            (Cells::Bytes { .. }, Value::Bytes(new)) => self.put_bytes(at, new)?,
            (Cells::Bytes { .. }, Value::Text(new)) => self.put_bytes(at, new.as_bytes())?,
            _ => unreachable!("the kind was compared"),
        }
        self.filled += u32::from(self.changed[at] == 0);
        self.changed[at] = epoch;
        self.last = epoch;
        Ok(())
    }

    fn put_bytes(&mut self, at: usize, new: &[u8]) -> Result<(), ColumnFull> {
        let Cells::Bytes { places, bytes, stale } = &mut self.cells else { return Ok(()) };
        let (start, length) = places[at];
        if length as usize == new.len() {
            bytes[start as usize..][..new.len()].copy_from_slice(new);
            return Ok(());
        }
        if *stale > bytes.len() / 2 {
            let mut live = Vec::with_capacity(bytes.len() - *stale);
            for place in places.iter_mut() {
                let from = place.0 as usize;
                place.0 = live.len() as u32;
                live.extend_from_slice(&bytes[from..][..place.1 as usize]);
            }
            (*bytes, *stale) = (live, 0);
        }
        if bytes.len() + new.len() > u32::MAX as usize {
            return Err(ColumnFull);
        }
        *stale += length as usize;
        places[at] = (bytes.len() as u32, new.len() as u32);
        bytes.extend_from_slice(new);
        Ok(())
    }

    /// The value of a container.
    pub fn get(&self, container: u32) -> Option<Value<'_>> {
        let at = container as usize;
        if *self.changed.get(at)? == 0 {
            return None;
        }
        Some(match &self.cells {
            Cells::Numbers(numbers) => Value::Number(numbers[at]),
            Cells::Bytes { places, bytes, .. } => {
                let bytes = &bytes[places[at].0 as usize..][..places[at].1 as usize];
                match self.kind {
                    // What was put was a text, so this is never the default.
                    Kind::Text => Value::Text(core::str::from_utf8(bytes).unwrap_or_default()),
                    _ => Value::Bytes(bytes),
                }
            }
        })
    }

    /// The containers whose value changed after `epoch`, ascending.
    pub fn changed_after(&self, epoch: u32) -> impl Iterator<Item = u32> + '_ {
        let all = if self.last > epoch { &self.changed[..] } else { &[] };
        all.iter().enumerate().filter(move |(_, changed)| **changed > epoch).map(|(container, _)| container as u32)
    }
}
