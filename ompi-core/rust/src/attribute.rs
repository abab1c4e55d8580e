//! Values that a program hangs on communicators, by their type. MPI 5.0 §7.7.
//!
//! The library keeps a number with a communicator; the values lie here under it, so that the library's callbacks and a program
//! that still holds one never meet.
#![allow(unsafe_code)] // callbacks get addresses

use crate::topology::{Communicator, Owned};
use crate::{Result, error};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::any::{Any, TypeId};
use core::ffi::{c_int, c_void};
use ompi_core::abi::Scope;
use ompi_core::attr::{self, KeyvalKind};
use ompi_core::error::Result as Inner;
use opal_core::sync::Mutex;

/// A type of which each communicator can have one value.
pub trait Attribute: Send + Sync + 'static {
    /// The value that a duplicate of the communicator gets; `None` for none.
    fn duplicate(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

/// Attributes of communicators.
///
/// ```
/// # let universe = test_singleton::universe();
/// use ompi::{attribute::Attribute, traits::*};
///
/// #[derive(Debug, PartialEq)]
/// struct Generation(u32);
///
/// impl Attribute for Generation {
///     fn duplicate(&self) -> Option<Generation> {
///         Some(Generation(self.0 + 1))
///     }
/// }
///
/// let world = universe.world();
/// assert_eq!(world.attribute::<Generation>(), None);
/// world.set_attribute(Generation(1))?;
/// let copy = world.duplicate()?;
/// assert_eq!(copy.attribute().as_deref(), Some(&Generation(2)));
/// world.delete_attribute::<Generation>()?;
/// assert_eq!(world.attribute::<Generation>(), None);
/// # Ok::<(), ompi::Error>(())
/// ```
pub trait Attributes: Communicator {
    /// Sets the value of a type; the one before is dropped.
    fn set_attribute<T: Attribute>(&self, value: T) -> Result<()> {
        let owned = self.owned();
        let set = key::<T>().and_then(|key| {
            let number = insert(Arc::new(value));
            let word = core::ptr::without_provenance_mut(number);
            attr::set(KeyvalKind::Comm, owned.handle(), key, word).inspect_err(|_| drop(remove(number)))
        });
        checked(owned, "set_attribute", set)
    }

    /// The value of a type, if it was set.
    fn attribute<T: Attribute>(&self) -> Option<Arc<T>> {
        let key = known::<T>()?;
        let number = attr::get(KeyvalKind::Comm, self.owned().handle(), key).ok()??.addr();
        find(number)
    }

    /// Drops the value of a type, if it was set.
    fn delete_attribute<T: Attribute>(&self) -> Result<()> {
        let owned = self.owned();
        match (self.attribute::<T>(), known::<T>()) {
            (Some(_), Some(key)) => {
                checked(owned, "delete_attribute", attr::delete(KeyvalKind::Comm, owned.handle(), key))
            }
            _ => Ok(()),
        }
    }
}

impl<C: Communicator + ?Sized> Attributes for C {}

fn checked(owned: &Owned, function: &'static str, result: Inner<()>) -> Result<()> {
    result.map_err(|fault| error::raise(Scope::Comm(owned.handle()), function, fault))
}

type Value = Arc<dyn Any + Send + Sync>;

struct Values {
    last: usize,
    all: BTreeMap<usize, Value>,
}

static KEYS: Mutex<BTreeMap<TypeId, c_int>> = Mutex::new(BTreeMap::new());
static VALUES: Mutex<Values> = Mutex::new(Values { last: 0, all: BTreeMap::new() });

/// The library's key for a type, which stays.
fn key<T: Attribute>() -> Inner<c_int> {
    let mut keys = KEYS.lock();
    if let Some(key) = keys.get(&TypeId::of::<T>()) {
        return Ok(*key);
    }
    let (copy, delete) = (copy::<T> as *const c_void, delete as *const c_void);
    let key = attr::create_key(KeyvalKind::Comm, copy, delete, core::ptr::null_mut())?;
    keys.insert(TypeId::of::<T>(), key);
    Ok(key)
}

fn known<T: Attribute>() -> Option<c_int> {
    KEYS.lock().get(&TypeId::of::<T>()).copied()
}

fn insert(value: Value) -> usize {
    let mut values = VALUES.lock();
    values.last += 1;
    let number = values.last;
    values.all.insert(number, value);
    number
}

fn find<T: Attribute>(number: usize) -> Option<Arc<T>> {
    let value = VALUES.lock().all.get(&number).cloned()?;
    value.downcast::<T>().ok()
}

/// Takes a value out; it is dropped by the caller, when nothing is locked.
fn remove(number: usize) -> Option<Value> {
    VALUES.lock().all.remove(&number)
}

/// MPI_Comm_copy_attr_function. A panic in it ends the process, as in every `extern "C"` function.
unsafe extern "C" fn copy<T: Attribute>(
    _comm: usize,
    _key: c_int,
    _extra: *mut c_void,
    value: *mut c_void,
    out: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    let copied = find::<T>(value.addr()).and_then(|value| value.duplicate()).map(|value| insert(Arc::new(value)));
    // SAFETY: the library passes a place for it.
    unsafe { flag.write(c_int::from(copied.is_some())) };
    // SAFETY: the library passes a place for a word.
    unsafe { out.cast::<usize>().write(copied.unwrap_or(0)) };
    0
}

/// MPI_Comm_delete_attr_function.
unsafe extern "C" fn delete(_comm: usize, _key: c_int, value: *mut c_void, _extra: *mut c_void) -> c_int {
    drop(remove(value.addr()));
    0
}
