//! Checks of the finished product: its exports, its components, and the programs that it links into.

use crate::build::archive::{self, SHARED, STATIC};
use crate::build::resolve::Choice;
use crate::build::{compile, tools};
use crate::failure::{At, Failure, Result, fail};
use crate::progress::Progress;
use crate::shell;
use crate::shell::Outcome;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, elf};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A product in its staging folder.
#[derive(Debug)]
pub struct Product<'a> {
    /// Where it lies.
    pub stage: &'a Path,
    /// For the programs that the checks compile.
    pub folder: &'a Path,
    /// The C names that it must export.
    pub names: &'a BTreeSet<String>,
    /// What must be linked.
    pub choice: &'a Choice,
    /// Fortran's library and modules are there.
    pub fortran: bool,
}

/// Runs every check, each a line; the first that fails ends the build with a sentence.
pub fn check<'a>(product: &Product<'a>, progress: &Progress) -> Result<()> {
    shell::folder(product.folder)?;
    shell::write(&product.folder.join("smoke.c"), SMOKE_C)?;
    shell::write(&product.folder.join("smoke.cc"), SMOKE_C)?;
    shell::write(&product.folder.join("smoke.rs"), SMOKE_RUST)?;
    shell::write(&product.folder.join("memory.c"), MEMORY_C)?;
    let checks: &[(&str, Check<'a>)] = &[
        ("exports are those of the standard ABI", Product::exports),
        ("every program of bin is there", Product::programs),
        ("every chosen component is linked", Product::components),
        ("two ranks reduce under mpirun", Product::two_ranks),
        ("links with every installed linker", Product::linkers),
        ("links with -static", Product::fully_static),
        ("links as a shared library", Product::shared),
        ("links into C++", Product::cplusplus),
        ("links into Rust", Product::rust),
        ("links into Fortran", Product::fortran),
        ("a profiling tool's functions win", Product::tool),
        ("every release of memory is seen", Product::memory),
    ];
    for (what, check) in checks {
        progress.phase(&format!("check: {what}"), || check(product).map(|note| ((), note)).map_err(explain))?;
    }
    Ok(())
}

type Check<'a> = fn(&Product<'a>) -> Result<String>;

fn explain(failure: Failure) -> Failure {
    fail(format!("the library was built but not installed: {}", failure.text))
}

impl Product<'_> {
    fn exports(&self) -> Result<String> {
        let lib = self.stage.join("lib");
        self.compare(STATIC, archive::defined_in_archive(&lib.join(STATIC))?)?;
        self.compare(SHARED, archive::defined_in_shared(&lib.join(SHARED))?)?;
        Ok(format!("{} names", self.names.len()))
    }

    fn compare(&self, file: &str, have: BTreeSet<String>) -> Result<()> {
        let some = |names: Vec<&String>| {
            let shown: Vec<&str> = names.iter().take(8).map(|name| name.as_str()).collect();
            format!("{}{}", shown.join(", "), if names.len() > 8 { ", …" } else { "" })
        };
        let missing: Vec<&String> = self.names.difference(&have).collect();
        let surplus: Vec<&String> = have.difference(self.names).collect();
        if !missing.is_empty() {
            let text = format!(
                "{file} lacks {} of the names in ompi-core/api/mpi_functions.json: {}; write their rows in \
                 ompi-core/src/abi",
                missing.len(),
                some(missing)
            );
            return Err(fail(text));
        }
        if !surplus.is_empty() {
            return Err(fail(format!("{file} exports names that are not MPI's: {}", some(surplus))));
        }
        Ok(())
    }

    fn programs(&self) -> Result<String> {
        let names = tools::TOOLS.iter().flat_map(|tool| tool.installed).chain(&["ompi_info"]);
        let missing: Vec<&str> = names.copied().filter(|name| !self.stage.join("bin").join(name).exists()).collect();
        match missing.is_empty() {
            true => Ok(String::new()),
            false => Err(fail(format!(
                "bin/{} would be missing: this source tree has no package that makes it",
                missing.join(", bin/")
            ))),
        }
    }

    /// The library itself lists what it knows of at start; hook and registrations were compared by then.
    fn components(&self) -> Result<String> {
        let program = self.compile("mpicc", "smoke.c", "smoke", &["-static-mpi"])?;
        let listing = self.start(&program, &[("OMPI_MCA_mpi_show_components", "1")])?;
        for component in &self.choice.components {
            let line = format!("component {}: ", component.name);
            if !listing.contains(&line) {
                return Err(fail(format!(
                    "{} was chosen, but a program with OMPI_MCA_mpi_show_components=1 does not list it; it said:\n{}",
                    component.name, listing
                )));
            }
        }
        Ok(format!("{}", self.choice.components.len()))
    }

    fn two_ranks(&self) -> Result<String> {
        let names = || self.choice.components.iter().map(|component| component.name.as_str());
        if !names().any(|name| name == "ess/env") || !names().any(|name| name.starts_with("btl/") && name != "btl/self")
        {
            return Ok("left out: without ess/env and a btl beside btl/self every process runs alone".to_owned());
        }
        let program = self.compile("mpicc", "smoke.c", "smoke.two", &["-DRANKS=2"])?;
        let said = self.launch(Command::new(self.stage.join("bin/mpirun")).args(["-n", "2"]).arg(program), &[])?;
        match said.stdout.lines().count() {
            2 => Ok(String::new()),
            _ => Err(fail(format!("mpirun -n 2 carried this output of two ranks: {}", said.stdout))),
        }
    }

    fn linkers(&self) -> Result<String> {
        let linkers = ["bfd", "gold", "lld", "mold"];
        let installed = linkers.into_iter().filter(|name| shell::which(&format!("ld.{name}")).is_some());
        let installed: Vec<&str> = installed.collect();
        for linker in &installed {
            let choose = format!("-fuse-ld={linker}");
            // Collecting unused sections must not collect the components' registrations.
            for (name, flags) in [
                ("", &[&*choose, "-static-mpi"][..]),
                (".gc", &[&*choose, "-static-mpi", "-Wl,--gc-sections"]),
                (".shared", &[&*choose, "-shared-mpi"]),
            ] {
                let program = self.compile("mpicc", "smoke.c", &format!("smoke.{linker}{name}"), flags)?;
                self.start(&program, &[])?;
            }
        }
        Ok(installed.join(", "))
    }

    fn fully_static(&self) -> Result<String> {
        let program = self.compile("mpicc", "smoke.c", "smoke.static", &["-static"])?;
        self.start(&program, &[]).map(|_| String::new())
    }

    fn shared(&self) -> Result<String> {
        let program = self.compile("mpicc", "smoke.c", "smoke.shared", &["-shared-mpi"])?;
        let data = std::fs::read(&program).at(format!("read {}", program.display()))?;
        // The name in the dynamic section: else the archive was linked and the test would show nothing.
        if !data.windows(SHARED.len()).any(|window| window == SHARED.as_bytes()) {
            return Err(fail(format!("mpicc -shared-mpi made a program that does not need {SHARED}")));
        }
        self.start(&program, &[]).map(|_| String::new())
    }

    fn cplusplus(&self) -> Result<String> {
        let program = self.compile("mpicxx", "smoke.cc", "smoke.cc.exe", &[])?;
        self.start(&program, &[]).map(|_| String::new())
    }

    fn fortran(&self) -> Result<String> {
        if !self.fortran {
            return Ok("left out: there is no Fortran compiler".to_owned());
        }
        let have = archive::defined_in_shared(&self.stage.join("lib").join(archive::FORTRAN.shared))?;
        let missing: Vec<&str> = FORTRAN_EXPORTS.lines().filter(|name| !have.contains(*name)).take(8).collect();
        if !missing.is_empty() {
            return Err(fail(format!("{} lacks {}", archive::FORTRAN.shared, missing.join(", "))));
        }
        shell::write(&self.folder.join("smoke.f90"), SMOKE_FORTRAN)?;
        for (name, flags) in [("smoke.fortran", &["-shared-mpi"][..]), ("smoke.fortran.static", &["-static-mpi"])] {
            let program = self.compile("mpifort", "smoke.f90", name, flags)?;
            self.start(&program, &[])?;
        }
        Ok(format!("{} names", FORTRAN_EXPORTS.lines().count()))
    }

    fn rust(&self) -> Result<String> {
        let program = self.folder.join("smoke.rust");
        let mut rustc = compile::rustc();
        rustc.args(["--edition", "2024", "-l", "static=mpi_abi"]).arg("-o").arg(&program);
        rustc.arg("-L").arg(self.stage.join("lib")).arg(self.folder.join("smoke.rs"));
        shell::output(&mut rustc)?;
        let said = shell::output(&mut Command::new(&program))?;
        match said.trim() {
            "MPI 5.0" => Ok(String::new()),
            other => Err(fail(format!("a Rust program got `{other}` from PMPI_Get_version, not MPI 5.0"))),
        }
    }

    fn tool(&self) -> Result<String> {
        for (name, flags) in [("tool", &["-DTOOL", "-static-mpi"]), ("tool.shared", &["-DTOOL", "-shared-mpi"])] {
            let program = self.compile("mpicc", "smoke.c", name, flags)?;
            self.start(&program, &[])?;
        }
        Ok(String::new())
    }

    /// Functions that stand in for the C library's must do so in every form of the library.
    fn memory(&self) -> Result<String> {
        if !self.choice.components.iter().any(|component| component.name == "memory/hook") {
            return Ok("memory/hook is not chosen".to_owned());
        }
        for (name, flags) in
            [("memory.archive", &["-static-mpi"]), ("memory.static", &["-static"]), ("memory.shared", &["-shared-mpi"])]
        {
            let program = self.compile("mpicc", "memory.c", name, flags)?;
            self.start(&program, &[])?;
        }
        Ok("archive, -static, shared".to_owned())
    }

    fn compile(&self, wrapper: &str, source: &str, program: &str, flags: &[&str]) -> Result<PathBuf> {
        let program = self.folder.join(program);
        let mut command = Command::new(self.stage.join("bin").join(wrapper));
        command.args(flags).args(["-O1", "-Wall", "-Werror", "-o"]).arg(&program).arg(self.folder.join(source));
        // The checks are about our own choice of compiler and library.
        for variable in ["OMPI_RS_LINK", "OMPI_CC", "MPICC_CC", "OMPI_CXX", "MPICXX_CXX"] {
            command.env_remove(variable);
        }
        shell::output(&mut command)?;
        check_stack(&program)?;
        Ok(program)
    }

    /// Runs a program as a job of one and returns what it wrote to standard error. Without ess/singleton no process
    /// of this library starts by itself.
    fn start(&self, program: &Path, environment: &[(&str, &str)]) -> Result<String> {
        let alone = self.choice.components.iter().any(|component| component.name == "ess/singleton");
        let mut command = Command::new(if alone { program.to_path_buf() } else { self.stage.join("bin/mpirun") });
        if !alone {
            command.args(["-n", "1"]).arg(program);
        }
        self.launch(&mut command, environment).map(|outcome| outcome.stderr)
    }

    fn launch(&self, command: &mut Command, environment: &[(&str, &str)]) -> Result<Outcome> {
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("OMPI_")) {
            command.env_remove(name);
        }
        let outcome = shell::outcome(command.envs(environment.iter().copied()), PATIENCE)?;
        if outcome.status.success() && outcome.stdout.lines().all(|line| line.starts_with("ompi-rs")) {
            return Ok(outcome);
        }
        Err(fail(format!(
            "`{}` ended with {} and said `{}`, where `ompi-rs …` was expected\n{}",
            shell::line(command),
            outcome.status,
            outcome.stdout.trim(),
            outcome.stderr
        )))
    }
}

/// A linker makes the stack executable when one object does not say otherwise; ours all must.
fn check_stack(program: &Path) -> Result<()> {
    let what = format!("read {}", program.display());
    let data = std::fs::read(program).at(&what)?;
    let header = elf::FileHeader64::<Endianness>::parse(&*data).at(&what)?;
    let endian = header.endian().at(&what)?;
    let segments = header.program_headers(endian, &*data).at(&what)?;
    let stack = segments.iter().find(|segment| segment.p_type(endian) == elf::PT_GNU_STACK);
    match stack {
        Some(stack) if (stack.p_flags(endian) & elf::PF_X).0 == 0 => Ok(()),
        _ => Err(fail(format!(
            "{} has an executable stack; an object of the library lacks .note.GNU-stack",
            program.display()
        ))),
    }
}

const FORTRAN_EXPORTS: &str = include_str!("../../../ompi-core/fortran/exports.txt");
const SMOKE_FORTRAN: &str = include_str!("product/smoke.f90");
const SMOKE_C: &str = include_str!("product/smoke.c");
const MEMORY_C: &str = include_str!("product/memory.c");
const SMOKE_RUST: &str = include_str!("product/smoke.rs");
/// For a program that takes milliseconds, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executable_stack_is_found() {
        let folder = std::env::temp_dir().join(format!("ompi-rs-stack-{}", std::process::id()));
        let source = folder.join("a.c");
        shell::write(&source, "int main(void) { return 0; }\n").unwrap();
        for (flag, good) in [("-Wl,-z,noexecstack", true), ("-Wl,-z,execstack", false)] {
            let program = folder.join("a");
            shell::output(Command::new("gcc").arg(flag).arg(&source).arg("-o").arg(&program)).unwrap();
            assert_eq!(check_stack(&program).is_ok(), good, "{flag}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn names_too_few_and_too_many_are_found() {
        let names = ["MPI_Init", "PMPI_Init"].map(str::to_owned).into();
        let choice = Choice { components: Vec::new(), direct: Vec::new(), notes: Vec::new() };
        let here = Path::new(".");
        let product = Product { stage: here, folder: here, names: &names, choice: &choice, fortran: false };
        assert!(product.compare("x", names.clone()).is_ok());
        let lacking = product.compare("x", ["MPI_Init".to_owned()].into()).unwrap_err();
        assert!(lacking.text.contains("lacks 1 of the names") && lacking.text.contains("PMPI_Init"));
        let more = product.compare("x", ["MPI_Init", "PMPI_Init", "rust_eh_personality"].map(str::to_owned).into());
        assert!(more.unwrap_err().text.contains("not MPI's: rust_eh_personality"));
    }
}
