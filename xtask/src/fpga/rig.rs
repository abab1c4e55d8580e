//! The rig: the machine as a process beside a job, whose ranks have emulated ports.

use crate::failure::{Result, fail};
use crate::tree::{self, Tree};
use crate::{build, shell};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the program at the other end of the cables.
pub fn machine(tree: &Tree) -> Result<PathBuf> {
    let built = compiled(tree, &["--package", "hw-rig", "--bin", "tuc-fpga"], "bin")?;
    built["executable"].as_str().map(PathBuf::from).ok_or_else(|| fail("cargo built tuc-fpga, but names no program"))
}

/// Compiles what is preloaded into QEMU, so that `-chardev parallel,id=ID,path=/dev/tuc3` is node 3 of the cable that the
/// variable TUC_CABLE names. tuc-fpga sets it for what it runs.
pub fn shim(tree: &Tree) -> Result<PathBuf> {
    let built = compiled(tree, &["--package", "hw-rig-shim"], "cdylib")?;
    let library = built["filenames"][0].as_str().map(PathBuf::from);
    library.ok_or_else(|| fail("cargo built hw-rig-shim, but names no library"))
}

fn compiled(tree: &Tree, what: &[&str], kind: &str) -> Result<serde_json::Value> {
    let mut cargo = tree::cargo();
    cargo.args(["build", "--quiet"]).args(what).arg("--manifest-path").arg(tree.root.join("Cargo.toml"));
    product(&mut cargo, kind, &[])
}

/// What cargo says of the product of this kind.
fn product(cargo: &mut Command, kind: &str, rest: &[&str]) -> Result<serde_json::Value> {
    let messages = shell::output(cargo.args(["--message-format", "json-render-diagnostics"]).args(rest))?;
    let mut messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let is_it = |message: &serde_json::Value| message["target"]["kind"][0] == kind && !message["filenames"].is_null();
    messages.rfind(is_it).ok_or_else(|| fail(format!("`{}` does not say what it built", shell::line(cargo))))
}

/// Assembles the guest that does so many barriers and nothing else: a disk of one sector.
pub fn guest(tree: &Tree, barriers: u16, folder: &Path) -> Result<PathBuf> {
    shell::folder(folder)?;
    let (object, disk) = (folder.join("barriers.o"), folder.join("barriers.disk"));
    let mut assembler = Command::new("as");
    assembler.arg("--32").arg("--defsym").arg(format!("BARRIERS={barriers}"));
    shell::output(assembler.arg("-o").arg(&object).arg(tree.root.join("hw/rig/guest/barriers.s")))?;
    let mut linker = Command::new("ld");
    linker.args(["-m", "elf_i386", "-Ttext", "0x7c00", "--oformat", "binary", "-o"]).arg(&disk).arg(&object);
    shell::output(&mut linker)?;
    Ok(disk)
}

/// QEMU's arguments for a guest whose parallel port is a node's.
pub fn port(node: usize) -> [String; 4] {
    let leads = format!("parallel,id=pp,path=/dev/tuc{node}");
    ["-chardev".to_owned(), leads, "-device".to_owned(), "isa-parallel,chardev=pp,iobase=0x378".to_owned()]
}

/// QEMU with a guest whose parallel port is a node's; the caller adds what it boots. It ends with 33 when the guest says 16.
pub fn qemu(shim: &Path, node: usize) -> String {
    format!(
        "env LD_PRELOAD={} qemu-system-x86_64 -accel tcg -cpu max -nodefaults -display none -no-reboot {} \
         -device isa-debug-exit,iobase=0xf4,iosize=4",
        shim.display(),
        port(node).join(" ")
    )
}

/// Compiles the only program of a Linux guest, without shared libraries.
pub fn init(tree: &Tree) -> Result<PathBuf> {
    let mut cargo = tree::cargo();
    cargo.args(["rustc", "--quiet", "--package", "hw-rig-linux", "--bin", "tuc-init"]);
    cargo.arg("--manifest-path").arg(tree.root.join("Cargo.toml"));
    let built = product(&mut cargo, "bin", &["--", "-C", "target-feature=+crt-static"])?;
    built["executable"].as_str().map(PathBuf::from).ok_or_else(|| fail("cargo built tuc-init, but names no program"))
}

/// Compiles the program whose barriers are watched.
pub fn program(tree: &Tree, dist: &Path, folder: &Path) -> Result<PathBuf> {
    shell::folder(folder)?;
    let program = folder.join("barriers");
    let mut compiler = Command::new(dist.join("bin/mpicc"));
    compiler.args(["-O1", "-Wall", "-o"]).arg(&program).arg(tree.root.join("xtask/src/test/fpga/barriers.c"));
    shell::output(&mut compiler)?;
    Ok(program)
}

/// `cargo xtask fpga rig …`: tuc-fpga with these arguments.
pub fn run(tree: &Tree, arguments: &[String]) -> Result<()> {
    shell::run(Command::new(machine(tree)?).args(arguments), true)
}

/// A library to measure with: this one, or the default one built into cargo's target folder.
pub fn library(tree: &Tree, dist: Option<&Path>, progress: &crate::progress::Progress) -> Result<PathBuf> {
    if let Some(dist) = dist {
        return Ok(dist.to_path_buf());
    }
    let options = build::Options { thin: true, out: Some(tree.target.join("dist-test")), ..Default::default() };
    Ok(build::build(&options, progress)?.dist)
}
