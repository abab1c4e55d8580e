//! `ompi_info`: what this library contains, every parameter, its value, and where that came from.
//!
//! Owns nothing. The program around it names the components (`opal_core::image![…]`) and calls [`main`]; what is shown
//! is therefore what is linked, not what a file says.

mod about;
mod coll;
mod command_line;
mod config;
mod escaped;
mod facts;
mod failure;
mod filter;
mod json;
mod lines;
#[expect(dead_code, reason = "one file for all programs whose tables clap has; mpirun alone uses the rest")]
#[path = "../../../../orte-core/tools/mpirun/src/manual.rs"]
mod manual;
mod path;
mod text;
mod version;

use command_line::Arguments;
use facts::Facts;
use failure::{Failure, say};
use opal_core::mca::image;
use std::io::{self, ErrorKind, Write};

/// The whole program.
pub fn main() {
    main_with(std::env::args().skip(1))
}

/// The whole program with these arguments.
pub fn main_with(arguments: impl IntoIterator<Item = impl Into<String>>) {
    let status = match command_line::parse(arguments.into_iter().map(Into::into).collect()) {
        Ok(arguments) => run(&arguments, &mut io::stdout().lock()),
        Err(status) => status,
    };
    std::process::exit(status.into())
}

/// Does what the command line asks for; returns the exit status.
fn run(arguments: &Arguments, out: &mut dyn Write) -> u8 {
    let answer = answer(arguments, out).and_then(|status| out.flush().map(|()| status).map_err(Failure::from));
    match answer {
        Ok(status) => status,
        // The reader has seen enough, as in `ompi_info | head`.
        Err(Failure::Write(error)) if error.kind() == ErrorKind::BrokenPipe => 0,
        Err(Failure::Write(error)) => say(1, &format!("cannot write: {error}")),
        Err(Failure::Refused(text)) => say(2, &text),
        Err(Failure::Failed(text)) => say(1, &text),
    }
}

fn answer(arguments: &Arguments, out: &mut dyn Write) -> Result<u8, Failure> {
    if arguments.manual {
        write!(out, "{}", manual::lines(<Arguments as clap::CommandFactory>::command()))?;
        return Ok(0);
    }
    if let Some(which) = &arguments.path {
        path::show(which, arguments, out)?;
        return Ok(0);
    }
    if arguments.arch || arguments.hostname {
        about::built(arguments, &config::read()?, out)?;
        return Ok(0);
    }
    if let Some(typed) = &arguments.show_version {
        version::show(typed, &Facts::collect(), arguments.parsable, out)?;
        return Ok(0);
    }
    if arguments.config {
        config::show(arguments, out)?;
        return Ok(0);
    }
    // Without values: what xtask stores must not depend on the environment of the build.
    if arguments.params_json {
        image::verify(&ompi_core::init::frameworks()).map_err(|_| Failure::Failed(BROKEN.to_owned()))?;
        json::table(&Facts::collect(), out)?;
        return Ok(0);
    }
    let status = match ompi_core::init::configure() {
        Ok(()) => 0,
        Err(opal_core::Error::Invalid) => 1,
        Err(_) => return Err(Failure::Failed(BROKEN.to_owned())),
    };
    if arguments.coll {
        coll::show(arguments, out)?;
        return Ok(status);
    }
    let facts = Facts::collect();
    let filter = filter::Filter::new(arguments, &facts).map_err(Failure::Refused)?;
    match (arguments.json, arguments.parsable) {
        (true, _) => json::show(&facts, &filter, out)?,
        (_, true) => lines::show(&facts, &filter, out)?,
        _ => text::show(&facts, &filter, out)?,
    }
    Ok(status)
}

const BROKEN: &str = "this program does not contain what it was built to contain (see above); build the library again \
                      with `cargo xtask build`";

#[cfg(test)]
opal_core::image![opal_core::framework::atomics, memcpy_portable, memory_none, timer_clock];

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipe whose reader is gone, or a full disk.
    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_is_success_and_a_full_disk_is_not() {
        assert_eq!(run(&Arguments::default(), &mut Broken(ErrorKind::BrokenPipe)), 0);
        assert_eq!(run(&Arguments::default(), &mut Broken(ErrorKind::StorageFull)), 1);
    }
}
