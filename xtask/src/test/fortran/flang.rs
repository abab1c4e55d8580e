//! LLVM flang, where it is installed: it makes modules of its own, and the programs of tests/fortran run with the same library.

use super::wrapper::LIMIT;
use crate::build::fortran::MODULES;
use crate::failure::{Result, fail};
use crate::shell;
use crate::test::programs::{launch, sources, stem};
use crate::test::{Session, Verdict};
use std::path::PathBuf;
use std::process::Command;

/// `fortran/flang`.
pub fn flang(session: &mut Session) -> Verdict {
    let Some(compiler) = NAMES.iter().find(|name| shell::which(name).is_some()) else {
        return Verdict::Skipped(format!("{} is not installed: apt-get install {}", NAMES[0], NAMES[0]));
    };
    run(session, compiler).unwrap_or_else(Verdict::from)
}

fn run(session: &mut Session, compiler: &str) -> Result<Verdict> {
    let dist = session.library().map_err(fail)?.dist;
    let folder = session.scratch().join("fortran/flang");
    shell::folder(&folder)?;
    let modules = session.tree.root.join("ompi-core/fortran/modules");
    let mut objects: Vec<PathBuf> = Vec::new();
    for name in MODULES {
        let object = folder.join(name).with_extension("o");
        let mut command = Command::new(compiler);
        command.args(["-O1", "-c"]).arg(modules.join(name)).arg("-o").arg(&object).current_dir(&folder);
        shell::output(command.arg("-module-dir").arg(&folder).arg("-I").arg(&folder))?;
        objects.push(object);
    }
    let mut count = 0;
    for source in sources(&session.tree.root.join("tests/fortran"), &["f", "f90"])? {
        let program = folder.join(stem(&source));
        let mut command = Command::new(compiler);
        command.arg("-O1").arg(&source).args(&objects).arg("-o").arg(&program).current_dir(&folder);
        command.arg("-I").arg(&folder).arg("-I").arg(dist.join("include"));
        command.arg("-L").arg(dist.join("lib")).args(["-lmpi_abi_fortran", "-lmpi_abi"]);
        shell::output(command.arg(format!("-Wl,-rpath,{}", dist.join("lib").display())))?;
        let ended = launch(session, &program, 2, &[], LIMIT)?;
        if !ended.ended_with(0) {
            return Ok(Verdict::Failed(format!("{}\n{}", stem(&source), ended.story())));
        }
        count += 1;
    }
    Ok(Verdict::Passed(format!("{count} programs by {compiler}")))
}

/// What Debian 12 calls it.
const NAMES: &[&str] = &["flang-22", "flang-19", "flang-16", "flang-new", "flang"];
