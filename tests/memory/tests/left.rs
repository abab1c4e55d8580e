//! What becomes of the index of a process of another job. Alone in its process: the process table is there once.

use ompi_core::group::Group;
use ompi_core::process::{self, Met, Parting};
use opal_core::framework::btl::ProcessName;

opal_core::image![opal_core::framework::atomics, memcpy_portable, memory_none, timer_clock];

const OTHER: u64 = 2;

fn meet(rank: u32) -> u32 {
    let met = Met { name: ProcessName { job: OTHER, rank }, same_node: false, addresses: Vec::new() };
    process::Meeting::default().meet(&met).expect("it can be met")
}

/// What is left and forgotten where the other side forgets this one, or where there is no vote.
fn part(process: u32) -> (Vec<ProcessName>, Vec<u32>) {
    let (mut left, mut forgotten) = (Vec::new(), Vec::new());
    let parting = Parting::begin([process].into());
    if parting.vote(process) {
        parting.decide(process, true);
    }
    parting.end(|names| left.extend(names), |index| forgotten.push(index));
    (left, forgotten)
}

#[test]
fn an_index_is_used_again_when_its_process_was_left_and_no_group_speaks_of_it() {
    process::open(1, 0, 4, |_| 0);
    assert_eq!([meet(0), meet(1), meet(0)], [4, 5, 4], "behind the own job, each once");
    let group = Group::new([0, 4].into(), 0);
    let copy = group.clone();
    process::retain(group.members());
    assert_eq!(part(4), (vec![], vec![]), "a communicator has it");
    process::release(group.members(), false);
    assert_eq!(part(4), (vec![ProcessName { job: OTHER, rank: 0 }], vec![4]));
    assert_eq!(process::get(4).name(), ProcessName { job: OTHER, rank: 0 }, "groups still speak of it");
    assert_eq!(meet(0), 6, "met again it is another one");
    drop(group);
    assert_eq!(meet(2), 7, "a copy of the group speaks of it");
    drop(copy);
    assert_eq!([meet(3), meet(2)], [4, 7]);
    assert_eq!(process::get(4).name(), ProcessName { job: OTHER, rank: 3 });
    assert_eq!(process::find(ProcessName { job: OTHER, rank: 3 }), Some(4));
    assert_eq!(process::places_beyond_job(), 4);
    let mut forgotten = Vec::new();
    process::leave_unused(|process| process == 5, |index| forgotten.push(index));
    assert_eq!((forgotten, process::find_by_index(5).is_some()), (vec![5], false), "in no communicator, and lost");
}
