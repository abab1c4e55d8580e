//! What build systems ask: the command and its parts, in the words of Open MPI and of MPICH.

use crate::language::Language;
use crate::parse::Parsed;
use crate::prefix::Prefix;
use std::ffi::OsString;

/// Prints one part.
pub fn show(
    what: &str,
    (name, language): (&str, Language),
    compiler: &[String],
    command: &[OsString],
    parsed: &Parsed,
    prefix: &Prefix,
) -> Result<(), String> {
    let with_compiler = |flags: Vec<String>| quoted(compiler.iter().cloned().chain(flags));
    let text = match what {
        "" => with_compiler(command.iter().map(|word| word.to_string_lossy().into_owned()).collect()),
        "command" => quoted(compiler.iter().cloned()),
        "compile" => quoted(prefix.compile_flags(language)),
        "link" => quoted(prefix.link_flags(language, parsed.library, parsed.is_static)),
        "incdirs" if language == Language::Fortran => quoted([prefix.include(), format!("{}/fortran", prefix.lib())]),
        "incdirs" => quoted([prefix.include()]),
        "libdirs" => quoted([prefix.lib()]),
        "libs" if language == Language::Fortran => "mpi_abi_fortran mpi_abi".to_owned(),
        "libs" => "mpi_abi".to_owned(),
        "version" => format!("{name}: ompi-rs {} (MPI 5.0, standard ABI)", env!("CARGO_PKG_VERSION")),
        "compile_info" => with_compiler(prefix.compile_flags(language)),
        "link_info" => with_compiler(prefix.link_flags(language, parsed.library, parsed.is_static)),
        "help" => help(name),
        "manual" => manual(),
        other => return Err(format!("--showme:{other} is not known; write one of {PARTS}")),
    };
    println!("{text}");
    Ok(())
}

/// As a shell would read it back.
fn quoted(words: impl IntoIterator<Item = String>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+=./:,@%^".contains(c);
    let word = |word: String| match !word.is_empty() && word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    words.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

fn help(name: &str) -> String {
    let width = OPTIONS.iter().map(|(option, _)| option.len()).max().unwrap_or(0);
    let rows = OPTIONS.iter().map(|(option, meaning)| format!("  {option:width$}  {meaning}\n"));
    format!("{name} {USAGE}\n{}{}", rows.collect::<String>(), TEXT.join("\n"))
}

/// What `cargo xtask build` makes the manual page of: fields parted by tabs.
fn manual() -> String {
    let rows = OPTIONS.iter().map(|(option, meaning)| format!("option\t{option}\t{meaning}"));
    let text = TEXT.iter().map(|line| format!("text\t{line}"));
    let head = ["name\tmpicc".to_owned(), format!("about\t{ABOUT}"), format!("usage\tmpicc {USAGE}")];
    let others = ["mpicxx", "mpifort"].map(|name| format!("usage\t{name} {USAGE}"));
    head.into_iter().chain(others).chain(rows).chain(text).collect::<Vec<_>>().join("\n")
}

const PARTS: &str = "command, compile, link, incdirs, libdirs, libs, version, help";
const ABOUT: &str = "compiles and links C, C++ and Fortran programs with this MPI library";
const USAGE: &str = "[flags and files of the compiler]";
const OPTIONS: &[(&str, &str)] = &[
    ("-shared-mpi", "link libmpi_abi.so.1, with a run path (default; OMPI_RS_LINK=shared|static sets it)"),
    ("-static-mpi", "link the archive libmpi_abi.a; plug-ins that the program loads find its MPI"),
    ("-cc=COMPILER", "take this compiler, also -cxx=COMPILER and -fc=COMPILER"),
    ("-show, --showme", "print the command instead of running it"),
    ("--showme:PART", "print a part of it: command, compile, link, incdirs, libdirs, libs, version, help"),
];
const TEXT: &[&str] = &[
    "Everything else goes to the compiler as it is. With -shared the shared library is linked, so that a program and its",
    "libraries use one MPI; with -static the archive; with -shared -static-mpi nothing: such a plug-in uses the MPI of",
    "its program.",
    "",
    "The compiler is gcc, or what the first of these names: OMPI_CC, MPICC_CC, MPICH_CC; for C++ g++, or OMPI_CXX,",
    "MPICXX_CXX, MPICH_CXX; for Fortran the one that made the modules, or OMPI_FC, MPIFORT_FC, MPICH_FC. Modules suit their",
    "compiler alone: `cargo xtask build --fortran COMPILER` makes them for another one. mpif90 and mpif77 are mpifort.",
    "The words of OMPI_CPPFLAGS, OMPI_CFLAGS, OMPI_CXXFLAGS, OMPI_FCFLAGS, OMPI_LDFLAGS and OMPI_LIBS are added; in Open",
    "MPI they take the place of its own.",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_part() {
        assert!(PARTS.split(", ").all(|part| help("mpicc").contains(part)));
        assert!(manual().lines().all(|line| line.split('\t').count() >= 2));
    }

    #[test]
    fn quotes_what_a_shell_would_split() {
        let words = ["-DA=b", "x y", "it's", ""].map(str::to_owned);
        assert_eq!(quoted(words), "-DA=b 'x y' 'it'\\''s' ''");
    }
}
