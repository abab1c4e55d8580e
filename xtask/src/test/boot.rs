//! Machines without an operating system: programs on guests of QEMU, and what goes wrong there.

use super::{Session, Verdict, deadline, programs};
use crate::failure::{Result, fail};
use crate::{bare, boot, build, shell};
use orte_core::segment::Layout;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// `boot/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    for ranks in [1, 2, 4] {
        session
            .case(&format!("boot/ring.rs@{ranks}"), |session| right(session, "examples/ring.rs", ranks, "came back"));
    }
    for ranks in [2, 4, 8] {
        session.case(&format!("boot/heat@{ranks}"), |session| {
            right(session, "tests/c/heat.c", ranks, "field identical to the serial run")
        });
    }
    session.case("boot/heat@4 --smp 2", |session| several(session, &["--smp", "2"], 4));
    session.case("boot/heat@2+2 hosted", |session| several(session, &["--hosted"], 2));
    session.case("boot/heat@2 -DSEED_HALO_MISTAKE", seeded);
    let programs: &[&str] = if session.options.all { ALL_PROGRAMS } else { PROGRAMS };
    for program in programs {
        session.case(&format!("boot/{program}@2"), |session| right(session, &format!("tests/c/{program}.c"), 2, ""));
    }
    for fault in FAULTS {
        session
            .case(&format!("boot/fault_{}", fault.what), |session| wrong(session, fault).unwrap_or_else(Verdict::from));
    }
    for line in LINES {
        session
            .case(&format!("boot/line_{}", line.name), |session| refused(session, line).unwrap_or_else(Verdict::from));
    }
    Ok(())
}

const PROGRAMS: &[&str] = &["pt2pt_blocking", "datatype_basic", "coll_blocking_1"];
const ALL_PROGRAMS: &[&str] = &[
    "pt2pt_blocking",
    "pt2pt_nonblocking",
    "pt2pt_persistent",
    "pt2pt_probe",
    "pt2pt_buffered",
    "datatype_basic",
    "datatype_constructors",
    "datatype_external",
    "datatype_query",
    "coll_blocking_1",
    "coll_blocking_2",
    "coll_blocking_3",
    "coll_nonblocking_1",
    "coll_persistent_1",
    "comm_basic",
    "neighbor_1",
    "topo_cart",
];

/// What the last rank does, what must be said, and the job's status.
struct Fault {
    what: &'static str,
    says: &'static str,
    status: i32,
}

const FAULTS: &[Fault] = &[
    Fault { what: "null", says: "[rank 1] page fault writing address 0x0 (a null pointer)", status: 111 },
    Fault { what: "stack", says: "(the stack is full)", status: 111 },
    Fault { what: "divide", says: "[rank 1] division by zero", status: 111 },
    Fault { what: "constant", says: "[rank 1] page fault writing", status: 111 },
    Fault { what: "memory", says: "out of memory: ", status: 5 },
    Fault { what: "abort", says: "ended itself with signal 6", status: 125 },
    Fault { what: "exit", says: "rank 1", status: 7 },
    Fault { what: "file", says: "system call 2 open", status: 8 },
    Fault { what: "mpi_abort", says: "called MPI_Abort", status: 9 },
    Fault { what: "die", says: "the machine of rank 1 was reset", status: 1 },
    Fault { what: "hang", says: "(--timeout): ranks 0, 1 in MPI.", status: 124 },
];

/// A boot line, what the shared device holds, and what must be said.
struct Line {
    name: &'static str,
    line: &'static str,
    memory: Memory,
    says: &'static str,
}

enum Memory {
    /// No device.
    None,
    /// A device with so many bytes of zeros.
    Zeros(u64),
    /// The segment of job fe for two ranks, made by a launcher whose layout has another version.
    Newer,
    /// The same, of this version.
    Job,
}

const JOB: u64 = 0xfe;
const LINES: &[Line] = &[
    Line { name: "word", line: "rank=0 frob", memory: Memory::None, says: "`frob` is no key=value" },
    Line { name: "key", line: "ranks=0", memory: Memory::None, says: "there is no key ranks" },
    Line { name: "rank", line: "rank=2 size=2 job=fe", memory: Memory::Job, says: "rank=2 and size=2" },
    Line { name: "number", line: "rank=one size=2 job=fe", memory: Memory::Job, says: "rank=one" },
    Line { name: "parameter", line: "--mca btll self", memory: Memory::None, says: "did you mean btl?" },
    Line { name: "smp", line: "smp=65", memory: Memory::None, says: "smp=65" },
    Line { name: "no_device", line: "rank=0 size=2 job=fe", memory: Memory::None, says: "no ivshmem device" },
    Line {
        name: "zeros",
        line: "rank=0 size=2 job=fe",
        memory: Memory::Zeros(1 << 20),
        says: "does not begin like a job",
    },
    Line { name: "version", line: "rank=0 size=2 job=fe", memory: Memory::Newer, says: "its layout has version" },
    Line { name: "job", line: "rank=0 size=2 job=ff", memory: Memory::Job, says: "it belongs to job fe" },
    Line { name: "size", line: "rank=0 size=3 job=fe", memory: Memory::Job, says: "it holds 2 ranks" },
    // Nobody boots the other machine.
    Line {
        name: "alone",
        line: "rank=0 size=2 job=fe --mca ess_static_lookup_timeout_s 1",
        memory: Memory::Job,
        says: "rank 1 did not say its addresses within 1 s",
    },
];

fn right(session: &mut Session, source: &str, ranks: u32, says: &str) -> Verdict {
    let run = |session: &mut Session| {
        let image = image(session, source, &[])?;
        launch(session, &image, ranks, &[], RUN_LIMIT)
    };
    match missing().map_or_else(|| run(session).map_err(Verdict::from), Err) {
        Ok(ended) if ended.ended_with(0) && ended.out.contains(says) => Verdict::Passed(String::new()),
        Ok(ended) => Verdict::Failed(ended.story()),
        Err(verdict) => verdict,
    }
}

/// The heat solver with two ranks on each machine, or with two ordinary processes in the job.
fn several(session: &mut Session, how: &[&str], ranks: u32) -> Verdict {
    let run = |session: &mut Session| {
        let image = image(session, "tests/c/heat.c", &[])?;
        let mut options = boot::Options::new(&image, ranks, RUN_LIMIT.as_secs() as u32, Vec::new());
        let mut program = None;
        if how[0] == "--smp" {
            options.smp = 2;
        } else {
            options.hosted = 2;
            program = Some(programs::compiled(session, &session.tree.root.join("tests/c/heat.c"), &[])?);
        }
        let mut command = boot::command(&session.tree, &options, &image, program.as_deref(), session.progress)?;
        let log = session.scratch().join("boot").join(format!("heat{}.log", how[0]));
        deadline::run(&mut command, RUN_LIMIT + REFUSAL_LIMIT, &log)
    };
    match missing().map_or_else(|| run(session).map_err(Verdict::from), Err) {
        Ok(ended) if ended.ended_with(0) && ended.out.contains("field identical to the serial run") => {
            Verdict::Passed(String::new())
        }
        Ok(ended) => Verdict::Failed(ended.story()),
        Err(verdict) => verdict,
    }
}

fn seeded(session: &mut Session) -> Verdict {
    let run = |session: &mut Session| {
        let image = image(session, "tests/c/heat.c", &["-DSEED_HALO_MISTAKE"])?;
        launch(session, &image, 2, &[], RUN_LIMIT)
    };
    match missing().map_or_else(|| run(session).map_err(Verdict::from), Err) {
        Ok(ended) if !ended.ended_with(0) && ended.out.contains("heat: FAILED") => Verdict::Passed("found".to_owned()),
        Ok(ended) => Verdict::Failed(ended.story()),
        Err(verdict) => verdict,
    }
}

fn wrong(session: &mut Session, fault: &Fault) -> Result<Verdict> {
    if let Some(skipped) = missing() {
        return Ok(skipped);
    }
    let image = image(session, "tests/baremetal/faults.c", &[])?;
    let ended = launch(session, &image, 2, &[fault.what], RUN_LIMIT)?;
    let said = ended.out.contains(fault.says) || ended.err.contains(fault.says);
    Ok(match said && ended.ended_with(fault.status) {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("wanted: status {} and \"{}\"\n{}", fault.status, fault.says, ended.story())),
    })
}

/// One machine without mpirun: its line is wrong, or its memory.
fn refused(session: &mut Session, line: &Line) -> Result<Verdict> {
    if let Some(skipped) = missing() {
        return Ok(skipped);
    }
    let image = image(session, "tests/baremetal/faults.c", &[])?;
    let memory = memory(&session.scratch().join("boot/memory"), &line.memory)?;
    let text = format!("tsc_khz=2000000 {}", line.line);
    let mut machine = boot::guest::machine(&image, 64, 1, &text);
    if let Some((path, bytes)) = memory {
        machine.args(boot::guest::device(&path.display().to_string(), bytes));
    }
    let log = session.scratch().join("boot").join(format!("line_{}.log", line.name));
    let ended = deadline::run(&mut machine, REFUSAL_LIMIT, &log)?;
    // Whatever the status, it went through isa-debug-exit and is a failure.
    let failed = ended.trouble.is_none() && ended.status.and_then(|status| status.code()).is_some_and(|code| code > 3);
    Ok(match failed && ended.out.contains(line.says) {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("wanted: a failure and \"{}\"\n{}", line.says, ended.story())),
    })
}

fn memory(path: &Path, memory: &Memory) -> Result<Option<(PathBuf, u64)>> {
    let layout = Layout::new(JOB, 2).ok_or_else(|| fail("two ranks"))?;
    let mut header = layout.encode();
    let bytes = match memory {
        Memory::None => return Ok(None),
        Memory::Zeros(bytes) => {
            header.fill(0);
            *bytes
        }
        Memory::Newer => {
            header[8] += 1;
            layout.file_bytes()
        }
        Memory::Job => layout.file_bytes(),
    };
    let _ = std::fs::remove_file(path);
    shell::folder(path.parent().unwrap_or(Path::new(".")))?;
    let file = std::fs::File::create(path).and_then(|file| {
        file.set_len(bytes)?;
        std::os::unix::fs::FileExt::write_all_at(&file, &header, 0)
    });
    file.map_err(|error| fail(format!("cannot make {}: {error}", path.display())))?;
    Ok(Some((path.to_path_buf(), bytes)))
}

/// The image of a program, made once.
pub fn image(session: &Session, source: &str, flags: &[&str]) -> Result<PathBuf> {
    static MADE: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let name = format!("{source} {}", flags.join(" "));
    if let Some(image) = made.get(&name) {
        return Ok(image.clone());
    }
    // What CI tests is the toolchain that is everywhere.
    let options = build::Options { bare_fallback: true, ..build::Options::default() };
    let image = bare::make(&session.tree, &session.tree.root.join(source), flags, &options, session.progress)?;
    made.insert(name, image.clone());
    Ok(image)
}

fn launch(session: &Session, image: &Path, ranks: u32, arguments: &[&str], limit: Duration) -> Result<deadline::Ended> {
    let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
    let timeout = if arguments.iter().any(|word| word == "hang") { 8 } else { limit.as_secs() as u32 };
    let options = boot::Options::new(image, ranks, timeout, arguments);
    let mut command: Command = boot::command(&session.tree, &options, image, None, session.progress)?;
    let stem = image.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let log = session.scratch().join("boot").join(format!("{stem}@{ranks}.log"));
    deadline::run(&mut command, limit + REFUSAL_LIMIT, &log)
}

/// Why nothing can be booted here.
pub fn missing() -> Option<Verdict> {
    let qemu = shell::which(boot::guest::QEMU).is_none();
    qemu.then(|| Verdict::Skipped(format!("{} is not there; install qemu-system-x86", boot::guest::QEMU)))
}

const RUN_LIMIT: Duration = Duration::from_secs(60);
const REFUSAL_LIMIT: Duration = Duration::from_secs(20);
