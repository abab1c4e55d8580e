//! One MPI in a process: programs with plug-ins, profiling tools, libraries of two installations.

use super::place::{Place, RUN_LIMIT};
use crate::failure::{At, Result};
use crate::shell;
use crate::test::{Verdict, deadline};

/// A plug-in finds the MPI of its program, whichever form of the library each of them holds.
pub fn plugin(place: &Place) -> Result<Verdict> {
    sources(place)?;
    for program in ["-shared-mpi", "-static-mpi"] {
        shell::output(&mut place.tool("mpicc", &["host.c", program, "-o", "host", "-ldl"]))?;
        for flags in [&["-shared"][..], &["-shared", "-static-mpi"]] {
            let mut mpicc = place.tool("mpicc", &["-fPIC", "plugin.c", "-o", "plugin.so"]);
            shell::output(mpicc.args(flags))?;
            let ended = place.mpirun(&["-n", "2", "./host", "./plugin.so"])?;
            if !ended.ended_with(0) || ended.out.lines().filter(|line| line.ends_with(" answers")).count() != 2 {
                return Ok(Verdict::Failed(format!("{program}, plug-in {flags:?}\n{}", ended.story())));
            }
        }
    }
    Ok(Verdict::Passed(String::new()))
}

/// A plug-in with an archive of its own inside, and two libraries in one process: the second copy says what is wrong.
pub fn second_copy(place: &Place) -> Result<Verdict> {
    sources(place)?;
    let archive = place.dist.join("lib/libmpi_abi.a");
    shell::output(&mut place.tool("mpicc", &["host.c", "-o", "host", "-ldl"]))?;
    let mut gcc = place.command("gcc", &["-fPIC", "-shared", "-Wl,-Bsymbolic", "plugin.c", "-o", "swallowed.so"]);
    shell::output(gcc.arg("-I").arg(place.dist.join("include")).arg(archive))?;
    let mut said = vec![
        place.mpirun(&["-n", "1", "./host", "./swallowed.so"])?,
        deadline::run(&mut place.command("./host", &["./swallowed.so"]), RUN_LIMIT, &place.folder.join("log"))?,
    ];
    let (ours, theirs) = (place.dist.join("lib/libmpi_abi.so.1"), place.folder.join("other.so"));
    std::fs::copy(&ours, &theirs).at("copy the library")?;
    let ours = ours.to_string_lossy();
    if shell::which("python3").is_some() {
        for call in ["MPI_Comm_rank(0x101, pointer)", "MPI_Init(None, None)"] {
            let text = format!(
                "import ctypes\npointer = ctypes.byref(ctypes.c_int())\nfirst = ctypes.CDLL({ours:?})\n\
                 second = ctypes.CDLL('./other.so')\nfirst.MPI_Init(None, None)\nsecond.{call}\n"
            );
            said.push(place.mpirun(&["-n", "1", "python3", "-c", &text])?);
        }
    }
    match said.iter().find(|ended| ended.ended_with(0) || !ended.story().contains("another copy of ompi-rs")) {
        Some(ended) => Ok(Verdict::Failed(ended.story())),
        None => Ok(Verdict::Passed(format!("{} processes with two copies", said.len()))),
    }
}

/// A profiling tool sees the calls of a program that was linked without it, and of one that was linked with it. One for
/// programs with the archive is an archive, too: a definition in the program comes before those of shared libraries.
pub fn tool(place: &Place) -> Result<Verdict> {
    sources(place)?;
    shell::output(&mut place.tool("mpicc", &["-fPIC", "-shared", "tool.c", "-o", "libmytool.so"]))?;
    shell::output(&mut place.tool("mpicc", &["-c", "tool.c"]))?;
    shell::output(&mut place.command("ar", &["crs", "libmytool.a", "tool.o"]))?;
    shell::output(&mut place.tool("mpicc", &["ring.c", "-o", "ring"]))?;
    let preload = format!("LD_PRELOAD={}", place.folder.join("libmytool.so").display());
    let mut runs = vec![("preloaded", place.mpirun(&["-n", "2", "-x", &preload, "./ring"])?)];
    let here = "-Wl,-rpath,.";
    for (name, flags) in [
        ("before its program", &["-L.", "-Wl,--no-as-needed", "-lmytool", here, "ring.c", "-o", "linked"][..]),
        ("behind its program", &["ring.c", "-o", "linked", "-L.", "-lmytool", here]),
        ("with the archive", &["ring.c", "-o", "linked", "libmytool.a", "-static-mpi"]),
    ] {
        shell::output(&mut place.tool("mpicc", flags))?;
        runs.push((name, place.mpirun(&["-n", "2", "./linked"])?));
    }
    match runs.iter().find(|(_, ended)| !ended.ended_with(0) || !ended.out.contains("tool saw 1 calls")) {
        Some((name, ended)) => Ok(Verdict::Failed(format!("the tool {name} saw no call\n{}", ended.story()))),
        None => Ok(Verdict::Passed(String::new())),
    }
}

/// The profiler of the examples, which knows the standard alone, counts calls and bytes of a program that makes known ones, and
/// reads what the library has counted: the announcement of each rank's long message.
pub fn profile(place: &Place) -> Result<Verdict> {
    shell::write(&place.folder.join("profile.c"), PROFILE_C)?;
    shell::write(&place.folder.join("profiled.c"), PROFILED_C)?;
    shell::output(
        &mut place.tool("mpicc", &["-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "profile.c", "-o", "lib.so"]),
    )?;
    shell::output(&mut place.tool("mpicc", &["-Wall", "-Wextra", "-Werror", "profiled.c", "-o", "profiled"]))?;
    let preload = format!("LD_PRELOAD={}", place.folder.join("lib.so").display());
    let ended = place.mpirun(&["-n", "3", "-x", &preload, "./profiled"])?;
    let starts = |words: &[&str]| {
        let begins =
            |line: &str| line.split_whitespace().zip(words).filter(|(have, want)| have == *want).count() == words.len();
        ended.out.lines().any(begins)
    };
    let expected: [&[&str]; 4] = [
        &["MPI_Send", "30", "120"],
        &["MPI_Sendrecv", "3", "3145728"],
        &["MPI_Allreduce", "3", "12"],
        &["pml_ob1_rts_sent", "3"],
    ];
    Ok(match expected.iter().find(|words| !starts(words)) {
        None if ended.ended_with(0) => Verdict::Passed(String::new()),
        missing => Verdict::Failed(format!(
            "no line {}\n{}",
            missing.map_or(String::new(), |words| words.join(" ")),
            ended.story()
        )),
    })
}

/// An installation that was moved, and one of another MPI that the loader would find first.
pub fn moved(place: &Place) -> Result<Verdict> {
    let (old, new) = (place.folder.join("old"), place.folder.join("new"));
    shell::output(place.command("cp", &["-a"]).arg(&place.dist).arg(&old))?;
    shell::output(&mut place.command(&old.join("bin/mpicc").to_string_lossy(), &["ring.c", "-o", "ring"]))?;
    std::fs::rename(&old, &new).at("move the installation")?;
    for library_path in [None, Some("/nonexistent:")] {
        let mut mpirun = place.command(&new.join("bin/mpirun").to_string_lossy(), &["-n", "2", "./ring"]);
        mpirun.env_remove("LD_LIBRARY_PATH").envs(library_path.map(|path| ("LD_LIBRARY_PATH", path)));
        let ended = deadline::run(&mut mpirun, RUN_LIMIT, &place.folder.join("log"))?;
        if !ended.ended_with(0) || !ended.out.contains("ring of 2: ompi-rs ") {
            return Ok(Verdict::Failed(ended.story()));
        }
    }
    Ok(Verdict::Passed(String::new()))
}

/// The program that loads a plug-in, the plug-in, and a profiling tool.
pub fn sources(place: &Place) -> Result<()> {
    shell::write(&place.folder.join("host.c"), HOST_C)?;
    shell::write(&place.folder.join("plugin.c"), PLUGIN_C)?;
    shell::write(&place.folder.join("tool.c"), TOOL_C)
}

const HOST_C: &str = include_str!("host.c");
const PLUGIN_C: &str = include_str!("plugin.c");
const TOOL_C: &str = include_str!("tool.c");
const PROFILE_C: &str = include_str!("../../../../examples/c/profile.c");
const PROFILED_C: &str = include_str!("profiled.c");
