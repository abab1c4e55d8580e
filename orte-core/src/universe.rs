//! The universe of a job: the mpirun that started it, the jobs that its processes had started, and theirs. All of them ask the one
//! mpirun for further jobs and for names of ports.
//!
//! A process calls the [port](crate::port) that mpirun left in the [segment](crate::segment::PortOf), sends one [`Request`] and gets
//! [`Answer`]s. mpirun starts a further job by a further mpirun, which says over a socket of its own whether its ranks have started.

use crate::oob::OobFlaw;
use crate::oob::bytes::{Reader, Writer};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use opal_core::framework::btl::ProcessName;
use opal_core::sys;
use rustix::fs::Access;
use rustix::io::Errno;

/// The hidden first argument of the mpirun of a further job; the number of the descriptor of its socket follows, the word that
/// parts its programs, and its number among the jobs of the universe, of which the first one is 1.
pub const ARGUMENT: &str = "--ompi-rs-job";

/// What the mpirun of a further job is told first: its ranks find both in their segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    /// Where to ask for further jobs and names; empty: nowhere.
    pub universe: String,
    /// Where those wait that had the job started; empty: nobody does.
    pub parent: String,
}

impl Ports {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut to = Writer::default();
        [&self.universe, &self.parent].iter().for_each(|text| to.bytes(text.as_bytes()));
        to.0
    }

    /// From bytes of unknown origin.
    pub fn decode(bytes: &[u8]) -> Result<Ports, OobFlaw> {
        let mut from = Reader(bytes);
        let ports = Ports { universe: from.text("universe")?, parent: from.text("parent")? };
        from.end()?;
        Ok(ports)
    }
}

/// What a process that nobody launched tells the mpirun that it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// Its job, first of all.
    Job(u64),
    /// MPI is in use: to end without `Done` is a failure, as in a job that mpirun started.
    InUse,
    /// MPI is no longer in use.
    Done,
}

impl Life {
    /// As bytes.
    pub fn encode(self) -> Vec<u8> {
        let mut to = Writer::default();
        let (kind, job) = match self {
            Life::Job(job) => (1, job),
            Life::InUse => (2, 0),
            Life::Done => (3, 0),
        };
        to.u8(kind);
        to.u64(job);
        to.0
    }

    /// From bytes of unknown origin.
    pub fn decode(bytes: &[u8]) -> Result<Life, OobFlaw> {
        let mut from = Reader(bytes);
        let (kind, job) = (from.u8()?, from.u64()?);
        from.end()?;
        match kind {
            1 => Ok(Life::Job(job)),
            2 => Ok(Life::InUse),
            3 => Ok(Life::Done),
            _ => Err(OobFlaw::Field("life")),
        }
    }
}

/// What a process asks mpirun for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A further job. The connection stays until its ranks have met those that asked for it.
    Spawn(SpawnRequest),
    /// This port gets a name.
    Publish(String, String),
    /// This name is no port's any more.
    Unpublish(String),
    /// The port of a name.
    Lookup(String),
    /// Processes of these two jobs have met: the failure of one is one of the other from now on.
    Met(u64, u64),
    /// The processes of these two jobs have parted.
    Parted(u64, u64),
    /// These processes are to end, and no others.
    End(EndRequest),
    /// What the ranks of a further job do, and where in the program they are if that is wanted: asked by the root of the universe alone.
    Status(bool),
}

/// Processes to end (MPI_ERRORS_ABORT, MPI 5.0 §9.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndRequest {
    /// The process that asks, which ends by itself: its job, and its rank there.
    pub by: (u64, u32),
    /// The others: for each job the ranks there.
    pub processes: Vec<(u64, Vec<u32>)>,
    /// The status of the abort.
    pub status: i32,
    /// Why, for people.
    pub message: String,
}

impl EndRequest {
    fn write(&self, to: &mut Writer) {
        to.u64(self.by.0);
        to.u32(self.by.1);
        to.list(&self.processes, |to, (job, ranks)| {
            to.u64(*job);
            to.list(ranks, |to, rank| to.u32(*rank));
        });
        to.u32(self.status as u32);
        to.bytes(self.message.as_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<EndRequest, OobFlaw> {
        Ok(EndRequest {
            by: (from.u64()?, from.u32()?),
            processes: from.list(|from| Ok((from.u64()?, from.list(Reader::u32)?)))?,
            status: from.u32()? as i32,
            message: from.text("message")?,
        })
    }
}

/// A job to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpawnRequest {
    /// Where its ranks connect to those that ask for it.
    pub port: String,
    /// The directory to start in.
    pub directory: Vec<u8>,
    /// The job of those that ask.
    pub by: u64,
    /// Its programs.
    pub apps: Vec<SpawnApp>,
}

/// A manager of another project that starts further jobs, in mpirun's place.
pub trait Spawner {
    /// Has a job started whose processes connect to `request.port`. That they run is all that is known when this returns. `Err` with a
    /// sentence.
    fn spawn(&self, request: &SpawnRequest) -> Result<(), String>;
}

/// A program of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpawnApp {
    /// How many ranks run it.
    pub ranks: u32,
    /// What to call mpirun with: options of mpirun's, one word each.
    pub options: Vec<Vec<u8>>,
    /// The program and its arguments.
    pub command: Vec<Vec<u8>>,
}

/// What mpirun answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is done.
    Done,
    /// All processes of the job run; its number.
    Started(u64),
    /// It is not done, for this reason.
    Refused(String),
    /// The job has ended before its ranks met those that asked for it.
    Ended(String),
    /// The port of the name.
    Port(String),
    /// What the ranks of the job do, a line each, and which of them wait for which process.
    Status(String, Vec<(u32, ProcessName)>),
    /// Whether all ranks of the job have waited for long, some of them for processes of other jobs.
    Stalled(bool),
}

impl Request {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut to = Writer::default();
        match self {
            Request::Spawn(SpawnRequest { port, directory, by, apps }) => {
                to.u8(1);
                [port.as_bytes(), directory].iter().for_each(|text| to.bytes(text));
                to.u64(*by);
                to.list(apps, |to, app| {
                    to.u32(app.ranks);
                    [&app.options, &app.command].iter().for_each(|words| to.list(words, |to, word| to.bytes(word)));
                });
            }
            Request::Publish(service, port) => {
                to.u8(2);
                [service, port].iter().for_each(|text| to.bytes(text.as_bytes()));
            }
            Request::Unpublish(service) => {
                to.u8(3);
                to.bytes(service.as_bytes());
            }
            Request::Lookup(service) => {
                to.u8(4);
                to.bytes(service.as_bytes());
            }
            Request::Met(one, other) | Request::Parted(one, other) => {
                to.u8(if matches!(self, Request::Met(..)) { 5 } else { 6 });
                to.u64(*one);
                to.u64(*other);
            }
            Request::End(end) => {
                to.u8(7);
                end.write(&mut to);
            }
            Request::Status(with_functions) => {
                to.u8(8);
                to.u8(u8::from(*with_functions));
            }
        }
        to.0
    }

    /// From bytes of unknown origin.
    pub fn decode(bytes: &[u8]) -> Result<Request, OobFlaw> {
        let mut from = Reader(bytes);
        let request = match from.u8()? {
            1 => {
                let (port, directory, by) = (from.text("port")?, from.bytes()?, from.u64()?);
                let apps = from.list(|from| {
                    let ranks = from.u32()?;
                    Ok(SpawnApp { ranks, options: from.list(Reader::bytes)?, command: from.list(Reader::bytes)? })
                })?;
                Request::Spawn(SpawnRequest { port, directory, by, apps })
            }
            2 => Request::Publish(from.text("service")?, from.text("port")?),
            3 => Request::Unpublish(from.text("service")?),
            4 => Request::Lookup(from.text("service")?),
            5 => Request::Met(from.u64()?, from.u64()?),
            6 => Request::Parted(from.u64()?, from.u64()?),
            7 => Request::End(EndRequest::read(&mut from)?),
            8 => Request::Status(from.flag("functions")?),
            _ => return Err(OobFlaw::Field("request")),
        };
        from.end()?;
        Ok(request)
    }
}

impl Answer {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut to = Writer::default();
        let job;
        let (kind, text) = match self {
            Answer::Done => (1, ""),
            Answer::Started(number) => {
                job = format!("{number:x}");
                (5, job.as_str())
            }
            Answer::Refused(why) => (2, why.as_str()),
            Answer::Ended(why) => (3, why.as_str()),
            Answer::Port(port) => (4, port.as_str()),
            Answer::Status(lines, _) => (6, lines.as_str()),
            Answer::Stalled(true) => (7, ""),
            Answer::Stalled(false) => (8, ""),
        };
        to.u8(kind);
        to.bytes(text.as_bytes());
        if let Answer::Status(_, waits) = self {
            to.list(waits, |to, (rank, awaited)| {
                to.u32(*rank);
                to.u64(awaited.job);
                to.u32(awaited.rank);
            });
        }
        to.0
    }

    /// From bytes of unknown origin.
    pub fn decode(bytes: &[u8]) -> Result<Answer, OobFlaw> {
        let mut from = Reader(bytes);
        let (kind, text) = (from.u8()?, from.text("text")?);
        let wait = |from: &mut Reader<'_>| Ok((from.u32()?, ProcessName { job: from.u64()?, rank: from.u32()? }));
        let waits = if kind == 6 { from.list(wait)? } else { Vec::new() };
        from.end()?;
        match kind {
            1 => Ok(Answer::Done),
            2 => Ok(Answer::Refused(text)),
            3 => Ok(Answer::Ended(text)),
            4 => Ok(Answer::Port(text)),
            6 => Ok(Answer::Status(text, waits)),
            7 | 8 => Ok(Answer::Stalled(kind == 7)),
            5 => Ok(Answer::Started(u64::from_str_radix(&text, 16).map_err(|_| OobFlaw::Field("job"))?)),
            _ => Err(OobFlaw::Field("answer")),
        }
    }
}

/// For people, where the directory of a process cannot be found.
pub const NO_PROC: &str = "/proc is not mounted on this host, so nobody finds the working directory of the process that asks; mount it \
                           (mount -t proc proc /proc)";
/// PATH_MAX.
const PATH_BYTES: usize = 4096;

/// The directory of this process, as mpirun finds it: on its own host by the process, so that it needs no name. `Err` with a sentence.
pub fn directory(is_near: bool) -> Result<Vec<u8>, String> {
    if is_near {
        return Ok(format!("/proc/{}/cwd", sys::pid()).into_bytes());
    }
    let mut place = [const { MaybeUninit::uninit() }; PATH_BYTES];
    match rustix::fs::readlinkat_raw(rustix::fs::CWD, "/proc/self/cwd", &mut place) {
        Ok((path, rest)) if !rest.is_empty() => Ok(path.to_vec()),
        Ok(_) => Err(String::from("the name of the working directory is too long")),
        Err(Errno::NOENT) if rustix::fs::access("/proc/self", Access::EXISTS).is_err() => Err(String::from(NO_PROC)),
        Err(errno) => Err(format!("the working directory has no name ({errno})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn what_is_encoded_is_decoded() {
        let words = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>();
        let app = SpawnApp { ranks: 3, options: words(&["--wdir", "/tmp"]), command: words(&["./a b", "", "c"]) };
        let apps = vec![app, SpawnApp { ranks: 1, options: Vec::new(), command: words(&["x"]) }];
        let spawn = SpawnRequest { port: "p".into(), directory: vec![0xff, 1], by: 77, apps };
        let requests = [
            Request::Spawn(spawn),
            Request::Publish("s".into(), "p".into()),
            Request::Unpublish("s".into()),
            Request::Lookup("ö".into()),
            Request::Met(1, u64::MAX),
            Request::Parted(2, 3),
            Request::End(EndRequest {
                by: (7, 1),
                processes: vec![(7, vec![0, 2]), (8, vec![])],
                status: -1,
                message: "x".into(),
            }),
            Request::Status(true),
        ];
        for request in requests {
            let bytes = request.encode();
            assert_eq!(Request::decode(&bytes), Ok(request));
            for end in 0..bytes.len() {
                assert!(Request::decode(&bytes[..end]).is_err());
            }
            assert!(Request::decode(&[&bytes[..], &[0]].concat()).is_err());
        }
        for life in [Life::Job(u64::MAX), Life::InUse, Life::Done] {
            assert_eq!(Life::decode(&life.encode()), Ok(life));
        }
        assert!(Life::decode(&[4; 9]).is_err() && Life::decode(&[1; 8]).is_err());
        let ports = Ports { universe: "u".into(), parent: String::new() };
        assert_eq!(Ports::decode(&ports.encode()), Ok(ports.clone()));
        assert!(Ports::decode(&ports.encode()[1..]).is_err());
        for answer in [
            Answer::Done,
            Answer::Started(0xfeed),
            Answer::Refused("no".into()),
            Answer::Ended("x".into()),
            Answer::Port("p".into()),
            Answer::Status("rank 0\n".into(), vec![(0, ProcessName { job: 7, rank: 1 })]),
            Answer::Stalled(true),
            Answer::Stalled(false),
        ] {
            assert_eq!(Answer::decode(&answer.encode()), Ok(answer));
        }
        assert!(Answer::decode(&[9, 0, 0, 0, 0]).is_err());
    }
}
