//! The object behind a datatype's handle: its layout, and the call that made it.

use super::combiner::{COMBINER_NAMED, Combiner};
use crate::error::{Class, Fault, Result};
use crate::status::Status;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::offset_of;
use opal_core::datatype::Layout;
use opal_core::inspect::Fact;
use opal_core::sync::{AtomicBool, AtomicUsize, ConditionalLock, Ordering};

/// A datatype. Immutable but for being committed, named and given a handle.
///
/// Every holder of an `Arc` keeps it alive: types made of it, pending operations, windows. To free a handle ends the
/// handle only (MPI 5.0 §5.1.9).
pub struct Datatype {
    /// Where its bytes lie.
    pub layout: Arc<Layout>,
    /// MPI_COMBINER_…: how it was made (MPI 5.0 §5.1.13).
    pub combiner: i32,
    /// The handle if it is a named predefined type, else 0.
    pub predefined: u32,
    pub(super) contents: Contents,
    // The standard's name if predefined.
    pub(super) own_name: &'static str,
    pub(super) given_name: ConditionalLock<Option<String>>,
    // 0: none, never had or freed.
    pub(super) handle: AtomicUsize,
    pub(super) committed: AtomicBool,
}

/// The arguments of the call that made a datatype, sorted as MPI_Type_get_contents_c returns them. A constructor with
/// `int` counts leaves `counts` empty; its `_c` twin puts counts and displacements there.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// array_of_integers.
    pub integers: Vec<i32>,
    /// array_of_addresses.
    pub addresses: Vec<isize>,
    /// array_of_large_counts.
    pub counts: Vec<i64>,
    /// array_of_datatypes; [`register`](super::register) makes a handle of each.
    pub datatypes: Vec<Arc<Datatype>>,
}

/// What a debugger needs to know of datatypes, which are in these tables.
pub(super) const fn facts<A, B>(table: *const A, predefined: *const B) -> [Fact; 7] {
    let given_name = offset_of!(Datatype, given_name) + ConditionalLock::<Option<String>>::VALUE;
    [
        Fact::address("datatype.table", table),
        Fact::address("datatype.predefined", predefined),
        Fact::number("datatype.layout", offset_of!(Datatype, layout)),
        Fact::number("datatype.combiner", offset_of!(Datatype, combiner)),
        Fact::number("datatype.name", given_name),
        Fact::number("datatype.own_name", offset_of!(Datatype, own_name)),
        Fact::number("datatype.committed", offset_of!(Datatype, committed)),
    ]
}

impl Datatype {
    /// A new derived datatype, not yet committed, that does not tell how it was made.
    pub fn derived(layout: Layout, combiner: i32) -> Datatype {
        Datatype::made(Arc::new(layout), combiner, Contents::default())
    }

    /// A new one that tells how it was made, not yet committed.
    pub(super) fn made(layout: Arc<Layout>, combiner: i32, contents: Contents) -> Datatype {
        Datatype {
            layout,
            combiner,
            predefined: 0,
            contents,
            own_name: "",
            given_name: ConditionalLock::new(None),
            handle: AtomicUsize::new(0),
            committed: AtomicBool::new(false),
        }
    }

    /// Whether it is one of the standard's types, named or not (MPI 5.0 §5.1.13), rather than derived from them.
    pub fn is_predefined(&self) -> bool {
        const UNNAMED: [i32; 4] = [
            Combiner::F90Real as i32,
            Combiner::F90Complex as i32,
            Combiner::F90Integer as i32,
            Combiner::ValueIndex as i32,
        ];
        self.combiner == COMBINER_NAMED || UNNAMED.contains(&self.combiner)
    }

    /// The arguments of the call that made it: numbers for MPI_Type_get_envelope, values for MPI_Type_get_contents.
    /// Empty for named types, which have none (§5.1.13: MPI_Type_get_contents is erroneous for them).
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// What the user named it, else the standard's name, else nothing.
    pub fn name(&self) -> String {
        self.given_name.lock().as_deref().unwrap_or(self.own_name).into()
    }

    /// MPI_Type_set_name; predefined types may be renamed, too.
    pub fn set_name(&self, name: String) {
        *self.given_name.lock() = Some(name);
    }

    /// Whether it may be used in communication.
    #[inline(always)]
    pub fn is_committed(&self) -> bool {
        self.committed.load(Ordering::Relaxed)
    }

    /// Makes it usable in communication.
    pub fn commit(&self) {
        self.committed.store(true, Ordering::Relaxed);
    }

    /// MPI_Get_count: whole elements in a received message; `None` is MPI_UNDEFINED.
    pub fn count_in(&self, status: &Status) -> Option<i64> {
        let (bytes, size) = (status.bytes(), self.layout.size() as u64);
        match size {
            0 => (bytes == 0).then_some(0),
            _ => bytes.is_multiple_of(size).then(|| (bytes / size) as i64),
        }
    }

    /// MPI_Get_elements: basic elements in a received message; `None` is MPI_UNDEFINED.
    pub fn elements_in(&self, status: &Status) -> Option<i64> {
        self.layout.elements_in(usize::try_from(status.bytes()).ok()?).map(|elements| elements as i64)
    }

    /// MPI_Status_set_elements: makes `status` say that so many basic elements of this type arrived.
    pub fn set_elements(&self, status: &mut Status, elements: i64) -> Result<()> {
        let bytes = usize::try_from(elements).ok().and_then(|elements| self.layout.bytes_of(elements));
        let bytes = bytes.ok_or_else(|| Fault::new(Class::Count).argument("count"))?;
        status.set_bytes(bytes as u64);
        Ok(())
    }
}

impl core::fmt::Debug for Datatype {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Datatype").field("name", &self.own_name).field("layout", &self.layout).finish_non_exhaustive()
    }
}
