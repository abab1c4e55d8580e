//! What daemons are to start: the same for all of them, so that each passes it on as it came. Paths, arguments and variables are bytes, as the system has them.

use super::OobFlaw;
use super::bytes::{Reader, Writer};
use super::compact::{read_names, read_nodes, write_names, write_nodes};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A variable and its value.
pub type Variable = (Vec<u8>, Vec<u8>);

/// What every daemon is told. It finds its own part by its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobOrders {
    /// The node of each rank of the job: 0 is mpirun's own.
    pub nodes: Vec<u32>,
    /// The name of each node.
    pub names: Vec<String>,
    /// How many ranks the job could have.
    pub universe: u32,
    /// What mpirun's words were for `--map-by`, `--bind-to` and their relatives: each host applies them to its own cores.
    pub binding: Vec<String>,
    /// The cores of each rank, as a rankfile names them; empty without a rankfile.
    pub slots: Vec<String>,
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
    /// How daemons start further ones.
    pub daemons: Daemons,
}

/// How daemons start those of further hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Daemons {
    /// So many each starts at most; 0: mpirun starts all.
    pub radix: u32,
    /// The agent's program and options.
    pub words: Vec<String>,
    /// What runs on a host.
    pub command: Vec<u8>,
    /// The interfaces or networks on which a daemon listens for those that it started, as `oob_tcp_if_include` names them.
    pub include: String,
    /// And on which it does not.
    pub exclude: String,
    /// The ports that it may take, as `oob_tcp_port` names them.
    pub ports: String,
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
    /// Nobody.
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

impl JobOrders {
    pub(super) fn write(&self, to: &mut Writer) {
        write_nodes(to, &self.nodes);
        write_names(to, &self.names);
        to.u32(self.universe);
        to.list(&self.binding, |to, word| to.bytes(word.as_bytes()));
        to.list(&self.slots, |to, slot| to.bytes(slot.as_bytes()));
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
        self.daemons.write(to);
    }

    pub(super) fn read(from: &mut Reader<'_>) -> Result<JobOrders, OobFlaw> {
        let orders = JobOrders {
            nodes: read_nodes(from)?,
            names: read_names(from)?,
            universe: from.u32()?,
            binding: from.list(|from| from.text("word about processors"))?,
            slots: from.list(|from| from.text("cores of a rank"))?,
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
            daemons: Daemons::read(from)?,
        };
        let ranks = orders.apps.iter().try_fold(0u32, |sum, app| sum.checked_add(app.ranks));
        let known = orders.nodes.iter().all(|node| (*node as usize) < orders.names.len());
        if orders.nodes.is_empty() || !known {
            return Err(OobFlaw::Field("map of ranks"));
        }
        let ranks_of_slots = if orders.slots.is_empty() { orders.nodes.len() } else { orders.slots.len() };
        match ranks == Some(orders.nodes.len() as u32) && ranks_of_slots == orders.nodes.len() {
            true => Ok(orders),
            false => Err(OobFlaw::Field("number of ranks")),
        }
    }
}

impl Daemons {
    fn write(&self, to: &mut Writer) {
        to.u32(self.radix);
        to.list(&self.words, |to, word| to.bytes(word.as_bytes()));
        to.bytes(&self.command);
        to.bytes(self.include.as_bytes());
        to.bytes(self.exclude.as_bytes());
        to.bytes(self.ports.as_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<Daemons, OobFlaw> {
        Ok(Daemons {
            radix: from.u32()?,
            words: from.list(|from| from.text("word of the agent"))?,
            command: from.bytes()?,
            include: from.text("list of interfaces")?,
            exclude: from.text("list of interfaces")?,
            ports: from.text("range of ports")?,
        })
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
