//! Several ranks on one machine: mpirun starts a process for each, and the first of them boots the machine. It parts the
//! console by the marks that `hw/x86_64/src/console.rs` puts before each line and passes the others' lines on to their
//! processes, which end as their ranks do.

use super::machine::{self, QEMU};
use crate::failure::{At, Failure, Result, fail};
use hw_x86_64::{console::MARK, exit::ENDED};
use orte_core::environment::Contract;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Boots the machine of several ranks and stands for the first one.
pub fn lead(contract: &Contract, cores: u32, qemu: &mut Command) -> Result<()> {
    let listener =
        UnixListener::bind_addr(&address(contract, contract.rank)?).at("listen for the other ranks' processes")?;
    let mut others: Vec<Option<UnixStream>> = (0..cores).map(|_| None).collect();
    for _ in 1..cores {
        let (mut stream, _) = listener.accept().at("accept the connection of another rank's process")?;
        let mut number = [0];
        stream.read_exact(&mut number).at("accept the connection of another rank's process")?;
        let place = others
            .get_mut(usize::from(number[0]))
            .ok_or_else(|| fail("a process that is no rank of this machine connected to its socket"))?;
        *place = Some(stream);
    }
    let mut child = qemu.stdout(Stdio::piped()).spawn().at(format!("run {QEMU}"))?;
    let console = child.stdout.take().ok_or_else(|| fail("the machine has no console"))?;
    let mut own = None;
    let mut lines = BufReader::new(console).split(b'\n');
    while let Some(Ok(line)) = lines.next() {
        let (core, text) = parted(&line);
        match others.get_mut(core).and_then(Option::as_mut) {
            // A process that is gone has nobody to tell.
            Some(stream) => _ = stream.write_all(&[text, b"\n"].concat()),
            None if text.starts_with(ENDED.to_string().as_bytes()) => own = status_in(text),
            None => _ = std::io::stdout().write_all(&[text, b"\n"].concat()),
        }
    }
    let status = child.wait().at(format!("wait for {QEMU}"))?;
    let ended = machine::ended(contract.rank, status);
    match (own, &ended) {
        (Some(own), _) if own != 0 => Err(Failure { status: own, text: String::new() }),
        // The machine itself failed, and with it all its ranks: this process has the sentence, they all have the status.
        // The sentence first: when one of them has ended, mpirun ends this one.
        (_, Err(failure)) if !failure.text.is_empty() => {
            eprintln!("{}", failure.text);
            let line = format!("{ENDED}{}\n", failure.status);
            // A rank that had ended already has no process any more.
            others.iter_mut().flatten().for_each(|stream| _ = stream.write_all(line.as_bytes()));
            Err(Failure { status: failure.status, text: String::new() })
        }
        (_, Err(_)) => {
            drop(others);
            // Another rank ended the machine: its own process tells so first.
            std::thread::sleep(LATER);
            ended
        }
        _ => ended,
    }
}

/// Stands for another rank of the machine that the process of rank `first` boots.
pub fn follow(contract: &Contract, first: u32) -> Result<()> {
    let address = address(contract, first)?;
    let end = Instant::now() + PATIENCE;
    let mut stream = loop {
        match UnixStream::connect_addr(&address) {
            Ok(stream) => break stream,
            // It has not come so far.
            Err(_) if Instant::now() < end => std::thread::sleep(Duration::from_millis(10)),
            Err(error) => {
                return Err(fail(format!(
                    "cannot connect to the process of rank {first}, which boots the machine: {error}"
                )));
            }
        }
    };
    stream.write_all(&[(contract.rank - first) as u8]).at(format!("tell the process of rank {first}"))?;
    for line in BufReader::new(stream).split(b'\n').map_while(std::result::Result::ok) {
        match status_in(&line) {
            Some(0) => return Ok(()),
            Some(status) => return Err(Failure { status, text: String::new() }),
            None => _ = std::io::stdout().write_all(&[&line[..], b"\n"].concat()),
        }
    }
    Err(fail(format!("the machine of ranks {first} and following ended before rank {} did", contract.rank)))
}

/// Which core a line comes from, and the line; what has no mark comes from before there were several.
fn parted(line: &[u8]) -> (usize, &[u8]) {
    let marked = line.strip_prefix(&[MARK]).and_then(|rest| {
        let space = rest.iter().position(|byte| *byte == b' ')?;
        let core = std::str::from_utf8(&rest[..space]).ok()?.parse().ok()?;
        Some((core, &rest[space + 1..]))
    });
    marked.unwrap_or((0, line))
}

/// The exit status, if this is a rank's last line.
fn status_in(line: &[u8]) -> Option<u8> {
    let status: i32 = std::str::from_utf8(line).ok()?.strip_prefix(ENDED)?.parse().ok()?;
    // The system keeps eight bits; a failure must stay one.
    Some(if status != 0 && status as u8 == 0 { 1 } else { status as u8 })
}

fn address(contract: &Contract, first: u32) -> Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("ompi-rs-boot-{:x}-{first}", contract.job)).at("name a socket")
}

/// Until the first rank's process listens: on a busy host it may come last.
const PATIENCE: Duration = Duration::from_secs(60);
const LATER: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_several_ranks() {
        assert_eq!(parted(b"\x0112 hello"), (12, &b"hello"[..]));
        assert_eq!(parted(b"\x010 "), (0, &b""[..]));
        assert_eq!(parted(b"[boot] x"), (0, &b"[boot] x"[..]));
        assert_eq!(status_in(b"\x020"), Some(0));
        assert_eq!(status_in(b"\x02256"), Some(1));
        assert_eq!(status_in(b"7"), None);
    }
}
