//! What a daemon is to start. Paths, arguments and variables are bytes, as the system has them.

use super::OobFlaw;
use super::bytes::{Reader, Writer};
use super::compact::{read_names, read_nodes, write_names, write_nodes};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A variable and its value.
pub type Variable = (Vec<u8>, Vec<u8>);

/// The part of one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostOrders {
    /// The node of each rank of the job: 0 is mpirun's own.
    pub nodes: Vec<u32>,
    /// The name of each node.
    pub names: Vec<String>,
    /// How many ranks the job could have.
    pub universe: u32,
    /// What mpirun's words were for `--map-by`, `--bind-to` and their relatives: each host applies them to its own cores.
    pub binding: Vec<String>,
    /// The ranks that read standard input.
    pub stdin: Input,
    /// Standard error of a rank is its standard output.
    pub merge: bool,
    /// Lines and columns of the pseudo terminals; none: pipes.
    pub pty: Option<(u32, u32)>,
    /// Where mpirun was started.
    pub directory: Vec<u8>,
    /// Variables that the ranks begin with.
    pub environment: Vec<Variable>,
    /// The programs.
    pub apps: Vec<App>,
    /// Files that the host gets if it lacks them.
    pub files: Vec<Preloaded>,
}

/// The bytes of a file: one copy, however many hosts get it.
pub type Content = Arc<Vec<u8>>;

/// A file that is copied to hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preloaded {
    /// Its path, as seen from the directory where mpirun was started.
    pub path: Vec<u8>,
    /// Its permissions.
    pub mode: u32,
    /// What is in it.
    pub content: Content,
}

/// The ranks that read standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Nobody on this host.
    None,
    /// This rank.
    Rank(u32),
    /// Every rank.
    All,
}

/// One program of the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App {
    /// Its ranks, on all hosts.
    pub ranks: u32,
    /// The program and its arguments, at least one word.
    pub command: Vec<Vec<u8>>,
    /// The directory to work in, if it is not mpirun's.
    pub directory: Option<Vec<u8>>,
    /// Where to look for the program before PATH.
    pub path: Option<Vec<u8>>,
    /// Its ranks begin with none of the variables.
    pub is_empty: bool,
    /// Variables that are set, or taken away.
    pub changes: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// What is executed, in the place of a file of the host.
    pub program: Option<Content>,
}

impl HostOrders {
    pub(super) fn write(&self, to: &mut Writer) {
        write_nodes(to, &self.nodes);
        write_names(to, &self.names);
        to.u32(self.universe);
        to.list(&self.binding, |to, word| to.bytes(word.as_bytes()));
        let (kind, rank) = match self.stdin {
            Input::None => (0, 0),
            Input::Rank(rank) => (1, rank),
            Input::All => (2, 0),
        };
        to.u8(kind);
        to.u32(rank);
        to.u8(u8::from(self.merge));
        to.option(self.pty, |to, (rows, columns)| {
            to.u32(rows);
            to.u32(columns);
        });
        to.bytes(&self.directory);
        to.list(&self.environment, |to, (name, value)| {
            to.bytes(name);
            to.bytes(value);
        });
        to.list(&self.apps, |to, app| app.write(to));
        to.list(&self.files, |to, file| {
            to.bytes(&file.path);
            to.u32(file.mode);
            to.bytes(&file.content);
        });
    }

    pub(super) fn read(from: &mut Reader<'_>) -> Result<HostOrders, OobFlaw> {
        let orders = HostOrders {
            nodes: read_nodes(from)?,
            names: read_names(from)?,
            universe: from.u32()?,
            binding: from.list(|from| from.text("word about processors"))?,
            stdin: match (from.u8()?, from.u32()?) {
                (0, 0) => Input::None,
                (1, rank) => Input::Rank(rank),
                (2, 0) => Input::All,
                _ => return Err(OobFlaw::Field("reader of standard input")),
            },
            merge: from.flag("choice about standard error")?,
            pty: from.option(|from| Ok((from.u32()?, from.u32()?)))?,
            directory: from.bytes()?,
            environment: from.list(|from| Ok((from.bytes()?, from.bytes()?)))?,
            apps: from.list(App::read)?,
            files: from.list(|from| {
                Ok(Preloaded { path: from.bytes()?, mode: from.u32()?, content: Arc::new(from.bytes()?) })
            })?,
        };
        let ranks = orders.apps.iter().try_fold(0u32, |sum, app| sum.checked_add(app.ranks));
        let known = orders.nodes.iter().all(|node| (*node as usize) < orders.names.len());
        if orders.nodes.is_empty() || !known {
            return Err(OobFlaw::Field("map of ranks"));
        }
        match ranks == Some(orders.nodes.len() as u32) {
            true => Ok(orders),
            false => Err(OobFlaw::Field("number of ranks")),
        }
    }
}

impl App {
    fn write(&self, to: &mut Writer) {
        to.u32(self.ranks);
        to.list(&self.command, |to, word| to.bytes(word));
        to.option(self.directory.as_ref(), |to, path| to.bytes(path));
        to.option(self.path.as_ref(), |to, path| to.bytes(path));
        to.u8(u8::from(self.is_empty));
        to.list(&self.changes, |to, (name, value)| {
            to.bytes(name);
            to.option(value.as_ref(), |to, value| to.bytes(value));
        });
        to.option(self.program.as_ref(), |to, program| to.bytes(program));
    }

    fn read(from: &mut Reader<'_>) -> Result<App, OobFlaw> {
        let app = App {
            ranks: from.u32()?,
            command: from.list(Reader::bytes)?,
            directory: from.option(Reader::bytes)?,
            path: from.option(Reader::bytes)?,
            is_empty: from.flag("choice about variables")?,
            changes: from.list(|from| Ok((from.bytes()?, from.option(Reader::bytes)?)))?,
            program: from.option(Reader::bytes)?.map(Arc::new),
        };
        if app.command.is_empty() { Err(OobFlaw::Field("program")) } else { Ok(app) }
    }
}
