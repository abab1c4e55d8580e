//! Failures on guests: exceptions, wrong boot lines, wrong memory, machines that lose their power.

use super::job::{RUN_LIMIT, image, launch, missing};
use crate::failure::{Result, fail};
use crate::test::session::marked::{Mark, Process};
use crate::test::{Session, Verdict, deadline};
use crate::{boot, shell};
use orte_core::segment::Layout;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// All of it.
pub fn cases(session: &mut Session) {
    for fault in FAULTS {
        session
            .case(&format!("boot/fault_{}", fault.what), |session| wrong(session, fault).unwrap_or_else(Verdict::from));
    }
    if session.options.all {
        session.case("boot/panic.rs", |session| panics(session).unwrap_or_else(Verdict::from));
    }
    session.case("boot/waits_politely", |session| polite(session).unwrap_or_else(Verdict::from));
    for line in LINES {
        session
            .case(&format!("boot/line_{}", line.name), |session| refused(session, line).unwrap_or_else(Verdict::from));
    }
    for death in DEATHS {
        session.case(&format!("boot/killed_{}", death.name), |session| {
            killed(session, death).unwrap_or_else(Verdict::from)
        });
    }
}

/// What the last rank does, what must be said, and the job's status.
struct Fault {
    what: &'static str,
    says: &'static [&'static str],
    status: i32,
}

const FAULTS: &[Fault] = &[
    Fault {
        what: "null",
        says: &["[rank 1] page fault writing address 0x0 (a null pointer)", "  rsp 0000005", "  called from 0x"],
        status: 111,
    },
    Fault { what: "stack", says: &["(the stack is full)"], status: 111 },
    Fault { what: "divide", says: &["[rank 1] division by zero"], status: 111 },
    Fault { what: "constant", says: &["[rank 1] page fault writing"], status: 111 },
    Fault { what: "memory", says: &["out of memory: "], status: 5 },
    Fault { what: "abort", says: &["ended itself with signal 6"], status: 125 },
    Fault { what: "exit", says: &["rank 1"], status: 7 },
    Fault { what: "file", says: &["system call 2 open"], status: 8 },
    Fault { what: "mpi_abort", says: &["called MPI_Abort"], status: 9 },
    Fault { what: "die", says: &["the machine of rank 1 was reset"], status: 1 },
    // No fault: the wide registers are on.
    Fault { what: "avx", says: &["avx2 1, sum 42"], status: 0 },
    Fault { what: "hang", says: &["(--timeout): ranks 0, 1 between MPI_Init and MPI_Finalize."], status: 124 },
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
    /// The segment of job fe for two ranks, whose second half is missing.
    Half,
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
    Line { name: "smp_word", line: "smp=two", memory: Memory::None, says: "smp=two, which is no number" },
    Line { name: "cores", line: "cores=0x3", memory: Memory::None, says: "cores=0x3, which is no hexadecimal number" },
    Line { name: "quote", line: "NAME=\"a", memory: Memory::None, says: "a double quote is never closed" },
    Line { name: "clock", line: "tsc_khz=fast", memory: Memory::None, says: "say tsc_khz=" },
    Line { name: "memory", line: "smp=4", memory: Memory::None, says: "are too little for 4 ranks" },
    Line { name: "log", line: "log=much", memory: Memory::None, says: "log=much, which is none of off" },
    Line { name: "own_large", line: "shared_mib=64", memory: Memory::None, says: "cannot hold shared_mib=64" },
    Line {
        name: "own_small",
        line: "rank=0 size=2 job=fe shared_mib=1",
        memory: Memory::None,
        says: "say shared_mib=2",
    },
    Line {
        name: "own_alone",
        line: "rank=0 size=2 job=fe shared_mib=32",
        memory: Memory::None,
        says: "no other machine sees the memory",
    },
    Line { name: "job_word", line: "rank=0 size=2 job=xyz", memory: Memory::Job, says: "job=xyz" },
    Line { name: "no_device", line: "rank=0 size=2 job=fe", memory: Memory::None, says: "no ivshmem device" },
    Line {
        name: "zeros",
        line: "rank=0 size=2 job=fe",
        memory: Memory::Zeros(1 << 20),
        says: "does not begin like a job",
    },
    Line { name: "version", line: "rank=0 size=2 job=fe", memory: Memory::Newer, says: "its layout has version" },
    Line { name: "half", line: "rank=0 size=2 job=fe", memory: Memory::Half, says: "is not that of this job" },
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

fn wrong(session: &mut Session, fault: &Fault) -> Result<Verdict> {
    if let Some(skipped) = missing() {
        return Ok(skipped);
    }
    let image = image(session, "tests/baremetal/faults.c", &[])?;
    let ended = launch(session, &image, 2, &[fault.what.to_owned()])?;
    let said = fault.says.iter().all(|says| ended.out.contains(says) || ended.err.contains(says));
    Ok(match said && ended.ended_with(fault.status) {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("wanted: status {} and {:?}\n{}", fault.status, fault.says, ended.story())),
    })
}

/// A defect that Rust finds: where, on which rank, and the calls that led there.
fn panics(session: &mut Session) -> Result<Verdict> {
    if let Some(skipped) = missing() {
        return Ok(skipped);
    }
    let image = image(session, "tests/baremetal/panic.rs", &[])?;
    let ended = launch(session, &image, 2, &[])?;
    let wanted = ["[rank 1] panicked at", "index out of bounds", "called from 0x"];
    Ok(match ended.ended_with(101) && wanted.iter().all(|words| ended.out.contains(words)) {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("wanted: status 101 and {wanted:?}\n{}", ended.story())),
    })
}

/// A guest that waits for a peer must not burn its host's core: rank 0 waits while rank 1 computes for ever.
fn polite(session: &mut Session) -> Result<Verdict> {
    if let Some(skipped) = missing() {
        return Ok(skipped);
    }
    let image = image(session, "tests/baremetal/faults.c", &[])?;
    let options = boot::Options::new(&image, 2, RUN_LIMIT.as_secs() as u32, vec!["hang".to_owned()]);
    let mut command = boot::command(&session.tree, &options, &image, None, session.progress)?;
    let log = session.scratch().join("boot/polite.log");
    let mut share = None;
    let ended = deadline::run_while(&mut command, RUN_LIMIT, &log, |mark, out| {
        share = share_of(mark, out, 0);
        strike(mark, out, &DEATHS[0]);
    })?;
    Ok(match share {
        Some(share) if share < POLITE => Verdict::Passed(format!("{:.0} % of a core", share * 100.0)),
        Some(share) => Verdict::Failed(format!("a guest that waits used {:.0} % of a core", share * 100.0)),
        None => Verdict::Failed(format!("no guest was seen waiting\n{}", ended.story())),
    })
}

/// How much of a core the guest of a rank used, for a second in which the last rank hangs.
fn share_of(mark: &Mark, out: &Path, rank: u32) -> Option<f64> {
    let guest = victim(mark, out, rank, boot::QEMU)?;
    // It may have just begun to wait.
    std::thread::sleep(SETTLE);
    let (begin, before) = (Instant::now(), guest.seconds()?);
    std::thread::sleep(SETTLE);
    Some((guest.seconds()? - before) / begin.elapsed().as_secs_f64())
}

/// One machine without mpirun: its line is wrong, or its memory.
fn refused(session: &mut Session, line: &Line) -> Result<Verdict> {
    if let Some(skipped) = missing() {
        return Ok(skipped);
    }
    let image = image(session, "tests/baremetal/faults.c", &[])?;
    let memory = memory(&session.scratch().join("boot/memory"), &line.memory)?;
    let text =
        if line.line.contains("tsc_khz") { line.line.to_owned() } else { format!("tsc_khz=2000000 {}", line.line) };
    let mut machine = boot::machine(&image, 64, 1, &text);
    if let Some((path, bytes)) = memory {
        machine.args(boot::device(&path.display().to_string(), bytes));
    }
    let log = session.scratch().join("boot").join(format!("line_{}.log", line.name));
    let ended = deadline::run(&mut machine, RUN_LIMIT, &log)?;
    // Whatever the status, it went through isa-debug-exit and is a failure.
    let failed = ended.trouble.is_none() && ended.status.and_then(|status| status.code()).is_some_and(|code| code > 3);
    Ok(match failed && ended.out.contains(line.says) {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("a failure was expected, and \"{}\"\n{}", line.says, ended.story())),
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
        Memory::Half => layout.file_bytes() / 2,
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

/// A process that is killed in the middle of a job of two ranks on guests, of which the last one hangs.
struct Death {
    name: &'static str,
    /// Ranks of each machine.
    smp: u32,
    /// Rank and program of the victim.
    rank: u32,
    program: &'static str,
    says: &'static str,
}

const DEATHS: &[Death] = &[
    Death { name: "busy", smp: 1, rank: 1, program: boot::QEMU, says: "with rank 1 was ended (signal: 9" },
    Death { name: "waiting", smp: 1, rank: 0, program: boot::QEMU, says: "with rank 0 was ended (signal: 9" },
    Death { name: "both", smp: 2, rank: 0, program: boot::QEMU, says: "with rank 0 was ended (signal: 9" },
    // What mpirun started itself: the machine must not outlive it.
    Death { name: "starter", smp: 1, rank: 1, program: "xtask", says: "rank 1" },
];

/// A machine without power cannot say anything: mpirun does, within a deadline, and nothing is left behind.
fn killed(session: &mut Session, death: &Death) -> Result<Verdict> {
    if let Some(skipped) = missing() {
        return Ok(skipped);
    }
    let image = image(session, "tests/baremetal/faults.c", &[])?;
    let mut options = boot::Options::new(&image, 2, RUN_LIMIT.as_secs() as u32, vec!["hang".to_owned()]);
    options.smp = death.smp;
    let mut command = boot::command(&session.tree, &options, &image, None, session.progress)?;
    let log = session.scratch().join("boot").join(format!("killed_{}.log", death.name));
    let mut dead = None;
    let ended = deadline::run_while(&mut command, RUN_LIMIT, &log, |mark, out| {
        dead = strike(mark, out, death).then(Instant::now)
    })?;
    let Some(dead) = dead else {
        return Ok(Verdict::Failed(format!(
            "no process was killed, because the last rank never came to its endless loop\n{}",
            ended.story()
        )));
    };
    let (waited, said) = (dead.elapsed(), ended.out.contains(death.says) || ended.err.contains(death.says));
    Ok(match said && ended.ended_with(KILLED) && waited < NOTICED {
        true => Verdict::Passed(format!("noticed within {:.2} s", waited.as_secs_f64())),
        false => Verdict::Failed(format!(
            "expected were status {KILLED} and \"{}\" within {} s; the job ended after {:.1} s\n{}",
            death.says,
            NOTICED.as_secs(),
            waited.as_secs_f64(),
            ended.story()
        )),
    })
}

/// Kills the victim once the last rank hangs; false if that never came.
fn strike(mark: &Mark, out: &Path, death: &Death) -> bool {
    let victim = victim(mark, out, death.rank, death.program);
    victim.as_ref().inspect(|victim| victim.kill()).is_some()
}

/// The process of a rank, once the last rank hangs; none if that never came.
fn victim(mark: &Mark, out: &Path, rank: u32, program: &str) -> Option<Process> {
    let (end, rank) = (Instant::now() + RUN_LIMIT, format!(" rank {rank}: "));
    // The system keeps fifteen letters of a name.
    let name = &program[..program.len().min(15)];
    let is_victim = |state: &str| state.split_once(&rank).is_some_and(|(_, rest)| rest.starts_with(name));
    while Instant::now() < end {
        if std::fs::read_to_string(out).is_ok_and(|text| text.contains("the last rank hangs")) {
            return mark.processes().into_iter().find(|process| is_victim(&process.state));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    None
}

/// Least time between two looks at a process.
const SETTLE: Duration = Duration::from_secs(1);
/// Of a core: a guest that polls uses all of it.
const POLITE: f64 = 0.5;
/// 128 + SIGKILL.
const KILLED: i32 = 137;
/// From the loss of a machine to the end of the job, nothing left behind.
const NOTICED: Duration = Duration::from_secs(20);
