//! Files that others put where mpirun writes the output of ranks.

mod rig;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// A folder that vanishes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("ompi-rs-planted-{}-{name}", std::process::id()));
        std::fs::create_dir_all(path.join("out/1")).unwrap();
        Folder(path)
    }

    fn place(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a job that writes its output below this path; it must refuse with these words, and leave nothing.
fn refused(path: &Path, words: &str) {
    let ended = rig::run(&["-n", "1", "--timeout", "20", "--output-filename", path.to_str().unwrap(), "echo", "hello"]);
    assert_eq!(ended.status, Some(125), "{}", ended.err);
    assert!(ended.err.contains("the file for output ") && ended.err.contains(words), "{}", ended.err);
}

#[test]
fn a_pipe_is_not_waited_for() {
    let folder = Folder::new("pipe");
    std::fs::create_dir(folder.place("out/1/rank.0")).unwrap();
    let pipe = folder.place("out/1/rank.0/stdout");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    refused(&folder.place("out"), "it is a pipe, not a regular file");
}

/// A terminal takes some KiB, then it blocks who writes, until somebody reads at its other end.
#[test]
fn a_terminal_that_nobody_reads_blocks_its_rank_only() {
    let flags = rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY;
    let reader = rustix::pty::openpt(flags).unwrap();
    rustix::pty::unlockpt(&reader).unwrap();
    let name = rustix::pty::ptsname(&reader, Vec::new()).unwrap().into_string().unwrap();
    let words =
        ["-n", "1", "--grace", "1", "-outfile-pattern", &name, "sh", "-c", "head -c 3000000 /dev/zero; echo done >&2"];
    let mut run = rig::Run::start(&words);
    run.wait_for("head -c 3000000", 1);
    std::thread::sleep(Duration::from_millis(500));
    run.wait_for("head -c 3000000", 1);
    run.signal("TERM");
    std::thread::sleep(Duration::from_millis(200));
    run.signal("TERM");
    // Its processes are gone, and what they wrote waits: one more signal gives it up.
    run.wait_for("head -c 3000000", 0);
    std::thread::sleep(Duration::from_millis(200));
    if run.child.try_wait().unwrap().is_none() {
        run.signal("TERM");
    }
    assert_eq!(run.end_within(Duration::from_secs(10), "waits for a terminal that nobody reads"), Some(143));
}

#[test]
fn links_are_not_followed() {
    let folder = Folder::new("link");
    let precious = folder.place("precious");
    std::fs::write(&precious, "precious").unwrap();
    std::fs::create_dir(folder.place("out/1/rank.0")).unwrap();
    let place = folder.place("out/1/rank.0/stdout");
    std::os::unix::fs::symlink(&precious, &place).unwrap();
    refused(&folder.place("out"), "it is a symbolic link");
    std::fs::remove_file(&place).unwrap();
    std::fs::hard_link(&precious, &place).unwrap();
    refused(&folder.place("out"), "it has 2 hard links");
    std::fs::remove_dir_all(folder.place("out/1/rank.0")).unwrap();
    std::os::unix::fs::symlink(&folder.0, folder.place("out/1/rank.0")).unwrap();
    refused(&folder.place("out"), "");
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
    assert!(!folder.place("stdout").exists());
}

/// Another user puts a link in the file's place and takes it away, as fast as the system lets him, while jobs of root begin.
#[test]
fn links_that_come_and_go_are_not_followed() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let folder = Folder::new("race");
    let precious = folder.place("precious");
    std::fs::write(&precious, "precious").unwrap();
    let inner = folder.place("out/1/rank.0");
    std::fs::create_dir(&inner).unwrap();
    std::fs::set_permissions(&inner, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let (is_over, swaps) = (AtomicBool::new(false), AtomicU32::new(0));
    let mut refused = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Of this thread alone.
            rustix::thread::set_thread_uid(rustix::process::Uid::from_raw(65534)).unwrap();
            let place = inner.join("stdout");
            while !is_over.load(Ordering::Relaxed) {
                let _ = std::fs::remove_file(&place);
                if std::os::unix::fs::symlink(&precious, &place).is_ok() {
                    swaps.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        for _ in 0..40 {
            let out = folder.place("out");
            let ended = rig::run(&["-n", "1", "--timeout", "20", "--output-filename", out.to_str().unwrap(), "true"]);
            match ended.status {
                Some(125) if ended.err.contains("it is a symbolic link") => refused += 1,
                // The file went and came, or was the job's own.
                Some(0 | 125) => {}
                status => panic!("{status:?}: {}", ended.err),
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
    assert!(swaps.into_inner() > 1000 && refused > 0, "there was no race");
}

#[test]
fn files_of_others_are_not_written() {
    let folder = Folder::new("owner");
    let place = folder.place("out/1/rank.0");
    std::fs::create_dir(&place).unwrap();
    std::fs::write(place.join("stdout"), "theirs").unwrap();
    // Only root can give files away.
    if std::os::unix::fs::chown(place.join("stdout"), Some(65534), None).is_ok() {
        refused(&folder.place("out"), "it belongs to another user (65534)");
        assert_eq!(std::fs::read_to_string(place.join("stdout")).unwrap(), "theirs");
    }
}

#[test]
fn own_files_are_written_anew() {
    let folder = Folder::new("own");
    for text in ["long before", "short"] {
        let out = folder.place("out");
        let ended = rig::run(&["-n", "1", "--output-filename", out.to_str().unwrap(), "echo", text]);
        assert_eq!((ended.status, ended.out), (Some(0), format!("{text}\n")), "{}", ended.err);
        assert_eq!(std::fs::read_to_string(folder.place("out/1/rank.0/stdout")).unwrap(), format!("{text}\n"));
    }
    let ended = rig::run(&["-n", "1", "--outfile-pattern", "/dev/null", "echo", "x"]);
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), ""), "{}", ended.err);
}

#[test]
fn the_file_for_the_process_number_is_no_trap() {
    let folder = Folder::new("pid");
    let (place, precious) = (folder.place("pid"), folder.place("precious"));
    let start = || rig::Run::start(&["--report-pid", place.to_str().unwrap(), "-n", "1", "true"]);
    let refused = |words: &str| {
        let mut run = start();
        assert_eq!(run.end_within(Duration::from_secs(20), "waits for a reader"), Some(125));
        let err = std::io::read_to_string(run.child.stderr.take().unwrap()).unwrap();
        assert!(err.contains("--report-pid ") && err.contains(words), "{err}");
    };
    assert!(Command::new("mkfifo").arg(&place).status().unwrap().success());
    refused("it is a pipe");
    std::fs::remove_file(&place).unwrap();
    std::fs::write(&precious, "precious").unwrap();
    std::os::unix::fs::symlink(&precious, &place).unwrap();
    refused("it is a symbolic link");
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
    std::fs::remove_file(&place).unwrap();
    std::fs::write(&place, "1234567890 and more").unwrap();
    let run = start();
    let wanted = format!("{}\n", run.child.id());
    assert_eq!(run.end().status, Some(0));
    assert_eq!(std::fs::read_to_string(&place).unwrap(), wanted);
}
