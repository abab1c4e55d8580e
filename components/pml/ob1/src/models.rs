//! Every order of the accesses of threads that send and receive on the fast path, and in the complete functions where a lock is
//! taken: what was sent arrives once and in its order, and nobody waits for ever.
//!
//! What this process sends to rank 1 comes back as if rank 1 had sent it.
#![allow(unsafe_code)] // plays a C program

use crate::am_handlers;
use crate::module::{Direct, Ob1};
use crate::peers::endpoint::{Connected, Endpoint};
use crate::peers::table::PeerTable;
use crate::raw;
use crate::recv::batch;
use crate::state::{STATE, State};
use crate::test_image::{self, Calls, Transport};
use crate::wire;
use alloc::boxed::Box;
use alloc::sync::Arc;
use ompi_core::comm::Communicator;
use ompi_core::data::Data;
use ompi_core::datatype::Datatype;
use ompi_core::errhandler;
use ompi_core::error::Class;
use ompi_core::framework::pml::{FastPath, MatchContext, Mode, Module, Taken};
use ompi_core::group::Group;
use ompi_core::request::{self, Request};
use ompi_core::sequence::Sequence;
use ompi_core::status::{ANY_SOURCE, ANY_TAG, Status};
use opal_core::datatype::{Layout, Primitive, Run, Scalar};
use opal_core::framework::btl::{self, AmId, Full};
use opal_core::progress;
use opal_core::queue::fifo::INLINE_BYTES;
use opal_core::queue::fifo_pair::FifoPair;
use opal_core::sync::model::{check, set_model_waker, spawn};
use opal_core::sync::{Once, Ordering, raise_threads};

/// The queue that leads back here.
static QUEUE: Once<&'static FifoPair> = Once::new();
const CONTEXT: u32 = 0;
const PEER: i32 = 1;

/// The transport's own call, which waits for the queue.
#[derive(Default)]
struct Patient;

impl Calls for Patient {
    unsafe fn send_inline(&self, am: AmId, immediate: u64, payload: *const u8, bytes: usize) -> Result<(), Full> {
        let mut producer = QUEUE.get().unwrap().producer();
        // SAFETY: the caller's promise.
        unsafe { producer.push_inline(am, immediate, payload, bytes, false) }.map_err(|_| Full)
    }
}

/// A communicator of two ranks, as after MPI_Init_thread.
fn begin() -> &'static Communicator {
    begin_over(|_| {}).0
}

/// The same over a endpoint that is different.
fn begin_over(change: impl FnOnce(&mut Endpoint)) -> (&'static Communicator, &'static Endpoint) {
    raise_threads();
    request::forget_all();
    set_model_waker();
    *STATE.lock() = State::new();
    btl::register_handler(wire::EAGER, am_handlers::eager).unwrap();
    progress::add_callback(drain_all).unwrap();
    let (fifo_pair, _) = test_image::fifo_pair();
    QUEUE.call_once(|| fifo_pair);
    let transport: &'static Transport<Patient> = Box::leak(Box::default());
    let mut endpoint = Endpoint::of_test(transport, Some(fifo_pair));
    change(&mut endpoint);
    let connected: &'static Connected = Box::leak(Box::new(Connected::of(endpoint)));
    let bits = wire::context_bits(CONTEXT, false);
    let peers = PeerTable::of(2, &[(0, connected, bits), (1, connected, bits)], Some(0));
    let group = Arc::new(Group::new([0, PEER as u32].into(), 0));
    let comm = Communicator::new(group, None, CONTEXT, Sequence::repeated(CONTEXT, 2), errhandler::RETURN);
    // Words must stay where they are from their first change on.
    let comm: &'static Communicator = Box::leak(Box::new(comm));
    raw::set_peer_table(comm, peers);
    let mut state = STATE.lock();
    state.open(CONTEXT).unwrap();
    state.connect(comm);
    (comm, connected.endpoint())
}

/// What every pass of progress does.
fn drain_all() -> usize {
    let drained = batch::fifo_pair(QUEUE.get().unwrap(), PEER as u32);
    assert!(!drained.malformed);
    drained.taken
}

fn bytes() -> Datatype {
    let run = Run { offset: 0, bytes: 1 };
    Datatype::derived(Layout::basic(Primitive::new(Scalar::Byte, 1), &[run], 1, 1), 0)
}

fn user(comm: &Communicator) -> MatchContext<'_> {
    MatchContext { comm, collective: false }
}

/// MPI_Send of one byte.
fn send(comm: &Communicator, tag: i32, byte: u8) {
    send_all(comm, tag, &mut [byte]);
}

/// MPI_Send.
fn send_all(comm: &Communicator, tag: i32, all: &mut [u8]) {
    let (at, count) = (all.as_mut_ptr(), all.len());
    // SAFETY: a slice is readable.
    let taken = match unsafe { <Direct<false> as FastPath>::send(at, count, PEER, tag, comm) } {
        Taken::Yes => true,
        // SAFETY: as above.
        Taken::NotInline => unsafe { Direct::<false>::send_eager(at, count, PEER, tag, comm) },
        Taken::No => false,
    };
    if !taken {
        let data = Data { at, count, datatype: &bytes() };
        // SAFETY: as above.
        unsafe { Module::send(&Ob1, &data, PEER, tag, Mode::Standard, user(comm)) }.unwrap();
    }
}

/// MPI_Recv of one byte.
fn recv(comm: &Communicator, tag: i32) -> u8 {
    let mut byte = 0;
    recv_all(comm, tag, core::slice::from_mut(&mut byte));
    byte
}

/// MPI_Recv.
fn recv_all(comm: &Communicator, tag: i32, all: &mut [u8]) {
    let (at, count, mut status) = (all.as_mut_ptr(), all.len(), Status::EMPTY);
    // SAFETY: a slice that is borrowed so is writable.
    if unsafe { <Direct<false> as FastPath>::recv(at, count, PEER, tag, comm, Some(&mut status)) }.is_none() {
        let data = Data { at, count, datatype: &bytes() };
        // SAFETY: as above.
        unsafe { Module::recv(&Ob1, &data, PEER, tag, user(comm), Some(&mut status)) }.unwrap();
    }
    assert_eq!((status.source, status.tag, status.bytes()), (PEER, tag, count as u64));
}

/// MPI_Recv of one byte from MPI_ANY_SOURCE, with MPI_ANY_TAG; with the tag.
fn recv_any(comm: &Communicator) -> (i32, u8) {
    let (mut byte, mut status) = (0, Status::EMPTY);
    // SAFETY: a byte of our own.
    if !unsafe { <Direct<false> as FastPath>::recv_any(&raw mut byte, 1, ANY_TAG, comm, Some(&mut status)) } {
        let data = Data { at: &raw mut byte, count: 1, datatype: &bytes() };
        // SAFETY: as above.
        unsafe { Module::recv(&Ob1, &data, ANY_SOURCE, ANY_TAG, user(comm), Some(&mut status)) }.unwrap();
    }
    assert_eq!((status.source, status.bytes()), (PEER, 1));
    (status.tag, byte)
}

/// MPI_Irecv of one byte, to where it lies until the request is complete.
fn irecv(comm: &Communicator, tag: i32, byte: &mut u8) -> Request {
    // SAFETY: the callers wait before they give the byte up.
    match unsafe { <Direct<false> as FastPath>::irecv(byte, 1, PEER, tag, comm) } {
        Some(request) => request,
        None => {
            let data = Data { at: byte, count: 1, datatype: &bytes() };
            // SAFETY: as above.
            unsafe { Module::irecv(&Ob1, &data, PEER, tag, user(comm)) }.unwrap()
        }
    }
}

/// Requests and places in the table that were used before are at hand.
fn use_two_requests(comm: &Communicator) {
    let (mut first, mut second) = (0, 0);
    let used = [irecv(comm, 1, &mut first), irecv(comm, 1, &mut second)];
    send(comm, 1, 10);
    send(comm, 1, 11);
    used.into_iter().for_each(|request| _ = request.wait().unwrap());
    assert_eq!([first, second], [10, 11]);
}

/// MPI_Irecv and MPI_Wait.
fn irecv_and_wait(comm: &Communicator, tag: i32) -> u8 {
    let mut byte = 0;
    let status = irecv(comm, tag, &mut byte).wait().unwrap();
    assert_eq!((status.source, status.tag, status.bytes()), (PEER, tag, 1));
    byte
}

#[test]
fn two_threads_send_on_one_link() {
    check(|| {
        let comm = begin();
        let other = spawn(|| {
            send(comm, 1, 10);
            send(comm, 1, 11);
        });
        send(comm, 2, 20);
        other.join().unwrap();
        assert_eq!([recv(comm, 1), recv(comm, 2), recv(comm, 1)], [10, 20, 11]);
        assert_eq!(drain_all(), 0);
    });
}

/// OneSource thread receives two messages of so many bytes, the other makes progress. After a lull that takes one message.
fn receives_beside_progress<const BYTES: usize>() {
    check(|| {
        let comm = begin();
        assert_eq!(drain_all(), 0);
        send_all(comm, 1, &mut [10; BYTES]);
        send_all(comm, 1, &mut [11; BYTES]);
        let other = spawn(|| _ = drain_all());
        for expected in [10, 11] {
            let mut got = [0; BYTES];
            recv_all(comm, 1, &mut got);
            assert_eq!(got, [expected; BYTES]);
        }
        other.join().unwrap();
        assert_eq!(drain_all(), 0);
    });
}

#[test]
fn one_receives_while_another_makes_progress() {
    receives_beside_progress::<1>();
}

#[test]
fn one_receives_longer_ones_while_another_makes_progress() {
    receives_beside_progress::<{ INLINE_BYTES + 1 }>();
}

#[test]
fn one_receives_what_another_sends() {
    check(|| {
        let comm = begin();
        let other = spawn(|| {
            send(comm, 1, 10);
            send(comm, 1, 11);
            // What somebody sleeps for by now.
            drain_all();
        });
        assert_eq!([recv(comm, 1), recv(comm, 1)], [10, 11]);
        other.join().unwrap();
        assert_eq!(drain_all(), 0);
    });
}

#[test]
fn two_threads_receive_from_one_rank() {
    check(|| {
        let comm = begin();
        send(comm, 1, 10);
        send(comm, 2, 20);
        let other = spawn(|| assert_eq!(recv(comm, 2), 20));
        assert_eq!(recv(comm, 1), 10);
        other.join().unwrap();
        assert_eq!(drain_all(), 0);
    });
}

#[test]
fn one_receives_from_any_while_another_makes_progress() {
    check(|| {
        let comm = begin();
        send(comm, 1, 10);
        send(comm, 2, 20);
        let other = spawn(|| _ = drain_all());
        assert_eq!([recv_any(comm), recv_any(comm)], [(1, 10), (2, 20)]);
        other.join().unwrap();
        assert_eq!(drain_all(), 0);
    });
}

#[test]
fn one_receives_from_any_and_another_from_one() {
    check(|| {
        let comm = begin();
        send(comm, 1, 10);
        send(comm, 1, 11);
        let other = spawn(|| recv(comm, 1));
        let mut got = [recv_any(comm).1, other.join().unwrap()];
        got.sort_unstable();
        assert_eq!(got, [10, 11], "each of both gets one");
        assert_eq!(drain_all(), 0);
    });
}

/// What was gathered for others is let go of by the complete functions first.
#[test]
fn no_fast_path_passes_what_was_gathered() {
    fast_paths(true);
    fast_paths(false);
}

/// Each fast path is open, or none.
fn fast_paths(open: bool) {
    check(move || {
        let comm = begin();
        use_two_requests(comm);
        send(comm, 1, 10);
        send(comm, 1, 11);
        if !open {
            progress::note_coalesced();
        }
        let (mut room, bytes) = ([0; 100], [7; 100]);
        let (to, from) = (room.as_mut_ptr(), bytes.as_ptr());
        // SAFETY: arrays of our own, as long as said.
        assert_eq!(unsafe { <Direct<false> as FastPath>::recv(to, 1, PEER, 1, comm, None) }.is_some(), open);
        // SAFETY: as above.
        assert_eq!(unsafe { <Direct<false> as FastPath>::recv_any(to, 1, 1, comm, None) }, open);
        // SAFETY: as above.
        assert_eq!(unsafe { <Direct<false> as FastPath>::irecv(to, 1, PEER, 1, comm) }.is_some(), open);
        // SAFETY: as above.
        assert_eq!(unsafe { <Direct<false> as FastPath>::send(from, 1, PEER, 1, comm) } == Taken::Yes, open);
        // SAFETY: as above.
        assert_eq!(unsafe { Direct::<false>::send_eager(from, 60, PEER, 1, comm) }, open);
        assert_eq!(drain_all(), 2, "what was sent and not received");
    });
}

/// Whether so many bytes take the fast path of inline messages, and that of eager ones.
fn take_fast_paths(comm: &Communicator, bytes: usize) -> [bool; 2] {
    let all = [7; 100];
    // SAFETY: not more than there are.
    let inline = unsafe { <Direct<false> as FastPath>::send(all.as_ptr(), bytes, PEER, 1, comm) };
    // SAFETY: as above.
    [inline == Taken::Yes, unsafe { Direct::<false>::send_eager(all.as_ptr(), bytes, PEER, 1, comm) }]
}

#[test]
fn no_fast_path_for_what_must_wait() {
    let limited = |endpoint: &mut Endpoint| (endpoint.fast_path_bytes, endpoint.eager_bytes) = (8, 60);
    // Each with a ring of its own: the first message of a pass over the ring takes no fast path, either.
    for (bytes, sent) in [(8, [true, true]), (9, [false, true]), (60, [false, true]), (61, [false, false])] {
        check(move || {
            let (comm, _) = begin_over(limited);
            assert_eq!(take_fast_paths(comm, bytes), sent, "{bytes} bytes, where the receiver of some is asked first");
        });
    }
    check(move || {
        let (comm, endpoint) = begin_over(limited);
        endpoint.queued.store(1, Ordering::Relaxed);
        assert_eq!(take_fast_paths(comm, 8), [false; 2], "behind those that wait for room");
    });
}

#[test]
fn a_lost_process_is_told_of() {
    check(|| {
        let (comm, endpoint) = begin_over(|_| {});
        use_two_requests(comm);
        let mut byte = 0;
        let at = &raw mut byte;
        // SAFETY: a byte of our own.
        let waits = unsafe { <Direct<false> as FastPath>::irecv(at, 1, PEER, 1, comm) }.is_some();
        assert!(waits, "while nobody is lost");
        send(comm, 1, 10);
        drain_all();
        send(comm, 1, 11);
        endpoint.set_dead();
        STATE.lock().context(comm.context).unwrap().mark_lost(PEER as u32);
        // SAFETY: as above.
        assert!(unsafe { <Direct<false> as FastPath>::irecv(at, 1, PEER, 1, comm) }.is_none());
        // SAFETY: as above.
        assert!(!unsafe { <Direct<false> as FastPath>::recv_any(at, 1, 1, comm, None) }, "it is for the wait to say");
        assert_eq!(irecv(comm, 1, &mut byte).wait().unwrap_err().get(), Class::ProcAborted as i32);
    });
}

#[test]
fn two_threads_make_requests() {
    check(|| {
        let comm = begin();
        use_two_requests(comm);
        send(comm, 1, 12);
        send(comm, 1, 13);
        let other = spawn(|| irecv_and_wait(comm, 1));
        let mut got = [irecv_and_wait(comm, 1), other.join().unwrap()];
        got.sort_unstable();
        assert_eq!(got, [12, 13], "each of both gets one");
    });
}
