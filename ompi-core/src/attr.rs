//! Attributes that the user caches on communicators, windows and datatypes, and their keys. MPI 5.0 §7.7.
//!
//! Attributes belong to a handle, not to the object behind it: MPI_Type_get_contents gives out new handles for old
//! datatypes, and those have no attributes. A key lives as long as the user or an attribute holds it.
//!
//! **Invariant:** nothing is locked while a callback runs; callbacks may call MPI, this module included.
#![allow(unsafe_code)]

use crate::error::{Class, Fault, Result};
use crate::handle::HandleTable;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::{c_int, c_void};
use opal_core::sync::{AtomicBool, AtomicUsize, ConditionalLock, Ordering};

/// What attributes are cached on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyvalKind {
    /// Communicators.
    Comm,
    /// Datatypes.
    Type,
    /// Windows.
    Win,
}

/// MPI_Comm_copy_attr_function and its like; handles are words in the standard ABI.
type Copy = unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
/// MPI_Comm_delete_attr_function and its like.
type Delete = unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void) -> c_int;

/// The value that stands for MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN and their like.
const NULL_FN: usize = 0;
/// The value that stands for MPI_COMM_DUP_FN and its like.
const DUP_FN: usize = 1;

struct Key {
    kind: KeyvalKind,
    // Addresses of functions, or the values above, which are never called.
    copy: usize,
    delete: usize,
    extra: usize,
    freed: AtomicBool,
    // The user until MPI_Comm_free_keyval, and every attribute.
    holders: AtomicUsize,
}

#[derive(Clone)]
struct Attribute {
    key: usize,
    value: usize,
    // Its callback runs: it is still seen, but not deleted twice.
    ending: bool,
}

static KEYS: HandleTable<Key> = HandleTable::new();
// Attributes of each handle that has some, in the order in which they were set.
static ATTRIBUTES: ConditionalLock<BTreeMap<(KeyvalKind, usize), Vec<Attribute>>> =
    ConditionalLock::new(BTreeMap::new());

/// Makes a key. `copy` and `delete` are functions of the user's with the signature for `kind`, or the values 0 and 1.
pub fn create_key(kind: KeyvalKind, copy: *const c_void, delete: *const c_void, extra: *mut c_void) -> Result<c_int> {
    let (copy, delete, extra) = (copy as usize, delete as usize, extra as usize);
    if delete == DUP_FN {
        return Err(Fault::new(Class::Arg).because("the predefined copy function cannot delete an attribute"));
    }
    let (freed, holders) = (AtomicBool::new(false), AtomicUsize::new(1));
    let key = KEYS.insert(Arc::new(Key { kind, copy, delete, extra, freed, holders }));
    let full = || {
        Fault::new(Class::NoMem)
            .because("four million attribute keys exist; free some with MPI_Comm_free_keyval and its like")
    };
    Ok(key.ok_or_else(full)? as c_int)
}

/// Frees a key. Attributes that have it keep it: they can still be read and deleted (MPI 5.0 §7.7.2). As long as there are
/// any, it may be freed again through another copy of its handle, as in other libraries; that changes nothing.
pub fn free_key(kind: KeyvalKind, key: c_int) -> Result<()> {
    let found = find(kind, key)?;
    if !found.freed.swap(true, Ordering::Relaxed) {
        release(key as usize);
    }
    Ok(())
}

/// Sets an attribute; the callback of the one that it replaces is called first, and can prevent it.
pub fn set(kind: KeyvalKind, object: usize, key: c_int, value: *mut c_void) -> Result<()> {
    let new = Attribute { key: key as usize, value: value as usize, ending: false };
    loop {
        let found = find(kind, key)?;
        if found.freed.load(Ordering::Relaxed) {
            return Err(unknown(key).because("it was freed"));
        }
        let mut all = ATTRIBUTES.lock();
        let list = all.entry((kind, object)).or_default();
        let Some(old) = list.iter_mut().find(|one| one.key == new.key && !one.ending) else {
            found.holders.fetch_add(1, Ordering::Relaxed);
            list.push(new);
            return Ok(());
        };
        old.ending = true;
        let old = old.clone();
        drop(all);
        delete_one(kind, object, &old)?;
    }
}

/// The value of an attribute, if it is set.
pub fn get(kind: KeyvalKind, object: usize, key: c_int) -> Result<Option<*mut c_void>> {
    find(kind, key)?;
    let all = ATTRIBUTES.lock();
    // The last: one that is about to end stands before its successor.
    let found = all.get(&(kind, object)).and_then(|all| all.iter().rfind(|one| one.key == key as usize));
    Ok(found.map(|one| one.value as *mut c_void))
}

/// Deletes an attribute after its callback has agreed.
pub fn delete(kind: KeyvalKind, object: usize, key: c_int) -> Result<()> {
    find(kind, key)?;
    match begin_to_end(kind, object, |one| one.key == key as usize) {
        Some(attribute) => delete_one(kind, object, &attribute),
        None => Err(Fault::new(Class::Keyval).because(format!("no attribute is set under the key {key}"))),
    }
}

/// Asks the copy callbacks of all attributes of `from` what `to` shall have: what MPI_Comm_dup and MPI_Type_dup do.
pub fn copy_all(kind: KeyvalKind, from: usize, to: usize) -> Result<()> {
    let attributes = ATTRIBUTES.lock().get(&(kind, from)).cloned().unwrap_or_default();
    for attribute in attributes.into_iter().filter(|one| !one.ending) {
        let Some(key) = KEYS.get(attribute.key) else { continue };
        if let Some(value) = copied(&key, from, &attribute)? {
            key.holders.fetch_add(1, Ordering::Relaxed);
            let copy = Attribute { key: attribute.key, value, ending: false };
            ATTRIBUTES.lock().entry((kind, to)).or_default().push(copy);
        }
    }
    Ok(())
}

/// Deletes all attributes of a handle that is about to end, the last one set first, as MPI 5.0 §11.2.4 demands for
/// MPI_COMM_SELF. Stops at the first callback that refuses.
pub fn delete_all(kind: KeyvalKind, object: usize) -> Result<()> {
    // The last one anew each time: callbacks may set and delete attributes of this object.
    while let Some(attribute) = begin_to_end(kind, object, |_| true) {
        delete_one(kind, object, &attribute)?;
    }
    ATTRIBUTES.lock().remove(&(kind, object));
    Ok(())
}

/// Marks the last attribute of these that is not about to end, for [`delete_one`].
fn begin_to_end(kind: KeyvalKind, object: usize, wanted: impl Fn(&Attribute) -> bool) -> Option<Attribute> {
    let mut all = ATTRIBUTES.lock();
    let one = all.get_mut(&(kind, object))?.iter_mut().rfind(|one| !one.ending && wanted(one))?;
    one.ending = true;
    Some(one.clone())
}

fn delete_one(kind: KeyvalKind, object: usize, attribute: &Attribute) -> Result<()> {
    if let Some(key) = KEYS.get(attribute.key)
        && key.delete != NULL_FN
    {
        // SAFETY: neither of the predefined values, so a function of this type by the standard.
        let call = unsafe { core::mem::transmute::<usize, Delete>(key.delete) };
        let (value, extra) = (attribute.value as *mut c_void, key.extra as *mut c_void);
        // SAFETY: called as MPI 5.0 §7.7.2 says, with nothing locked.
        let agreed = returned(unsafe { call(object, attribute.key as c_int, value, extra) });
        if agreed.is_err() {
            with_ending(kind, object, attribute.key, |list, place| list[place].ending = false);
            return agreed;
        }
    }
    let gone = with_ending(kind, object, attribute.key, |list, place| _ = list.remove(place));
    if gone.is_some() {
        release(attribute.key);
    }
    Ok(())
}

/// Runs `change` on the attribute of a key that is about to end.
fn with_ending(
    kind: KeyvalKind,
    object: usize,
    key: usize,
    change: impl FnOnce(&mut Vec<Attribute>, usize),
) -> Option<()> {
    let mut all = ATTRIBUTES.lock();
    let list = all.get_mut(&(kind, object))?;
    let place = list.iter().position(|one| one.key == key && one.ending)?;
    change(list, place);
    Some(())
}

/// What the copy callback says: the new value, or none.
fn copied(key: &Key, object: usize, attribute: &Attribute) -> Result<Option<usize>> {
    match key.copy {
        NULL_FN => return Ok(None),
        DUP_FN => return Ok(Some(attribute.value)),
        _ => {}
    }
    // SAFETY: neither of the predefined values, so a function of this type by the standard.
    let call = unsafe { core::mem::transmute::<usize, Copy>(key.copy) };
    let (mut value, mut flag) = (0usize, 0);
    let place = (&raw mut value).cast::<c_void>();
    let (extra, old) = (key.extra as *mut c_void, attribute.value as *mut c_void);
    // SAFETY: called as MPI 5.0 §7.7.2 says, with nothing locked.
    returned(unsafe { call(object, attribute.key as c_int, extra, old, place, &mut flag) })?;
    Ok((flag != 0).then_some(value))
}

/// A callback's own error code is what the call returns (MPI 5.0 §7.7.2).
fn returned(code: c_int) -> Result<()> {
    if code == 0 {
        Ok(())
    } else {
        Err(Fault::code(code).because("the copy or delete function of an attribute returned this error code"))
    }
}

/// The key of a handle, not to be kept while a callback runs, which may free it.
fn find(kind: KeyvalKind, key: c_int) -> Result<&'static Key> {
    let found = usize::try_from(key).ok().and_then(|key| KEYS.borrow(key)).filter(|found| found.kind == kind);
    found.ok_or_else(|| unknown(key))
}

fn release(key: usize) {
    // AcqRel: the holder that ends it sees what the others did.
    if KEYS.borrow(key).is_some_and(|found| found.holders.fetch_sub(1, Ordering::AcqRel) == 1) {
        KEYS.remove(key);
    }
}

#[cold]
fn unknown(key: c_int) -> Fault {
    Fault::new(Class::Keyval).because(match key {
        0 => "it is MPI_KEYVAL_INVALID".into(),
        501..=507 | 601..=605 => format!("{key} is a predefined key, whose attributes MPI itself sets"),
        _ => format!("{key} is not a valid key for objects of this kind; it was freed or never created"),
    })
}
