//! Jobs over several hosts, without a network between the launchers: the wire-up of mpirun on one side, ess/env on the other.
#![allow(unsafe_code)] // a rank that closes a descriptor under the library

#[path = "rig/hosts.rs"]
mod rig;

#[path = "../src/file_limit.rs"]
mod file_limit;
#[path = "../src/modex.rs"]
mod modex;

use opal_core::mca::{Framework, image, source};
use opal_core::{Error, sys};
use orte_core::framework::ess::{self, Module, State};
use rig::{Ended, Job};

opal_core::image![opal_core::framework::atomics, ess_env, memcpy_portable, memory_none, timer_clock];

/// What a rank does, by the variable SCENARIO.
#[test]
#[ignore = "no case of its own: the rank that the other tests start with --ignored"]
fn a_rank() {
    let frameworks: Vec<&'static Framework> =
        opal_core::framework::ALL.iter().chain(orte_core::framework::ALL).copied().collect();
    image::verify(&frameworks).unwrap();
    let problems = source::apply(&frameworks, image::components(), &source::collect());
    assert!(problems.is_empty(), "{problems:?}");
    let Ok(ess) = ess::select() else { sys::exit(9) };
    ess.set_state(State::Initialized);
    let me = ess.identity();
    let last = me.size - 1;
    match sys::variable("SCENARIO").unwrap_or_default() {
        "wireup" => wire_up(ess),
        "late" => {
            if me.rank == last {
                std::thread::sleep(std::time::Duration::from_millis(400));
            }
            wire_up(ess);
        }
        "dies" if me.rank == last => sys::exit(5),
        "dies" => {
            if me.rank == last - 1 {
                // The last one of its host to speak, when the other one there is known to be dead.
                while ess.epoch() == 0 {
                    std::thread::yield_now();
                }
            }
            ess.publish(&said_by(me.rank)).unwrap();
            assert_eq!(ess.lookup(last), Err(Error::Unreachable));
            (0..last).for_each(|rank| assert_eq!(ess.lookup(rank).as_ref(), Ok(&said_by(rank))));
            assert!(ess.epoch() > 0);
            assert_eq!(ess.barrier(&mut || {}), Err(Error::Unreachable));
        }
        "silent" if me.rank == last => std::thread::sleep(std::time::Duration::from_secs(3)),
        "silent" => {
            ess.publish(&said_by(me.rank)).unwrap();
            assert_eq!(ess.lookup(last), Err(Error::Timeout));
        }
        "closed" => {
            let number: i32 = sys::variable(orte_core::environment::WAKE_SOCKET).unwrap().parse().unwrap();
            // What a program does that closes all descriptors and opens its own: a socket that would take every message.
            let (socket, _other) = std::os::unix::net::UnixDatagram::pair().unwrap();
            // SAFETY: the number is open; nothing in this test relies on what it was.
            unsafe { libc::dup2(std::os::fd::AsRawFd::as_raw_fd(&socket), number) };
            ess.publish(&said_by(me.rank)).unwrap();
        }
        other => panic!("no scenario {other}"),
    }
    ess.set_state(State::Finalized);
}

fn said_by(rank: u32) -> Vec<u8> {
    (0..rank * 700).map(|at| (at + rank) as u8).collect()
}

fn wire_up(ess: &'static dyn Module) {
    let me = ess.identity();
    let nodes: Vec<u32> = sys::variable("NODES").unwrap().split(',').map(|node| node.parse().unwrap()).collect();
    assert_eq!(nodes.len(), me.size as usize);
    let here = nodes.iter().enumerate().filter(|(_, node)| **node == nodes[me.rank as usize]);
    let here: Vec<u32> = here.map(|(rank, _)| rank as u32).collect();
    assert_eq!((here.len() as u32, here[me.local_rank as usize]), (me.local_size, me.rank));
    ess.publish(&said_by(me.rank)).unwrap();
    assert_eq!(ess.publish(b"again"), Err(Error::Exists));
    for rank in 0..me.size {
        assert_eq!(ess.node_of(rank), nodes[rank as usize]);
        assert_eq!(ess.app_of(rank), Some(rank % 2));
        assert_eq!(ess.lookup(rank).unwrap(), said_by(rank), "rank {rank} as rank {} sees it", me.rank);
    }
    assert_eq!((ess.lookup(me.size), ess.app_of(me.size)), (Err(Error::Invalid), None));
    assert_eq!((ess.secret(), ess.universe_size(), ess.epoch()), (Some([7; 32]), Some(64), 0));
    (0..20).for_each(|_| ess.barrier(&mut || {}).unwrap());
    println!("\nrank {} is done", me.rank);
}

fn job(nodes: &[u32], parents: &[u32], scenario: &str) -> Job {
    let own = std::env::current_exe().unwrap();
    let command = [own.to_str().unwrap(), "--exact", "a_rank", "--ignored", "--nocapture"].map(String::from).to_vec();
    let listed: Vec<String> = nodes.iter().map(u32::to_string).collect();
    let variables = [("SCENARIO", scenario), ("NODES", &listed.join(","))];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    Job { nodes: nodes.into(), parents: parents.into(), command, variables }
}

fn assert_done(ended: &[Ended]) {
    for (rank, ended) in ended.iter().enumerate() {
        assert!(ended.status == Some(0) && ended.out.contains("is done"), "rank {rank}: {ended:?}");
    }
}

#[test]
fn ranks_of_several_hosts_find_each_other() {
    for (nodes, parents) in [
        (&[0, 0, 1, 1][..], &[0, 0][..]),
        // One here, three there, and in no order.
        (&[1, 0, 1, 1], &[0, 0]),
        // mpirun's host has no ranks.
        (&[1, 1, 2], &[0, 0, 0]),
        // A chain, of which the middle has none.
        (&[0, 2, 3, 3], &[0, 0, 1, 2]),
    ] {
        assert_done(&job(nodes, parents, "wireup").run());
    }
}

#[test]
fn a_late_rank_is_waited_for() {
    assert_done(&job(&[0, 0, 1, 1], &[0, 0], "late").run());
}

#[test]
fn who_dies_before_it_speaks_is_unreachable_and_the_others_are_not() {
    let ended = job(&[0, 0, 1, 1], &[0, 0], "dies").run();
    for (rank, ended) in ended[..3].iter().enumerate() {
        assert_eq!(ended.status, Some(0), "rank {rank}: {ended:?}");
    }
    assert!(ended[0].err.contains("rank 3 on host1 ended before it said its addresses"), "{}", ended[0].err);
    assert!(ended[0].err.contains("rank 3 on host1 ended and will not come to the barrier"), "{}", ended[0].err);
    assert!(ended[2].err.contains("rank 3 ended before it said its addresses"), "{}", ended[2].err);
}

#[test]
fn a_silent_rank_is_named_with_its_host() {
    let mut job = job(&[0, 1, 1], &[0, 0], "silent");
    job.variables.push(("OMPI_MCA_ess_env_lookup_timeout_s".into(), "1".into()));
    let ended = job.run();
    assert_eq!((ended[0].status, ended[1].status), (Some(0), Some(0)), "{ended:?}");
    let words = "the addresses of rank 2 on host1 did not come within 1 s";
    assert!(ended[0].err.contains(words) && ended[0].err.contains("ess_env_lookup_timeout_s"), "{}", ended[0].err);
    assert!(ended[1].err.contains("rank 2 did not say its addresses within 1 s"), "{}", ended[1].err);
}

#[test]
fn what_the_launcher_left_is_checked() {
    for (name, number, words) in [
        ("OMPI_RS_MAP", "0", "it is not a memory file"),
        ("OMPI_RS_MAP", "200000", "it is not open"),
        ("OMPI_RS_MAP", "@addresses", "it is not sealed"),
        ("OMPI_RS_MAP", "x", "is not a descriptor"),
        ("OMPI_RS_ADDRESSES", "200000", "it is not open"),
        ("OMPI_RS_WAKE_SOCKET", "200000", "it is not open"),
        ("OMPI_COMM_WORLD_RANK", "3", "it places the ranks otherwise"),
    ] {
        let mut job = job(&[0, 0, 1, 1], &[0, 0], "wireup");
        job.variables.push((name.into(), number.into()));
        let ended = job.run();
        assert_eq!(ended[0].status, Some(9), "{name}={number}: {:?}", ended[0]);
        assert!(
            ended[0].err.contains(words) && ended[0].err.contains(name_of(name)),
            "{name}={number}: {}",
            ended[0].err
        );
    }
}

/// The variable that a message names.
fn name_of(changed: &str) -> &str {
    if changed == "OMPI_COMM_WORLD_RANK" { "OMPI_RS_MAP" } else { changed }
}

#[test]
fn a_wake_socket_that_the_program_closed_is_not_written_to() {
    let ended = job(&[0, 1], &[0, 0], "closed").run();
    assert!(ended.iter().all(|ended| ended.status == Some(1)), "{ended:?}");
}

/// A program on two hosts of two ranks each, or as NODES says: `PROGRAM="path word …"`, its output as it comes.
#[test]
#[ignore = "no case of its own: needs a program that is linked with the library; `cargo xtask test nodes` starts it"]
fn a_program() {
    let words = std::env::var("PROGRAM").expect("PROGRAM says what to run");
    let nodes = std::env::var("NODES").unwrap_or_else(|_| "0,0,1,1".into());
    let nodes: Vec<u32> = nodes.split(',').map(|node| node.parse().unwrap()).collect();
    let parents = vec![0; 1 + *nodes.iter().max().unwrap() as usize];
    let mut job = job(&nodes, &parents, "");
    job.command = words.split(' ').map(str::to_owned).collect();
    let ended = job.run();
    for (rank, ended) in ended.iter().enumerate() {
        print!("{}", ended.out);
        eprint!("{}", ended.err);
        assert_eq!(ended.status, Some(0), "rank {rank}");
    }
}
