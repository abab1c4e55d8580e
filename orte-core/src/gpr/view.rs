//! A message read where it lies: nothing is copied, and a value is found without reading those before it.
//!
//! [`View::new_checked`] looks at every byte once. After it no call can fail or read past the end.

use super::flaw::{Fault, MessageFlaw};
use super::form::{Form, VERSION};
use super::key::{Key, Kind, Value};
use super::segment::{CONTAINERS_MAX, SegmentId};
use super::varint::Rest;
use alloc::vec::Vec;

/// A checked message.
#[derive(Clone, Debug)]
pub struct View<'a> {
    sections: Vec<SectionView<'a>>,
}

/// What some columns say of the same containers.
#[derive(Clone, Debug)]
pub struct SectionView<'a> {
    segment: SegmentId,
    selection: Selection<'a>,
    columns: Vec<(Key, ColumnView<'a>)>,
}

#[derive(Clone, Debug)]
enum Selection<'a> {
    Range { first: u32, count: u32 },
    List { width: u8, bytes: &'a [u8] },
}

/// A column as it lies in a message.
#[derive(Clone, Copy, Debug)]
pub struct ColumnView<'a>(Body<'a>);

#[derive(Clone, Copy, Debug)]
enum Body<'a> {
    Same(u64),
    Regular { base: u64, stride: u64, block: u64, cycle: u64 },
    Numbers { width: u8, bytes: &'a [u8] },
    Fixed { text: bool, length: usize, bytes: &'a [u8] },
    Varying { text: bool, width: u8, ends: &'a [u8], bytes: &'a [u8] },
}

impl<'a> View<'a> {
    /// Checks a message of unknown origin.
    pub fn new_checked(bytes: &'a [u8]) -> Result<View<'a>, MessageFlaw> {
        let mut rest = Rest { bytes, at: 0 };
        let version = rest.byte()?;
        if version != VERSION {
            return Err(Fault::Version(version).at(0));
        }
        View::read(&mut rest)
    }

    /// Checks the sections of a message, without its version.
    pub fn sections_checked(bytes: &'a [u8]) -> Result<View<'a>, MessageFlaw> {
        View::read(&mut Rest { bytes, at: 0 })
    }

    fn read(rest: &mut Rest<'a>) -> Result<View<'a>, MessageFlaw> {
        let mut sections = Vec::new();
        while !rest.bytes.is_empty() {
            sections.push(SectionView::read(rest)?);
        }
        Ok(View { sections })
    }

    /// Its sections, in their order.
    pub fn sections(&self) -> &[SectionView<'a>] {
        &self.sections
    }

    /// What it says of a container; the last word, if it says several.
    pub fn get(&self, segment: SegmentId, container: u32, key: Key) -> Option<Value<'a>> {
        self.sections.iter().rev().filter(|section| section.segment == segment).find_map(|section| {
            let place = section.selection.place(container)?;
            let column = section.columns.binary_search_by_key(&key, |column| column.0).ok()?;
            Some(section.columns[column].1.at(place))
        })
    }
}

impl<'a> SectionView<'a> {
    /// What its containers are.
    pub fn segment(&self) -> SegmentId {
        self.segment
    }

    /// Its containers, ascending.
    pub fn containers(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.selection.count()).map(|place| self.selection.container(place))
    }

    /// How many they are.
    pub fn count(&self) -> u32 {
        self.selection.count()
    }

    /// The greatest of its containers.
    pub fn last_container(&self) -> u32 {
        self.selection.container(self.selection.count() - 1)
    }

    /// Its columns, in the order of the keys.
    pub fn columns(&self) -> impl Iterator<Item = (Key, ColumnView<'a>)> + '_ {
        self.columns.iter().copied()
    }

    fn read(rest: &mut Rest<'a>) -> Result<SectionView<'a>, MessageFlaw> {
        let at = rest.at;
        let number = rest.number()?;
        let segment = match number {
            0 => SegmentId::Names,
            1 => SegmentId::Nodes,
            _ => SegmentId::Job(u16::try_from(number - 2).map_err(|_| Fault::Segment(number).at(at))?),
        };
        let selection = Selection::read(rest)?;
        let mut columns: Vec<(Key, ColumnView<'a>)> = Vec::new();
        for _ in 0..rest.count()? {
            let at = rest.at;
            let key = rest.key()?;
            if columns.last().is_some_and(|before| before.0 >= key) {
                return Err(Fault::Order.at(at));
            }
            columns.push((key, ColumnView::read(rest, key, selection.count() as usize)?));
        }
        Ok(SectionView { segment, selection, columns })
    }
}

impl<'a> Selection<'a> {
    fn read(rest: &mut Rest<'a>) -> Result<Selection<'a>, MessageFlaw> {
        let at = rest.at;
        let width = rest.byte()?;
        let flaw = Fault::Containers.at(at);
        if width == 0 {
            let (first, count) = (rest.count()?, rest.count()?);
            let end = first.checked_add(count).filter(|end| count > 0 && *end <= CONTAINERS_MAX);
            return end.map(|_| Selection::Range { first, count }).ok_or(flaw);
        }
        if !matches!(width, 1 | 2 | 4) {
            return Err(flaw);
        }
        let count = rest.count()? as usize;
        let bytes = rest.take(count.checked_mul(usize::from(width)).ok_or(flaw)?)?;
        let list = Selection::List { width, bytes };
        let ascending = (1..count as u32).all(|place| list.container(place - 1) < list.container(place));
        let fits = count > 0 && list.container(count as u32 - 1) < CONTAINERS_MAX;
        if ascending && fits { Ok(list) } else { Err(flaw) }
    }

    fn count(&self) -> u32 {
        match self {
            Selection::Range { count, .. } => *count,
            Selection::List { width, bytes } => (bytes.len() / usize::from(*width)) as u32,
        }
    }

    fn container(&self, place: u32) -> u32 {
        match self {
            Selection::Range { first, .. } => first + place,
            Selection::List { width, bytes } => wide(bytes, place as usize, *width) as u32,
        }
    }

    fn place(&self, container: u32) -> Option<u32> {
        match self {
            Selection::Range { first, count } => container.checked_sub(*first).filter(|place| place < count),
            Selection::List { .. } => {
                let (mut low, mut high) = (0, self.count());
                while low < high {
                    let middle = low + (high - low) / 2;
                    match self.container(middle).cmp(&container) {
                        core::cmp::Ordering::Equal => return Some(middle),
                        core::cmp::Ordering::Less => low = middle + 1,
                        core::cmp::Ordering::Greater => high = middle,
                    }
                }
                None
            }
        }
    }
}

impl<'a> ColumnView<'a> {
    /// The value at a place, counted among the containers of the section.
    ///
    /// # Panics
    /// If the section has not so many containers.
    pub fn at(&self, place: u32) -> Value<'a> {
        let place = place as usize;
        match self.0 {
            Body::Same(number) => Value::Number(number),
            Body::Regular { base, stride, block, cycle } => Value::Number(base + place as u64 / block % cycle * stride),
            Body::Numbers { width, bytes } => Value::Number(wide(bytes, place, width)),
            Body::Fixed { text, length, bytes } => value(text, &bytes[place * length..][..length]),
            Body::Varying { text, width, ends, bytes } => {
                let start = place.checked_sub(1).map_or(0, |before| wide(ends, before, width));
                value(text, &bytes[start as usize..wide(ends, place, width) as usize])
            }
        }
    }

    fn read(rest: &mut Rest<'a>, key: Key, count: usize) -> Result<ColumnView<'a>, MessageFlaw> {
        let at = rest.at;
        let flaw = Fault::Form.at(at);
        let form = Form::of(rest.byte()?).ok_or(flaw)?;
        let kind = match form {
            Form::Same | Form::Regular | Form::Numbers => Kind::Number,
            Form::Fixed | Form::Varying => Kind::Bytes,
            Form::FixedText | Form::VaryingText => Kind::Text,
        };
        if key.info().is_some_and(|info| info.kind != kind) {
            return Err(flaw);
        }
        let text = kind == Kind::Text;
        let body = match form {
            Form::Same => Body::Same(rest.number()?),
            Form::Regular => {
                let [base, stride, block, cycle] = [rest.number()?, rest.number()?, rest.number()?, rest.number()?];
                let most = cycle.checked_sub(1).and_then(|last| stride.checked_mul(last)?.checked_add(base));
                if block == 0 || most.is_none() {
                    return Err(Fault::Number.at(at));
                }
                Body::Regular { base, stride, block, cycle }
            }
            Form::Numbers => {
                let width = rest.byte()?;
                if !matches!(width, 1 | 2 | 4 | 8) {
                    return Err(flaw);
                }
                Body::Numbers { width, bytes: rest.take(count * usize::from(width))? }
            }
            Form::Fixed | Form::FixedText => {
                let length = rest.count()? as usize;
                let bytes = rest.take(length.checked_mul(count).ok_or(flaw)?)?;
                Body::Fixed { text, length, bytes }
            }
            Form::Varying | Form::VaryingText => {
                let width = rest.byte()?;
                if !matches!(width, 1 | 2 | 4) {
                    return Err(flaw);
                }
                let ends = rest.take(count * usize::from(width))?;
                let ascending = (1..count).all(|place| wide(ends, place - 1, width) <= wide(ends, place, width));
                if !ascending {
                    return Err(Fault::Ends.at(at));
                }
                Body::Varying { text, width, ends, bytes: rest.take(wide(ends, count - 1, width) as usize)? }
            }
        };
        let column = ColumnView(body);
        if text && !column.is_text(count) {
            return Err(Fault::Text.at(at));
        }
        Ok(column)
    }

    /// Whether all is UTF-8 and no value begins inside a character.
    fn is_text(&self, count: usize) -> bool {
        let (Body::Fixed { bytes, .. } | Body::Varying { bytes, .. }) = self.0 else { return false };
        if bytes.is_empty() {
            return true;
        }
        let Ok(text) = core::str::from_utf8(bytes) else { return false };
        (0..count).all(|place| match self.0 {
            Body::Fixed { length, .. } => text.is_char_boundary(place * length),
            Body::Varying { width, ends, .. } => text.is_char_boundary(wide(ends, place, width) as usize),
            _ => false,
        })
    }
}

fn value(text: bool, bytes: &[u8]) -> Value<'_> {
    match text {
        // `is_text` said that it is one, so this is never the default.
        true => Value::Text(core::str::from_utf8(bytes).unwrap_or_default()),
        false => Value::Bytes(bytes),
    }
}

fn wide(bytes: &[u8], place: usize, width: u8) -> u64 {
    let width = usize::from(width);
    let mut number = [0; 8];
    number[..width].copy_from_slice(&bytes[place * width..][..width]);
    u64::from_le_bytes(number)
}
