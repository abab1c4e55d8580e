//! Connections between mpirun and a daemon that break in the middle of a job: an agent sends the daemon to a middleman of the test, which
//! resets connections, and may refuse new ones for a time. `cluster/pulled_link` and `cluster/rejects_mpirun` of `cargo xtask test` are the
//! same with a link that is pulled and a host that rejects.

mod rig;

use rig::directory::Directory;
use rig::{Ended, Run};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::sockopt;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Passes bytes on, and resets each connection after so many from the daemon.
struct Middleman {
    address: String,
    broken: Arc<AtomicU32>,
    is_over: Arc<AtomicBool>,
}

impl Middleman {
    /// After each reset it refuses connections for so long.
    fn new(target: &str, limit: usize, breaks: u32, refuses: Duration) -> Middleman {
        let mut listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (broken, is_over) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
        let (target, counter, stop) = (target.to_owned(), broken.clone(), is_over.clone());
        // They end with the process of the test at the latest.
        std::thread::spawn(move || {
            let mut before = 0;
            while let Ok((socket, _)) = listener.accept() {
                if !refuses.is_zero() && counter.load(Ordering::Relaxed) > before {
                    before = counter.load(Ordering::Relaxed);
                    drop((socket, listener));
                    std::thread::sleep(refuses);
                    listener = TcpListener::bind(address).unwrap();
                    continue;
                }
                let limit = if counter.load(Ordering::Relaxed) < breaks { limit } else { usize::MAX };
                let (target, counter, stop) = (target.clone(), counter.clone(), stop.clone());
                std::thread::spawn(move || {
                    if pass_on(&socket, &TcpStream::connect(&*target).unwrap(), limit, &stop) {
                        counter.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        Middleman { address: address.to_string(), broken, is_over }
    }
}

impl Drop for Middleman {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Until one end closes, or so many bytes came from the daemon; whether it broke the connection.
fn pass_on(mut daemon: &TcpStream, mut mpirun: &TcpStream, limit: usize, stop: &AtomicBool) -> bool {
    let (mut chunk, mut left) = ([0; 4096], limit);
    while !stop.load(Ordering::Relaxed) {
        let mut polls = [PollFd::new(daemon, PollFlags::IN), PollFd::new(mpirun, PollFlags::IN)];
        rustix::event::poll(&mut polls, Some(&Timespec { tv_sec: 0, tv_nsec: 100_000_000 })).unwrap();
        let [up, down] = [0, 1].map(|index| !polls[index].revents().is_empty());
        if up {
            let read = daemon.read(&mut chunk).unwrap_or(0);
            if read == 0 || mpirun.write_all(&chunk[..read.min(left)]).is_err() {
                return false;
            }
            left -= read.min(left);
        }
        if left == 0 {
            for socket in [daemon, mpirun] {
                sockopt::set_socket_linger(socket, Some(Duration::ZERO)).unwrap();
            }
            return true;
        }
        if down {
            let read = mpirun.read(&mut chunk).unwrap_or(0);
            if read == 0 || daemon.write_all(&chunk[..read]).is_err() {
                return false;
            }
        }
    }
    false
}

/// Runs words on another host whose daemon calls a middleman with these habits, or two; how often each broke a connection.
fn run(name: &str, input: &[u8], limits: &[(usize, u32)], words: &[&str]) -> (Ended, Vec<u32>) {
    run_refused(name, input, (limits, Duration::ZERO), words)
}

/// As `run`; after each break the middleman refuses connections for so long.
fn run_refused(
    name: &str,
    input: &[u8],
    (limits, refuses): (&[(usize, u32)], Duration),
    words: &[&str],
) -> (Ended, Vec<u32>) {
    let directory = Directory::new(&format!("broken-{name}"));
    let held = directory.path("invitation");
    let script = format!(
        "cat > {held}.new; mv {held}.new {held}; while [ ! -e {held}.go ]; do sleep 0.01; done; exec sh -c \"$2\" < {held}.go"
    );
    let agent = directory.file("agent", &format!("#!/bin/sh\n{script}\n"));
    assert!(Command::new("chmod").args(["+x", &agent]).status().unwrap().success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpirun"));
    command.args(["--mca", "plm_ssh_agent", &agent, "--host", "a.invalid:1"]).args(words);
    std::fs::write(directory.path("input"), input).unwrap();
    command.stdin(Stdio::from(std::fs::File::open(directory.path("input")).unwrap()));
    let run = Run::start_with(&mut command);
    let end = Instant::now() + Duration::from_secs(20);
    let text = loop {
        match std::fs::read_to_string(&held) {
            Ok(text) => break text,
            Err(_) => assert!(Instant::now() < end, "no invitation came"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let line = text.lines().find(|line| line.starts_with("addresses ")).unwrap();
    let target = line.split(' ').nth(1).unwrap();
    let men: Vec<Middleman> =
        limits.iter().map(|(limit, breaks)| Middleman::new(target, *limit, *breaks, refuses)).collect();
    let addresses = men.iter().map(|man| man.address.clone()).collect::<Vec<_>>().join(" ");
    directory.file("invitation.next", &text.replace(line, &format!("addresses {addresses}")));
    std::fs::rename(directory.path("invitation.next"), directory.path("invitation.go")).unwrap();
    let ended = run.end();
    (ended, men.iter().map(|man| man.broken.load(Ordering::Relaxed)).collect())
}

fn lines(count: u32) -> String {
    (1..=count).map(|number| format!("{number}\n")).collect()
}

#[test]
fn what_ranks_write_arrives_once_and_in_order() {
    let (ended, broken) = run("output", b"", &[(30_000, 5), (50_000, 5)], &["seq", "60000"]);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
    assert!(ended.out == lines(60_000), "{} bytes came", ended.out.len());
    assert!(broken.iter().sum::<u32>() >= 5, "broken {broken:?} times");
}

#[test]
fn what_ranks_read_arrives_once_and_in_order() {
    // What comes back is what breaks it.
    let (ended, broken) = run("input", lines(40_000).as_bytes(), &[(20_000, 6)], &["cat"]);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
    assert!(ended.out == lines(40_000), "{} bytes came", ended.out.len());
    assert_eq!(broken, [6]);
}

/// The only path rejects for two seconds, twice: longer than a daemon takes to call again otherwise.
#[test]
fn a_path_that_rejects_for_a_time_ends_no_job() {
    let start = Instant::now();
    let habits = (&[(30_000, 2)][..], Duration::from_secs(2));
    let (ended, broken) = run_refused("rejected", b"", habits, &["seq", "60000"]);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
    assert!(ended.out == lines(60_000), "{} bytes came", ended.out.len());
    assert_eq!(broken, [2]);
    assert!(start.elapsed() >= Duration::from_secs(4), "nobody was refused: {:?}", start.elapsed());
}

/// The few bytes of a short job, cut at many places: handshake and orders are there, or the daemon says that it was hung up on.
#[test]
fn a_short_job_is_cut_anywhere() {
    for limit in (150..900).step_by(50) {
        let (ended, _) = run("short", b"", &[(limit, 1)], &["echo", "fine"]);
        assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(0), "fine\n", ""), "after {limit}");
    }
}
