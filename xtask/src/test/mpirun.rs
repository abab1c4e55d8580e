//! What a user meets in the first days with mpirun: parameters of another MPI, launchers and libraries of others, and how
//! jobs end that do not end well.

mod printed;

use super::programs::{compiled, own_choice};
use super::{Session, Verdict, deadline};
use crate::failure::{Result, fail};
use crate::shell;
use std::process::Command;
use std::time::Duration;

/// `mpirun/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    for case in CASES {
        session.case(&format!("mpirun/{}", case.name), |session| run(session, case).unwrap_or_else(Verdict::from));
    }
    printed::cases(session);
    session.case("mpirun/launcher-of-another", |session| launcher_of_another(session).unwrap_or_else(Verdict::from));
    session.case("mpirun/library-of-another", |session| library_of_another(session).unwrap_or_else(Verdict::from));
    session.case("mpirun/library-in-python", |session| library_in_python(session).unwrap_or_else(Verdict::from));
    session.case("mpirun/timeout-in-rust", |session| timeout_in_rust(session).unwrap_or_else(Verdict::from));
    session.case("mpirun/gdb", |session| gdb(session).unwrap_or_else(Verdict::from));
    Ok(())
}

/// One call of mpirun for `tests/c/first_day.c`.
struct Case {
    name: &'static str,
    environment: &'static [(&'static str, &'static str)],
    options: &'static [&'static str],
    /// What the program does.
    argument: &'static str,
    status: i32,
    /// What standard error says, in this order.
    says: &'static [&'static str],
    /// Lines of standard error; 0: any number.
    lines: usize,
}

const CASES: &[Case] = &[
    Case {
        name: "parameters-of-another",
        environment: &[("OMPI_MCA_pml", "ucx"), ("OMPI_MCA_btl_vader_single_copy_mechanism", "none")],
        options: &[
            "-n",
            "3",
            "--mca",
            "mtl",
            "^psm2",
            "--mca",
            "btl",
            "self,openib,vader",
            "--mca",
            "plm_rsh_agent",
            "ssh",
        ],
        argument: "end",
        status: 0,
        says: &["are ignored: btl=openib, btl_vader_single_copy_mechanism, mtl, plm_rsh_agent, pml=ucx"],
        lines: 1,
    },
    Case {
        name: "uncaught-error",
        environment: &[],
        options: &["-n", "2"],
        argument: "error",
        // MPI_ERR_COUNT: not mpirun's own 125.
        status: 2,
        says: &["MPI_Send", "MPI_ERR_COUNT"],
        lines: 0,
    },
    Case {
        name: "truncate",
        environment: &[],
        options: &["-n", "2"],
        argument: "truncate",
        status: 15,
        says: &[
            "MPI_Recv on MPI_COMM_WORLD failed: MPI_ERR_TRUNCATE",
            "the message from rank 0 with tag 7 has 32 bytes, the receive buffer has room for 16",
        ],
        lines: 0,
    },
    Case {
        name: "truncate-long",
        environment: &[],
        options: &["-n", "2"],
        argument: "truncate-long",
        status: 15,
        says: &["MPI_Wait", "from rank 0 with tag 7 has 1048576 bytes, the receive buffer has room for 524288"],
        lines: 0,
    },
    Case {
        name: "truncate-all",
        environment: &[],
        options: &["-n", "2"],
        argument: "truncate-all",
        status: 19,
        says: &["MPI_Waitall", "the first that failed: array_of_requests[", "from rank 0 with tag 7 has 1048576 bytes"],
        lines: 0,
    },
    Case {
        name: "file-errors-return",
        environment: &[],
        options: &["-n", "2"],
        argument: "file",
        status: 55,
        says: &["MPI_File_delete on MPI_FILE_NULL failed: MPI_ERR_UNSUPPORTED_OPERATION"],
        lines: 0,
    },
    Case {
        name: "no-interface-left",
        environment: &[],
        options: &["-n", "2", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_exclude", "0.0.0.0/0,::/0"],
        argument: "end",
        status: 1,
        says: &[
            "no network interface is left of lo 127.0.0.1/8",
            "btl_tcp_if_exclude is `0.0.0.0/0,::/0`",
            "those that run here are: self; sm does not: `--mca btl` leaves it out; tcp does not: its parameters",
            "MPI_COMM_WORLD cannot be made: MPI_ERR_",
        ],
        lines: 0,
    },
    Case {
        name: "abort-before-init",
        environment: &[],
        options: &["-n", "2"],
        argument: "abort-early",
        status: 7,
        says: &["called MPI_Abort before MPI_Init with error code 7"],
        lines: 0,
    },
    Case {
        name: "error-without-name",
        environment: &[],
        options: &["-n", "4"],
        argument: "unnamed",
        status: 2,
        says: &[
            "MPI_Send on a communicator without a name (made by MPI_Comm_split from MPI_COMM_WORLD, 2 ranks) failed",
        ],
        lines: 0,
    },
    Case {
        name: "error-without-communicator",
        environment: &[],
        options: &["-n", "2"],
        argument: "no-communicator",
        status: 2,
        says: &["MPI_Type_contiguous failed", "The error handler in force, that of MPI_COMM_SELF, ends the job"],
        lines: 0,
    },
    Case {
        name: "error-in-status",
        environment: &[],
        options: &["-n", "2"],
        argument: "in-status",
        status: 19,
        says: &["MPI_Waitall on MPI_COMM_SELF failed: MPI_ERR_IN_STATUS", "array_of_requests[1] with MPI_ERR_TRUNCATE"],
        lines: 0,
    },
    Case {
        name: "crash",
        environment: &[],
        options: &["-n", "2"],
        argument: "crash",
        status: 139,
        says: &[
            "rank 1] signal 11 (SIGSEGV, invalid memory access) at address 0x0, in",
            "  #0 follow + ",
            "  #1 main + ",
            "rank 1 (process ",
            "was ended by signal 11",
        ],
        lines: 0,
    },
    Case {
        name: "crash-left-out",
        environment: &[],
        options: &["-n", "2", "--mca", "mpi_report_crashes", "0"],
        argument: "crash",
        status: 139,
        says: &["was ended by signal 11"],
        lines: 4,
    },
    Case {
        name: "stack-overflow",
        environment: &[],
        options: &["-n", "2"],
        argument: "overflow",
        status: 139,
        says: &["rank 1] signal 11", "  #0 descend + ", "  #9 descend + ", "was ended by signal 11"],
        lines: 0,
    },
    Case {
        name: "abort-call",
        environment: &[],
        options: &["-n", "2"],
        argument: "abort",
        status: 134,
        says: &["rank 1] signal 6 (SIGABRT, abort), in", " main + ", "was ended by signal 6"],
        lines: 0,
    },
    Case {
        name: "handler-from-before",
        environment: &[],
        options: &["-n", "2"],
        argument: "handler-before",
        status: 9,
        says: &["ended with status 9"],
        lines: 4,
    },
    Case {
        name: "handler-from-later",
        environment: &[],
        options: &["-n", "2"],
        argument: "handler-after",
        status: 9,
        says: &["ended with status 9"],
        lines: 4,
    },
    Case {
        name: "call-in-a-forked-child",
        environment: &[],
        options: &["-n", "2", "--timeout", "30"],
        argument: "fork-after",
        status: 16,
        says: &["MPI_Send", "in a process that a rank forked"],
        lines: 0,
    },
    Case {
        name: "two-processes-of-one-rank",
        environment: &[],
        options: &["-n", "2", "--timeout", "30"],
        argument: "fork-before",
        status: 1,
        says: &["only one process can be a rank"],
        lines: 0,
    },
    Case {
        name: "stall-report",
        environment: &[],
        options: &["-n", "2", "--timeout", "5", "--stall-report", "2"],
        argument: "deadlock",
        status: 124,
        says: &[
            "all ranks that run have waited in MPI for 2 s (--stall-report)",
            "rank 0 (process ",
            ") in MPI_Recv, where nothing has happened for",
            "rank 1 (process ",
            ") in MPI_Barrier, where nothing has happened for",
            "after 5 s (--timeout)",
        ],
        lines: 7,
    },
    Case {
        name: "no-stall-while-a-rank-computes",
        environment: &[],
        options: &["-n", "3", "--timeout", "4", "--stall-report", "1"],
        argument: "wait",
        status: 124,
        says: &["after 4 s (--timeout)"],
        lines: 4,
    },
    Case {
        name: "timeout",
        environment: &[],
        options: &["-n", "3", "--timeout", "3"],
        argument: "wait",
        status: 124,
        says: &[
            "after 3 s (--timeout)",
            "rank 0 in MPI_Recv, where nothing has happened for",
            "rank 1 not in a call of MPI",
            "rank 2 in MPI_Barrier, where nothing has happened for",
        ],
        lines: 0,
    },
    Case {
        name: "timeout-with-stacks",
        environment: &[],
        options: &["-n", "2", "--timeout", "2", "--get-stack-traces"],
        argument: "wait",
        status: 124,
        says: &[
            "rank 0 is in",
            "PMPI_Recv",
            " main + ",
            "rank 1 is in",
            "#0 compute + ",
            "#1 main + ",
            "after 2 s (--timeout)",
        ],
        lines: 0,
    },
];

fn run(session: &mut Session, case: &Case) -> Result<Verdict> {
    let source = session.tree.root.join("tests/mpirun/first_day.c");
    let program = compiled(session, &source, &[])?;
    let dist = session.library().map_err(fail)?.dist;
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.args(case.options).arg(&program).arg(case.argument);
    own_choice(&mut command);
    command.envs(case.environment.iter().copied());
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("mpirun").join(case.name))?;
    let mut rest = ended.err.as_str();
    for words in case.says {
        match rest.find(words) {
            Some(at) => rest = &rest[at + words.len()..],
            None => return Ok(Verdict::Failed(format!("`{words}` is not said in its place\n{}", ended.story()))),
        }
    }
    let lines = ended.err.lines().count();
    Ok(match ended.ended_with(case.status) && (case.lines == 0 || case.lines == lines) {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("status {} was expected\n{}", case.status, ended.story())),
    })
}

/// A program of ours under Open MPI's mpirun and MPICH's says which launcher is wanted.
fn launcher_of_another(session: &mut Session) -> Result<Verdict> {
    let source = session.tree.root.join("tests/mpirun/first_day.c");
    let program = compiled(session, &source, &[])?;
    let mut tried = Vec::new();
    for (launcher, options) in
        [("mpirun.openmpi", &["--allow-run-as-root", "--oversubscribe"][..]), ("mpirun.mpich", &[])]
    {
        if shell::which(launcher).is_none() {
            continue;
        }
        tried.push(launcher);
        for (ranks, status, says) in [("2", 1, "start the program with the mpirun of the same ompi-rs"), ("1", 0, "")] {
            let mut command = Command::new(launcher);
            command.args(options).args(["-n", ranks]).arg(&program).arg("end");
            own_choice(&mut command);
            let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("mpirun").join(launcher))?;
            let noise = ended.err.contains("are ignored");
            if !ended.ended_with(status) || !ended.err.contains(says) || noise {
                return Ok(Verdict::Failed(format!("under {launcher} with {ranks} ranks\n{}", ended.story())));
            }
        }
    }
    Ok(match tried.is_empty() {
        true => Verdict::Skipped("no other launcher is installed: apt-get install openmpi-bin mpich".to_owned()),
        false => Verdict::Passed(tried.join(", ")),
    })
}

/// A program of another MPI under our mpirun: each of its processes is alone, and mpirun says why.
fn library_of_another(session: &mut Session) -> Result<Verdict> {
    let folder = session.scratch().join("mpirun");
    let source = session.tree.root.join("tests/mpirun/first_day.c");
    let mut tried = Vec::new();
    for (wrapper, library) in [("mpicc.openmpi", "libmpi.so"), ("mpicc.mpich", "libmpich.so")] {
        if shell::which(wrapper).is_none() {
            continue;
        }
        let program = folder.join(wrapper);
        let mut compiler = Command::new(wrapper);
        compiler.arg(&source).arg("-o").arg(&program);
        own_choice(&mut compiler);
        if !shell::outcome(&mut compiler, LIMIT)?.status.success() {
            // The wrapper is there, what it compiles with is not.
            continue;
        }
        tried.push(wrapper);
        let dist = session.library().map_err(fail)?.dist;
        let mut command = Command::new(dist.join("bin/mpirun"));
        command.args(["-n", "2"]).arg(&program).arg("end");
        own_choice(&mut command);
        let ended = deadline::run(&mut command, LIMIT, &folder.join(format!("{wrapper}.log")))?;
        let hint = ended.err.lines().find(|line| line.contains("mpirun: no rank called this library's MPI_Init"));
        if !hint.is_some_and(|hint| hint.contains(library)) {
            return Ok(Verdict::Failed(format!("{library} is not named\n{}", ended.story())));
        }
    }
    Ok(match tried.is_empty() {
        true => Verdict::Skipped("no other MPI compiles: apt-get install libopenmpi-dev libmpich-dev".to_owned()),
        false => Verdict::Passed(tried.join(", ")),
    })
}

/// Programs in Rust call no symbol of MPI: the methods and functions of the crates are named instead.
fn timeout_in_rust(session: &mut Session) -> Result<Verdict> {
    let built = session.library().map_err(fail)?;
    let source = session.tree.root.join("tests/mpirun/waiting.rs");
    let program = crate::run::program::compile(&built, &source, &[], session.progress)?;
    let mut command = Command::new(built.dist.join("bin/mpirun"));
    command.args(["-n", "3", "--timeout", "3"]).arg(&program);
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("mpirun/timeout-in-rust"))?;
    let says = [
        "rank 0 in pml_ob1::module::recv",
        "rank 1 in ompi::collective::all::CommunicatorCollectives::barrier, where nothing has happened for",
        "rank 2 not in a call of MPI",
    ];
    Ok(match ended.ended_with(124) && says.iter().all(|words| ended.err.contains(words)) {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("{says:?} were expected\n{}", ended.story())),
    })
}

/// As with a wheel of mpi4py: the program is python, which loads another MPI's library when it runs.
fn library_in_python(session: &mut Session) -> Result<Verdict> {
    if shell::which("python3").is_none() || shell::which("mpicc.openmpi").is_none() {
        return Ok(Verdict::Skipped("apt-get install python3 libopenmpi-dev".to_owned()));
    }
    let dist = session.library().map_err(fail)?.dist;
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.args(["-n", "2", "python3", "-c", LOADS_OPEN_MPI]);
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("mpirun/library-in-python"))?;
    let hint = ended.err.lines().find(|line| line.contains("mpirun: no rank called this library's MPI_Init"));
    Ok(match hint.is_some_and(|hint| hint.contains("libmpi.so.40")) && ended.ended_with(0) {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("libmpi.so.40 is not named\n{}", ended.story())),
    })
}

/// It stays for as long as a real program would at least.
const LOADS_OPEN_MPI: &str = "import ctypes, time; ctypes.CDLL('libmpi.so.40', ctypes.RTLD_GLOBAL); time.sleep(2)";

/// gdb shows the call by its name, whatever the symbol jumped to: a breakpoint in what a blocking receive ends in.
fn gdb(session: &mut Session) -> Result<Verdict> {
    if shell::which("gdb").is_none() {
        return Ok(Verdict::Skipped("gdb is not installed: apt-get install gdb".to_owned()));
    }
    let source = session.tree.root.join("tests/mpirun/first_day.c");
    let program = compiled(session, &source, &[])?;
    let mut command = Command::new("gdb");
    // Alone a rank waits for itself for ever; nanosleep is where it waits.
    command.args(["-batch", "-ex", "set breakpoint pending on", "-ex", "break nanosleep", "-ex", "run", "-ex", "bt"]);
    command.arg("--args").arg(&program).arg("alone");
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("mpirun/gdb"))?;
    Ok(match ended.out.lines().any(|line| line.starts_with('#') && line.contains("PMPI_Recv")) {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("the backtrace does not show PMPI_Recv\n{}", ended.story())),
    })
}

const LIMIT: Duration = Duration::from_secs(60);
