//! Where the library lies: found from the program's own path, since the product can be moved.

use crate::command_line::Arguments;
use crate::failure::Failure;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes one folder, or all.
pub fn show(which: &str, arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let all = folders().map_err(Failure::Failed)?;
    let wanted: Vec<&(&str, PathBuf)> = all.iter().filter(|(name, _)| which == "all" || *name == which).collect();
    if wanted.is_empty() {
        let names = FOLDERS.iter().map(|(name, _)| *name);
        let near = opal_core::mca::name::nearest(which, names.clone());
        let list = names.collect::<Vec<_>>().join(", ");
        let hint = near.map_or(format!("known are {list}"), |near| format!("did you mean {near}?"));
        return Err(Failure::Refused(format!("--path {which} is not known; {hint}")));
    }
    if arguments.json {
        let object: serde_json::Map<_, _> =
            wanted.iter().map(|(name, path)| ((*name).to_owned(), path.display().to_string().into())).collect();
        writeln!(out, "{:#}", serde_json::Value::Object(object))?;
        return Ok(());
    }
    for (name, path) in &wanted {
        match (which == "all", arguments.parsable) {
            (_, true) => writeln!(out, "path:{name}:{}", path.display())?,
            (true, false) => writeln!(out, "{name:>12}: {}", path.display())?,
            (false, false) => writeln!(out, "{}", path.display())?,
        }
    }
    Ok(())
}

/// Each with its name, the prefix first.
pub fn folders() -> Result<Vec<(&'static str, PathBuf)>, String> {
    let prefix = prefix()?;
    // Joining nothing would leave a slash behind.
    let place = |below: &str| if below.is_empty() { prefix.clone() } else { prefix.join(below) };
    Ok(FOLDERS.iter().map(|(name, below)| (*name, place(below))).collect())
}

/// Two folders above this program.
pub fn prefix() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| format!("cannot find my own path: {error}"))?;
    let prefix = program.parent().and_then(Path::parent).ok_or("my own path has no folder above bin")?;
    Ok(prefix.to_path_buf())
}

/// Names as Open MPI's and GNU's users know them; an absolute one does not lie below the prefix.
const FOLDERS: &[(&str, &str)] = &[
    ("prefix", ""),
    ("bindir", "bin"),
    ("libdir", "lib"),
    ("incdir", "include"),
    ("mandir", "share/man"),
    ("pkgdatadir", "share/ompi-rs"),
    ("sysconfdir", "/etc/ompi-rs"),
];
