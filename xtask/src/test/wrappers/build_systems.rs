//! Build systems that look for MPI by themselves.

use super::copies;
use super::place::Place;
use crate::failure::Result;
use crate::shell;
use crate::test::Verdict;
use std::path::Path;
use std::process::Command;

/// By our name and by those that programs ask for.
pub fn pkg_config(place: &Place) -> Result<Verdict> {
    if shell::which("pkg-config").is_none() {
        return Ok(Verdict::Skipped("pkg-config is not installed: apt-get install pkg-config".to_owned()));
    }
    for name in ["ompi-rs", "mpi-c", "mpi-cxx", "mpi", "ompi", "ompi-c", "ompi-cxx"] {
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
pub fn cmake(place: &Place) -> Result<Verdict> {
    if shell::which("cmake").is_none() {
        return Ok(Verdict::Skipped("cmake is not installed: apt-get install cmake".to_owned()));
    }
    shell::write(&place.folder.join("CMakeLists.txt"), CMAKE)?;
    copies::sources(place)?;
    let bin = place.dist.join("bin");
    shell::output(&mut found_first(place, "cmake", &["-S", ".", "-B", "build", "-G", "Unix Makefiles"]))?;
    shell::output(&mut found_first(place, "cmake", &["--build", "build"]))?;
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
    let ended = place.mpirun(&["-n", "2", "build/host", "build/libplugin.so"])?;
    if !ended.ended_with(0) {
        return Ok(Verdict::Failed(format!("a module that CMake built\n{}", ended.story())));
    }
    all_run(place, &["build/in_c", "build/in_cxx"])
}

/// A project that knows no more than `dependency('mpi')`.
pub fn meson(place: &Place) -> Result<Verdict> {
    if shell::which("meson").is_none() || shell::which("ninja").is_none() {
        return Ok(Verdict::Skipped("meson is not installed: apt-get install meson ninja-build".to_owned()));
    }
    shell::write(&place.folder.join("meson.build"), MESON)?;
    // By pkg-config, and by the wrappers where that knows no MPI.
    for (folder, pkg_config) in [("by-file", place.dist.join("lib/pkgconfig")), ("by-wrapper", place.folder.clone())] {
        let mut setup = found_first(place, "meson", &["setup", folder]);
        setup.env("PKG_CONFIG_PATH", &pkg_config).env("PKG_CONFIG_LIBDIR", &pkg_config);
        shell::output(&mut setup)?;
        shell::output(&mut found_first(place, "ninja", &["-C", folder]))?;
    }
    all_run(place, &["by-file/in_c", "by-file/in_cxx", "by-wrapper/in_c", "by-wrapper/in_cxx"])
}

/// The same for Fortran: CMake, Meson and pkg-config.
pub fn fortran(place: &Place) -> Result<Verdict> {
    if shell::which("gfortran").is_none() {
        return Ok(Verdict::Skipped("gfortran is not installed: apt-get install gfortran".to_owned()));
    }
    let pkg_config = place.dist.join("lib/pkgconfig");
    let mut programs = Vec::new();
    if shell::which("pkg-config").is_some() {
        let mut command = place.command("pkg-config", &["--cflags", "--libs", "ompi-rs-fortran"]);
        let flags = shell::output(command.env("PKG_CONFIG_PATH", &pkg_config))?;
        let line = format!("gfortran ring.f90 -o by_pkg_config {}", flags.trim());
        shell::output(&mut place.command("sh", &["-ec", &line]))?;
        programs.push("by_pkg_config");
    }
    if shell::which("cmake").is_some() {
        shell::write(&place.folder.join("CMakeLists.txt"), CMAKE_FORTRAN)?;
        shell::output(&mut found_first(place, "cmake", &["-S", ".", "-B", "build", "-G", "Unix Makefiles"]))?;
        shell::output(&mut found_first(place, "cmake", &["--build", "build"]))?;
        programs.push("build/in_fortran");
    }
    if shell::which("meson").is_some() && shell::which("ninja").is_some() {
        shell::write(&place.folder.join("meson.build"), MESON_FORTRAN)?;
        shell::output(found_first(place, "meson", &["setup", "by-file"]).env("PKG_CONFIG_PATH", &pkg_config))?;
        shell::output(&mut found_first(place, "ninja", &["-C", "by-file"]))?;
        programs.push("by-file/in_fortran");
    }
    all_run(place, &programs)
}

/// A configure script with the archive's AX_MPI.
pub fn autoconf(place: &Place) -> Result<Verdict> {
    if shell::which("autoconf").is_none() || !Path::new("/usr/share/aclocal/ax_mpi.m4").exists() {
        let text = "autoconf is not installed: apt-get install autoconf automake autoconf-archive";
        return Ok(Verdict::Skipped(text.to_owned()));
    }
    // Fortran is tried first if it is there, as by many libraries in C: the wrapper must not end the script.
    let script = match shell::which("gfortran") {
        Some(_) => AUTOCONF
            .replace("AC_PROG_CC\n", &format!("{FORTRAN_FIRST}AC_PROG_CC\n"))
            .replace("AC_OUTPUT\n", FORTRAN_LAST),
        None => AUTOCONF.to_owned(),
    };
    shell::write(&place.folder.join("configure.ac"), &script)?;
    shell::write(&place.folder.join("Makefile.in"), "in_c: ring.c\n\t@MPICC@ @CFLAGS@ ring.c -o in_c @MPILIBS@\n")?;
    for (program, arguments) in [("aclocal", &[][..]), ("autoconf", &[]), ("./configure", &[]), ("make", &["in_c"])] {
        shell::output(&mut found_first(place, program, arguments))?;
    }
    all_run(place, &["in_c"])
}

/// README's lines for who does not have our wrappers in PATH, where another MPI may be installed.
pub fn without_path(place: &Place) -> Result<Verdict> {
    let dist = place.dist.display();
    let by_hand = format!("gcc -I{dist}/include ring.c -L{dist}/lib -Wl,-rpath,{dist}/lib -lmpi_abi -o by_hand");
    shell::output(&mut place.command("sh", &["-ec", &by_hand]))?;
    let mut programs = vec!["by_hand"];
    if shell::which("cmake").is_some() {
        shell::write(&place.folder.join("CMakeLists.txt"), CMAKE)?;
        copies::sources(place)?;
        let prefix = format!("-DCMAKE_PREFIX_PATH={dist}");
        shell::output(&mut place.command("cmake", &[&prefix, "-S", ".", "-B", "build", "-G", "Unix Makefiles"]))?;
        shell::output(&mut place.command("cmake", &["--build", "build"]))?;
        programs.extend(["build/in_c", "build/in_cxx"]);
    }
    if shell::which("meson").is_some() && shell::which("ninja").is_some() {
        shell::write(&place.folder.join("meson.build"), MESON)?;
        let pkg_config = place.dist.join("lib/pkgconfig");
        shell::output(place.command("meson", &["setup", "by-file"]).env("PKG_CONFIG_PATH", &pkg_config))?;
        shell::output(&mut place.command("ninja", &["-C", "by-file"]))?;
        programs.extend(["by-file/in_c", "by-file/in_cxx"]);
    }
    all_run(place, &programs)
}

/// A plain Makefile that asks the wrapper for its parts.
pub fn make(place: &Place) -> Result<Verdict> {
    if shell::which("make").is_none() {
        return Ok(Verdict::Skipped("make is not installed: apt-get install make".to_owned()));
    }
    shell::write(&place.folder.join("Makefile"), MAKEFILE)?;
    shell::output(&mut found_first(place, "make", &[]))?;
    all_run(place, &["by_parts", "by_show", "by_compiler"])
}

/// A program that finds our wrappers before those of other libraries.
fn found_first(place: &Place, program: &str, arguments: &[&str]) -> Command {
    let mut command = place.command(program, arguments);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", place.dist.join("bin").display()));
    command
}

fn all_run(place: &Place, programs: &[&str]) -> Result<Verdict> {
    for program in programs {
        if let failed @ Verdict::Failed(_) = place.runs(program)? {
            return Ok(failed);
        }
    }
    Ok(Verdict::Passed(String::new()))
}

const CMAKE: &str = include_str!("CMakeLists.txt");
const MESON: &str = include_str!("meson.build");
const CMAKE_FORTRAN: &str = "\
cmake_minimum_required(VERSION 3.16)
project(ring Fortran)
find_package(MPI REQUIRED COMPONENTS Fortran)
if(NOT MPI_Fortran_HAVE_F77_HEADER OR NOT MPI_Fortran_HAVE_F90_MODULE OR NOT MPI_Fortran_HAVE_F08_MODULE)
  message(FATAL_ERROR \"FindMPI misses an interface\")
endif()
add_executable(in_fortran ring.f90)
target_link_libraries(in_fortran PRIVATE MPI::MPI_Fortran)
";
const MESON_FORTRAN: &str = "\
project('ring', 'fortran')
executable('in_fortran', 'ring.f90', dependencies: dependency('mpi', language: 'fortran'))
";
const AUTOCONF: &str = include_str!("configure.ac");
const FORTRAN_FIRST: &str = "AC_PROG_FC([mpif90 mpifort gfortran])\n";
const FORTRAN_LAST: &str = "\
AC_LANG_PUSH([Fortran])
AX_MPI([AC_MSG_NOTICE([MPI in Fortran was found])], [AC_MSG_ERROR([no MPI in Fortran])])
AC_LANG_POP([Fortran])
AC_OUTPUT
";
const MAKEFILE: &str = include_str!("Makefile");
