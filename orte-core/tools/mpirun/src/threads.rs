//! Whether the wait that a rank tells of is all that its process does: other threads may compute, or wait in MPI for something else.

use crate::tree;
use std::collections::BTreeMap;
use std::path::Path;

/// Whether in each process of a rank, or below the shell in its place, all threads but one wait for another thread of that process: on
/// a private futex, or for the end of one of these threads (pthread_join), without a limit of time. A thread that waits in MPI always has such a limit, so it is the one that is left. `false`
/// where the system does not let this process look.
pub fn all_wait(pid: u32) -> bool {
    tree::family(pid as i32).into_iter().all(|pid| is_one(&format!("/proc/{pid}/task")))
}

fn is_one(folder: &str) -> bool {
    let Some(before) = switches(folder) else { return false };
    if before.len() <= 1 {
        return true;
    }
    let waiting: Vec<&String> = before.keys().filter(|thread| is_passive(folder, thread)).collect();
    // Who did not run in between waited at one and the same time.
    let Some(after) = switches(folder) else { return false };
    let stayed = waiting.iter().filter(|thread| before.get(**thread) == after.get(**thread)).count();
    before.len() == after.len() && stayed + 1 >= after.len()
}

/// How often each thread has been taken from its core; `None` if that cannot be seen. A thread that ends meanwhile is left out.
fn switches(folder: &str) -> Option<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).ok()? {
        let entry = entry.ok()?;
        let status = match std::fs::read_to_string(entry.path().join("status")) {
            Ok(status) => status,
            Err(e) if has_ended(&e) => continue,
            Err(_) => return None,
        };
        let counts: Vec<&str> = status.lines().filter(|line| line.contains("ctxt_switches:")).collect();
        found.insert(entry.file_name().to_str()?.to_owned(), (!counts.is_empty()).then(|| counts.concat())?);
    }
    Some(found)
}

/// Its folder is gone, or its files have nobody to tell of any more.
fn has_ended(e: &std::io::Error) -> bool {
    matches!(e.raw_os_error(), Some(libc::ENOENT | libc::ESRCH))
}

fn is_passive(folder: &str, thread: &str) -> bool {
    let call = std::fs::read_to_string(Path::new(folder).join(thread).join("syscall"));
    call.is_ok_and(|line| waits_for_a_thread(&line, |thread| Path::new(folder).join(thread.to_string()).exists()))
}

/// A line of /proc/…/syscall: number and six arguments of the call in which a thread is. The word by which the system tells that a thread
/// has ended holds its number until then, and is on a futex that is not private (set_tid_address(2)).
fn waits_for_a_thread(line: &str, is_own: impl Fn(u64) -> bool) -> bool {
    let mut words = line.split_ascii_whitespace();
    let number = words.next().and_then(|word| word.parse().ok());
    let mut argument = || words.next().and_then(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok());
    let (_word, operation, value, limit) = (argument(), argument(), argument(), argument());
    let is_wait = operation.is_some_and(|operation| {
        let command = (operation as i32) & libc::FUTEX_CMD_MASK;
        let is_private = operation as i32 & libc::FUTEX_PRIVATE_FLAG != 0;
        (is_private || value.is_some_and(|value| value != 0 && is_own(value)))
            && [libc::FUTEX_WAIT, libc::FUTEX_WAIT_BITSET].contains(&command)
    });
    number == Some(libc::SYS_futex) && is_wait && limit == Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::{Duration, Instant};

    #[test]
    fn calls() {
        let line = |operation: i32, value: u32, limit: u32| {
            format!("{} 0x7f00 {operation:#x} {value:#x} {limit:#x} 0x0 0xffffffff 0x7ffe 0x7f01\n", libc::SYS_futex)
        };
        let waits = |line: &str| waits_for_a_thread(line, |thread| thread == 4711);
        assert!(waits(&line(libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, 0, 0)));
        assert!(waits(&line(libc::FUTEX_WAIT_BITSET | libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME, 0, 0)));
        assert!(waits(&line(libc::FUTEX_WAIT_BITSET | libc::FUTEX_CLOCK_REALTIME, 4711, 0)), "pthread_join");
        // It ends by itself; another process may end it; it wakes others.
        assert!(!waits(&line(libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, 0, 1)));
        assert!(!waits(&line(libc::FUTEX_WAIT, 0, 0)) && !waits(&line(libc::FUTEX_WAIT, 4712, 0)));
        assert!(!waits(&line(libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 0, 0)));
        assert!(!waits("running\n") && !waits("-1 0x7ffe 0x7f01\n") && !waits(""));
    }

    #[test]
    fn threads_that_end_meanwhile_are_left_out() {
        let folder = format!("/proc/{}/task", std::process::id());
        let (say, heard) = channel::<()>();
        let ends = std::thread::spawn(move || {
            while heard.try_recv().is_err() {
                std::thread::spawn(|| ()).join().unwrap();
            }
        });
        for _ in 0..2000 {
            assert!(switches(&folder).is_some_and(|all| !all.is_empty()));
        }
        say.send(()).unwrap();
        ends.join().unwrap();
    }

    #[test]
    fn a_thread_that_computes_is_seen() {
        // This process has threads that run; another one is looked at from within, by the folder of its threads.
        let (say, heard) = channel::<()>();
        let passive = std::thread::spawn(move || heard.recv());
        let folder = format!("/proc/{}/task", std::process::id());
        assert!(switches(&folder).is_some_and(|all| all.len() >= 2));
        // This thread computes, and at least one other waits for it; the harness's own does so, too.
        let until = Instant::now() + Duration::from_secs(20);
        let waiting = || switches(&folder).is_some_and(|all| all.keys().any(|thread| is_passive(&folder, thread)));
        while !waiting() {
            assert!(Instant::now() < until, "no thread waits on a futex");
            std::thread::yield_now();
        }
        let computes = std::thread::spawn(move || {
            let until = Instant::now() + Duration::from_secs(1);
            while Instant::now() < until {
                std::hint::spin_loop();
            }
        });
        assert!(!is_one(&folder), "two threads run");
        computes.join().unwrap();
        say.send(()).unwrap();
        passive.join().unwrap().unwrap();
    }
}
