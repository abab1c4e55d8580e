//! Messages: sections of columns, each column in the shortest form that can be read where it lies.
//!
//! | what | bytes |
//! |---|---|
//! | version | 1 |
//! | sections, until the end | |
//!
//! A section holds what its columns say of the same containers:
//!
//! | what | bytes |
//! |---|---|
//! | segment: 0 names, 1 nodes, 2 + n job n | varint |
//! | containers: 0, first, count; or 1, 2 or 4 (bytes of each), count, the containers ascending | 1, varint … |
//! | number of columns | varint |
//! | per column: key, [`Form`] | varint, 1 |
//! | its body | see [`Form`] |
//!
//! Numbers of more than one byte are little-endian. A varint has seven bits a byte, the low ones first.

use super::column::Column;
use super::form::{Form, VERSION};
use super::key::{Key, NAME, NAME_KIND, Value};
use super::names::Names;
use super::segment::{Segment, SegmentId};
use super::varint;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// What a message holds: names from the one on, and of each column what changed after an epoch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Extent {
    pub names: usize,
    pub columns: Vec<(SegmentId, Key, u32)>,
}

/// Columns that say something of the same containers.
struct Section<'a> {
    segment: SegmentId,
    containers: Vec<u32>,
    columns: Vec<(Key, &'a Column)>,
}

/// The message that holds so much of the registry.
pub(super) fn encode(names: &Names, segments: &BTreeMap<SegmentId, Segment>, extent: &Extent) -> Vec<u8> {
    let mut out = Vec::from([VERSION]);
    put_names(&mut out, names, extent.names);
    let mut open: Option<Section<'_>> = None;
    for (id, key, after) in &extent.columns {
        let Some(column) = segments.get(id).and_then(|segment| segment.columns.get(key)) else { continue };
        let containers: Vec<u32> = column.changed_after(*after).collect();
        match &mut open {
            Some(section) if section.segment == *id && section.containers == containers => {
                section.columns.push((*key, column));
            }
            _ => {
                open.take().into_iter().for_each(|section| put_section(&mut out, section));
                open = Some(Section { segment: *id, containers, columns: Vec::from([(*key, column)]) });
            }
        }
    }
    open.into_iter().for_each(|section| put_section(&mut out, section));
    out
}

fn put_names(out: &mut Vec<u8>, all: &Names, first: usize) {
    let names = all.since(first);
    if names.is_empty() {
        return;
    }
    let containers: Vec<u32> = (first as u32..all.len() as u32).collect();
    put_head(out, SegmentId::Names, &containers, 2);
    varint::put_key(out, NAME);
    put_values(out, &names.iter().map(|(name, _)| Value::Text(name)).collect::<Vec<_>>());
    varint::put_key(out, NAME_KIND);
    put_values(out, &names.iter().map(|(_, kind)| Value::Number(*kind as u64)).collect::<Vec<_>>());
}

fn put_section(out: &mut Vec<u8>, section: Section<'_>) {
    let Section { segment, containers, columns } = section;
    if containers.is_empty() {
        return;
    }
    put_head(out, segment, &containers, columns.len());
    for (key, column) in columns {
        varint::put_key(out, key);
        let values: Vec<Value<'_>> = containers.iter().filter_map(|container| column.get(*container)).collect();
        put_values(out, &values);
    }
}

fn put_head(out: &mut Vec<u8>, segment: SegmentId, containers: &[u32], columns: usize) {
    varint::put(
        out,
        match segment {
            SegmentId::Names => 0,
            SegmentId::Nodes => 1,
            SegmentId::Job(job) => 2 + u64::from(job),
        },
    );
    let (first, last) = (containers[0], containers[containers.len() - 1]);
    if (last - first) as usize + 1 == containers.len() {
        out.push(0);
        varint::put(out, u64::from(first));
        varint::put(out, containers.len() as u64);
    } else {
        let width = width_of(u64::from(last));
        out.push(width);
        varint::put(out, containers.len() as u64);
        containers.iter().for_each(|container| put_wide(out, u64::from(*container), width));
    }
    varint::put(out, columns as u64);
}

/// The form and the body of a column; `values` are of one kind and not empty.
fn put_values(out: &mut Vec<u8>, values: &[Value<'_>]) {
    match values[0] {
        Value::Number(_) => {
            let number = |value: &Value<'_>| if let Value::Number(number) = value { *number } else { 0 };
            put_numbers(out, &values.iter().map(number).collect::<Vec<_>>());
        }
        Value::Bytes(_) => put_bytes(out, values, Form::Fixed, Form::Varying),
        Value::Text(_) => put_bytes(out, values, Form::FixedText, Form::VaryingText),
    }
}

fn put_numbers(out: &mut Vec<u8>, numbers: &[u64]) {
    let width = width_of(numbers.iter().copied().max().unwrap_or(0));
    let start = out.len();
    match regular(numbers) {
        Some([base, _, _, 1]) => {
            out.push(Form::Same as u8);
            varint::put(out, base);
        }
        Some(four) => {
            out.push(Form::Regular as u8);
            four.into_iter().for_each(|number| varint::put(out, number));
        }
        None => {}
    }
    let plain = 2 + numbers.len() * usize::from(width);
    if out.len() == start || out.len() - start > plain {
        out.truncate(start);
        out.extend_from_slice(&[Form::Numbers as u8, width]);
        numbers.iter().for_each(|number| put_wide(out, *number, width));
    }
}

/// Base, stride, block and cycle of numbers that follow from their places; a cycle of 1 means that all are the same.
fn regular(numbers: &[u64]) -> Option<[u64; 4]> {
    let base = numbers[0];
    let Some(block) = numbers.iter().position(|number| *number != base) else { return Some([base, 0, 1, 1]) };
    let stride = numbers[block].checked_sub(base)?;
    let cycle = numbers[block..].iter().position(|number| *number == base);
    let cycle = cycle.map_or(numbers.len().div_ceil(block), |again| (again + block).div_ceil(block));
    let follows = |place: usize| stride.checked_mul((place / block % cycle) as u64)?.checked_add(base);
    let all = numbers.iter().enumerate().all(|(place, number)| follows(place) == Some(*number));
    all.then_some([base, stride, block as u64, cycle as u64])
}

fn put_bytes(out: &mut Vec<u8>, values: &[Value<'_>], fixed: Form, varying: Form) {
    let bytes = |value: &Value<'_>| -> usize { raw(value).len() };
    let length = bytes(&values[0]);
    if values.iter().all(|value| bytes(value) == length) {
        out.push(fixed as u8);
        varint::put(out, length as u64);
    } else {
        let width = width_of(values.iter().map(|value| bytes(value) as u64).sum());
        out.extend_from_slice(&[varying as u8, width]);
        let mut end = 0;
        for value in values {
            end += bytes(value) as u64;
            put_wide(out, end, width);
        }
    }
    values.iter().for_each(|value| out.extend_from_slice(raw(value)));
}

fn raw<'a>(value: &Value<'a>) -> &'a [u8] {
    match value {
        Value::Number(_) => &[],
        Value::Bytes(bytes) => bytes,
        Value::Text(text) => text.as_bytes(),
    }
}

/// The fewest of 1, 2, 4 and 8 bytes that hold the number.
fn width_of(number: u64) -> u8 {
    [1, 2, 4].into_iter().find(|width| number >> (8 * width) == 0).unwrap_or(8)
}

fn put_wide(out: &mut Vec<u8>, number: u64, width: u8) {
    out.extend_from_slice(&number.to_le_bytes()[..usize::from(width)]);
}
