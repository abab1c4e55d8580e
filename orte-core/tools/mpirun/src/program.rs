//! Finding the program before anything starts, so that a mistyped name is one sentence and not one per rank.

use crate::refusal::{OWN, Refusal};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The file to execute: `program` itself if it contains a slash, else the first executable of that name in `path`; both
/// as seen from `directory`, which is empty for this process's own.
pub fn find(program: &OsStr, path: Option<OsString>, directory: &Path) -> Result<PathBuf, Refusal> {
    let shown = program.to_string_lossy();
    if program.as_bytes().contains(&b'/') {
        let file = directory.join(program);
        return executable(&file).map(|()| file);
    }
    let mut first_refusal = None;
    for place in std::env::split_paths(&path.unwrap_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin"))) {
        let place = if place.as_os_str().is_empty() { PathBuf::from(".") } else { place };
        let file = directory.join(place).join(program);
        match executable(&file) {
            Ok(()) => return Ok(file),
            Err(refusal) if refusal.status == NOT_EXECUTABLE => _ = first_refusal.get_or_insert(refusal),
            Err(_) => {}
        }
    }
    let here = directory.join(program).is_file();
    let hint = if here { format!("; did you mean ./{shown}?") } else { String::new() };
    Err(first_refusal.unwrap_or_else(|| Refusal {
        status: NOT_FOUND,
        sentence: format!("program {shown} was not found in PATH{hint}"),
    }))
}

/// Why the system did not execute a file that [`find`] found.
pub fn not_started(program: &Path, errno: i32) -> Refusal {
    let shown = program.display();
    let (status, sentence) = match errno {
        libc::ENOENT if program.exists() => (
            NOT_FOUND,
            format!("program {shown} cannot be started: the interpreter or loader that it names does not exist"),
        ),
        libc::ENOENT => (NOT_FOUND, format!("program {shown} was not found")),
        libc::ENOEXEC => (
            NOT_EXECUTABLE,
            format!("program {shown} cannot be started: it is no executable of this machine (a script begins with #!)"),
        ),
        libc::EMFILE => (OWN, "a rank cannot be started: too many open files; raise the limit with ulimit -n".to_owned()),
        libc::ENFILE => (OWN, "a rank cannot be started: too many files are open on this host".to_owned()),
        libc::EAGAIN => (
            OWN,
            "a rank cannot be started: the system gives no more processes; raise the limit with ulimit -u, or that of this \
             container"
                .to_owned(),
        ),
        errno => {
            let error = std::io::Error::from_raw_os_error(errno);
            (NOT_EXECUTABLE, format!("program {shown} cannot be started: {error}"))
        }
    };
    Refusal { status, sentence }
}

fn executable(file: &Path) -> Result<(), Refusal> {
    let shown = file.display();
    let refuse = |status, sentence| Err(Refusal { status, sentence });
    match std::fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            refuse(NOT_EXECUTABLE, format!("program {shown} cannot be reached: {error}"))
        }
        Err(_) => refuse(NOT_FOUND, format!("program {shown} was not found")),
        Ok(metadata) if metadata.is_dir() => refuse(NOT_EXECUTABLE, format!("{shown} is a directory, not a program")),
        Ok(metadata) if metadata.permissions().mode() & 0o111 == 0 => {
            refuse(NOT_EXECUTABLE, format!("program {shown} is not executable; try chmod +x {shown}"))
        }
        Ok(_) => Ok(()),
    }
}

const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
