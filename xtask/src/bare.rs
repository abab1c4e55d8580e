//! `cargo xtask build --target x86_64-unknown-none --app FILE`: one bootable image from a program and the library.
//!
//! Two toolchains can make one. The target x86_64-unknown-none has no floating-point registers in its calls: what it
//! compiles cannot exchange a `double` with C. The host's own target can, and its precompiled core and alloc run as well
//! without an operating system, once nothing but them is linked. So: C programs always by the host's target, Rust programs
//! by the bare one where it is installed. A line names the chosen target.

pub mod log;
pub mod program;

use crate::build::Options;
use crate::build::compile::{self, Flags};
use crate::build::components::Catalogue;
use crate::build::image::{self, Image, Lto};
use crate::build::resolve::{self, Choice, Request};
use crate::failure::{Result, fail, refuse};
use crate::progress::Progress;
use crate::shell;
use crate::tree::Tree;
use log::Log;
use program::Language;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What an image is made for.
pub const TARGET: &str = "x86_64-unknown-none";

/// `cargo xtask build --target …`.
pub fn build(options: &Options, progress: &Progress) -> Result<()> {
    let target = options.target.as_deref().unwrap_or_default();
    if target != TARGET {
        return Err(refuse(format!(
            "--target {target} is not supported; write --target {TARGET}, or leave --target out to build for this machine"
        )));
    }
    let Some(app) = &options.app else {
        return Err(refuse("--target needs --app: an image contains a program; name a .rs or .c file with --app"));
    };
    let tree = Tree::open()?;
    say_toolchain(app, options.bare_fallback, progress)?;
    let image = make(&tree, app, &[], options, progress)?;
    let bytes = std::fs::metadata(&image).map_or(0, |facts| facts.len());
    progress.note(&format!("{} ({} KiB); boot it with `cargo xtask boot -n 2 {0}`", image.display(), bytes / 1024));
    progress.note(&format!(
        "by GRUB, on a machine of its own: multiboot2 /boot/{} rank=0 size=1 tsc_khz=… (docs/bare-metal.md)",
        image.file_name().unwrap_or_default().to_string_lossy()
    ));
    Ok(())
}

/// Makes the image of a program; `flags` are for the C compiler.
pub fn make(tree: &Tree, app: &Path, flags: &[&str], options: &Options, progress: &Progress) -> Result<PathBuf> {
    let language = Language::of(app)?;
    let request = Request {
        components: options.components.clone(),
        exclude: options.exclude.clone(),
        direct: options.direct.clone(),
        bare: true,
    };
    let choice = resolve::resolve(&Catalogue::read(tree)?, &request)?;
    let (target, _) = toolchain(language, options.bare_fallback)?;
    let stem = app.file_stem().map_or("program".into(), |stem| stem.to_string_lossy().into_owned());
    let stem = format!("{stem}{}{}", flags.concat(), options.log.suffix());
    let image = Image::new(tree, &choice, Lto::Thin);
    let archive = progress
        .phase(&format!("compile {} with {} components", app.display(), choice.components.len()), || {
            Ok((archive(&image, &choice, (language, options.log), app, &stem, &target, progress)?, String::new()))
        })?;
    let out = options.out.clone().unwrap_or_else(|| tree.target.join("bare").join(format!("{stem}.elf")));
    progress.phase("link the image", || {
        let mut linker = linker(tree, &out);
        if options.log == Log::Defmt {
            let flags = Flags::bare(&choice, &target);
            log::link(&compile::Call { tree, manifest: app, profile: PROFILE, flags }, &mut linker)?;
        }
        link(tree, &archive, app, flags, &out, linker, progress)?;
        Ok(((), String::new()))
    })?;
    Ok(out)
}

/// Says which toolchain makes the image of a program.
pub fn say_toolchain(app: &Path, fallback: bool, progress: &Progress) -> Result<()> {
    let (target, why) = toolchain(Language::of(app)?, fallback)?;
    progress.note(&format!("compiled for {target}: {why}"));
    Ok(())
}

/// Which target compiles it, and why.
fn toolchain(language: Language, fallback: bool) -> Result<(String, &'static str)> {
    let host = compile::host()?;
    Ok(match (language, fallback, installed(TARGET)) {
        (Language::C, _, _) => (host, "C and Rust exchange floating-point numbers in registers"),
        (_, true, _) => (host, "--bare-fallback says so"),
        (_, false, true) => (TARGET.to_owned(), "it is installed"),
        (_, false, false) => (host, "x86_64-unknown-none is not installed, and this one's core runs bare, too"),
    })
}

/// Whether the installed toolchain has this target's core.
pub fn installed(target: &str) -> bool {
    let sysroot = shell::output(compile::rustc().args(["--print", "sysroot"])).unwrap_or_default();
    Path::new(sysroot.trim()).join("lib/rustlib").join(target).is_dir()
}

/// Compiles the library and a Rust program into one archive.
fn archive(
    image: &Image,
    choice: &Choice,
    (language, log): (Language, Log),
    app: &Path,
    stem: &str,
    target: &str,
    progress: &Progress,
) -> Result<PathBuf> {
    let name = match language {
        // The same library for all of them.
        Language::C => format!("bare_c{}", log.suffix()).replace('.', "_"),
        Language::Rust => format!("bare_{}", stem.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_")),
    };
    let folder = image.folder.join(&name);
    program::write(language, app, &folder, &image.line())?;
    let library = if language == Language::C { "ompi-core" } else { "ompi" };
    let packages = &["opal-core", library, log.package()];
    let flags = Flags::bare(choice, target);
    let target = format!("[lib]\nname = {name:?}\npath = \"src/lib.rs\"\ncrate-type = [\"staticlib\"]\n");
    let what = image::Crate { folder, name: &name, target, packages, flags };
    image.compile(&what, PROFILE, &format!("lib{name}.a"), progress)
}

/// The linker as every image wants it.
fn linker(tree: &Tree, out: &Path) -> Command {
    let mut linker = Command::new("gcc");
    linker.args(["-nostdlib", "-nostartfiles", "-static", "-no-pie", "-Wl,--gc-sections", "-Wl,--build-id=none"]);
    linker.args(["-Wl,-z,max-page-size=4096", "-Wl,-z,noexecstack", "-Wl,--no-warn-rwx-segments"]);
    linker.arg("-Wl,-T").arg(tree.root.join("hw/x86_64/link.ld")).arg("-o").arg(out);
    linker
}

fn link(
    tree: &Tree,
    archive: &Path,
    app: &Path,
    flags: &[&str],
    out: &Path,
    mut linker: Command,
    progress: &Progress,
) -> Result<()> {
    let language = Language::of(app)?;
    shell::folder(out.parent().unwrap_or(Path::new(".")))?;
    if language == Language::C {
        program::compile_c(tree, app, flags, out, &mut linker, progress)?;
    }
    linker.arg(archive);
    if language == Language::C {
        program::c_libraries(&mut linker);
    }
    if progress.verbose {
        eprintln!("+ {}", shell::line(&linker));
    }
    let outcome = shell::outcome(&mut linker, LINKER)?;
    match outcome.status.success() {
        true => Ok(()),
        false => Err(fail(format!("{}the linker could not link the image; its messages stand above", outcome.stderr))),
    }
}

const PROFILE: &str = "release";
const LINKER: Duration = Duration::from_secs(300);
