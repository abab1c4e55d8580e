//! How jobs of Rust programs end that do not end well: signals, panics and errors, in an ordinary Cargo project whose panics unwind.

use super::project;
use crate::failure::{Result, fail};
use crate::shell;
use crate::test::{Session, Verdict, deadline, programs};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// `rust/ends-…`: each way of `tests/mpirun/ends.rs`.
pub fn cases(session: &mut Session) {
    for case in CASES {
        session.case(&format!("rust/ends-{}", case.way), |session| run(session, case).unwrap_or_else(Verdict::from));
    }
    session.case("rust/ends-timeout", |session| timeout(session).unwrap_or_else(Verdict::from));
}

struct Case {
    way: &'static str,
    status: i32,
    /// What standard error says, in this order.
    says: &'static [&'static str],
}

fn run(session: &mut Session, case: &Case) -> Result<Verdict> {
    let program = own_project(session, "ends")?;
    let mut mpirun = Command::new(session.library().map_err(fail)?.dist.join("bin/mpirun"));
    mpirun.args(["-n", "2"]).arg(program).arg(case.way);
    programs::own_choice(&mut mpirun);
    let log = session.scratch().join("rust/ends").join(case.way);
    let ended = deadline::run(&mut mpirun, Duration::from_secs(60), &log)?;
    let mut rest = ended.err.as_str();
    for words in case.says {
        let Some(at) = rest.find(words) else {
            return Ok(Verdict::Failed(format!(
                "standard error lacks `{words}` where it should come\n{}",
                ended.story()
            )));
        };
        rest = &rest[at + words.len()..];
    }
    Ok(match ended.ended_with(case.status) {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("status {} was expected\n{}", case.status, ended.story())),
    })
}

/// A program that is not optimized has functions of other crates on its stacks, which the library called.
fn timeout(session: &mut Session) -> Result<Verdict> {
    let program = own_project(session, "waiting")?;
    let mut mpirun = Command::new(session.library().map_err(fail)?.dist.join("bin/mpirun"));
    mpirun.args(["-n", "3", "--timeout", "3"]).arg(program);
    programs::own_choice(&mut mpirun);
    let ended = deadline::run(&mut mpirun, Duration::from_secs(60), &session.scratch().join("rust/ends/timeout"))?;
    let says = ["rank 0 in pml_ob1::module::", ", called by waiting::main", "::barrier", "rank 2 not in a call of MPI"];
    Ok(match ended.ended_with(124) && says.iter().all(|words| ended.err.contains(words)) {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("{says:?} were expected\n{}", ended.story())),
    })
}

/// A program of `tests/mpirun` in a project of its own.
fn own_project(session: &mut Session, name: &str) -> Result<PathBuf> {
    let root = session.tree.root.clone();
    let source = shell::read(&root.join("tests/mpirun").join(format!("{name}.rs")))?;
    project::build(session, name, &format!("ompi = {{ path = {:?} }}\n", root.join("ompi-core/rust")), &source)
}

const CASES: &[Case] = &[
    Case {
        way: "null",
        status: 139,
        says: &[
            "rank 1] signal 11 (SIGSEGV, invalid memory access) at address 0x0, in",
            " ends::write_to + ",
            " ends::fail + ",
            " ends::main + ",
            "was ended by signal 11",
        ],
    },
    Case {
        way: "null-in-thread",
        status: 139,
        says: &["rank 1] signal 11 (SIGSEGV", " ends::write_to + ", "was ended by signal 11"],
    },
    Case {
        way: "abort",
        status: 134,
        says: &["rank 1] signal 6 (SIGABRT, abort), in", " ends::fail + ", "was ended by signal 6"],
    },
    Case {
        way: "overflow",
        status: 134,
        says: &[
            "rank 1] signal 11 (SIGSEGV",
            " #9 ends::descend + ",
            "has overflowed its stack",
            "was ended by signal 6",
        ],
    },
    Case {
        way: "overflow-in-thread",
        status: 134,
        says: &[
            "rank 1] signal 11 (SIGSEGV",
            " #9 ends::descend + ",
            "has overflowed its stack",
            "was ended by signal 6",
        ],
    },
    Case { way: "panic", status: 101, says: &["ended the job: panicked at src/main.rs:", ": rank 1 has had enough"] },
    Case {
        way: "panic-in-thread",
        status: 101,
        says: &[
            "ended the job: panicked at src/main.rs:",
            "Before that another thread panicked at src/main.rs:",
            ": a worker has had enough",
        ],
    },
    Case {
        way: "panic-in-scoped-thread",
        status: 101,
        says: &["ended the job: panicked at ", "Before that another thread panicked at ", ": a worker has had enough"],
    },
    Case {
        way: "panic-in-receive",
        status: 101,
        says: &["ended the job: panicked at ", ": while something was under way"],
    },
    Case {
        way: "panic-in-send",
        status: 101,
        says: &["ended the job: panicked at ", ": while something was under way"],
    },
    Case { way: "panic-caught", status: 0, says: &["only for a moment", "held until the end"] },
    Case { way: "error", status: 1, says: &["held until the end", "Error: Os {", "ended with status 1"] },
    Case { way: "error-of-mpi", status: 1, says: &["Error: ", "-5 is negative", "ended with status 1"] },
    Case { way: "status", status: 7, says: &["ended with status 7"] },
    Case { way: "goes-on", status: 0, says: &["held until the end", "held until the end"] },
];
