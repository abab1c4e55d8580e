//! Orders of mpirun to its keeper at its start: words in a memfd that it inherits. Every user of the machine could read
//! them on a command line.

use crate::cli::{Environment, Stdin, processors};
use crate::pty::Pty;
use orte_core::environment::Wireup;
use rustix::fd::OwnedFd;
use rustix::fs::MemfdFlags;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Error, Read, Result, Seek, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The hidden first argument that makes this program a keeper; the number of the descriptor of its [`Orders`] follows.
pub const ARGUMENT: &str = "--ompi-rs-keeper";

/// What mpirun tells its keeper; everything else is in its environment and directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orders {
    /// Descriptor of the socket to mpirun.
    pub control: i32,
    /// Descriptor of the job segment.
    pub segment: i32,
    /// The job.
    pub job: u64,
    /// How many ranks the job could have.
    pub universe: u32,
    /// Ranks of the whole job that run on this host, ascending.
    pub ranks: Vec<u32>,
    /// What leads these ranks to those of other hosts, if there are any.
    pub wireup: Option<Wireup>,
    /// The parent of the keeper is a daemon: where it is stopped for so long, mpirun takes this host for lost.
    pub silence_ms: Option<u64>,
    /// Processors of each rank of this host; none: it runs anywhere.
    pub bindings: Vec<Vec<usize>>,
    /// Who gets standard input, by its place among the ranks of this host.
    pub stdin: Stdin,
    /// Standard error of a rank is its standard output.
    pub merge: bool,
    /// Standard output of a rank is a pseudo terminal like this.
    pub pty: Option<Pty>,
    /// What to start.
    pub apps: Vec<Executable>,
}

/// One program of the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    /// Its ranks, on all hosts.
    pub ranks: u32,
    /// The file to execute.
    pub path: OsString,
    /// The directory to work in, absolute; empty: mpirun's own.
    pub directory: OsString,
    /// What its ranks get beyond the keeper's own variables.
    pub environment: Environment,
    /// Its arguments, the first being its name.
    pub arguments: Vec<OsString>,
}

impl Orders {
    /// Writes them to a new file, which [`Orders::read`] reads.
    pub fn write(&self) -> Result<OwnedFd> {
        let mut bytes = Vec::new();
        for word in self.encode() {
            bytes.extend_from_slice(&(word.len() as u64).to_le_bytes());
            bytes.extend_from_slice(word.as_bytes());
        }
        let mut file = File::from(rustix::fs::memfd_create("mpirun-orders", MemfdFlags::CLOEXEC)?);
        file.write_all(&bytes)?;
        file.rewind()?;
        Ok(file.into())
    }

    /// Reads what mpirun wrote.
    pub fn read(file: OwnedFd) -> Result<Orders> {
        let mut file = File::from(file);
        let malformed = || Error::other("these are no orders of mpirun's");
        if !file.metadata()?.is_file() {
            return Err(malformed());
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (mut words, mut rest) = (Vec::new(), bytes.as_slice());
        while let Some((length, after)) = rest.split_first_chunk::<8>() {
            let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| malformed())?;
            let (word, after) = after.split_at_checked(length).ok_or_else(malformed)?;
            words.push(OsString::from_vec(word.to_vec()));
            rest = after;
        }
        Orders::decode(&words).ok_or_else(malformed)
    }

    /// As words.
    fn encode(&self) -> Vec<OsString> {
        let stdin = match self.stdin {
            Stdin::Rank(rank) => rank.to_string(),
            Stdin::All => "all".to_owned(),
            Stdin::None => "none".to_owned(),
        };
        let fixed = [
            self.control.to_string(),
            self.segment.to_string(),
            self.job.to_string(),
            self.universe.to_string(),
            self.ranks.iter().map(u32::to_string).collect::<Vec<_>>().join(","),
            self.wireup.map_or_else(String::new, |wireup| {
                format!("{},{},{}", wireup.map, wireup.addresses, wireup.wake_socket)
            }),
            self.silence_ms.map_or_else(String::new, |silence| silence.to_string()),
            self.bindings.iter().map(|set| ranges(set)).collect::<Vec<_>>().join(";"),
            stdin,
            u32::from(self.merge).to_string(),
            self.pty.map_or_else(String::new, Pty::encode),
        ];
        let mut words: Vec<OsString> = fixed.into_iter().map(OsString::from).collect();
        for app in &self.apps {
            words.push(app.ranks.to_string().into());
            words.extend([app.path.clone(), app.directory.clone()]);
            words.push(app.arguments.len().to_string().into());
            words.extend_from_slice(&app.arguments);
            words.push(if app.environment.is_empty { "none" } else { "all" }.into());
            words.push(app.environment.changes.len().to_string().into());
            words.extend(app.environment.changes.iter().map(change));
        }
        words
    }

    /// The same from these words; `None` if that is not what they are.
    fn decode(words: &[OsString]) -> Option<Orders> {
        let (fixed, mut rest) = words.split_first_chunk::<11>()?;
        let set = |text: &str| if text.is_empty() { Some(Vec::new()) } else { processors("", text).ok() };
        let numbers = |text: &str| text.split(',').map(|number| number.parse().ok()).collect::<Option<Vec<i32>>>();
        let wireup = match fixed[5].to_str()? {
            "" => None,
            text => match *numbers(text)? {
                [map, addresses, wake_socket] => Some(Wireup { map, addresses, wake_socket }),
                _ => return None,
            },
        };
        let silence = fixed[6].to_str()?;
        let stdin = match fixed[8].to_str()? {
            "all" => Stdin::All,
            "none" => Stdin::None,
            rank => Stdin::Rank(rank.parse().ok()?),
        };
        let mut apps = Vec::new();
        while !rest.is_empty() {
            let ([ranks, path, directory, count], after) = rest.split_first_chunk::<4>()?;
            let (arguments, after) = after.split_at_checked(count.to_str()?.parse().ok()?)?;
            let ([base, count], after) = after.split_first_chunk::<2>()?;
            let (changes, after) = after.split_at_checked(count.to_str()?.parse().ok()?)?;
            let changes = changes.iter().map(|word| changed(word)).collect::<Option<_>>()?;
            apps.push(Executable {
                ranks: ranks.to_str()?.parse().ok()?,
                path: path.clone(),
                directory: directory.clone(),
                environment: Environment { is_empty: base == "none", changes },
                arguments: arguments.to_vec(),
            });
            rest = after;
        }
        if apps.is_empty() {
            return None;
        }
        Some(Orders {
            control: fixed[0].to_str()?.parse().ok()?,
            segment: fixed[1].to_str()?.parse().ok()?,
            job: fixed[2].to_str()?.parse().ok()?,
            universe: fixed[3].to_str()?.parse().ok()?,
            ranks: fixed[4].to_str()?.split(',').map(|rank| rank.parse().ok()).collect::<Option<_>>()?,
            wireup,
            silence_ms: if silence.is_empty() { None } else { Some(silence.parse().ok()?) },
            bindings: fixed[7].to_str()?.split(';').map(set).collect::<Option<_>>()?,
            stdin,
            merge: &fixed[9] == "1",
            pty: if fixed[10].is_empty() { None } else { Some(Pty::decode(fixed[10].to_str()?)?) },
            apps,
        })
    }

    /// Ranks of all programs, on all hosts.
    pub fn size(&self) -> u32 {
        self.apps.iter().map(|app| app.ranks).sum()
    }
}

/// `0-3,8`: a set of a thousand ranks must fit into one word.
fn ranges(set: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for processor in set {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *processor => *last = *processor,
            _ => runs.push((*processor, *processor)),
        }
    }
    runs.iter().map(|(first, last)| format!("{first}-{last}")).collect::<Vec<_>>().join(",")
}

/// `=NAME=value` or `-NAME`.
fn change((name, value): &(OsString, Option<OsString>)) -> OsString {
    let bytes = match value {
        Some(value) => [b"=", name.as_bytes(), b"=", value.as_bytes()].concat(),
        None => [b"-", name.as_bytes()].concat(),
    };
    OsString::from_vec(bytes)
}

fn changed(word: &OsStr) -> Option<(OsString, Option<OsString>)> {
    let owned = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    match word.as_bytes().split_first()? {
        (b'=', rest) => {
            let at = rest.iter().position(|byte| *byte == b'=')?;
            Some((owned(&rest[..at]), Some(owned(&rest[at + 1..]))))
        }
        (b'-', name) => Some((owned(name), None)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_round_trip() {
        let app = |ranks, directory: &str, arguments: &[&str]| Executable {
            ranks,
            path: "/bin/a b".into(),
            directory: directory.into(),
            environment: Environment {
                is_empty: ranks == 1,
                changes: vec![("A".into(), Some("b=c".into())), ("D".into(), None)],
            },
            arguments: arguments.iter().map(OsString::from).collect(),
        };
        let orders = Orders {
            control: 3,
            segment: 4,
            job: u64::MAX,
            universe: 6,
            ranks: vec![0, 4, 5],
            wireup: Some(Wireup { map: 210, addresses: 211, wake_socket: 212 }),
            silence_ms: Some(10_000),
            bindings: vec![vec![0, 2, 3, 4], vec![], vec![1]],
            stdin: Stdin::All,
            merge: true,
            pty: Some(Pty { rows: 24, columns: 80, until_init: true }),
            apps: vec![app(5, "", &["a b", "", "--x"]), app(1, "/tmp", &[":"])],
        };
        assert_eq!(Orders::decode(&orders.encode()), Some(orders.clone()));
        assert_eq!(Orders::read(orders.write().unwrap()).unwrap(), orders);
        assert!(Orders::read(File::open("/dev/null").unwrap().into()).is_err());
        assert_eq!(orders.size(), 6);
        let unbound = Orders {
            bindings: vec![Vec::new(); 6],
            wireup: None,
            silence_ms: None,
            stdin: Stdin::Rank(3),
            merge: false,
            pty: None,
            ..orders
        };
        assert_eq!(Orders::decode(&unbound.encode()), Some(unbound.clone()));
        assert_eq!(Orders::decode(&["3".into()]), None);
        let mut cut = unbound.encode();
        cut.pop();
        assert_eq!(Orders::decode(&cut), None);
    }
}
