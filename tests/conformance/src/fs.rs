//! What every file system promises: files are made, told, resized and deleted as it says.

use crate::declined::accepted;
use crate::scratch;
use ompi_core::file::Striping;
use ompi_core::framework::fs::{Component, Module, Opening};
use opal_core::sys::Errno;
use std::ffi::CString;

const EVERY: Opening = Opening {
    reads: true,
    writes: true,
    creates: true,
    exclusive: false,
    permissions: 0o600,
    striping: Striping { factor: None, unit: None, start_device: None },
};

/// Runs every case in a folder of its own; the first broken promise is the error.
pub fn suite(component: &dyn Component) -> Result<(), String> {
    let (_, module) = accepted(component.info(), component.query());
    let folder = scratch::path("fs");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let path = |name: &str| CString::new(folder.join(name).display().to_string()).map_err(|error| error.to_string());
    let ended = path("file").and_then(|file| cases(module, &file, &path("nothing")?, &path("")?));
    let _ = std::fs::remove_dir_all(&folder);
    ended
}

fn cases(module: &dyn Module, file: &CString, nothing: &CString, folder: &CString) -> Result<(), String> {
    let existing = Opening { creates: false, ..EVERY };
    expect("open what is not there", module.open(nothing, &existing).map(drop), Err(Errno::NOENT))?;
    expect("open a folder", module.open(folder, &Opening { writes: false, ..existing }).map(drop), Err(Errno::ISDIR))?;
    expect("delete what is not there", module.delete(nothing), Err(Errno::NOENT))?;
    let opened = module.open(file, &EVERY).map_err(|errno| format!("make a file: {errno}"))?;
    expect("stripes that nobody asked for", opened.striping, Striping::default())?;
    let opened = opened.file;
    expect("make it again", module.open(file, &Opening { exclusive: true, ..EVERY }).map(drop), Err(Errno::EXIST))?;
    expect("a new file", module.size(&opened), Ok(0))?;
    expect("extend", module.resize(&opened, 5000).and_then(|()| module.size(&opened)), Ok(5000))?;
    expect("cut", module.resize(&opened, 7).and_then(|()| module.size(&opened)), Ok(7))?;
    expect("reserve more", module.reserve(&opened, 100).and_then(|()| module.size(&opened)), Ok(100))?;
    expect("reserve less", module.reserve(&opened, 50).and_then(|()| module.size(&opened)), Ok(100))?;
    expect("reserve nothing", module.reserve(&opened, 0).and_then(|()| module.size(&opened)), Ok(100))?;
    expect("synchronise", module.sync(&opened), Ok(()))?;
    let again = module.open(file, &Opening { writes: false, ..existing }).map_err(|errno| format!("open: {errno}"))?;
    let again = again.file;
    expect("seen by another opening", module.size(&again), Ok(100))?;
    expect("delete", module.delete(file), Ok(()))?;
    expect("deleted", module.open(file, &existing).map(drop), Err(Errno::NOENT))?;
    expect("still open", module.size(&opened), Ok(100))
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, got: T, wanted: T) -> Result<(), String> {
    if got == wanted { Ok(()) } else { Err(format!("{what}: expected {wanted:?}, got {got:?}")) }
}
