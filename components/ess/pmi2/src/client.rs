//! The requests of PMI-2 to the manager, and its replies.

use crate::connection::Connection;
use crate::traces::{ADVICE, Traces};
use crate::wire::{HELLO, Reply, request, version};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use opal_core::sync::Mutex;
use opal_core::sys;
use orte_core::direct::{Manager, check_rank, nodes};

/// The manager as a rank sees it.
#[derive(Debug)]
pub struct Client {
    /// `None` once it was told that this rank needs it no more.
    connection: Mutex<Option<Connection>>,
    /// How the user knows it.
    name: String,
    /// The job as the manager calls it.
    job: String,
    app: Option<u32>,
    patience_s: u64,
}

impl Client {
    /// Agrees on the version, and hears rank and size. `Err` with a sentence.
    pub fn start(connection: Connection, traces: &Traces, patience_s: u64) -> Result<(Client, u32, u32), String> {
        let mut client = Client {
            connection: Mutex::new(Some(connection)),
            name: format!("PMI_FD={}, PMI_JOBID={}", traces.descriptor, traces.job),
            job: traces.job.clone(),
            app: None,
            patience_s,
        };
        client.agree()?;
        let rank = traces.rank.to_string();
        let pairs = [("pmijobid", client.job.as_str()), ("pmirank", rank.as_str()), ("threaded", "FALSE")];
        let (rank, size, app) = client.ask("fullinit", &pairs, |reply| {
            let place = reply.number("rank").zip(reply.number("size")).filter(|_| !reply.is_refusal());
            place.map(|(rank, size)| (rank, size, reply.number("appnum")))
        })?;
        check_rank(rank, size, ADVICE)?;
        // Slurm says -1: it does not count programs.
        client.app = app;
        Ok((client, rank, size))
    }

    /// The node of each rank.
    pub fn nodes(&self, size: u32) -> Result<Vec<u32>, String> {
        let mapping = self.attribute("PMI_process_mapping")?;
        nodes::of_job(mapping.as_deref(), size, &self.name, ADVICE)
    }

    /// Which of the job's programs this is, if the manager counts them.
    pub fn app_number(&self) -> Option<u32> {
        self.app
    }

    /// Ranks that the job could have, if the manager knows.
    pub fn universe_size(&self) -> Option<u32> {
        self.attribute("universeSize").ok()??.parse().ok()
    }

    fn attribute(&self, key: &str) -> Result<Option<String>, String> {
        self.ask("info-getjobattr", &[("key", key)], found)
    }

    fn agree(&self) -> Result<(), String> {
        let deadline_ns = self.deadline_ns(Some(self.patience_s));
        let line = self.with(|connection| {
            connection.write(HELLO)?;
            connection.line(deadline_ns)
        })?;
        let Some((major, minor)) = version(&line) else {
            return Err(format!(
                "the process manager ({}) answers `{}` to init; {ADVICE}",
                self.name,
                line[..line.len().min(200)].escape_ascii()
            ));
        };
        match major {
            "2" => Ok(()),
            _ => Err(format!(
                "the process manager ({}) speaks PMI {major}.{minor}, this library (ompi-rs {}) PMI 2.0 with it; {ADVICE}",
                self.name,
                env!("CARGO_PKG_VERSION")
            )),
        }
    }

    /// Sends a request and takes what is wanted from its answer.
    fn ask<T>(
        &self,
        command: &str,
        pairs: &[(&str, &str)],
        take: impl FnOnce(Reply<'_>) -> Option<T>,
    ) -> Result<T, String> {
        self.ask_for(command, pairs, Some(self.patience_s), take)
    }

    fn ask_for<T>(
        &self,
        command: &str,
        pairs: &[(&str, &str)],
        limit_s: Option<u64>,
        take: impl FnOnce(Reply<'_>) -> Option<T>,
    ) -> Result<T, String> {
        let deadline_ns = self.deadline_ns(limit_s);
        let packet = self.with(|connection| {
            connection.write(&request(command, pairs))?;
            connection.packet(deadline_ns)
        })?;
        let is_answer = |reply: &Reply<'_>| reply.command().strip_suffix("-response") == Some(command);
        Reply::parse(&packet).filter(is_answer).and_then(take).ok_or_else(|| {
            let said = Reply::parse(&packet).map_or("something else than a packet of PMI-2", |reply| reply.text());
            format!("the process manager ({}) answers `{said}` to {command}; {ADVICE}", self.name)
        })
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
            format!(
                "the process manager ({}) cannot be used: {why}; ess_pmi2_timeout_s sets how long to wait at start-up; {ADVICE}",
                self.name
            )
        })
    }

    fn deadline_ns(&self, limit_s: Option<u64>) -> u64 {
        limit_s.map_or(u64::MAX, |seconds| sys::monotonic_ns().saturating_add(seconds.saturating_mul(1_000_000_000)))
    }
}

impl Manager for Client {
    fn value_bytes(&self) -> usize {
        VALUE_BYTES
    }

    fn put(&self, key: &str, value: &str) -> Result<(), String> {
        self.ask("kvs-put", &[("key", key), ("value", value)], |reply| (!reply.is_refusal()).then_some(()))
    }

    fn get(&self, _rank: u32, key: &str) -> Result<Option<String>, String> {
        self.ask("kvs-get", &[("jobid", self.job.as_str()), ("srcid", "-1"), ("key", key)], found)
    }

    fn fence(&self, limit_s: Option<u64>) -> Result<(), String> {
        self.ask_for("kvs-fence", &[], limit_s, |reply| (!reply.is_refusal()).then_some(()))
    }

    fn finalize(&self) -> Result<(), String> {
        let told = self.ask("finalize", &[], |_| Some(()));
        *self.connection.lock() = None;
        told
    }

    fn abort(&self, status: i32) {
        let message = format!("MPI_Abort {status}");
        // A manager that is gone ends the job by itself. No answer comes.
        let _ = self
            .with(|connection| connection.write(&request("abort", &[("isworld", "TRUE"), ("msg", message.as_str())])));
    }
}

/// What a key holds, of an answer that says whether it was found.
fn found(reply: Reply<'_>) -> Option<Option<String>> {
    match (reply.is_refusal(), reply.value("found")?) {
        (false, "TRUE") => Some(Some(reply.value("value")?.to_string())),
        (false, "FALSE") => Some(None),
        _ => None,
    }
}

/// PMI2_MAX_VALLEN is 1024 in MPICH and in Slurm, with what ends a value.
const VALUE_BYTES: usize = 1022;
