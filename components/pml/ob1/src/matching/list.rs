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

/// First and last entry of a list, by number: zeros if it is empty, so that a list of a source that nothing comes from takes no
/// memory.
#[derive(Clone, Copy)]
pub struct List {
    // One more than the numbers.
    first_plus: u32,
    last_plus: u32,
}

opal_core::zeroed_fields!(List { first_plus: u32, last_plus: u32 });

impl List {
    /// Where the number of the first entry lies, and one more, for debuggers.
    pub const FIRST_PLUS: usize = core::mem::offset_of!(List, first_plus);

    /// The first entry; [`NONE`] if the list is empty.
    #[inline(always)]
    pub fn first(self) -> u32 {
        self.first_plus.wrapping_sub(1)
    }

    /// The last entry; [`NONE`] if the list is empty.
    #[inline(always)]
    pub fn last(self) -> u32 {
        self.last_plus.wrapping_sub(1)
    }

    /// Whether it has no entries.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.first_plus == 0
    }

    /// Changes the first entry; returns what it was.
    #[inline(always)]
    pub fn set_first(&mut self, number: u32) -> u32 {
        core::mem::replace(&mut self.first_plus, number.wrapping_add(1)).wrapping_sub(1)
    }

    /// Changes the last entry; returns what it was.
    #[inline(always)]
    pub fn set_last(&mut self, number: u32) -> u32 {
        core::mem::replace(&mut self.last_plus, number.wrapping_add(1)).wrapping_sub(1)
    }
}

/// The number of no entry.
pub const NONE: u32 = u32::MAX;
/// A list without entries.
pub const EMPTY: List = List { first_plus: 0, last_plus: 0 };
