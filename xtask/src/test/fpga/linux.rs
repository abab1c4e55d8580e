//! A Linux guest: the kernel's own drivers for parallel ports, as root and as an ordinary user. At a desk only: it needs a
//! kernel of the distribution, and boots it twice.

use super::outcome::{missing_or_failed, said};
use crate::failure::{At, Result, fail};
use crate::fpga::{self, rig};
use crate::shell;
use crate::test::{Session, Verdict, deadline};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Two guests, whose barriers go first through ioperm, then through ppdev.
pub fn guests(session: &mut Session) -> Verdict {
    boot(session).unwrap_or_else(missing_or_failed)
}

fn boot(session: &mut Session) -> Result<Verdict> {
    fpga::need(&[("qemu-system-x86_64", "qemu-system-x86"), ("apt-get", "apt"), ("dpkg", "dpkg"), ("tar", "tar")])?;
    let (machine, shim) = (rig::machine(&session.tree)?, rig::shim(&session.tree)?);
    let folder = session.tree.target.join("fpga/linux");
    let kernel = unpacked(&folder)?;
    let disk = folder.join("initramfs");
    std::fs::write(&disk, archive(&folder, &rig::init(&session.tree)?)?).at(format!("write {}", disk.display()))?;
    // A console for each: on a common one their lines would mix.
    let console = |node: usize| session.scratch().join(format!("fpga/linux_{node}.console"));
    shell::folder(&session.scratch().join("fpga"))?;
    let guest = |node: usize| {
        let which = ["first", "second"][node];
        format!(
            "{} -m 256 -serial file:{} -kernel {} -initrd {} -append 'console=ttyS0 quiet panic=-1 TUC={which}' & all+=($!)\n",
            rig::qemu(&shim, node),
            console(node).display(),
            kernel.display(),
            disk.display()
        )
    };
    let wait = "for one in \"${all[@]}\"; do wait $one; [ $? -eq 33 ] || exit 1; done";
    let script = format!("{}{}{wait}", guest(0), guest(1));
    let mut command = Command::new(machine);
    command.args(["--say", "--channels", "--nodes", "2", "bash", "-c", &script]);
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("fpga/linux.log"))?;
    let said_by = |node| String::from_utf8_lossy(&std::fs::read(console(node)).unwrap_or_default()).into_owned();
    let consoles = [said_by(0), said_by(1)];
    let has = |text: &str| consoles.iter().all(|console| console.contains(text));
    let well = has("501 barriers, in and out") && has("501 barriers, ppdev") && has("refused, as it should be");
    Ok(match ended.ended_with(0) && well {
        true => Verdict::Passed(format!("ioperm as root, ppdev as a user; {}", said(&ended))),
        false => Verdict::Failed(format!("{}\n{}", consoles.join("\n"), ended.story())),
    })
}

/// The kernel's image; beside it the modules.
fn unpacked(folder: &Path) -> Result<PathBuf> {
    let (kernel, system) = (folder.join("vmlinuz"), folder.join("system"));
    if kernel.is_file() {
        return Ok(kernel);
    }
    shell::folder(&system)?;
    let names = shell::output(Command::new("apt-cache").args(["depends", "linux-image-amd64"]))?;
    let package = names.lines().find_map(|line| line.trim().strip_prefix("Depends: "));
    let package = package.ok_or_else(|| fail("apt knows no kernel: linux-image-amd64 depends on nothing"))?;
    let mut apt = Command::new("apt-get");
    shell::output(apt.args(["-qq", "-o", "APT::Sandbox::User=", "download", package]).current_dir(folder))?;
    let files = std::fs::read_dir(folder).at(format!("look into {}", folder.display()))?;
    let mut files = files.flatten().map(|entry| entry.path());
    let archive = files.find(|path| path.extension().is_some_and(|extension| extension == "deb"));
    let archive = archive.ok_or_else(|| fail("apt-get downloaded a kernel, but there is none"))?;
    let line = "dpkg --fsys-tarfile \"$0\" | tar -x -C \"$1\" --wildcards './boot/vmlinuz-*' '*/parport.ko' \
                '*/parport_pc.ko' '*/ppdev.ko' && mv \"$1\"/boot/vmlinuz-* \"$2\"";
    let mut unpack = Command::new("bash");
    shell::output(unpack.args(["-ec", line]).arg(&archive).arg(&system).arg(&kernel))?;
    Ok(kernel)
}

/// What the kernel unpacks into its memory: the program, the modules, and the devices that nobody else would make, the
/// port's with the group that Debian gives it.
fn archive(folder: &Path, init: &Path) -> Result<Vec<u8>> {
    let read = |path: &Path| std::fs::read(path).at(format!("read {}", path.display()));
    let mut bytes = Vec::new();
    entry(&mut bytes, "dev", 0o040_755, 0, (0, 0), &[]);
    entry(&mut bytes, "dev/console", 0o020_600, 0, (5, 1), &[]);
    entry(&mut bytes, "dev/null", 0o020_666, 0, (1, 3), &[]);
    entry(&mut bytes, "dev/parport0", 0o020_660, LP, (99, 0), &[]);
    entry(&mut bytes, "init", 0o100_755, 0, (0, 0), &read(init)?);
    for module in ["parport", "parport_pc", "ppdev"] {
        let name = format!("{module}.ko");
        let found = shell::output(Command::new("find").arg(folder.join("system")).args(["-name", &name]))?;
        let path = found.lines().next().ok_or_else(|| fail(format!("the kernel has no {name}")))?;
        entry(&mut bytes, &name, 0o100_644, 0, (0, 0), &read(Path::new(path))?);
    }
    entry(&mut bytes, "TRAILER!!!", 0, 0, (0, 0), &[]);
    Ok(bytes)
}

/// One file of an archive in cpio's newc format: a header of hexadecimal numbers, the name, the contents, each padded to
/// four bytes (Documentation/driver-api/early-userspace/buffer-format.rst of Linux).
fn entry(bytes: &mut Vec<u8>, name: &str, mode: u32, group: u32, (major, minor): (u32, u32), contents: &[u8]) {
    let number = bytes.len() as u32;
    let (links, length, named) = (1, contents.len() as u32, name.len() as u32 + 1);
    let fields = [number, mode, 0, group, links, 0, length, 0, 0, major, minor, named, 0];
    bytes.extend(b"070701");
    bytes.extend(fields.iter().flat_map(|field| format!("{field:08x}").into_bytes()));
    for part in [&[name.as_bytes(), &[0]].concat(), contents] {
        bytes.extend(part);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
}

/// As Debian numbers the group.
const LP: u32 = 7;
const LIMIT: Duration = Duration::from_secs(400);
