//! How programs of others are built with this library: mpicc in every way that build systems call it, pkg-config, CMake,
//! and the manual pages.

use super::{Session, Verdict, deadline, programs};
use crate::failure::{At, Result, fail};
use crate::shell;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, elf};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `wrappers/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    let cases: &[(&str, Case)] = &[
        ("compile-and-link", compile_and_link),
        ("static", fully_static),
        ("shared", shared),
        ("show", show),
        ("other-compiler", other_compiler),
        ("cplusplus", cplusplus),
        ("pkg-config", pkg_config),
        ("cmake", cmake),
        ("several-programs", several_programs),
        ("manual", manual),
    ];
    for (name, test) in cases {
        session.case(&format!("wrappers/{name}"), |session| {
            Place::new(session, name).and_then(|place| test(&place)).unwrap_or_else(Verdict::from)
        });
    }
    Ok(())
}

type Case = fn(&Place) -> Result<Verdict>;

/// The library, and a folder of this test's own with a C program in it.
struct Place {
    dist: PathBuf,
    folder: PathBuf,
}

impl Place {
    fn new(session: &mut Session, name: &str) -> Result<Place> {
        let dist = session.library().map_err(fail)?.dist;
        let folder = session.scratch().join("wrappers").join(name);
        // What an earlier call left must not stand for what this one makes.
        let _ = std::fs::remove_dir_all(&folder);
        shell::write(&folder.join("ring.c"), RING_C)?;
        shell::write(&folder.join("ring.cc"), RING_C)?;
        Ok(Place { dist, folder })
    }

    /// A program of the product, run in the folder.
    fn tool(&self, name: &str, arguments: &[&str]) -> Command {
        self.command(&self.dist.join("bin").join(name).to_string_lossy(), arguments)
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder);
        programs::own_choice(&mut command);
        command
    }

    /// Runs a finished program on two ranks: it must send its ring with this library.
    fn runs(&self, program: &str) -> Result<Verdict> {
        let mut command = self.tool("mpirun", &["-n", "2", &format!("./{program}")]);
        let ended = deadline::run(&mut command, RUN_LIMIT, &self.folder.join(format!("{program}.log")))?;
        Ok(match ended.ended_with(0) && ended.out.lines().any(|line| line.starts_with("ring of 2: ompi-rs ")) {
            true => Verdict::Passed(String::new()),
            false => Verdict::Failed(ended.story()),
        })
    }

    fn exists(&self, name: &str) -> bool {
        self.folder.join(name).exists()
    }

    /// Whether a file contains these bytes: a name that the dynamic linker is to look for.
    fn mentions(&self, name: &str, text: &str) -> Result<bool> {
        let data = std::fs::read(self.folder.join(name)).at(format!("read {name}"))?;
        Ok(data.windows(text.len()).any(|window| window == text.as_bytes()))
    }
}

fn compile_and_link(place: &Place) -> Result<Verdict> {
    shell::output(&mut place.tool("mpicc", &["-c", "ring.c"]))?;
    shell::output(&mut place.tool("mpicc", &["-O1", "-MMD", "-c", "ring.c", "-o", "other.o"]))?;
    if !place.exists("ring.o") || !place.exists("other.o") || !place.exists("other.d") || place.exists("a.out") {
        return Ok(Verdict::Failed("mpicc -c did not make exactly the object that was asked for".to_owned()));
    }
    shell::output(&mut place.tool("mpicc", &["ring.o", "-o", "ring"]))?;
    place.runs("ring")
}

fn fully_static(place: &Place) -> Result<Verdict> {
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

fn shared(place: &Place) -> Result<Verdict> {
    shell::output(&mut place.tool("mpicc", &["-shared-mpi", "ring.c", "-o", "ring"]))?;
    match place.mentions("ring", "libmpi_abi.so.1")? {
        true => place.runs("ring"),
        false => Ok(Verdict::Failed("mpicc -shared-mpi linked the archive".to_owned())),
    }
}

/// What -show prints does what mpicc does; so do its parts together.
fn show(place: &Place) -> Result<Verdict> {
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

fn other_compiler(place: &Place) -> Result<Verdict> {
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

fn cplusplus(place: &Place) -> Result<Verdict> {
    for wrapper in ["mpicxx", "mpic++"] {
        shell::output(&mut place.tool(wrapper, &["-c", "ring.cc"]))?;
        shell::output(&mut place.tool(wrapper, &["ring.o", "-o", wrapper]))?;
        if let failed @ Verdict::Failed(_) = place.runs(wrapper)? {
            return Ok(failed);
        }
    }
    Ok(Verdict::Passed(String::new()))
}

fn pkg_config(place: &Place) -> Result<Verdict> {
    if shell::which("pkg-config").is_none() {
        return Ok(Verdict::Skipped("pkg-config is not installed: apt-get install pkg-config".to_owned()));
    }
    for name in ["ompi-rs", "mpi-c"] {
        let mut command = place.command("pkg-config", &["--cflags", "--libs", name]);
        let flags = shell::output(command.env("PKG_CONFIG_PATH", place.dist.join("lib/pkgconfig")))?;
        let line = format!("gcc ring.c -o {name} {}", flags.trim());
        shell::output(&mut place.command("sh", &["-ec", &line]))?;
        if let failed @ Verdict::Failed(_) = place.runs(name)? {
            return Ok(failed);
        }
    }
    Ok(Verdict::Passed(String::new()))
}

/// A project that knows no more than `find_package(MPI)`.
fn cmake(place: &Place) -> Result<Verdict> {
    if shell::which("cmake").is_none() {
        return Ok(Verdict::Skipped("cmake is not installed: apt-get install cmake".to_owned()));
    }
    shell::write(&place.folder.join("CMakeLists.txt"), CMAKE)?;
    let bin = place.dist.join("bin");
    let path = std::env::var("PATH").unwrap_or_default();
    let with_path = |mut command: Command| {
        command.env("PATH", format!("{}:{path}", bin.display()));
        command
    };
    let mut configure = with_path(place.command("cmake", &["-S", ".", "-B", "build", "-G", "Unix Makefiles"]));
    shell::output(&mut configure)?;
    shell::output(&mut with_path(place.command("cmake", &["--build", "build"])))?;
    let cache = shell::read(&place.folder.join("build/CMakeCache.txt"))?;
    for (entry, file) in
        [("MPI_C_COMPILER", "mpicc"), ("MPI_CXX_COMPILER", "mpicxx"), ("MPIEXEC_EXECUTABLE", "mpiexec")]
    {
        let found = cache.lines().find(|line| line.starts_with(entry) && line.contains('=')).unwrap_or("nothing");
        let ours = bin.to_string_lossy();
        // Another MPI may be installed and would be found behind ours.
        if !found.contains(&*ours) {
            return Ok(Verdict::Failed(format!("CMake found {found} where {ours}/{file} was wanted")));
        }
    }
    for program in ["build/in_c", "build/in_cxx"] {
        let name = program.trim_start_matches("build/");
        std::fs::copy(place.folder.join(program), place.folder.join(name)).at(format!("copy {program}"))?;
        if let failed @ Verdict::Failed(_) = place.runs(name)? {
            return Ok(failed);
        }
    }
    Ok(Verdict::Passed(String::new()))
}

/// One job of a C and a C++ program: a single world, and each knows which program it runs.
fn several_programs(place: &Place) -> Result<Verdict> {
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

/// Every page is without a warning, and names the options that its program's help names.
fn manual(place: &Place) -> Result<Verdict> {
    if shell::which("groff").is_none() {
        return Ok(Verdict::Skipped("groff is not installed: apt-get install groff-base".to_owned()));
    }
    let pages = place.dist.join("share/man/man1");
    for (page, option) in [("mpirun", "--report-bindings"), ("mpicc", "-shared-mpi"), ("ompi_info", "--parsable")] {
        let page = pages.join(format!("{page}.1"));
        let said = groff(place, &page)?;
        if !said.stderr.trim().is_empty() || !said.status.success() {
            return Ok(Verdict::Failed(format!("{}: {}", page.display(), said.stderr)));
        }
        if !said.stdout.contains(option) {
            return Ok(Verdict::Failed(format!("{} does not show {option}\n{}", page.display(), said.stdout)));
        }
    }
    let aliases = ["mpiexec", "mpicxx", "mpic++"].map(|alias| pages.join(format!("{alias}.1")));
    match aliases.iter().find(|alias| !alias.exists()) {
        Some(alias) => Ok(Verdict::Failed(format!("{} is missing", alias.display()))),
        None => Ok(Verdict::Passed(String::new())),
    }
}

fn groff(place: &Place, page: &Path) -> Result<shell::Outcome> {
    let page = page.to_string_lossy();
    // Without escapes for bold and underlined, so that words can be searched.
    shell::outcome(&mut place.command("groff", &["-ww", "-man", "-Tascii", "-P-cbou", &page]), RUN_LIMIT)
}

const RUN_LIMIT: Duration = Duration::from_secs(60);
const RING_C: &str = include_str!("wrappers/ring.c");
const CMAKE: &str = include_str!("wrappers/CMakeLists.txt");
