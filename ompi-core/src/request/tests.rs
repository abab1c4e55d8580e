use super::*;
use crate::error::Class;
use crate::status::Status;
use opal_core::sync::{AtomicU32, Ordering};

struct Quiet;
impl Driver for Quiet {
    fn start(&self, _token: u64, id: Id) -> Result<()> {
        complete(id, Status::new(3, 4, 5));
        Ok(())
    }
}
static QUIET: Quiet = Quiet;

fn new(kind: Kind) -> (Id, usize) {
    // Tests run in threads.
    opal_core::sync::raise_threads();
    let request = create(kind, &QUIET, 0).unwrap();
    (request.id(), request.into_handle())
}

#[test]
fn one_life() {
    let (id, mut handle) = new(Kind::Recv);
    let old = handle;
    assert!(handles::test(&mut handle).unwrap().is_none());
    complete(id, Status::new(1, 2, 3));
    assert_eq!(handles::get_status(handle).unwrap().unwrap().tag, 2);
    assert_eq!(handles::wait(&mut handle).unwrap().bytes(), 3);
    assert_eq!(handle, NULL);
    assert_eq!(handles::wait(&mut handle).unwrap(), Status::EMPTY);
    let mut stale = old;
    assert_eq!(handles::wait(&mut stale).unwrap_err().get(), Class::Request as i32);
    for garbage in [0, 1, 0x3ff, usize::MAX, 1 << 30 | 5] {
        assert!(handles::wait(&mut { garbage }).is_err());
    }
}

#[test]
fn done_is_for_ever() {
    for _ in 0..3 {
        let mut handle = done().into_handle();
        assert_eq!(handles::wait(&mut handle).unwrap(), Status::EMPTY);
        let mut handle = done().into_handle();
        handles::cancel(handle).unwrap();
        handles::free(&mut handle).unwrap();
        assert_eq!(handle, NULL);
    }
}

struct Cancels(AtomicU32);
impl Driver for Cancels {
    fn cancel(&self, token: u64, id: Id) {
        self.0.fetch_add(1, Ordering::Relaxed);
        if token == POSTED {
            complete(id, Status::EMPTY);
        }
    }
}
static CANCELS: Cancels = Cancels(AtomicU32::new(0));
const POSTED: u64 = 1;

/// What a blocking receive does that fails.
#[test]
fn an_abandoned_receive_leaves_no_slot() {
    opal_core::sync::raise_threads();
    for (token, so_far) in [(POSTED, 1), (0, 2)] {
        let request = create(Kind::Recv, &CANCELS, token).unwrap();
        let (id, handle) = (request.id(), request.0 as usize);
        request.abandon();
        assert_eq!(CANCELS.0.load(Ordering::Relaxed), so_far, "whoever matches is told");
        assert!(Request::from_handle(handle).is_none(), "nobody asks for it any more");
        // One that a message has met ends later, in silence, and its slot is free then.
        if token != POSTED {
            complete(id, Status::EMPTY);
        }
        assert!(slots::find_even_freed(handle).is_none(), "the slot is free");
    }
}

#[test]
fn freed_while_active() {
    let (id, mut handle) = new(Kind::Send);
    let old = handle;
    handles::free(&mut handle).unwrap();
    assert!(Request::from_handle(old).is_none());
    complete(id, Status::EMPTY);
    let (_, again) = new(Kind::Send);
    assert_ne!(old, again);
}

#[test]
fn arrays() {
    let (first, a) = new(Kind::Recv);
    let (second, b) = new(Kind::Recv);
    let mut all = [NULL, a, b];
    let mut statuses = [Status::EMPTY; 3];
    assert!(!handles::test_all(&mut all, Some(&mut statuses)).unwrap());
    assert_eq!(handles::test_any(&mut all).unwrap(), handles::Any::Pending);
    complete(second, Status::new(7, 8, 9));
    let mut failed = Status::new(1, 1, 1);
    failed.fail(Class::Truncate as i32, 0);
    complete(first, failed);
    let fault = handles::wait_all(&mut all, Some(&mut statuses)).unwrap_err();
    assert_eq!(fault.get(), Class::InStatus as i32);
    assert_eq!(statuses.map(|status| status.error), [0, Class::Truncate as i32, 0]);
    assert_eq!(all, [NULL; 3]);
    assert_eq!(handles::wait_any(&mut all).unwrap(), None);
}

/// Completes its request when it is asked for the second time.
struct Asked {
    times: AtomicU32,
    id: AtomicU32,
}
impl Driver for Asked {
    fn poll(&self, _token: u64) {
        if self.times.fetch_add(1, Ordering::Relaxed) == 1 {
            complete(Id(self.id.load(Ordering::Relaxed)), Status::EMPTY);
        }
    }
}

#[test]
fn who_wants_to_be_asked_is_asked_once_a_call_and_heard_at_once() {
    static ANY: Asked = Asked { times: AtomicU32::new(0), id: AtomicU32::new(0) };
    static SOME: Asked = Asked { times: AtomicU32::new(0), id: AtomicU32::new(0) };
    opal_core::sync::raise_threads();
    let [mut any, mut some] = [&ANY, &SOME].map(|asked| {
        let request = create(Kind::Polled, asked, 0).unwrap();
        asked.id.store(request.id().0, Ordering::Relaxed);
        [request.into_handle()]
    });
    assert_eq!(handles::test_any(&mut any).unwrap(), handles::Any::Pending);
    assert_eq!(ANY.times.load(Ordering::Relaxed), 1);
    assert_eq!(handles::test_any(&mut any).unwrap(), handles::Any::One(0, Status::EMPTY));
    let (mut indices, mut count) = ([0], None);
    handles::test_some(&mut some, &mut indices, None, &mut count).unwrap();
    assert_eq!((count, SOME.times.load(Ordering::Relaxed)), (Some(0), 1));
    handles::test_some(&mut some, &mut indices, None, &mut count).unwrap();
    assert_eq!(count, Some(1));
}

#[test]
fn some_of_them() {
    let (first, a) = new(Kind::Recv);
    let (second, b) = new(Kind::Recv);
    let (mut all, mut indices, mut count) = ([a, b], [0; 2], None);
    handles::test_some(&mut all, &mut indices, None, &mut count).unwrap();
    assert_eq!(count, Some(0));
    complete(second, Status::EMPTY);
    handles::wait_some(&mut all, &mut indices, None, &mut count).unwrap();
    assert_eq!((count, indices[0], all[1]), (Some(1), 1, NULL));
    complete(first, Status::EMPTY);
    assert_eq!(handles::wait_any(&mut all).unwrap().unwrap().0, 0);
    handles::wait_some(&mut all, &mut indices, None, &mut count).unwrap();
    assert_eq!(count, None);
}

#[test]
fn persistent() {
    let (_, mut handle) = new(Kind::Persistent);
    let old = handle;
    assert_eq!(handles::wait(&mut handle).unwrap(), Status::EMPTY);
    for _ in 0..3 {
        handles::start(handle).unwrap();
        assert_eq!(handles::wait(&mut handle).unwrap().source, 3);
        assert_eq!(handle, old);
    }
    handles::free(&mut handle).unwrap();
    assert!(handles::start(old).is_err());
}

#[test]
fn many() {
    let all: std::vec::Vec<_> = (0..5000).map(|_| new(Kind::Send)).collect();
    for (id, _) in &all {
        complete(*id, Status::EMPTY);
    }
    let mut handles: std::vec::Vec<usize> = all.iter().map(|(_, handle)| *handle).collect();
    handles::wait_all(&mut handles, None).unwrap();
    assert!(handles.iter().all(|handle| *handle == NULL));
}
