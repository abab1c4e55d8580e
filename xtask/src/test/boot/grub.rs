//! Machines that GRUB boots, as it boots a real one: from a CD image that grub-mkrescue makes.

use super::job::{GRACE, image, missing};
use crate::failure::{Result, fail};
use crate::test::{Session, Verdict, deadline};
use crate::{boot, shell};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// One program alone, one with two ranks that share memory, and a line that is wrong.
pub fn cases(session: &mut Session) {
    for run in RUNS {
        session.case(&format!("boot/grub_{}", run.name), |session| booted(session, run).unwrap_or_else(Verdict::from));
    }
}

/// What stands behind the image's name in grub.cfg, what must be said, and the status of the machine.
struct Run {
    name: &'static str,
    line: &'static str,
    cores: u32,
    says: &'static str,
    /// As isa-debug-exit passes it on: twice the program's, and 3.
    status: i32,
}

const RUNS: &[Run] = &[
    Run {
        name: "alone",
        line: "rank=0 size=1 tsc_khz=2000000 -- --nx 40 --ny 30 --iters 50",
        cores: 1,
        says: "field identical to the serial run",
        status: 3,
    },
    // A PC with two cores: its ranks share its own memory.
    Run {
        name: "two_ranks",
        line: "rank=0 size=2 smp=2 job=1 shared_mib=32 tsc_khz=2000000 -- --nx 40 --ny 30 --iters 50",
        cores: 2,
        says: "field identical to the serial run",
        status: 3,
    },
    Run { name: "refused", line: "rank=0 frob", cores: 1, says: "the boot line does not say in a number", status: 7 },
];

fn booted(session: &mut Session, run: &Run) -> Result<Verdict> {
    if let Some(skipped) = missing() {
        return Ok(skipped);
    }
    if let Some(tool) = TOOLS.iter().find(|tool| shell::which(tool.0).is_none()) {
        return Ok(Verdict::Skipped(format!("{} is not there; install {}", tool.0, tool.1)));
    }
    if !Path::new(GRUB).is_dir() {
        return Ok(Verdict::Skipped(format!("{GRUB} is not there; install grub-pc-bin")));
    }
    let image = image(session, "tests/c/heat.c", &[])?;
    let disc = disc(&session.scratch().join("boot/grub"), run, &image)?;
    let mut qemu = Command::new(boot::QEMU);
    qemu.args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-accel", "tcg", "-cpu", "max"]);
    qemu.args(["-serial", "stdio", "-device", "isa-debug-exit,iobase=0xf4,iosize=4", "-m", "128"]);
    qemu.args(["-smp", &run.cores.to_string(), "-boot", "d", "-cdrom"]).arg(&disc);
    let log = session.scratch().join("boot").join(format!("grub_{}.log", run.name));
    let ended = deadline::run(&mut qemu, LIMIT, &log)?;
    Ok(match ended.ended_with(run.status) && ended.out.contains(run.says) {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("wanted: {} and \"{}\"\n{}", run.status, run.says, ended.story())),
    })
}

/// A CD with GRUB, its configuration, and the image as the page tells people to write them.
fn disc(folder: &Path, run: &Run, image: &Path) -> Result<PathBuf> {
    let (root, disc) = (folder.join(run.name), folder.join(format!("{}.iso", run.name)));
    let _ = std::fs::remove_dir_all(&root);
    shell::folder(&root.join("boot/grub"))?;
    let config = format!("set timeout=0\nmenuentry ompi-rs {{\n    multiboot2 /boot/program.elf {}\n}}\n", run.line);
    shell::write(&root.join("boot/grub/grub.cfg"), &config)?;
    std::fs::copy(image, root.join("boot/program.elf"))
        .map_err(|error| fail(format!("cannot copy {}: {error}", image.display())))?;
    let mut maker = Command::new(TOOLS[0].0);
    // Only what this needs: the whole of GRUB takes ten times as long.
    maker.args(["-d", GRUB, "--fonts=", "--themes=", "--locales=", "--install-modules=multiboot2 normal iso9660"]);
    maker.arg("-o").arg(&disc).arg(&root);
    let outcome = shell::outcome(&mut maker, GRACE)?;
    match outcome.status.success() {
        true => Ok(disc),
        false => Err(fail(format!("{}\n{}", shell::line(&maker), outcome.stderr))),
    }
}

/// Programs and the packages that bring them.
const TOOLS: &[(&str, &str)] = &[("grub-mkrescue", "grub-common"), ("xorriso", "xorriso"), ("mformat", "mtools")];
/// GRUB for the firmware of a PC.
const GRUB: &str = "/usr/lib/grub/i386-pc";
const LIMIT: Duration = Duration::from_secs(120);
