//! mpicc and the other wrappers, called as people and build systems call them.

use super::place::{Place, RUN_LIMIT};
use crate::failure::{At, Result};
use crate::shell;
use crate::test::{Verdict, deadline};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, elf};
use std::os::unix::fs::PermissionsExt;

/// -c, -MMD and linking apart.
pub fn compile_and_link(place: &Place) -> Result<Verdict> {
    shell::output(&mut place.tool("mpicc", &["-c", "ring.c"]))?;
    shell::output(&mut place.tool("mpicc", &["-O1", "-MMD", "-c", "ring.c", "-o", "other.o"]))?;
    if !place.exists("ring.o") || !place.exists("other.o") || !place.exists("other.d") || place.exists("a.out") {
        return Ok(Verdict::Failed("mpicc -c did not make exactly the object that was asked for".to_owned()));
    }
    shell::output(&mut place.tool("mpicc", &["ring.o", "-o", "ring"]))?;
    place.runs("ring")
}

/// A program without the dynamic loader.
pub fn fully_static(place: &Place) -> Result<Verdict> {
    shell::output(&mut place.tool("mpicc", &["-static", "ring.c", "-o", "ring"]))?;
    let data = std::fs::read(place.folder.join("ring")).at("read ring")?;
    let header = elf::FileHeader64::<Endianness>::parse(&*data).at("read ring")?;
    let endian = header.endian().at("read ring")?;
    let segments = header.program_headers(endian, &*data).at("read ring")?;
    match segments.iter().any(|segment| segment.p_type(endian) == elf::PT_INTERP) {
        true => Ok(Verdict::Failed("mpicc -static made a program that wants the dynamic loader".to_owned())),
        false => place.runs("ring"),
    }
}

/// The shared library by default, the archive on request.
pub fn shared(place: &Place) -> Result<Verdict> {
    for (flags, is_shared) in [(&[][..], true), (&["-shared-mpi"], true), (&["-static-mpi"], false)] {
        shell::output(place.tool("mpicc", &["ring.c", "-o", "ring"]).args(flags))?;
        if place.mentions("ring", "libmpi_abi.so.1")? != is_shared {
            return Ok(Verdict::Failed(format!("mpicc {} linked the other form of the library", flags.concat())));
        }
        if let failed @ Verdict::Failed(_) = place.runs("ring")? {
            return Ok(failed);
        }
    }
    Ok(Verdict::Passed(String::new()))
}

/// What mpi.h has inline beside the ABI: removed functions warn, both parts can be left out, and neither is a symbol.
pub fn beside_the_abi(place: &Place) -> Result<Verdict> {
    shell::write(&place.folder.join("old.c"), OLD_C)?;
    let compiled = |flags: &[&str]| -> Result<bool> {
        let mut command = place.tool("mpicc", &["-c", "old.c", "-o", "old.o"]);
        Ok(shell::outcome(command.args(flags), RUN_LIMIT)?.status.success())
    };
    const OMIT: &str = "-DOMPI_OMIT_MPI1_COMPAT_DECLS=1";
    for (flags, is_right, what) in [
        (&["-DUSES", "-w"][..], true, "a program with removed functions and MPI_Fint compiles"),
        (&["-DUSES", "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0", "-w"], true, "0 leaves nothing out"),
        (
            &["-DUSES", "-DMPI_Fint=int", "-DMPI_Comm_c2f=MPI_Comm_toint", "-w"],
            true,
            "a program that brings an MPI_Fint keeps it",
        ),
        (&["-DUSES", "-Werror=deprecated-declarations"], false, "a removed function warns"),
        (&["-DUSES", "-Werror=implicit-function-declaration", OMIT], false, "removed functions can be left out"),
        (&[OMIT, "-DOMPI_OMIT_FINT_DECLS=1", "-Wall", "-Wextra", "-Werror"], true, "their names are free again"),
        (&["-DINCLUDES", "-Wall", "-Wextra", "-Werror", "-pedantic", "-std=c99"], true, "the header does not warn"),
    ] {
        if compiled(flags)? != is_right {
            return Ok(Verdict::Failed(format!("{what}: {}", flags.join(" "))));
        }
    }
    compiled(&["-DUSES", "-w", "-O0"])?;
    let names = shell::output(&mut place.command("nm", &["old.o"]))?;
    let wanted = |line: &str| line.contains(" U MPI_Address") || line.contains(" U MPI_Comm_c2f");
    Ok(match names.lines().find(|line| wanted(line)) {
        Some(line) => Verdict::Failed(format!("the library would have to export what the ABI does not have: {line}")),
        None => Verdict::Passed(String::new()),
    })
}

const OLD_C: &str = r#"#include <mpi.h>
#ifdef USES
int main(void)
{
    MPI_Aint at;
    MPI_Fint world = MPI_Comm_c2f(MPI_COMM_WORLD);
    return MPI_Address(&at, &at) + world;
}
#elif defined INCLUDES
int main(void) { return 0; }
#else
typedef long MPI_Fint;
int MPI_Address(MPI_Fint mine) { return (int)mine; }
int MPI_LB;
int main(void) { return MPI_Address(0) + MPI_LB; }
#endif
"#;

/// What -show prints does what mpicc does; so do its parts together.
pub fn show(place: &Place) -> Result<Verdict> {
    let line = shell::output(&mut place.tool("mpicc", &["-show", "ring.c", "-o", "shown"]))?;
    shell::output(&mut place.command("sh", &["-ec", &line]))?;
    if let failed @ Verdict::Failed(_) = place.runs("shown")? {
        return Ok(failed);
    }
    let part = |part: &str| shell::output(&mut place.tool("mpicc", &[&format!("--showme:{part}")]));
    let (compiler, compile, link) = (part("command")?, part("compile")?, part("link")?);
    let line = format!("{} {} ring.c -o parts {}", compiler.trim(), compile.trim(), link.trim());
    shell::output(&mut place.command("sh", &["-ec", &line]))?;
    place.runs("parts")
}

/// The compiler that a variable names is called.
pub fn other_compiler(place: &Place) -> Result<Verdict> {
    let spy = place.folder.join("spy");
    shell::write(&spy, "#!/bin/sh\necho \"$1\" >> spied\nshift\nexec \"$@\"\n")?;
    std::fs::set_permissions(&spy, std::fs::Permissions::from_mode(0o755)).at("make the spy executable")?;
    for (wrapper, variable, compiler) in
        [("mpicc", "OMPI_CC", "gcc"), ("mpicc", "MPICC_CC", "gcc"), ("mpicxx", "OMPI_CXX", "g++")]
    {
        let mut command = place.tool(wrapper, &["ring.cc", "-o", "ring"]);
        if wrapper == "mpicc" {
            command = place.tool(wrapper, &["ring.c", "-o", "ring"]);
        }
        shell::output(command.env(variable, format!("{} {variable} {compiler}", spy.display())))?;
        if !shell::read(&place.folder.join("spied"))?.lines().any(|line| line == variable) {
            return Ok(Verdict::Failed(format!("{wrapper} did not call the compiler that {variable} names")));
        }
    }
    let refused = shell::outcome(place.tool("mpicc", &["ring.c"]).env("OMPI_CC", "no-such-compiler"), RUN_LIMIT)?;
    match refused.status.code() == Some(127) && refused.stderr.contains("no-such-compiler") {
        true => place.runs("ring"),
        false => Ok(Verdict::Failed(format!("a compiler that is not there: {}", refused.stderr))),
    }
}

/// Every name of the wrapper for C++.
pub fn cplusplus(place: &Place) -> Result<Verdict> {
    for wrapper in ["mpicxx", "mpic++", "mpiCC"] {
        shell::output(&mut place.tool(wrapper, &["-c", "ring.cc"]))?;
        shell::output(&mut place.tool(wrapper, &["ring.o", "-o", wrapper]))?;
        if let failed @ Verdict::Failed(_) = place.runs(wrapper)? {
            return Ok(failed);
        }
    }
    Ok(Verdict::Passed(String::new()))
}

/// Every name of the wrapper for Fortran. A library that was built without says so, and which package is missing.
pub fn other_names(place: &Place) -> Result<Verdict> {
    let without = !place.dist.join("share/ompi-rs/fortran").exists();
    for name in ["mpifort", "mpif77", "mpif90"] {
        if without {
            let refused = shell::outcome(&mut place.tool(name, &["-showme"]), RUN_LIMIT)?;
            if refused.status.success() || !refused.stderr.contains("apt-get install gfortran") {
                return Ok(Verdict::Failed(format!("{name} -showme says: {}", refused.stderr)));
            }
            continue;
        }
        shell::output(&mut place.tool(name, &["ring.f90", "-o", name]))?;
        if let failed @ Verdict::Failed(_) = place.runs(name)? {
            return Ok(failed);
        }
        let parts =
            [("libs", "mpi_abi_fortran mpi_abi"), ("compile", "/lib/fortran"), ("link", "-lmpi_abi_fortran -lmpi_abi")];
        for (part, wanted) in parts {
            let shown = shell::output(&mut place.tool(name, &[&format!("--showme:{part}")]))?;
            if !shown.contains(wanted) {
                return Ok(Verdict::Failed(format!("{name} --showme:{part} says: {shown}")));
            }
        }
    }
    Ok(Verdict::Passed(if without { "gfortran is not installed".to_owned() } else { String::new() }))
}

/// One job of a C and a C++ program: a single world, and each knows which program it runs.
pub fn several_programs(place: &Place) -> Result<Verdict> {
    shell::output(&mut place.tool("mpicc", &["ring.c", "-o", "first"]))?;
    shell::output(&mut place.tool("mpicxx", &["ring.cc", "-o", "second"]))?;
    let mut command = place.tool("mpirun", &["-n", "2", "./first", ":", "-n", "1", "./second"]);
    let ended = deadline::run(&mut command, RUN_LIMIT, &place.folder.join("log"))?;
    let wanted = ["rank 0 runs program 0", "rank 1 runs program 0", "rank 2 runs program 1"];
    match ended.ended_with(0) && wanted.iter().all(|line| ended.out.lines().any(|have| have == *line)) {
        true => Ok(Verdict::Passed(String::new())),
        false => Ok(Verdict::Failed(ended.story())),
    }
}
