//! What the command line asks for: which flags are ours, and whether the compiler will link.

use crate::prefix::{Library, Prefix};
use std::ffi::OsString;

/// The command line, understood.
#[derive(Debug)]
pub struct Parsed {
    /// What to print instead of compiling: `""` for the whole command, `compile`, `link`, ….
    pub show: Option<String>,
    /// From `-cc=`.
    pub compiler: Option<String>,
    /// Which library.
    pub library: Library,
    /// The compiler will link.
    pub links: bool,
    /// There is something to compile or to link.
    inputs: bool,
    /// `-x` was given: the language holds for all files that follow, and the archive is none.
    language_set: bool,
    /// What is not ours, as it came.
    user: Vec<OsString>,
}

impl Parsed {
    /// Understands a command line; `link_by_default` is OMPI_RS_LINK.
    pub fn new(arguments: Vec<OsString>, link_by_default: Option<&str>) -> Result<Parsed, String> {
        let mut parsed = Parsed {
            show: None,
            compiler: None,
            library: Library::Static,
            links: true,
            inputs: false,
            language_set: false,
            user: Vec::new(),
        };
        let mut asked = None;
        let (mut is_static, mut makes_library, mut value) = (false, false, false);
        for argument in arguments {
            let text = argument.to_string_lossy().into_owned();
            // The value of an option is no option and no file.
            if std::mem::take(&mut value) {
                parsed.user.push(argument);
                continue;
            }
            if parsed.take_ours(&text, &mut asked) {
                continue;
            }
            value = TAKES_VALUE.contains(&text.as_str());
            is_static |= matches!(text.as_str(), "-static" | "--static" | "-static-pie");
            makes_library |= matches!(text.as_str(), "-shared" | "--shared");
            parsed.language_set |= text.starts_with("-x");
            parsed.links &= !STOPS_BEFORE_LINKING.contains(&text.as_str());
            parsed.inputs |= text == "-" || !text.starts_with('-') || text.starts_with("-l");
            if let Some(file) = text.strip_prefix('@') {
                let words = std::fs::read_to_string(file).unwrap_or_default();
                parsed.links &= !words.split_whitespace().any(|word| STOPS_BEFORE_LINKING.contains(&word));
            }
            parsed.user.push(argument);
        }
        parsed.library = library(asked, is_static, makes_library, link_by_default)?;
        Ok(parsed)
    }

    /// What the compiler is called with.
    pub fn command(&self, prefix: &Prefix) -> Vec<OsString> {
        let strings = |list: Vec<String>| list.into_iter().map(OsString::from);
        // Nothing to compile: the compiler's own message, version or complaint.
        if !self.inputs && self.show.is_none() {
            return self.user.clone();
        }
        let mut command: Vec<OsString> = strings(prefix.compile_flags()).collect();
        command.extend(self.user.iter().cloned());
        if self.links {
            if self.language_set {
                command.extend(["-x".into(), "none".into()]);
            }
            command.extend(strings(prefix.link_flags(self.library)));
        }
        command
    }

    fn take_ours(&mut self, text: &str, asked: &mut Option<Library>) -> bool {
        match text.strip_prefix("--").or_else(|| text.strip_prefix('-')) {
            Some("show" | "showme") => self.show = Some(String::new()),
            Some("compile_info" | "compile-info") => self.show = Some("compile_info".to_owned()),
            Some("link_info" | "link-info") => self.show = Some("link_info".to_owned()),
            Some("shared-mpi") => *asked = Some(Library::Shared),
            Some("static-mpi") => *asked = Some(Library::Static),
            Some(option) => {
                match (option.strip_prefix("showme:"), option.strip_prefix("cc="), option.strip_prefix("cxx=")) {
                    (Some(what), ..) => self.show = Some(what.to_owned()),
                    (_, Some(compiler), _) | (.., Some(compiler)) => self.compiler = Some(compiler.to_owned()),
                    _ => return false,
                }
            }
            None => return false,
        }
        true
    }
}

fn library(
    asked: Option<Library>,
    is_static: bool,
    makes_library: bool,
    link_by_default: Option<&str>,
) -> Result<Library, String> {
    let by_default = match link_by_default {
        None | Some("" | "static") => Library::Static,
        Some("shared") => Library::Shared,
        Some(other) => return Err(format!("OMPI_RS_LINK=`{other}` is neither `static` nor `shared`")),
    };
    match (asked, is_static, makes_library) {
        (Some(Library::Shared), true, _) => {
            Err("-static links no shared library; leave out -static or -shared-mpi".to_owned())
        }
        (Some(library), ..) => Ok(library),
        (None, true, _) => Ok(Library::Static),
        // A shared library with MPI inside, loaded by a program that has MPI too, would be a second MPI.
        (None, false, true) => Ok(Library::Shared),
        (None, false, false) => Ok(by_default),
    }
}

const STOPS_BEFORE_LINKING: &[&str] = &["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r", "--precompile"];

/// Options of gcc and clang whose value is the next word.
const TAKES_VALUE: &[&str] = &[
    "-o",
    "-I",
    "-L",
    "-D",
    "-U",
    "-x",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-isysroot",
    "--sysroot",
    "-MF",
    "-MT",
    "-MQ",
    "-Xlinker",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xclang",
    "-T",
    "-u",
    "-z",
    "-e",
    "-A",
    "-B",
    "-l",
    "-wrapper",
    "-aux-info",
    "-dumpbase",
    "-dumpdir",
    "--param",
    "-target",
    "-arch",
    "-framework",
    "-mllvm",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Parsed {
        Parsed::new(line.split_whitespace().map(OsString::from).collect(), None).unwrap()
    }

    fn command(line: &str) -> String {
        let words = parse(line).command(&Prefix("/p".into()));
        words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn links_behind_the_users_flags() {
        assert_eq!(command("-O2 a.c -o a"), "-I/p/include -O2 a.c -o a /p/lib/libmpi_abi.a -pthread");
        assert_eq!(command("a.o -shared-mpi"), "-I/p/include a.o /p/lib/libmpi_abi.so -Wl,-rpath,/p/lib -pthread");
    }

    #[test]
    fn no_library_where_nothing_is_linked() {
        for line in ["-c a.c", "-E a.c", "-S a.c", "-MM a.c", "-fsyntax-only a.c"] {
            assert_eq!(command(line), format!("-I/p/include {line}"));
        }
        // The value of -o is not an option.
        assert!(command("a.c -o -c").ends_with("-pthread"));
    }

    #[test]
    fn nothing_is_added_without_files() {
        for line in ["", "--version", "-v", "-dumpmachine", "-o a"] {
            assert_eq!(command(line), line);
        }
    }

    #[test]
    fn a_language_does_not_reach_the_archive() {
        assert!(command("-x c a.txt").contains("a.txt -x none /p/lib/libmpi_abi.a"));
    }

    #[test]
    fn a_shared_library_takes_the_shared_library() {
        assert_eq!(parse("-shared a.o").library, Library::Shared);
        assert_eq!(parse("-shared a.o -static-mpi").library, Library::Static);
        assert_eq!(parse("-static a.o").library, Library::Static);
        assert!(Parsed::new(vec!["-static".into(), "-shared-mpi".into()], None).is_err());
        assert!(Parsed::new(vec![], Some("maybe")).is_err());
        assert_eq!(Parsed::new(vec!["a.c".into()], Some("shared")).unwrap().library, Library::Shared);
        assert_eq!(Parsed::new(vec!["a.c".into(), "-static".into()], Some("shared")).unwrap().library, Library::Static);
    }

    #[test]
    fn ours_are_taken_out() {
        let parsed = parse("--showme:link -cc=clang a.c");
        assert_eq!(parsed.show.as_deref(), Some("link"));
        assert_eq!(parsed.compiler.as_deref(), Some("clang"));
        assert_eq!(parsed.user, ["a.c"]);
    }
}
