//! The registry itself: segments of columns, the subscriptions, and what each node was sent.

use super::column::Column;
use super::encode::{Extent, encode};
use super::key::{DYNAMIC, Key, Kind, NAME, NAME_KIND, Value};
use super::names::{Names, NoKey};
use super::refusal::Refusal;
use super::segment::{CONTAINERS_MAX, Segment, SegmentId};
use super::subscription::{Subscription, Trigger};
use super::view::{SectionView, View};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use opal_core::sort;

/// What some nodes are to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// The nodes, ascending.
    pub nodes: Vec<u32>,
    /// The message, for [`View::new_checked`].
    pub bytes: Vec<u8>,
}

/// What a node was sent: names, and per column the epoch up to which.
#[derive(Clone, Debug, Default)]
struct Sent {
    names: usize,
    columns: BTreeMap<(SegmentId, Key), u32>,
}

/// A registry. That of mpirun is the whole; a node's holds what the node subscribed to.
#[derive(Clone, Debug)]
pub struct Registry {
    /// Rises with every [`Registry::notifications`].
    epoch: u32,
    names: Names,
    segments: BTreeMap<SegmentId, Segment>,
    subscriptions: Vec<Subscription>,
    nodes: BTreeMap<u32, Sent>,
}

impl Default for Registry {
    fn default() -> Registry {
        Registry {
            epoch: 1,
            names: Names::default(),
            segments: BTreeMap::new(),
            subscriptions: Vec::new(),
            nodes: BTreeMap::new(),
        }
    }
}

impl Registry {
    /// Makes a segment for so many containers.
    pub fn add_segment(&mut self, segment: SegmentId, containers: u32) -> Result<(), Refusal> {
        if containers == 0 || containers > CONTAINERS_MAX {
            return Err(Refusal::Containers(containers));
        }
        if segment == SegmentId::Names || self.segments.contains_key(&segment) {
            return Err(Refusal::SegmentTwice(segment));
        }
        self.segments.insert(segment, Segment { containers, columns: BTreeMap::new() });
        Ok(())
    }

    /// The key of a name that the schema lacks; the same for the same name.
    pub fn key(&mut self, name: &str, kind: Kind) -> Result<Key, NoKey> {
        self.names.assign(name, kind)
    }

    /// What people call a key.
    pub fn key_name(&self, key: Key) -> Option<&str> {
        self.names.name(key)
    }

    /// Gives a container a value of a key.
    pub fn put(&mut self, segment: SegmentId, container: u32, key: Key, value: Value<'_>) -> Result<(), Refusal> {
        self.allowed(segment, container, key, value.kind())?;
        let epoch = self.epoch;
        let segment = self.segments.get_mut(&segment).ok_or(Refusal::Segment(segment))?;
        let containers = segment.containers;
        let column = segment.columns.entry(key).or_insert_with(|| Column::new(value.kind(), containers));
        column.put(container, value, epoch).map_err(|_| Refusal::Full(key))
    }

    /// The value of a container.
    pub fn get(&self, segment: SegmentId, container: u32, key: Key) -> Option<Value<'_>> {
        self.segments.get(&segment)?.columns.get(&key)?.get(container)
    }

    /// A node wants values.
    pub fn subscribe(&mut self, subscription: Subscription) -> Result<(), Refusal> {
        let id = subscription.segment;
        let segment = self.segments.get(&id).ok_or(Refusal::Segment(id))?;
        let gate = match subscription.trigger {
            Trigger::Now => None,
            Trigger::All(key) => Some(key),
            Trigger::Count(key, count) if count <= segment.containers => Some(key),
            Trigger::Count(_, count) => {
                let containers = segment.containers;
                return Err(Refusal::Container { segment: id, container: count - 1, containers });
            }
        };
        for key in subscription.keys.iter().copied().chain(gate) {
            self.names.kind(key).ok_or(Refusal::Key(key))?;
        }
        self.subscriptions.push(subscription);
        Ok(())
    }

    /// A node is gone: it wants nothing any more, and was never sent anything.
    pub fn forget(&mut self, node: u32) {
        self.subscriptions.retain(|subscription| subscription.node != node);
        self.nodes.remove(&node);
    }

    /// What is to be sent now. Nodes that need the same share one message; nothing is in it that they were sent before.
    pub fn notifications(&mut self) -> Vec<Notification> {
        let mut wanted: BTreeMap<u32, Vec<(SegmentId, Key)>> = BTreeMap::new();
        for subscription in self.subscriptions.iter().filter(|subscription| self.has_begun(subscription)) {
            let keys = subscription.keys.iter().map(|key| (subscription.segment, *key));
            wanted.entry(subscription.node).or_default().extend(keys);
        }
        let mut groups: BTreeMap<Extent, Vec<u32>> = BTreeMap::new();
        for (node, mut columns) in wanted {
            sort::ascending(&mut columns);
            columns.dedup();
            let sent = self.nodes.entry(node).or_default();
            let changed = |(segment, key): &(SegmentId, Key)| {
                let column = self.segments.get(segment)?.columns.get(key)?;
                let before = sent.columns.get(&(*segment, *key)).copied().unwrap_or(0);
                (column.last() > before).then_some((*segment, *key, before))
            };
            let extent = Extent { names: sent.names, columns: columns.iter().filter_map(changed).collect() };
            if extent.columns.is_empty() {
                continue;
            }
            sent.names = self.names.len();
            sent.columns.extend(extent.columns.iter().map(|(segment, key, _)| ((*segment, *key), self.epoch)));
            groups.entry(extent).or_default().push(node);
        }
        self.epoch += 1;
        groups
            .into_iter()
            .map(|(extent, nodes)| Notification { nodes, bytes: encode(&self.names, &self.segments, &extent) })
            .collect()
    }

    /// Everything as one message: what a daemon maps for its ranks.
    pub fn image(&self) -> Vec<u8> {
        let columns = self.segments.iter().flat_map(|(id, segment)| segment.columns.keys().map(|key| (*id, *key, 0)));
        encode(&self.names, &self.segments, &Extent { names: 0, columns: columns.collect() })
    }

    /// Takes over what a message holds. Segments that it speaks of must be there; after `Err` what came before the flaw in
    /// the message has been taken over.
    pub fn apply(&mut self, message: &View<'_>) -> Result<(), Refusal> {
        for section in message.sections() {
            if section.segment() != SegmentId::Names {
                self.has(section.segment(), section.last_container())?;
            }
            for (key, column) in section.columns() {
                for (place, container) in section.containers().enumerate() {
                    let value = column.at(place as u32);
                    match section.segment() {
                        SegmentId::Names if key == NAME => self.take_name(section, place as u32, container)?,
                        SegmentId::Names => {}
                        segment => self.put(segment, container, key, value)?,
                    }
                }
            }
        }
        Ok(())
    }

    /// A name out of a message: it must get the number here that it has there.
    fn take_name(&mut self, section: &SectionView<'_>, place: u32, container: u32) -> Result<(), Refusal> {
        let of = |key| section.columns().find(|(known, _)| *known == key).map(|(_, column)| column.at(place));
        let (Some(Value::Text(name)), Some(Value::Number(kind))) = (of(NAME), of(NAME_KIND)) else {
            return Err(Refusal::Key(NAME_KIND));
        };
        let kind = Kind::of(kind).ok_or(Refusal::Key(NAME_KIND))?;
        let key = self.names.assign(name, kind).map_err(Refusal::Name)?;
        if u32::from(key.number() - DYNAMIC) == container { Ok(()) } else { Err(Refusal::Key(key)) }
    }

    fn has_begun(&self, subscription: &Subscription) -> bool {
        let Some(segment) = self.segments.get(&subscription.segment) else { return false };
        let filled = |key: &Key| segment.columns.get(key).map_or(0, Column::filled);
        match &subscription.trigger {
            Trigger::Now => true,
            Trigger::All(key) => filled(key) == segment.containers,
            Trigger::Count(key, count) => filled(key) >= *count,
        }
    }

    fn allowed(&self, id: SegmentId, container: u32, key: Key, kind: Kind) -> Result<(), Refusal> {
        self.has(id, container)?;
        let wanted = self.names.kind(key).ok_or(Refusal::Key(key))?;
        if wanted == kind { Ok(()) } else { Err(Refusal::Kind { key, wanted }) }
    }

    fn has(&self, id: SegmentId, container: u32) -> Result<(), Refusal> {
        let containers = self.segments.get(&id).ok_or(Refusal::Segment(id))?.containers;
        if container < containers { Ok(()) } else { Err(Refusal::Container { segment: id, container, containers }) }
    }
}
