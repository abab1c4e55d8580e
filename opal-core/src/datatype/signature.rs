//! The basic elements of a type in order. They turn a number of bytes into a number of elements, and the portable
//! representation converts them one by one.

use super::element::Unit;
use super::{Primitive, Scalar};
use crate::{Error, Result};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The sequence of basic elements of one element of a datatype.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Signature {
    /// All are alike.
    Uniform(Unit),
    /// Several kinds.
    Mixed(Arc<Mixed>),
}

#[derive(Debug, PartialEq)]
pub(super) struct Mixed {
    pub parts: Vec<Part>,
    external: usize,
    depth: u32,
}

/// `count` times a sequence.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub count: usize,
    /// Of one turn.
    pub bytes: usize,
    /// Of one turn.
    pub elements: usize,
    /// Bytes of one turn in the portable representation.
    pub external: usize,
    pub of: Signature,
}

impl Signature {
    /// That of a basic type, and how many elements it counts as: a value with its index is two. `narrow`: the bytes of
    /// its value in the portable representation, if fewer than in memory.
    pub fn basic(primitive: Primitive, narrow: Option<u8>) -> (Signature, usize) {
        let value = Unit::of(primitive, narrow);
        let index = Unit::of(Primitive::new(Scalar::Signed, INDEX), None);
        let part = |unit: Unit| Part {
            count: 1,
            bytes: unit.bytes(),
            elements: 1,
            external: unit.external(),
            of: Signature::Uniform(unit),
        };
        match primitive.scalar {
            Scalar::FloatPair => (Signature::Uniform(value), 2),
            Scalar::FloatInt | Scalar::SignedInt if value == index => (Signature::Uniform(index), 2),
            Scalar::FloatInt | Scalar::SignedInt => {
                let parts = Vec::from([part(value), part(index)]);
                (Signature::mixed(parts, 1), 2)
            }
            _ => (Signature::Uniform(value), 1),
        }
    }

    /// One part alone.
    pub fn repeated(part: Part) -> Result<Signature> {
        match part.of {
            Signature::Uniform(unit) if part.count > 0 && part.bytes > 0 => Ok(Signature::Uniform(unit)),
            _ => Signature::sequence(Vec::from([part])),
        }
    }

    /// Several after each other.
    pub fn sequence(parts: Vec<Part>) -> Result<Signature> {
        let mut parts: Vec<Part> = parts.into_iter().filter(|part| part.count > 0 && part.bytes > 0).collect();
        let unit = |part: &Part| match part.of {
            Signature::Uniform(unit) => Some(unit),
            Signature::Mixed(_) => None,
        };
        let Some(first) = parts.first() else {
            return Ok(Signature::Uniform(Unit::BYTE));
        };
        if let Some(alike) = unit(first)
            && parts.iter().all(|part| unit(part) == Some(alike))
        {
            return Ok(Signature::Uniform(alike));
        }
        if parts.len() == 1 && parts[0].count == 1 {
            return Ok(parts.remove(0).of);
        }
        let depth = parts.iter().map(|part| part.of.depth()).max().unwrap_or(0) + 1;
        if depth > DEEPEST {
            return Err(Error::OutOfResource);
        }
        Ok(Signature::mixed(parts, depth))
    }

    fn mixed(parts: Vec<Part>, depth: u32) -> Signature {
        // The portable representation is never longer than memory's, whose size fits.
        let external = parts.iter().map(|part| part.count * part.external).sum();
        Signature::Mixed(Arc::new(Mixed { parts, external, depth }))
    }

    /// Bytes in the portable representation, for a sequence of so many basic elements.
    pub fn external(&self, elements: usize) -> usize {
        match self {
            Signature::Uniform(unit) => unit.external() * elements,
            Signature::Mixed(mixed) => mixed.external,
        }
    }

    /// Basic elements in the first `bytes` bytes; `None` if they end within one.
    pub fn elements_in(&self, mut bytes: usize) -> Option<usize> {
        let mixed = match self {
            Signature::Uniform(unit) => return bytes.is_multiple_of(unit.bytes()).then(|| bytes / unit.bytes()),
            Signature::Mixed(mixed) => mixed,
        };
        let mut elements = 0;
        for part in &mixed.parts {
            let turns = (bytes / part.bytes).min(part.count);
            elements += turns * part.elements;
            bytes -= turns * part.bytes;
            if turns < part.count {
                return Some(elements + part.of.elements_in(bytes)?);
            }
        }
        (bytes == 0).then_some(elements)
    }

    /// Basic elements that lie wholly in the first `bytes` bytes.
    pub fn elements_within(&self, mut bytes: usize) -> usize {
        let mixed = match self {
            Signature::Uniform(unit) => return bytes / unit.bytes(),
            Signature::Mixed(mixed) => mixed,
        };
        let mut elements = 0;
        for part in &mixed.parts {
            let turns = (bytes / part.bytes).min(part.count);
            elements += turns * part.elements;
            bytes -= turns * part.bytes;
            if turns < part.count {
                return elements + part.of.elements_within(bytes);
            }
        }
        elements
    }

    /// Bytes of the basic elements that lie wholly in the first `bytes` bytes of the portable representation: in memory, and there.
    pub fn bytes_of_external(&self, bytes: usize) -> (usize, usize) {
        let mixed = match self {
            Signature::Uniform(unit) => {
                let whole = bytes / unit.external();
                return (whole * unit.bytes(), whole * unit.external());
            }
            Signature::Mixed(mixed) => mixed,
        };
        let (mut here, mut there) = (0, 0);
        for part in &mixed.parts {
            let turns = ((bytes - there) / part.external).min(part.count);
            here += turns * part.bytes;
            there += turns * part.external;
            if turns < part.count {
                let (rest_here, rest_there) = part.of.bytes_of_external(bytes - there);
                return (here + rest_here, there + rest_there);
            }
        }
        (here, there)
    }

    /// Bytes of the first `elements` basic elements; `None` if there are fewer.
    pub fn bytes_of(&self, mut elements: usize) -> Option<usize> {
        let mixed = match self {
            Signature::Uniform(unit) => return elements.checked_mul(unit.bytes()),
            Signature::Mixed(mixed) => mixed,
        };
        let mut bytes = 0;
        for part in &mixed.parts {
            let turns = (elements / part.elements).min(part.count);
            bytes += turns * part.bytes;
            elements -= turns * part.elements;
            if turns < part.count {
                return Some(bytes + part.of.bytes_of(elements)?);
            }
        }
        (elements == 0).then_some(bytes)
    }

    fn depth(&self) -> u32 {
        match self {
            Signature::Uniform(_) => 0,
            Signature::Mixed(mixed) => mixed.depth,
        }
    }
}

/// Bytes of the index of MINLOC's pairs.
const INDEX: u8 = 4;
/// Structures within structures.
const DEEPEST: u32 = 1024;
