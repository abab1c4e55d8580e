//! Keys: the central schema, and the range that the name service gives out.

/// What a value is called, as a number.
///
/// On the wire a key below 128 is one byte, every other two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub(super) u16);

/// The first number of the range that the name service gives out; everything below it is the schema's.
pub const DYNAMIC: u16 = 64;
/// The end of that range.
pub const KEYS_MAX: u16 = 1 << 15;

/// What the values of a key are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// An unsigned number of at most 64 bits.
    Number = 0,
    /// Bytes that the registry does not look into.
    Bytes = 1,
    /// UTF-8.
    Text = 2,
}

/// One row of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    /// The key.
    pub key: Key,
    /// Its name, for people.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
}

/// Names segment: the name of a dynamic key.
pub const NAME: Key = Key(0);
/// Names segment: the [`Kind`] of a dynamic key's values.
pub const NAME_KIND: Key = Key(1);
/// Node: its name, for people; a job needs none to run, so it travels only if a parameter says so.
pub const NODE_NAME: Key = Key(2);
/// Node: where its daemon listens.
pub const NODE_CONTACT: Key = Key(3);
/// Node: ranks that it has room for.
pub const NODE_SLOTS: Key = Key(4);
/// Node: a state of the launch.
pub const NODE_STATE: Key = Key(5);
/// Process: the id of its node.
pub const PROC_NODE: Key = Key(16);
/// Process: rank among those of its node.
pub const PROC_LOCAL_RANK: Key = Key(17);
/// Process: which of the job's programs it runs.
pub const PROC_APP: Key = Key(18);
/// Process: a state of its life.
pub const PROC_STATE: Key = Key(19);
/// Process: its number in the system of its node.
pub const PROC_PID: Key = Key(20);
/// Process: the status with which it ended.
pub const PROC_STATUS: Key = Key(21);
/// Process: the addresses that its transports published.
pub const PROC_ADDRESSES: Key = Key(22);
/// Process: where its out-of-band messages arrive.
pub const PROC_CONTACT: Key = Key(23);

/// The schema, in the order of the keys.
pub const SCHEMA: &[KeyInfo] = &[
    KeyInfo { key: NAME, name: "name", kind: Kind::Text },
    KeyInfo { key: NAME_KIND, name: "name-kind", kind: Kind::Number },
    KeyInfo { key: NODE_NAME, name: "node-name", kind: Kind::Text },
    KeyInfo { key: NODE_CONTACT, name: "node-contact", kind: Kind::Bytes },
    KeyInfo { key: NODE_SLOTS, name: "node-slots", kind: Kind::Number },
    KeyInfo { key: NODE_STATE, name: "node-state", kind: Kind::Number },
    KeyInfo { key: PROC_NODE, name: "proc-node", kind: Kind::Number },
    KeyInfo { key: PROC_LOCAL_RANK, name: "proc-local-rank", kind: Kind::Number },
    KeyInfo { key: PROC_APP, name: "proc-app", kind: Kind::Number },
    KeyInfo { key: PROC_STATE, name: "proc-state", kind: Kind::Number },
    KeyInfo { key: PROC_PID, name: "proc-pid", kind: Kind::Number },
    KeyInfo { key: PROC_STATUS, name: "proc-status", kind: Kind::Number },
    KeyInfo { key: PROC_ADDRESSES, name: "proc-addresses", kind: Kind::Bytes },
    KeyInfo { key: PROC_CONTACT, name: "proc-contact", kind: Kind::Bytes },
];

impl Key {
    /// The key of that number, if there can be one: a row of the schema or one of the dynamic range.
    pub fn new(number: u16) -> Option<Key> {
        let key = Key(number);
        let known = key.info().is_some() || (DYNAMIC..KEYS_MAX).contains(&number);
        known.then_some(key)
    }

    /// Its number.
    pub fn number(self) -> u16 {
        self.0
    }

    /// Its row of the schema; `None` for a dynamic key.
    pub fn info(self) -> Option<&'static KeyInfo> {
        SCHEMA.binary_search_by_key(&self.0, |info| info.key.0).ok().map(|row| &SCHEMA[row])
    }
}

impl Kind {
    /// The kind of that number.
    pub fn of(number: u64) -> Option<Kind> {
        [Kind::Number, Kind::Bytes, Kind::Text].into_iter().find(|kind| *kind as u64 == number)
    }
}

/// One value, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Of [`Kind::Number`].
    Number(u64),
    /// Of [`Kind::Bytes`].
    Bytes(&'a [u8]),
    /// Of [`Kind::Text`].
    Text(&'a str),
}

impl Value<'_> {
    /// What it is.
    pub fn kind(&self) -> Kind {
        match self {
            Value::Number(_) => Kind::Number,
            Value::Bytes(_) => Kind::Bytes,
            Value::Text(_) => Kind::Text,
        }
    }
}
