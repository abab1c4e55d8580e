//! What the manager is asked, and what its answers mean.

use crate::raw::{Library, Stored};
use crate::structures::{Info, NOT_FOUND, Proc, Status, TIMEOUT, WILDCARD};
use crate::traces::{ADVICE, Traces};
use alloc::collections::BTreeMap;
use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::sync::{AtomicBool, Ordering};
use opal_core::sys;
use orte_core::direct::{Manager, check_rank};

/// The manager as a rank sees it.
#[derive(Debug)]
pub struct Client {
    library: Library,
    /// This process, as the manager names it.
    own: Proc,
    /// How the user knows the manager.
    name: String,
    patience_s: u64,
    /// This rank needs the manager no more: it was told, or it failed.
    is_over: AtomicBool,
}

impl Client {
    /// Connects, and hears how many ranks the job has. `Err` with a sentence.
    pub fn start(library: Library, traces: &Traces, patience_s: u64) -> Result<(Client, u32), String> {
        let name = format!("PMIx {}, PMIX_NAMESPACE={}", traces.version, traces.job);
        let own = library.init().map_err(|status| {
            format!(
                "this rank cannot connect with the process manager ({name}): its own PMIx, `{}`, says {}; if the two do not fit, \
                 --mca ess_pmix_library or OMPI_MCA_ess_pmix_library names the manager's libpmix; or {ADVICE}",
                library.version(),
                said(library, status)
            )
        })?;
        if own.job() != traces.job.as_bytes() || own.rank != traces.rank {
            return Err(format!(
                "the process manager ({name}) says that this is rank {} of `{}`, but PMIX_RANK is {}; {ADVICE}",
                own.rank,
                own.job().escape_ascii(),
                traces.rank
            ));
        }
        let client = Client { library, own, name, patience_s, is_over: AtomicBool::new(false) };
        let size = client.number(WILDCARD, c"pmix.job.size")?;
        let size = size.and_then(|size| u32::try_from(size).ok()).ok_or_else(|| client.lacks("pmix.job.size", None))?;
        check_rank(own.rank, size, ADVICE)?;
        Ok((client, size))
    }

    /// The node of each rank, counted in the order of ranks. By the hosts' names: Slurm says a node's number to its own ranks only.
    pub fn nodes(&self, size: u32) -> Result<Vec<u32>, String> {
        let mut known: BTreeMap<String, u32> = BTreeMap::new();
        let node = |rank| match self.stored(rank, c"pmix.hname")? {
            Some(Stored::Text(name)) => {
                let next = known.len() as u32;
                Ok(*known.entry(name).or_insert(next))
            }
            _ => Err(self.lacks("pmix.hname", Some(rank))),
        };
        (0..size).map(node).collect()
    }

    /// Which of the job's programs this is, if the manager counts them.
    pub fn app_number(&self, rank: u32) -> Option<u32> {
        self.number(rank, c"pmix.appnum").ok()?.and_then(|app| u32::try_from(app).ok())
    }

    /// Ranks that the job could have, if the manager knows.
    pub fn universe_size(&self) -> Option<u32> {
        self.number(WILDCARD, c"pmix.univ.size").ok()?.and_then(|size| u32::try_from(size).ok())
    }

    /// What the manager says of a rank or of the job.
    fn number(&self, rank: u32, key: &core::ffi::CStr) -> Result<Option<u64>, String> {
        match self.stored(rank, key)? {
            Some(Stored::Number(number)) => Ok(Some(number)),
            None => Ok(None),
            Some(other) => Err(format!(
                "the process manager ({}) says that {} is {other:?}, which is no number; {ADVICE}",
                self.name,
                key.to_string_lossy()
            )),
        }
    }

    fn stored(&self, rank: u32, key: &core::ffi::CStr) -> Result<Option<Stored>, String> {
        let process = Proc { rank, ..self.own };
        let limit_s = i32::try_from(self.patience_s).unwrap_or(i32::MAX);
        match self.use_it(|library| library.get(&process, key, &[Info::int("pmix.timeout", limit_s)])) {
            Ok(stored) => Ok(Some(stored)),
            Err(Some(NOT_FOUND)) => Ok(None),
            Err(status) => Err(self.failed(&format!("asked for {}", key.to_string_lossy()), status)),
        }
    }

    /// Runs a call, unless the manager is not to be called any more: `Err(None)`.
    fn use_it<T>(&self, call: impl FnOnce(Library) -> Result<T, Status>) -> Result<T, Option<Status>> {
        match self.is_over.load(Ordering::Relaxed) {
            true => Err(None),
            false => call(self.library).map_err(Some),
        }
    }

    fn failed(&self, when: &str, status: Option<Status>) -> String {
        let Some(status) = status else {
            return format!(
                "the connection to the process manager ({}) was ended: at the end of MPI, or after it failed",
                self.name
            );
        };
        let hint = match status {
            TIMEOUT => "; ess_pmix_timeout_s sets how long to wait at start-up",
            _ => "",
        };
        format!("the process manager ({}), {when}, says {}{hint}; {ADVICE}", self.name, said(self.library, status))
    }

    fn lacks(&self, key: &str, rank: Option<u32>) -> String {
        let of = rank.map_or(String::new(), |rank| format!(" of rank {rank}"));
        format!("the process manager ({}) does not say {key}{of}, which a rank must know; {ADVICE}", self.name)
    }
}

impl Manager for Client {
    fn value_bytes(&self) -> usize {
        VALUE_BYTES
    }

    fn put(&self, key: &str, value: &str) -> Result<(), String> {
        let text = |text: &str| CString::new(text).map_err(|_| format!("`{}` has a zero in it", text.escape_debug()));
        let (key, value) = (text(key)?, text(value)?);
        self.use_it(|library| library.put(&key, &value))
            .map_err(|status| self.failed(&format!("given {}", key.to_string_lossy()), status))
    }

    fn get(&self, rank: u32, key: &str) -> Result<Option<String>, String> {
        let name = CString::new(key).map_err(|_| format!("`{}` has a zero in it", key.escape_debug()))?;
        match self.stored(rank, &name)? {
            Some(Stored::Text(text)) => Ok(Some(text)),
            None => Ok(None),
            Some(other) => Err(format!(
                "the process manager ({}) says that {key} of rank {rank} is {other:?}, which is no text; {ADVICE}",
                self.name
            )),
        }
    }

    fn fence(&self, limit_s: Option<u64>) -> Result<(), String> {
        let deadline_ns = limit_s
            .map_or(u64::MAX, |seconds| sys::monotonic_ns().saturating_add(seconds.saturating_mul(1_000_000_000)));
        let failed = |status| self.failed("at a fence of all ranks", status);
        // A fence with a limit is one at the start, after which ranks ask for what others stored.
        let options = [Info::truth("pmix.collect")];
        let options = if limit_s.is_some() { &options[..] } else { &[] };
        self.use_it(|library| library.commit().and_then(|()| library.fence(options, deadline_ns))).map_err(|status| {
            if status == Some(TIMEOUT) {
                self.is_over.store(true, Ordering::Relaxed);
            }
            failed(status)
        })
    }

    fn finalize(&self) -> Result<(), String> {
        let told = self.use_it(|library| library.finalize());
        self.is_over.store(true, Ordering::Relaxed);
        told.map_err(|status| self.failed("told that this rank needs it no more", status))
    }

    fn abort(&self, status: i32) {
        let message = CString::new(format!("MPI_Abort {status}")).unwrap_or_default();
        let _ = self.use_it(|library| {
            library.abort(status, &message);
            Ok(())
        });
    }
}

/// A status in libpmix's words and as its number.
fn said(library: Library, status: Status) -> String {
    format!("{} ({status})", library.words(status))
}

/// PMIx knows no limit; this one keeps a value within one message of every manager.
const VALUE_BYTES: usize = 32768;
