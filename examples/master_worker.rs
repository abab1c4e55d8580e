//! A master gives tasks to whoever is idle: the longest Collatz sequence below a limit.
//! `cargo xtask run -n 4 examples/master_worker.rs`.

use ompi::topology::SimpleCommunicator;
use ompi::traits::*;
use ompi::{Equivalence, Tag};

/// A range of starts, and what came of it.
#[derive(Clone, Copy, Debug, Default, Equivalence)]
struct Task {
    first: u64,
    last: u64,
    longest: u32,
    start: u64,
}

const WORK: Tag = 1;
const RESULT: Tag = 2;
const STOP: Tag = 3;
const LIMIT: u64 = 30_000;
const RANGE: u64 = 1_000;

fn main() -> ompi::Result<()> {
    let universe = ompi::initialize().expect("MPI starts once per process");
    let world = universe.world();
    if world.rank() != 0 {
        return work(&world);
    }
    let best = lead(&world)?;
    println!("the longest sequence below {LIMIT} begins at {} and has {} steps", best.start, best.longest);
    assert_eq!((best.start, best.longest), (26_623, 307));
    Ok(())
}

/// Gives a task to every worker, then another one to whoever brings a result. Alone it does all by itself.
fn lead(world: &SimpleCommunicator) -> ompi::Result<Task> {
    let mut tasks = (1..LIMIT).step_by(RANGE as usize).map(|first| Task {
        first,
        last: (first + RANGE).min(LIMIT),
        ..Task::default()
    });
    let mut best = Task::default();
    let mut keep = |task: Task| {
        if task.longest > best.longest || task.longest == best.longest && task.start < best.start {
            best = task;
        }
    };
    if world.size() == 1 {
        tasks.for_each(|task| keep(solved(task)));
        return Ok(best);
    }
    let mut working = 0;
    for worker in 1..world.size() {
        working += i32::from(give(world, worker, tasks.next())?);
    }
    while working > 0 {
        let (result, status) = world.any_process().receive_with_tag::<Task>(RESULT)?;
        keep(result);
        if !give(world, status.source_rank(), tasks.next())? {
            working -= 1;
        }
    }
    Ok(best)
}

/// A task, or the word that there is none; says which.
fn give(world: &SimpleCommunicator, worker: i32, task: Option<Task>) -> ompi::Result<bool> {
    let worker = world.process_at_rank(worker);
    match task {
        Some(task) => worker.send_with_tag(&task, WORK).map(|()| true),
        None => worker.send_with_tag(&Task::default(), STOP).map(|()| false),
    }
}

fn work(world: &SimpleCommunicator) -> ompi::Result<()> {
    let master = world.process_at_rank(0);
    loop {
        let (task, status) = master.receive::<Task>()?;
        if status.tag() == STOP {
            return Ok(());
        }
        master.send_with_tag(&solved(task), RESULT)?;
    }
}

fn solved(task: Task) -> Task {
    let steps = |start: u64| {
        let mut number = start;
        (0u32..).find(|_| {
            let done = number == 1;
            number = if number % 2 == 0 { number / 2 } else { 3 * number + 1 };
            done
        })
    };
    let of = |start| (steps(start).unwrap_or(0), core::cmp::Reverse(start));
    let (longest, core::cmp::Reverse(start)) = (task.first..task.last).map(of).max().expect("a task is not empty");
    Task { longest, start, ..task }
}
