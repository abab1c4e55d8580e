//! `cargo xtask boot --log`: the lines that machines write to their second serial port.

use crate::failure::{At, Result};
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::thread::JoinHandle;

/// A machine's log, which goes to standard error line by line.
pub struct Log {
    writer: PipeWriter,
    reader: JoinHandle<()>,
}

impl Log {
    /// Gives a machine that has not started a second serial port.
    pub fn of(qemu: &mut Command) -> Result<Log> {
        let (pipe, writer) = std::io::pipe().at("make a pipe for the log")?;
        // By way of this process, which has it open as long as the machine runs: nothing need be inherited.
        let path = format!("/proc/{}/fd/{}", std::process::id(), writer.as_raw_fd());
        qemu.args(["-chardev", &format!("file,id=log,path={path}"), "-serial", "chardev:log"]);
        Ok(Log { writer, reader: std::thread::spawn(move || show(pipe)) })
    }

    /// The machine has ended: shows the rest.
    pub fn close(self) {
        drop(self.writer);
        // A reader that panicked has said so.
        let _ = self.reader.join();
    }
}

fn show(pipe: PipeReader) {
    for line in BufReader::new(pipe).split(b'\n').map_while(std::result::Result::ok) {
        // In one piece, because other processes write to the same place.
        let text = [b"log ", line.trim_ascii_end(), b"\n"].concat();
        let _ = std::io::stderr().write_all(&text);
    }
}
