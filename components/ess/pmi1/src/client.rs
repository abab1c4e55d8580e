//! The requests of PMI-1 to the manager, and its replies.

use crate::connection::Connection;
use crate::spawn;
use crate::traces::{ADVICE, Traces};
use crate::wire::{Reply, request};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use opal_core::sync::Mutex;
use opal_core::sys;
use orte_core::direct::{Manager, check_rank, nodes};
use orte_core::universe::{SpawnRequest, Spawner};

/// The manager as a rank sees it.
#[derive(Debug)]
pub struct Client {
    /// `None` once it was told that this rank needs it no more.
    connection: Mutex<Option<Connection>>,
    /// How the user knows it.
    name: String,
    /// The store's name.
    store: String,
    value_bytes: usize,
    patience_s: u64,
}

impl Client {
    /// Agrees on the version, and hears rank and size. `Err` with a sentence.
    pub fn start(connection: Connection, traces: &Traces, patience_s: u64) -> Result<(Client, u32, u32), String> {
        let mut client = Client {
            connection: Mutex::new(Some(connection)),
            name: traces.name(),
            store: String::new(),
            value_bytes: 0,
            patience_s,
        };
        let (rank, size) = match traces {
            Traces::Descriptor { rank, size, .. } => (*rank, *size),
            Traces::Port { id, .. } => client.introduce(*id)?,
        };
        check_rank(rank, size, ADVICE)?;
        client.agree()?;
        client.value_bytes = client.ask("get_maxes", &[], "maxes", |reply| reply.number("vallen_max"))?;
        client.store =
            client.ask("get_my_kvsname", &[], "my_kvsname", |reply| reply.value("kvsname").map(str::to_string))?;
        Ok((client, rank, size))
    }

    /// The node of each rank.
    pub fn nodes(&self, size: u32) -> Result<Vec<u32>, String> {
        let mapping = self.get(0, "PMI_process_mapping")?;
        nodes::of_job(mapping.as_deref(), size, &self.name, ADVICE)
    }

    /// Which of the job's programs this is, if the manager counts them.
    pub fn app_number(&self) -> Option<u32> {
        self.ask("get_appnum", &[], "appnum", |reply| reply.number("appnum")).ok()
    }

    /// Ranks that the job could have, if the manager knows.
    pub fn universe_size(&self) -> Option<u32> {
        self.ask("get_universe_size", &[], "universe_size", |reply| reply.number("size")).ok()
    }

    /// Over a port nothing is known of a process before it says its number: answers come as lines `cmd=set key=value`.
    fn introduce(&self, id: u32) -> Result<(u32, u32), String> {
        self.ask("initack", &[("pmiid", &id.to_string())], "initack", |_| Some(()))?;
        let (mut rank, mut size) = (None, None);
        let deadline_ns = self.deadline_ns(Some(self.patience_s));
        // The last line is that of `debug`.
        loop {
            let line = self.with(|connection| connection.line(deadline_ns))?;
            let reply = Reply::parse(&line).filter(|reply| reply.command() == "set");
            let reply = reply.ok_or_else(|| self.unexpected("initack", &line))?;
            rank = reply.number("rank").or(rank);
            size = reply.number("size").or(size);
            if reply.value("debug").is_some() {
                break;
            }
        }
        rank.zip(size)
            .ok_or_else(|| format!("the process manager ({}) says neither rank nor size; {ADVICE}", self.name))
    }

    fn agree(&self) -> Result<(), String> {
        let ours = [("pmi_version", "1"), ("pmi_subversion", "1")];
        let deadline_ns = self.deadline_ns(Some(self.patience_s));
        let line = self.with(|connection| {
            connection.write(&request("init", &ours))?;
            connection.line(deadline_ns)
        })?;
        let reply = Reply::parse(&line).filter(|reply| reply.command() == "response_to_init");
        let reply = reply.ok_or_else(|| self.unexpected("init", &line))?;
        let theirs = (reply.value("pmi_version").unwrap_or("?"), reply.value("pmi_subversion").unwrap_or("?"));
        match theirs.0 == "1" && !reply.is_refusal() {
            true => Ok(()),
            false => Err(format!(
                "the process manager ({}) speaks PMI {}.{}, this library (ompi-rs {}) PMI 1.1; {ADVICE}",
                self.name,
                theirs.0,
                theirs.1,
                env!("CARGO_PKG_VERSION")
            )),
        }
    }

    /// Sends a request and takes what is wanted from the answer of that name.
    fn ask<T>(
        &self,
        command: &str,
        pairs: &[(&str, &str)],
        answer: &str,
        take: impl FnOnce(Reply<'_>) -> Option<T>,
    ) -> Result<T, String> {
        self.ask_for(command, pairs, answer, Some(self.patience_s), take)
    }

    fn ask_for<T>(
        &self,
        command: &str,
        pairs: &[(&str, &str)],
        answer: &str,
        limit_s: Option<u64>,
        take: impl FnOnce(Reply<'_>) -> Option<T>,
    ) -> Result<T, String> {
        let deadline_ns = self.deadline_ns(limit_s);
        let line = self.with(|connection| {
            connection.write(&request(command, pairs))?;
            connection.line(deadline_ns)
        })?;
        let reply = Reply::parse(&line).filter(|reply| reply.command() == answer);
        reply.and_then(take).ok_or_else(|| self.unexpected(command, &line))
    }

    fn with<T>(&self, call: impl FnOnce(&mut Connection) -> Result<T, String>) -> Result<T, String> {
        let mut place = self.connection.lock();
        let connection = place.as_mut().ok_or_else(|| {
            format!(
                "the connection to the process manager ({}) was ended: at the end of MPI, or after it failed",
                self.name
            )
        })?;
        call(connection).map_err(|why| {
            // An answer that comes late must not be taken for that of the next request.
            *place = None;
            format!("the process manager ({}) cannot be used: {why}; ess_pmi1_timeout_s sets how long to wait at start-up; {ADVICE}", self.name)
        })
    }

    fn unexpected(&self, command: &str, line: &[u8]) -> String {
        let said = Reply::parse(line).map_or("something else than a line of PMI-1", |reply| reply.text());
        format!("the process manager ({}) answers `{said}` to {command}; {ADVICE}", self.name)
    }

    fn deadline_ns(&self, limit_s: Option<u64>) -> u64 {
        limit_s.map_or(u64::MAX, |seconds| sys::monotonic_ns().saturating_add(seconds.saturating_mul(1_000_000_000)))
    }
}

impl Manager for Client {
    fn value_bytes(&self) -> usize {
        // Room for what the manager ends a value with.
        self.value_bytes.saturating_sub(2)
    }

    fn put(&self, key: &str, value: &str) -> Result<(), String> {
        let pairs = [("kvsname", self.store.as_str()), ("key", key), ("value", value)];
        self.ask("put", &pairs, "put_result", |reply| (!reply.is_refusal()).then_some(()))
    }

    fn get(&self, _rank: u32, key: &str) -> Result<Option<String>, String> {
        let pairs = [("kvsname", self.store.as_str()), ("key", key)];
        self.ask("get", &pairs, "get_result", |reply| match reply.is_refusal() {
            true => Some(None),
            false => reply.value("value").map(|value| Some(value.to_string())),
        })
    }

    fn fence(&self, limit_s: Option<u64>) -> Result<(), String> {
        self.ask_for("barrier_in", &[], "barrier_out", limit_s, |reply| (!reply.is_refusal()).then_some(()))
    }

    fn finalize(&self) -> Result<(), String> {
        let told = self.ask("finalize", &[], "finalize_ack", |_| Some(()));
        *self.connection.lock() = None;
        told
    }

    fn abort(&self, status: i32) {
        // A manager that is gone ends the job by itself. No answer comes.
        let _ = self.with(|connection| connection.write(&request("abort", &[("exitcode", &status.to_string())])));
    }

    fn spawner(&self) -> Option<&dyn Spawner> {
        Some(self)
    }
}

impl Spawner for Client {
    fn spawn(&self, request: &SpawnRequest) -> Result<(), String> {
        let text = spawn::text(request, self.value_bytes())?;
        let deadline_ns = self.deadline_ns(Some(self.patience_s));
        let line = self.with(|connection| {
            connection.write(&text)?;
            connection.line(deadline_ns)
        })?;
        let reply = Reply::parse(&line).filter(|reply| reply.command() == "spawn_result" && !reply.is_refusal());
        reply.map(drop).ok_or_else(|| self.unexpected("spawn", &line))
    }
}
