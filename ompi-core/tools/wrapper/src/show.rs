//! What build systems ask: the command and its parts, in the words of Open MPI and of MPICH.

use crate::Prefix;
use crate::parse::Parsed;
use std::ffi::OsString;

/// Prints one part.
pub fn show(
    what: &str,
    name: &str,
    compiler: &[String],
    command: &[OsString],
    parsed: &Parsed,
    prefix: &Prefix,
) -> Result<(), String> {
    let with_compiler = |flags: Vec<String>| quoted(compiler.iter().cloned().chain(flags));
    let text = match what {
        "" => with_compiler(command.iter().map(|word| word.to_string_lossy().into_owned()).collect()),
        "command" => quoted(compiler.iter().cloned()),
        "compile" => quoted(prefix.compile_flags()),
        "link" => quoted(prefix.link_flags(parsed.library)),
        "incdirs" => quoted([prefix.include()]),
        "libdirs" => quoted([prefix.lib()]),
        "libs" => "mpi_abi".to_owned(),
        "version" => format!("{name}: ompi-rs {} (MPI 5.0, standard ABI)", env!("CARGO_PKG_VERSION")),
        "compile_info" => with_compiler(prefix.compile_flags()),
        "link_info" => with_compiler(prefix.link_flags(parsed.library)),
        "help" => HELP.to_owned(),
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

const PARTS: &str = "command, compile, link, incdirs, libdirs, libs, version, help";
const HELP: &str = "\
mpicc [FLAGS AND FILES OF THE COMPILER]
  -shared-mpi, -static-mpi   link libmpi_abi.so.1 with a run path, or the archive (default; OMPI_RS_LINK=shared|static)
  -cc=COMPILER               take this compiler (also OMPI_CC, MPICC_CC, MPICH_CC; OMPI_CXX, MPICXX_CXX, MPICH_CXX)
  -show, --showme            print the command instead of running it
  --showme:PART              print a part of it: command, compile, link, incdirs, libdirs, libs, version, help
Everything else goes to the compiler as it is. With -shared the shared library is linked, so that a program and its
libraries use one MPI.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_what_a_shell_would_split() {
        let words = ["-DA=b", "x y", "it's", ""].map(str::to_owned);
        assert_eq!(quoted(words), "-DA=b 'x y' 'it'\\''s' ''");
    }
}
