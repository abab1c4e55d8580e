//! What the command line asks for: which flags are ours, and whether the compiler will link.

use crate::language::Language;
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
    /// `-static` was given: the program has no dynamic symbols.
    pub is_static: bool,
    /// There is something to compile or to link.
    inputs: bool,
    /// `-x` was given: the language holds for all files that follow, and the archive is none.
    language_set: bool,
    /// What is not ours, as it came.
    user: Vec<OsString>,
}

impl Parsed {
    /// Understands a command line; `by_default` is what is linked where the line says nothing of it.
    pub fn new(arguments: Vec<OsString>, by_default: Library) -> Result<Parsed, String> {
        let mut parsed = Parsed {
            show: None,
            compiler: None,
            library: by_default,
            links: true,
            is_static: false,
            inputs: false,
            language_set: false,
            user: Vec::new(),
        };
        let mut asked = None;
        let (mut makes_library, mut value) = (false, false);
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
            parsed.is_static |= matches!(text.as_str(), "-static" | "--static" | "-static-pie");
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
        parsed.library = library(asked.unwrap_or(by_default), asked, parsed.is_static, makes_library)?;
        Ok(parsed)
    }

    /// What the compiler is called with.
    pub fn command(&self, language: Language, prefix: &Prefix) -> Vec<OsString> {
        let strings = |list: Vec<String>| list.into_iter().map(OsString::from);
        // Nothing to compile: the compiler's own message, version or complaint.
        if !self.inputs && self.show.is_none() {
            return self.user.clone();
        }
        let mut command: Vec<OsString> = strings(prefix.compile_flags(language)).collect();
        command.extend(self.user.iter().cloned());
        if self.links {
            if self.language_set {
                command.extend(["-x".into(), "none".into()]);
            }
            command.extend(strings(prefix.link_flags(language, self.library, self.is_static)));
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
                let named = ["cc=", "cxx=", "fc=", "f90=", "f77="].iter().find_map(|start| option.strip_prefix(start));
                match (option.strip_prefix("showme:"), named) {
                    (Some(what), _) => self.show = Some(what.to_owned()),
                    (_, Some(compiler)) => self.compiler = Some(compiler.to_owned()),
                    _ => return false,
                }
            }
            None => return false,
        }
        true
    }
}

/// What is linked: `wanted` is what the line asks for, or else the default.
fn library(wanted: Library, asked: Option<Library>, is_static: bool, makes_library: bool) -> Result<Library, String> {
    match (wanted, is_static, makes_library) {
        (Library::Shared, true, _) if asked.is_some() => {
            Err("-static links no shared library; leave out -static or -shared-mpi".to_owned())
        }
        // A plug-in with the archive inside would be a second MPI in its program.
        (Library::Static, false, true) if asked.is_some() => Ok(Library::OfTheProgram),
        (_, false, true) => Ok(Library::Shared),
        (_, true, _) => Ok(Library::Static),
        (library, false, false) => Ok(library),
    }
}

const STOPS_BEFORE_LINKING: &[&str] = &["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r", "--precompile"];

/// Options of the compilers whose value is the next word.
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
    // Where Fortran's modules go.
    "-J",
    "-module-dir",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Parsed {
        Parsed::new(line.split_whitespace().map(OsString::from).collect(), Library::Shared).unwrap()
    }

    fn command(line: &str) -> String {
        in_language(line, Language::C)
    }

    fn in_language(line: &str, language: Language) -> String {
        let words = parse(line).command(language, &Prefix("/p".into()));
        words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn links_behind_the_users_flags() {
        let shared = "-L/p/lib -Wl,-rpath,/p/lib -lmpi_abi";
        assert_eq!(command("-O2 a.c -o a"), format!("-I/p/include -O2 a.c -o a {shared}"));
        let list = "-Wl,--dynamic-list=/p/share/ompi-rs/mpi.list";
        assert_eq!(command("a.o -static-mpi"), format!("-I/p/include a.o /p/lib/libmpi_abi.a {list} -pthread"));
        assert_eq!(command("a.o -static"), "-I/p/include a.o -static /p/lib/libmpi_abi.a -pthread");
    }

    #[test]
    fn fortran_has_a_library_of_its_own() {
        let compile = "-I/p/include -I/p/lib/fortran";
        assert_eq!(in_language("-c a.f90 -J m", Language::Fortran), format!("{compile} -c a.f90 -J m"));
        let shared = "-L/p/lib -Wl,-rpath,/p/lib -lmpi_abi_fortran -lmpi_abi";
        assert_eq!(in_language("a.f90 -o a", Language::Fortran), format!("{compile} a.f90 -o a {shared}"));
        let archives = "/p/lib/libmpi_abi_fortran.a /p/lib/libmpi_abi.a -pthread";
        let of_static = in_language("a.o -static", Language::Fortran);
        assert!(of_static.starts_with(&format!("{compile} a.o -static -Wl,-u,pthread_cond_broadcast,-u,")));
        assert!(of_static.ends_with(&format!(",-u,pthread_setspecific {archives}")));
        assert_eq!(in_language("a.o -static-mpi", Language::Fortran).matches("pthread_").count(), 0);
        assert_eq!(parse("-fc=flang a.f90").compiler.as_deref(), Some("flang"));
    }

    #[test]
    fn no_library_where_nothing_is_linked() {
        for line in ["-c a.c", "-E a.c", "-S a.c", "-MM a.c", "-fsyntax-only a.c"] {
            assert_eq!(command(line), format!("-I/p/include {line}"));
        }
        // The value of -o is not an option.
        assert!(command("a.c -o -c").ends_with("-lmpi_abi"));
    }

    #[test]
    fn nothing_is_added_without_files() {
        for line in ["", "--version", "-v", "-dumpmachine", "-o a"] {
            assert_eq!(command(line), line);
        }
    }

    #[test]
    fn a_language_does_not_reach_the_archive() {
        assert!(command("-x c a.txt -static-mpi").contains("a.txt -x none /p/lib/libmpi_abi.a"));
    }

    #[test]
    fn which_library() {
        let library = |line: &str, by_default| {
            Parsed::new(line.split_whitespace().map(OsString::from).collect(), by_default).map(|parsed| parsed.library)
        };
        for (line, shared_by_default, static_by_default) in [
            ("a.o", Library::Shared, Library::Static),
            ("a.o -shared-mpi", Library::Shared, Library::Shared),
            ("a.o -static-mpi", Library::Static, Library::Static),
            ("a.o -static", Library::Static, Library::Static),
            // Whatever the default: no plug-in swallows the archive.
            ("a.o -shared", Library::Shared, Library::Shared),
            ("a.o -shared -static-mpi", Library::OfTheProgram, Library::OfTheProgram),
        ] {
            assert_eq!(library(line, Library::Shared), Ok(shared_by_default), "{line}");
            assert_eq!(library(line, Library::Static), Ok(static_by_default), "{line}");
        }
        assert!(library("-static -shared-mpi", Library::Static).is_err());
        assert!(command("-shared a.o -static-mpi").ends_with("-shared a.o"));
        assert!(Library::named("maybe", "OMPI_RS_LINK").is_err());
    }

    #[test]
    fn ours_are_taken_out() {
        let parsed = parse("--showme:link -cc=clang a.c");
        assert_eq!(parsed.show.as_deref(), Some("link"));
        assert_eq!(parsed.compiler.as_deref(), Some("clang"));
        assert_eq!(parsed.user, ["a.c"]);
    }
}
