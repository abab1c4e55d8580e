//! Every order of the accesses of threads that make, use and free objects of one table.

use super::*;
use opal_core::sync::model::{check, spawn};

/// What the objects are: their content is seen with them.
struct Object(opal_core::sync::AtomicU32);

fn object(number: u32) -> Arc<Object> {
    let object = Arc::new(Object(opal_core::sync::AtomicU32::new(0)));
    object.0.store(number, Ordering::Relaxed);
    object
}

fn number(object: &Object) -> u32 {
    object.0.load(Ordering::Relaxed)
}

#[test]
fn a_handle_shows_a_whole_object() {
    check(|| {
        let table: Arc<HandleTable<Object>> = Arc::new(HandleTable::new());
        let first = table.insert(object(1)).unwrap();
        let maker = spawn({
            let table = table.clone();
            move || table.insert(object(2)).unwrap()
        });
        // The second handle is known before it was told, as a guess is.
        if let Some(found) = table.get(first + 1) {
            assert_eq!(number(&found), 2);
        }
        assert_eq!(number(&table.get(first).unwrap()), 1);
        assert_eq!(maker.join().unwrap(), first + 1);
        assert_eq!(table.len(), 2);
    });
}

#[test]
fn of_two_that_free_a_handle_one_gets_the_object() {
    check(|| {
        let table: Arc<HandleTable<Object>> = Arc::new(HandleTable::new());
        let handle = table.insert(object(1)).unwrap();
        let other = spawn({
            let table = table.clone();
            move || table.remove(handle).is_some()
        });
        let own = table.remove(handle).is_some();
        assert_ne!(own, other.join().unwrap());
        assert!(table.get(handle).is_none() && table.is_empty());
    });
}

#[test]
fn a_place_is_used_again_under_another_handle() {
    check(|| {
        let table: Arc<HandleTable<Object>> = Arc::new(HandleTable::new());
        let old = table.insert(object(1)).unwrap();
        let other = spawn({
            let table = table.clone();
            move || {
                table.remove(old).unwrap();
                table.insert(object(2)).unwrap()
            }
        });
        let own = table.insert(object(3)).unwrap();
        let new = other.join().unwrap();
        assert!(table.get(old).is_none());
        assert_eq!([own, new].map(|handle| number(&table.get(handle).unwrap())), [3, 2]);
    });
}
