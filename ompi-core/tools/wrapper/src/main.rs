//! `mpicc`, `mpicxx`, `mpic++` and `mpiCC`: the C or C++ compiler with this library's header and library.
//!
//! One program; the name it is called by says which language. It finds the library from its own path, so that the
//! product can be moved. What it adds: its own include folder before the user's flags, so that another MPI's `mpi.h`
//! cannot win; and behind them, when the compiler will link, the library.

mod language;
mod parse;
mod show;

use language::Language;
use parse::{Library, Parsed};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Where this library is installed.
#[derive(Debug)]
struct Prefix(PathBuf);

impl Prefix {
    /// Two folders above this program, whatever link it was called by.
    fn find() -> Result<Prefix, String> {
        let program = std::env::current_exe().map_err(|error| format!("cannot find my own path: {error}"))?;
        let prefix = program.parent().and_then(Path::parent).ok_or("my own path has no folder above bin")?;
        Ok(Prefix(prefix.to_path_buf()))
    }

    fn include(&self) -> String {
        format!("{}/include", self.0.display())
    }

    fn lib(&self) -> String {
        format!("{}/lib", self.0.display())
    }

    fn compile_flags(&self) -> Vec<String> {
        vec![format!("-I{}", self.include())]
    }

    /// What build systems understand: Meson keeps `-L`, `-l` and `-Wl` alone. The archive stands there by its path, because
    /// `-lmpi_abi` finds the shared library beside it; its program shows its MPI functions to what it loads.
    fn link_flags(&self, library: Library, is_static: bool) -> Vec<String> {
        let lib = self.lib();
        match library {
            Library::Shared => vec![format!("-L{lib}"), format!("-Wl,-rpath,{lib}"), "-lmpi_abi".to_owned()],
            Library::Static if is_static => vec![format!("{lib}/libmpi_abi.a"), "-pthread".to_owned()],
            Library::Static => {
                let list = format!("-Wl,--dynamic-list={}", self.share("mpi.list"));
                vec![format!("{lib}/libmpi_abi.a"), list, "-pthread".to_owned()]
            }
            Library::OfTheProgram => Vec::new(),
        }
    }

    /// What is linked where nobody says anything: OMPI_RS_LINK, else the word that `cargo xtask build --link` left.
    fn library(&self) -> Result<Library, String> {
        match std::env::var("OMPI_RS_LINK") {
            Ok(word) if !word.is_empty() => Library::named(&word, "OMPI_RS_LINK"),
            _ => {
                let file = self.share("link");
                let word = std::fs::read_to_string(&file).map_err(|error| {
                    format!("{file} cannot be read ({error}); the installation is not complete: build it again")
                })?;
                Library::named(word.trim(), &file)
            }
        }
    }

    fn share(&self, file: &str) -> String {
        format!("{}/share/ompi-rs/{file}", self.0.display())
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let called = arguments.next().unwrap_or_default();
    let name = Path::new(&called).file_name().map_or("mpicc".into(), |name| name.to_string_lossy().into_owned());
    match act(&name, arguments.collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err((status, text)) => {
            eprintln!("{name}: {text}");
            ExitCode::from(status)
        }
    }
}

/// Shows or becomes the compiler; comes back only after showing or when that failed.
fn act(name: &str, arguments: Vec<std::ffi::OsString>) -> Result<(), (u8, String)> {
    let language = Language::of(name).map_err(|text| (1, text))?;
    let prefix = Prefix::find().map_err(|text| (1, text))?;
    let parsed = Parsed::new(arguments, prefix.library().map_err(|text| (2, text))?).map_err(|text| (2, text))?;
    let compiler = language.compiler(parsed.compiler.as_deref()).map_err(|text| (2, text))?;
    let command = parsed.command(&prefix);
    if let Some(what) = &parsed.show {
        return show::show(what, name, &compiler, &command, &parsed, &prefix).map_err(|text| (2, text));
    }
    language::refuse_myself(&compiler[0]).map_err(|text| (2, text))?;
    let error = Command::new(&compiler[0]).args(&compiler[1..]).args(command).exec();
    let (status, why) = match error.kind() {
        std::io::ErrorKind::NotFound => (127, "was not found".to_owned()),
        _ => (126, format!("does not start ({error})")),
    };
    let variable = language.variables()[0];
    let text = format!("the compiler `{}` {why}; install it or name another one: {variable}=… {name} …", compiler[0]);
    Err((status, text))
}
