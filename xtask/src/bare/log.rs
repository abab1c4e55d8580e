//! How an image logs: as text, or by frames of defmt, whose texts stay in the image file.

use crate::build::compile::{self, Call};
use crate::failure::{At, Result, fail, refuse};
use crate::progress::Progress;
use crate::shell;
use crate::tree::{self, Tree};
use object::{Object, ObjectSection};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The choice.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Log {
    /// Lines, which any terminal shows
    #[default]
    Text,
    /// Frames of defmt: fewer bytes; takes a decoder, which is compiled when it is first wanted
    Defmt,
}

impl Log {
    /// What the names of such images and their crates end with.
    pub fn suffix(self) -> &'static str {
        match self {
            Log::Text => "",
            Log::Defmt => ".defmt",
        }
    }

    /// The boot crate, with the feature that makes it log so.
    pub fn package(self) -> &'static str {
        match self {
            Log::Text => "hw-x86_64",
            Log::Defmt => "hw-x86_64+defmt",
        }
    }
}

/// Has an image that `call` compiled linked by defmt's own script, behind ours: the section's addresses are the numbers of
/// the texts, and it is no part of what is loaded.
pub fn link(call: &Call, linker: &mut Command) -> Result<()> {
    let scripts = call.script_outputs("defmt", "defmt.x")?;
    // Several, if flags differed once: the version is locked, so they say the same.
    let script = scripts.first().ok_or_else(|| fail("crate defmt was compiled but left no defmt.x"))?;
    linker.arg("-Wl,-T").arg(script);
    Ok(())
}

/// Which choice an image was made with.
pub fn of(image: &Path) -> Result<Log> {
    let bytes = std::fs::read(image).at(format!("read {}", image.display()))?;
    let file = object::File::parse(&*bytes).at(format!("read {} as ELF", image.display()))?;
    Ok(if file.sections().any(|section| section.name() == Ok(".defmt")) { Log::Defmt } else { Log::Text })
}

/// Refuses to show the log of an image that was made for the other choice.
pub fn check(image: &Path, wanted: Log) -> Result<()> {
    match (of(image)?, wanted) {
        (made, wanted) if made == wanted => Ok(()),
        (Log::Defmt, _) => Err(refuse(format!(
            "{} logs by frames of defmt, which are no text; say --log defmt, or make it without --log defmt",
            image.display()
        ))),
        (Log::Text, _) => Err(refuse(format!(
            "{} logs text, no frames of defmt; say --log text, or make it with `cargo xtask build --log defmt`",
            image.display()
        ))),
    }
}

/// The decoder, compiled when it is first wanted: a workspace of its own, for which nobody else waits.
pub fn decoder(tree: &Tree, progress: &Progress) -> Result<PathBuf> {
    let manifest = tree.root.join("hw/x86_64/tools/defmt-print/Cargo.toml");
    let output = tree.build_folder().join("defmt-print");
    let program = output.join(compile::host()?).join("release/defmt-print");
    let make = || {
        let mut cargo = tree::cargo();
        cargo.args(["build", "--release", "--locked", "--target", &compile::host()?]);
        cargo.arg("--manifest-path").arg(&manifest).arg("--target-dir").arg(&output);
        cargo.args((!progress.verbose).then_some("--quiet")).env_remove("CARGO_TARGET_DIR");
        shell::run(&mut cargo, progress.verbose)
    };
    match program.is_file() {
        true => make()?,
        false => progress.phase("compile the decoder of defmt's frames", || Ok((make()?, String::new())))?,
    }
    Ok(program)
}
