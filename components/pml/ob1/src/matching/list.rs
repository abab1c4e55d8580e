//! Posted receives, the lists that they are in, and their tags.

/// A tag, or any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag(pub(super) i32);

impl Tag {
    /// MPI_ANY_TAG.
    pub const ANY: Tag = Tag(-1);

    /// This one; not negative.
    #[inline(always)]
    pub const fn only(tag: i32) -> Tag {
        Tag(tag)
    }

    /// `None` if it is any.
    pub fn number(self) -> Option<i32> {
        (self != Tag::ANY).then_some(self.0)
    }

    /// Whether a receive with this tag takes a message with that one.
    #[inline(always)]
    pub fn takes(self, tag: i32) -> bool {
        self.0 == tag || self == Tag::ANY
    }
}

/// A posted receive in the table.
// Written and read field by field where it lies: a copy of the whole would wait for its own stores. One cache line each,
// so that an index becomes an address by a shift.
#[repr(align(64))]
pub struct Posted<P> {
    /// Number of the next one in its list.
    pub next: u32,
    /// Number of the one before; of the first in a list: anything.
    pub previous: u32,
    /// The source whose messages it takes, or any.
    pub source: u32,
    /// The tag of those messages, or any.
    pub tag: Tag,
    /// The order of posting; 0: not in use.
    pub order: u64,
    /// The receive.
    pub receive: P,
}

/// First and last entry of a list, by number.
#[derive(Clone, Copy)]
pub struct List {
    /// [`NONE`] if it is empty.
    pub first: u32,
    /// [`NONE`] if it is empty.
    pub last: u32,
}

/// The number of no entry.
pub const NONE: u32 = u32::MAX;
/// A list without entries.
pub const EMPTY: List = List { first: NONE, last: NONE };
