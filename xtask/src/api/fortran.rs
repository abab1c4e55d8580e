//! Fortran's interfaces, made of the standard's data: the C side of each procedure as Rust, mpif.h, and the modules.
//!
//! What is made is committed, so that people and editors can read it; `cargo xtask api` makes it again and compares, with
//! `--bless` it writes it.

mod chapters;
mod constants;
pub mod every;
mod modules;
pub mod procedure;
mod reach;
mod sections;
mod shims;

use super::data::Data;
use crate::failure::Result;
use crate::shell;
use procedure::Supplement;
use std::path::Path;

/// The files below ompi-core/fortran and what belongs into them.
fn files(root: &Path, data: &Data) -> Result<Vec<(String, String)>> {
    let supplement = Supplement::read(&root.join("ompi-core/api"))?;
    let procedures = procedure::all(data, &supplement)?;
    let mut files = chapters::files(data, &procedures, &supplement)?;
    files.push(("include/mpif.h".to_owned(), constants::header(data)));
    files.extend(modules::files(data, &procedures));
    Ok(files)
}

/// Sentences on files that are not as the data says; with `bless` they are written instead.
pub fn compare(root: &Path, data: &Data, bless: bool) -> Result<Vec<String>> {
    let folder = root.join("ompi-core/fortran");
    let mut wrong = Vec::new();
    for (name, text) in files(root, data)? {
        let path = folder.join(&name);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        match bless {
            true => shell::write(&path, &text)?,
            false => wrong.push(format!(
                "ompi-core/fortran/{name} is not what ompi-core/api gives; run `cargo xtask api --bless`"
            )),
        }
    }
    Ok(wrong)
}
