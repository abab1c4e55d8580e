//! `cargo xtask boot --log`: the lines that machines write to their second serial port.

use crate::failure::{At, Result, fail};
use crate::shell;
use std::io::{BufRead, BufReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

/// A machine's log, which goes to standard error line by line.
pub struct Shown {
    writer: PipeWriter,
    reader: JoinHandle<()>,
    decoder: Option<Child>,
}

impl Shown {
    /// Gives a machine that has not started a second serial port. `decoder` makes lines of what comes if that is no text.
    pub fn of(qemu: &mut Command, decoder: Option<Command>) -> Result<Shown> {
        let (pipe, writer) = std::io::pipe().at("make a pipe for the log")?;
        // By way of this process, which has it open as long as the machine runs: nothing need be inherited.
        let path = format!("/proc/{}/fd/{}", std::process::id(), writer.as_raw_fd());
        qemu.args(["-chardev", &format!("file,id=log,path={path}"), "-serial", "chardev:log"]);
        let Some(mut command) = decoder else {
            return Ok(Shown { writer, reader: std::thread::spawn(move || show(pipe)), decoder: None });
        };
        command.stdin(pipe).stdout(Stdio::piped());
        let mut decoder = command.spawn().at(format!("run `{}`", shell::line(&command)))?;
        let lines = decoder.stdout.take().ok_or_else(|| fail("the decoder has no output"))?;
        Ok(Shown { writer, reader: std::thread::spawn(move || show(lines)), decoder: Some(decoder) })
    }

    /// The machine has ended: shows the rest. `Err` if the decoder could not make lines of all of it, which it has said.
    pub fn close(self) -> Result<()> {
        drop(self.writer);
        // A reader that panicked has said so.
        let _ = self.reader.join();
        let Some(mut decoder) = self.decoder else { return Ok(()) };
        let status = decoder.wait().at("wait for the decoder of the log")?;
        match status.success() {
            true => Ok(()),
            false => Err(fail("the decoder could not read the machine's log; its own message stands above")),
        }
    }
}

fn show(log: impl Read) {
    for line in BufReader::new(log).split(b'\n').map_while(std::result::Result::ok) {
        // In one piece, because other processes write to the same place.
        let text = [b"log ", line.trim_ascii_end(), b"\n"].concat();
        let _ = std::io::stderr().write_all(&text);
    }
}
