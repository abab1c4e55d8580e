//! The variables that the manager leaves to a rank.

use alloc::format;
use alloc::string::{String, ToString};
use orte_core::direct::check_rank;

/// Where the manager is, and what it says of this rank's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Traces {
    /// `PMI_FD`: an inherited descriptor.
    Descriptor {
        /// Its number.
        number: i32,
        /// `PMI_RANK`.
        rank: u32,
        /// `PMI_SIZE`.
        size: u32,
    },
    /// `PMI_PORT`: a port of the manager's process on this node, which tells the place when it hears `PMI_ID`.
    Port {
        /// As `host:port`.
        port: u16,
        /// What to say there.
        id: u32,
    },
}

impl Traces {
    /// Whether a manager left any. One that names its job speaks PMI-2: ess/pmi2 is for it.
    pub fn are_there<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> bool {
        variable(JOB).is_none() && variable(FD).or_else(|| variable(PORT)).is_some()
    }

    /// Reads them; `Err` with a sentence.
    pub fn decode<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Result<Traces, String> {
        let number = |name: &str| -> Result<u32, String> {
            let text =
                variable(name).ok_or_else(|| format!("{name} is not set beside PMI_FD or PMI_PORT; {ADVICE}"))?;
            text.parse().map_err(|_| format!("{name} is `{text}`, which is not a number; {ADVICE}"))
        };
        if variable(FD).is_some() {
            let descriptor = number(FD)?;
            let descriptor = i32::try_from(descriptor)
                .map_err(|_| format!("{FD} is {descriptor}, which is not a descriptor; {ADVICE}"))?;
            let (rank, size) = (number("PMI_RANK")?, number("PMI_SIZE")?);
            check_rank(rank, size, ADVICE)?;
            return Ok(Traces::Descriptor { number: descriptor, rank, size });
        }
        let text = variable(PORT).unwrap_or_default();
        let port = text.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).filter(|port| *port != 0);
        let port = port.ok_or_else(|| format!("{PORT} is `{text}`, which is not host:port; {ADVICE}"))?;
        Ok(Traces::Port { port, id: number("PMI_ID")? })
    }

    /// How the user knows it.
    pub fn name(&self) -> String {
        match self {
            Traces::Descriptor { number, .. } => format!("{FD}={number}"),
            Traces::Port { port, .. } => format!("{PORT}={port}").to_string(),
        }
    }
}

const FD: &str = "PMI_FD";
const PORT: &str = "PMI_PORT";
const JOB: &str = "PMI_JOBID";
/// What to do about a manager that cannot be used.
pub const ADVICE: &str = "start the program with mpiexec.hydra of MPICH 3.0 or later or with the mpirun of this ompi-rs, or unset \
                          PMI_FD, PMI_PORT and PMI_SIZE to run it alone";

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(pairs: &[(&str, &'static str)]) -> Result<Traces, String> {
        Traces::decode(|name| pairs.iter().find(|(other, _)| *other == name).map(|(_, value)| *value))
    }

    #[test]
    fn both_ways() {
        let descriptor = decode(&[("PMI_FD", "6"), ("PMI_RANK", "1"), ("PMI_SIZE", "4")]);
        assert_eq!(descriptor, Ok(Traces::Descriptor { number: 6, rank: 1, size: 4 }));
        assert_eq!(decode(&[("PMI_PORT", "n1:4711"), ("PMI_ID", "3")]), Ok(Traces::Port { port: 4711, id: 3 }));
        assert!(!Traces::are_there(|_| None));
        assert!(Traces::are_there(|name| (name == "PMI_FD").then_some("6")));
        assert!(!Traces::are_there(|name| ["PMI_FD", "PMI_JOBID"].contains(&name).then_some("6")), "that is PMI-2");
    }

    #[test]
    fn every_flaw_is_named() {
        for (pairs, word) in [
            (&[("PMI_FD", "x"), ("PMI_RANK", "0"), ("PMI_SIZE", "1")][..], "PMI_FD is `x`"),
            (&[("PMI_FD", "4294967295"), ("PMI_RANK", "0"), ("PMI_SIZE", "1")], "PMI_FD is 4294967295"),
            (&[("PMI_FD", "6"), ("PMI_SIZE", "4")], "PMI_RANK is not set"),
            (&[("PMI_FD", "6"), ("PMI_RANK", "4"), ("PMI_SIZE", "4")], "rank 4 of 4"),
            (&[("PMI_FD", "6"), ("PMI_RANK", "0"), ("PMI_SIZE", "4294967295")], "4294967295"),
            (&[("PMI_PORT", "n1"), ("PMI_ID", "3")], "PMI_PORT is `n1`"),
            (&[("PMI_PORT", "n1:0"), ("PMI_ID", "3")], "PMI_PORT is `n1:0`"),
            (&[("PMI_PORT", "n1:4711")], "PMI_ID is not set"),
        ] {
            let sentence = decode(pairs).unwrap_err();
            assert!(sentence.contains(word) && sentence.contains(ADVICE), "{pairs:?}: {sentence}");
        }
    }
}
