//! Memory that goes while its registration is kept, in each of the ways of `tests/fabrics/gone.c`. `tests/fabrics/pins.c` makes a card of
//! libfabric's provider: what peers read are the pages that were registered.

use super::super::Session;
use super::super::cluster::rig::expect;
use super::program::{Fabric, job_of};
use crate::failure::Result;
use crate::shell;
use std::path::PathBuf;
use std::process::Command;

/// `fabrics/…/gone@2/…`
pub fn cases(session: &mut Session, fabric: &Fabric, pinning: &[&'static str], plain: &[(&'static str, &'static str)]) {
    let place = fabric.place;
    for what in pinning {
        for how in ["counted", "unseen"] {
            fabric.case_unless(session, &format!("{place}{what}/gone@2/pins_{how}"), no_pins(), |session| {
                let pins = library(session, "pins")?.display().to_string();
                gone(session, fabric, what, how, &["--mca", "btl_ofi_library", &pins])
            });
        }
    }
    for (what, how) in plain {
        fabric.case(session, &format!("{place}{what}/gone@2/{how}"), |session| gone(session, fabric, what, how, &[]));
    }
}

fn gone(session: &mut Session, fabric: &Fabric, what: &'static str, how: &str, more: &[&str]) -> Result<()> {
    let data = library(session, "gone")?.display().to_string();
    let options = [&fabric.over(what)[..], &["--mca", "smsc", "^cma,map"], more].concat();
    expect(&job_of(session, ("fabrics", &["gone", &data, how]), 2, &options)?, 0)
}

/// A shared library of a source of `tests/fabrics`.
fn library(session: &mut Session, name: &str) -> Result<PathBuf> {
    let folder = session.scratch().join("fabrics");
    shell::folder(&folder)?;
    let made = folder.join(format!("lib{name}.so"));
    let sources = session.tree.root.join("tests/fabrics");
    let mut compile = Command::new("gcc");
    compile.args(["-O1", "-Wall", "-Wextra", "-shared", "-fPIC", "-DLIBRARY"]).arg(sources.join(format!("{name}.c")));
    let versions = sources.join(format!("{name}.map"));
    if versions.exists() {
        compile.arg(format!("-Wl,--version-script={}", versions.display()));
    }
    shell::output(compile.arg("-o").arg(&made))?;
    Ok(made)
}

/// What is missing to pin memory.
fn no_pins() -> Option<String> {
    let setting = "/proc/sys/kernel/io_uring_disabled";
    let said = std::fs::read_to_string(setting).ok()?;
    (said.trim() != "0")
        .then(|| format!("io_uring, which pins memory for the test, is switched off: {setting} is {}", said.trim()))
}
