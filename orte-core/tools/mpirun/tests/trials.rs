//! SIGKILL at random moments of a job, for ranks, keeper and mpirun: no process is left, no file, and the job ends soon.
//!
//! There are 24 trials times OMPI_TEST_TRIALS (1), and they begin at OMPI_TEST_SEED (1).

mod rig;

use rig::Run;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// How many times longer than alone everything takes here now.
fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap();
    let running: f64 = text.split(' ').next().unwrap().parse().unwrap();
    let cores = std::thread::available_parallelism().unwrap().get() as f64;
    (running / cores).max(1.0)
}

/// What this project leaves in shared memory, if it leaves anything.
fn shared_files() -> BTreeSet<String> {
    let names = std::fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    names.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| name.contains("ompi")).collect()
}

/// Ranks with a child, and a grandchild in a session of its own.
const FAMILY: &str = "setsid sleep 1041 & (sleep 1042 & ) ; sleep 1043";

#[test]
fn killed_at_any_moment_a_job_leaves_nothing() {
    let (trials, seed) = (24 * number("OMPI_TEST_TRIALS", 1), number("OMPI_TEST_SEED", 1));
    let before = shared_files();
    for trial in seed..seed + trials {
        let mut random = Random(trial);
        let ranks = 1 + random.below(4);
        let mut run = Run::start(&["-n", &ranks.to_string(), "sh", "-c", FAMILY]);
        std::thread::sleep(Duration::from_micros(random.below(60_000)));
        // Whoever is there at that moment: mpirun, keeper, a rank, or one of a rank's children.
        let victims = run.processes();
        let victim = match random.below(3) {
            0 => run.child.id() as i32,
            1 => victims
                .iter()
                .find(|(_, line)| line.starts_with("mpirun --ompi-rs-keeper"))
                .map_or(run.child.id() as i32, |(pid, _)| *pid),
            _ => victims.get(random.below(victims.len().max(1) as u64) as usize).map_or(0, |(pid, _)| *pid),
        };
        // It may have ended by itself.
        if victim != 0 {
            let _ = rustix::process::kill_process(
                rustix::process::Pid::from_raw(victim).unwrap(),
                rustix::process::Signal::KILL,
            );
        }
        let start = Instant::now();
        let limit = Duration::from_secs_f64(2.0 * load());
        // The death of a rank's background child ends nothing.
        let is_over = |run: &mut Run| run.child.try_wait().unwrap().is_some();
        while !is_over(&mut run) && start.elapsed() < Duration::from_millis(300) {
            std::thread::sleep(Duration::from_millis(5));
        }
        if !is_over(&mut run) {
            run.signal("TERM");
        }
        while !is_over(&mut run) {
            assert!(start.elapsed() < limit, "trial {trial}: still there after {limit:?}: {:?}", run.processes());
            std::thread::sleep(Duration::from_millis(5));
        }
        run.assert_nothing_left();
    }
    let left: Vec<String> = shared_files().difference(&before).cloned().collect();
    assert!(left.is_empty(), "files in /dev/shm: {left:?}");
}
