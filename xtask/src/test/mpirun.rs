//! A user's first days with mpirun: parameters of another MPI, launchers and libraries of others, and how
//! jobs end that do not end well.

mod cases;
mod ends;
mod printed;
mod scribbled;

use super::programs::{compiled, own_choice};
use super::{Session, Verdict, deadline};
use crate::failure::{Result, fail};
use crate::shell;
use cases::{CASES, Case, LIMIT};
use std::process::Command;

/// `mpirun/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    for case in CASES {
        session.case(&format!("mpirun/{}", case.name), |session| run(session, case).unwrap_or_else(Verdict::from));
    }
    printed::cases(session);
    scribbled::cases(session);
    ends::cases(session);
    session.case("mpirun/launcher-of-another", |session| launcher_of_another(session).unwrap_or_else(Verdict::from));
    session.case("mpirun/library-of-another", |session| library_of_another(session).unwrap_or_else(Verdict::from));
    session.case("mpirun/library-in-python", |session| library_in_python(session).unwrap_or_else(Verdict::from));
    session.case("mpirun/timeout-in-rust", |session| timeout_in_rust(session).unwrap_or_else(Verdict::from));
    session.case("mpirun/valgrind", |session| valgrind(session).unwrap_or_else(Verdict::from));
    session.case("mpirun/gdb", |session| gdb(session).unwrap_or_else(Verdict::from));
    Ok(())
}

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
            None => {
                return Ok(Verdict::Failed(format!(
                    "standard error lacks `{words}`, or has it in another order\n{}",
                    ended.story()
                )));
            }
        }
    }
    let lines = ended.err.lines().count();
    Ok(match ended.ended_with(case.status) && (case.lines == 0 || case.lines == lines) {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("status {} was expected\n{}", case.status, ended.story())),
    })
}

/// A program of ours under Open MPI's mpirun says which launcher is wanted; under MPICH's, which is Hydra, it runs.
fn launcher_of_another(session: &mut Session) -> Result<Verdict> {
    let source = session.tree.root.join("tests/mpirun/first_day.c");
    let program = compiled(session, &source, &[])?;
    let mut tried = Vec::new();
    let alone = [("2", 1, "start the program with the mpirun of the same ompi-rs"), ("1", 0, "")];
    let direct = [("2", 0, ""), ("1", 0, "")];
    for (launcher, options, expected) in
        [("mpirun.openmpi", &["--allow-run-as-root", "--oversubscribe"][..], alone), ("mpirun.mpich", &[], direct)]
    {
        if shell::which(launcher).is_none() {
            continue;
        }
        tried.push(launcher);
        for (ranks, status, says) in expected {
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
        let of_ours = compiled(session, &source, &[])?;
        let mut both = Command::new(dist.join("bin/mpirun"));
        both.args(["-n", "1"]).arg(&of_ours).args(["end", ":", "-n", "1"]).arg(&program).arg("end");
        own_choice(&mut both);
        let ended = deadline::run(&mut both, LIMIT, &folder.join(format!("{wrapper}-both.log")))?;
        let words =
            format!("mpirun: no rank of {} called this library's MPI_Init: it uses {library}", program.display());
        if !ended.err.contains(&words) {
            return Ok(Verdict::Failed(format!("`{words}` is missing\n{}", ended.story())));
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
        return Ok(Verdict::Skipped(
            "python3 or Open MPI is not installed: apt-get install python3 libopenmpi-dev".to_owned(),
        ));
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

/// mpirun itself, which starts its keeper from its own file: no invalid access, nothing lost.
fn valgrind(session: &mut Session) -> Result<Verdict> {
    if shell::which("valgrind").is_none() {
        return Ok(Verdict::Skipped("valgrind is not installed: apt-get install valgrind".to_owned()));
    }
    let source = session.tree.root.join("tests/mpirun/first_day.c");
    let program = compiled(session, &source, &[])?;
    let dist = session.library().map_err(fail)?.dist;
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--error-exitcode=99", "--leak-check=full"]);
    command.args(["--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]);
    command.arg(dist.join("bin/mpirun")).args(["-n", "2"]).arg(&program).arg("end");
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("mpirun/valgrind"))?;
    Ok(match ended.ended_with(0) && ended.err.is_empty() {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(ended.story()),
    })
}

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
