//! A master that starts its workers itself, this program once more, and gives each the tasks that it has time for: prime numbers below
//! a limit. `cargo xtask run -n 1 examples/spawned_workers.rs`.

use ompi::Tag;
use ompi::dynamic::{Command, spawn};
use ompi::topology::InterCommunicator;
use ompi::traits::*;

const TASK: Tag = 1;
const RESULT: Tag = 2;
const LIMIT: u64 = 20_000;
const RANGE: u64 = 1_000;

fn main() -> ompi::Result<()> {
    let universe = ompi::initialize().expect("MPI starts once per process");
    if let Some(parent) = universe.parent() {
        let mut words = std::env::args().skip(1).map(|word| word.parse::<u64>().expect("the master gives numbers"));
        let range = words.next().expect("the master says how long a task is");
        return work(parent, range);
    }
    let world = universe.world();
    let program = std::env::current_exe().expect("a program has a file");
    let command = Command::new(program.to_str().expect("its name is text"), 3).arg(RANGE);
    let workers = spawn(&world, 0, [command])?;
    if world.rank() == 0 {
        let count = lead(&workers)?;
        println!("{count} primes below {LIMIT}, found by {} workers", workers.remote_size());
        assert_eq!(count, 2262);
    }
    workers.disconnect()
}

/// Gives each worker a task, then another one to whoever brings a result; 0 is the end.
fn lead(workers: &InterCommunicator) -> ompi::Result<u64> {
    let mut tasks = (1..LIMIT).step_by(RANGE as usize);
    let (mut count, mut working) = (0, 0);
    for worker in 0..workers.remote_size() {
        let task = tasks.next();
        workers.process_at_rank(worker).send_with_tag(&task.unwrap_or(0), TASK)?;
        working += i32::from(task.is_some());
    }
    while working > 0 {
        let (found, status) = workers.any_process().receive_with_tag::<u64>(RESULT)?;
        count += found;
        let task = tasks.next();
        workers.process_at_rank(status.source_rank()).send_with_tag(&task.unwrap_or(0), TASK)?;
        working -= i32::from(task.is_none());
    }
    Ok(count)
}

fn work(master: InterCommunicator, range: u64) -> ompi::Result<()> {
    loop {
        let (first, _) = master.process_at_rank(0).receive_with_tag::<u64>(TASK)?;
        if first == 0 {
            return master.disconnect();
        }
        let found = (first..(first + range).min(LIMIT)).filter(|number| is_prime(*number)).count() as u64;
        master.process_at_rank(0).send_with_tag(&found, RESULT)?;
    }
}

fn is_prime(number: u64) -> bool {
    number > 1 && (2..).take_while(|divisor| divisor * divisor <= number).all(|divisor| number % divisor != 0)
}
