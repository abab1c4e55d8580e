//! One build at a time in target/image: two at once would take each other's files.

use crate::failure::{At, Result, fail};
use crate::progress::Progress;
use crate::shell;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The lock of a folder, held until it is dropped. Programs that this process starts do not inherit it: the standard library
/// opens files close-on-exec.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of `folder`. While another process holds it, this one says which process that is, and waits.
    pub fn take(folder: &Path, progress: &Progress) -> Result<Lock> {
        shell::folder(folder)?;
        let path = folder.join("lock");
        // Not truncated: the file says which process holds the lock.
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = file.at(format!("open {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                progress.note(&format!(
                    "{} builds in {}; this build waits for its end",
                    holder(&file),
                    folder.display()
                ));
                file.lock().at(format!("lock {}", path.display()))?;
            }
            Err(TryLockError::Error(error)) => return Err(fail(format!("cannot lock {}: {error}", path.display()))),
        }
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let line = format!("{} xtask {}\n", std::process::id(), arguments.join(" "));
        let written =
            file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).and_then(|_| file.write_all(line.as_bytes()));
        written.at(format!("write {}", path.display()))?;
        Ok(Lock { _file: file })
    }
}

/// The process that holds the lock, as it wrote itself into the file.
fn holder(mut file: &File) -> String {
    let mut text = String::new();
    // A process that has just taken the lock has not written yet.
    let _ = file.read_to_string(&mut text);
    match text.trim_end().split_once(' ') {
        Some((id, command)) => format!("process {id} (`{command}`)"),
        None => "another process".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_child_does_not_keep_the_lock() {
        let folder = std::env::temp_dir().join(format!("ompi-rs-lock-{}", std::process::id()));
        let lock = Lock::take(&folder, &Progress::new(false)).unwrap();
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let other = File::open(folder.join("lock")).unwrap();
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        assert!(holder(&other).starts_with(&format!("process {} (`xtask", std::process::id())), "{}", holder(&other));
        drop(lock);
        // The child lives.
        assert!(child.try_wait().unwrap().is_none());
        assert!(other.try_lock().is_ok());
        drop(child.stdin.take());
        child.wait().unwrap();
        std::fs::remove_dir_all(folder).unwrap();
    }
}
