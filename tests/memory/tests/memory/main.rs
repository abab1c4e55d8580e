//! Rank 0 of a job of 65,536 processes, 128 on each node, as it stands after MPI_Init and after it has spoken to 100 processes of
//! other nodes: how much memory its tables take, by structure.
//!
//! The tables are the real ones: process table, groups, a communicator of all, pml/ob1, bml/r2, btl/self and btl/tcp. The 100 processes
//! are real, too: this program started again, in whose tables there are as many. Half of them speak first. The other processes
//! exist as addresses only; those of this process's node are reached by btl/tcp, since they have no shared memory. Collectives are
//! no part of it, but for the layout that coll/han keeps of a communicator.
//!
//! `cargo test -p test-memory` prints the table. It fails if more than [`LIMIT_BYTES`] are resident or the processes do not speak.
#![allow(unsafe_code)] // counts what is allocated; buffers as MPI sees them

mod counted;
mod job;

use counted::{Bytes, live, resident};
use job::INFO;
use job::{PEERS, SIZE, peer};
use ompi_core::comm::Communicator;
use ompi_core::data::Data;
use ompi_core::datatype::{self, Datatype};
use ompi_core::errhandler;
use ompi_core::framework::bml;
use ompi_core::framework::pml::{self, MatchContext, Mode};
use ompi_core::group::Group;
use ompi_core::process;
use ompi_core::sequence::Sequence;
use ompi_core::status::{ANY_SOURCE, Status};
use opal_core::framework::btl;
use orte_core::framework::ess;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

opal_core::image![
    opal_core::framework::atomics,
    memcpy_portable,
    memory_none,
    timer_clock,
    shmem_memfd,
    btl_self,
    btl_tcp,
    bml_r2,
    pml_ob1,
    job
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    std::thread::spawn(|| {
        std::thread::sleep(DEADLINE);
        eprintln!("not done within {DEADLINE:?}");
        std::process::exit(1);
    });
    match arguments.get(1).map(String::as_str) {
        Some("peer") => speak_to_first(&arguments[2], &arguments[3]),
        // The harness's own options select nothing here.
        _ => measure(),
    }
}

fn measure() {
    let folder = std::env::temp_dir().join(format!("memory-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for addresses");
    let _removed = Removed(folder.clone());
    let mut table = Table::begin();
    start(0, &folder);
    table.row("components, sockets, own addresses");
    let environment = ess::selected().expect("it was selected");
    process::open(environment.identity().job, 0, SIZE, job::node_of);
    table.row("process table");
    let comm = communicator(0);
    table.row("group and context numbers of a communicator of all");
    pml::selected().add_comm(comm).expect("its peers that are near can be reached");
    table.row("pml/ob1, bml/r2, btl/tcp: that communicator, and the processes of this node");
    let children = Children((0..PEERS).map(|index| started(peer(index), &folder)).collect());
    for index in 0..PEERS {
        if index % 2 == 0 {
            send(comm, peer(index), index);
        }
    }
    for index in (0..PEERS).step_by(2) {
        assert_eq!(receive(comm, peer(index) as i32), (peer(index), index + 1));
    }
    // Those that speak first are known by what they say only.
    for _ in 0..PEERS / 2 {
        let (from, number) = receive(comm, ANY_SOURCE);
        assert!(number % 2 == 0 && from == peer(number - 1), "rank {from} has sent {number}");
        send(comm, from, number - 1);
    }
    children.end(&|| opal_core::progress::pass());
    table.row("100 processes spoken to");
    let layout = coll_han::layout::Layout::new(comm.group.members().iter().map(|index| process::get(index).node()));
    table.row("coll/han: which ranks are on which node");
    assert_eq!(layout.size(), SIZE as usize);
    let all = table.end();
    assert!(all.resident < LIMIT_BYTES, "{} bytes are resident, more than {LIMIT_BYTES}", all.resident);
}

/// 2 MB of a job of 65,536 processes of which 100 were spoken to.
const LIMIT_BYTES: i64 = 2_000_000;

/// A process of another node: answers rank 0, or speaks first.
fn speak_to_first(rank: &str, folder: &str) {
    let rank: u32 = rank.parse().expect("a rank");
    let index = (0..PEERS).find(|index| peer(*index) == rank).expect("a rank that takes part");
    start(rank, Path::new(folder));
    process::open(ess::selected().expect("it was selected").identity().job, rank, SIZE, job::node_of);
    let comm = communicator(rank);
    pml::selected().add_comm(comm).expect("its peers that are near can be reached");
    if index % 2 == 0 {
        assert_eq!(receive(comm, 0), (0, index));
        send(comm, 0, index + 1);
    } else {
        send(comm, 0, index + 1);
        assert_eq!(receive(comm, 0), (0, index));
    }
    let modules = bml::selected().expect("it was selected").modules();
    while !modules.iter().all(|module| module.is_drained()) {
        opal_core::progress::pass();
    }
}

/// As MPI_Init begins.
fn start(rank: u32, folder: &Path) {
    job::begin(rank, folder);
    opal_core::framework::open_static().expect("the static frameworks open");
    datatype::open();
    let environment = ess::select().expect("the job is known");
    let ess::Identity { job, rank, size, .. } = environment.identity();
    btl::set_job(btl::Job { number: job, index: rank, size, one_node: false, secret: [7; 32] });
    bml::select().expect("transports run");
    pml::select().expect("the PML runs");
    let mut list = bml::selected().expect("it was selected").addresses();
    process::publish_cores(&mut list);
    environment.publish(&list).expect("others can find them");
}

fn communicator(rank: u32) -> &'static Communicator {
    let group = Arc::new(Group::of(Sequence::up_to(SIZE), rank));
    let contexts = Sequence::repeated(CONTEXT, SIZE as usize);
    let comm = Communicator::new(group, None, CONTEXT, contexts, errhandler::RETURN);
    pml::selected().open_context(CONTEXT).expect("the number is free");
    Box::leak(Box::new(comm))
}

fn send(comm: &Communicator, to: u32, number: u32) {
    let mut word = number;
    let data = Data { at: (&raw mut word).cast(), count: 4, datatype: byte() };
    let context = MatchContext { comm, collective: false };
    // SAFETY: the word is there until the call returns.
    unsafe { pml::selected().send(&data, to as i32, TAG, Mode::Standard, context) }.expect("it is sent");
}

/// Who has sent, and what.
fn receive(comm: &Communicator, from: i32) -> (u32, u32) {
    let (mut word, mut status) = (0u32, Status::EMPTY);
    let data = Data { at: (&raw mut word).cast(), count: 4, datatype: byte() };
    let context = MatchContext { comm, collective: false };
    // SAFETY: as in `send`.
    unsafe { pml::selected().recv(&data, from, TAG, context, Some(&mut status)) }.expect("it is received");
    (status.source as u32, word)
}

fn byte() -> &'static Datatype {
    datatype::borrow(datatype::BYTE).expect("MPI_BYTE")
}

fn started(rank: u32, folder: &Path) -> Child {
    let program = std::env::current_exe().expect("this program");
    Command::new(program).args(["peer", &rank.to_string()]).arg(folder).spawn().expect("it starts")
}

struct Children(Vec<Child>);

impl Children {
    /// Waits for them, while they still have to be heard.
    fn end(mut self, pass: &dyn Fn() -> usize) {
        for child in &mut self.0 {
            let status = loop {
                if let Some(status) = child.try_wait().expect("a child") {
                    break status;
                }
                pass();
            };
            assert!(status.success(), "a process that was spoken to ended with {status}");
        }
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|child| _ = child.kill());
    }
}

/// The rows as they are printed: what each stage has added.
struct Table {
    is_new: bool,
    first: Bytes,
    last: Bytes,
}

impl Table {
    fn begin() -> Table {
        let now = Bytes { live: live(), resident: resident() };
        println!("{:>10} {:>10}  bytes of rank 0 of {SIZE}", "allocated", "resident");
        Table { is_new: true, first: now, last: now }
    }

    fn row(&mut self, name: &str) {
        let now = Bytes { live: live(), resident: resident() };
        println!("{:>10} {:>10}  {name}", now.live - self.last.live, now.resident - self.last.resident);
        // Components and sockets are what every process has, however large the job is.
        if core::mem::take(&mut self.is_new) {
            self.first = now;
        }
        self.last = now;
    }

    fn end(self) -> Bytes {
        let all = Bytes { live: self.last.live - self.first.live, resident: self.last.resident - self.first.resident };
        println!("{:>10} {:>10}  all behind the first row", all.live, all.resident);
        all
    }
}

struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

const CONTEXT: u32 = 0;
const DEADLINE: Duration = Duration::from_secs(120);
const TAG: i32 = 5;
