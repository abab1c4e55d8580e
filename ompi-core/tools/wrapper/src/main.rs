//! `mpicc`, `mpicxx`, `mpic++`, `mpiCC`, `mpifort`, `mpif90` and `mpif77`: the C, C++ or Fortran compiler with this library's header,
//! modules and library.
//!
//! One program; the name it is called by says which language. It finds the library from its own path, so that the
//! product can be moved. What it adds: its own include folder before the user's flags, so that another MPI's `mpi.h`
//! cannot win; and behind them, when the compiler will link, the library.

mod fortran;
mod language;
mod parse;
mod prefix;
mod show;

use language::Language;
use parse::Parsed;
use prefix::Prefix;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

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
    let language = Language::of(name);
    let prefix = Prefix::find().map_err(|text| (1, text))?;
    if language == Language::Fortran && prefix.fortran_compiler().is_none() {
        return fortran::compile(&arguments);
    }
    let parsed = Parsed::new(arguments, prefix.library().map_err(|text| (2, text))?).map_err(|text| (2, text))?;
    let compiler =
        language.compiler(parsed.compiler.as_deref(), prefix.fortran_compiler()).map_err(|text| (2, text))?;
    let command = parsed.command(language, &prefix);
    if let Some(what) = &parsed.show {
        return show::show(what, (name, language), &compiler, &command, &parsed, &prefix).map_err(|text| (2, text));
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
