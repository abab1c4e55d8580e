//! The variables that the manager leaves to a rank.

use alloc::format;
use alloc::string::{String, ToString};

/// Where the manager is, and what it says of this rank's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traces {
    /// `PMI_FD`: an inherited descriptor.
    pub descriptor: i32,
    /// `PMI_JOBID`, which goes back to the manager as it came.
    pub job: String,
    /// `PMI_RANK`.
    pub rank: u32,
}

impl Traces {
    /// Whether a manager left any. One that names no job speaks PMI-1: ess/pmi1 is for it.
    pub fn are_there<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> bool {
        variable(FD).and(variable(JOB)).is_some()
    }

    /// Reads them; `Err` with a sentence.
    pub fn decode<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Result<Traces, String> {
        let text = |name: &str| variable(name).ok_or_else(|| format!("{name} is not set beside PMI_FD; {ADVICE}"));
        let number = |name: &str| -> Result<u32, String> {
            let text = text(name)?;
            text.parse().map_err(|_| format!("{name} is `{text}`, which is not a number; {ADVICE}"))
        };
        let descriptor = number(FD)?;
        let descriptor = i32::try_from(descriptor)
            .map_err(|_| format!("{FD} is {descriptor}, which is not a descriptor; {ADVICE}"))?;
        let job = text(JOB)?;
        if job.contains([';', '\n']) {
            return Err(format!("{JOB} is `{}`, which PMI-2 cannot carry; {ADVICE}", job.escape_debug()));
        }
        Ok(Traces { descriptor, job: job.to_string(), rank: number("PMI_RANK")? })
    }
}

const FD: &str = "PMI_FD";
const JOB: &str = "PMI_JOBID";
/// What to do about a manager that cannot be used.
pub const ADVICE: &str = "start the program with srun --mpi=pmi2 or with the mpirun of this ompi-rs, or unset PMI_FD, PMI_JOBID and \
                          PMI_SIZE to run it alone";

#[cfg(test)]
mod tests {
    use super::*;
    use orte_core::direct::check_rank;

    fn decode(pairs: &[(&str, &'static str)]) -> Result<Traces, String> {
        Traces::decode(|name| pairs.iter().find(|(other, _)| *other == name).map(|(_, value)| *value))
    }

    #[test]
    fn all_of_them() {
        let traces = decode(&[("PMI_FD", "6"), ("PMI_JOBID", "12.0"), ("PMI_RANK", "1")]);
        assert_eq!(traces, Ok(Traces { descriptor: 6, job: "12.0".into(), rank: 1 }));
        assert!(Traces::are_there(|name| ["PMI_FD", "PMI_JOBID"].contains(&name).then_some("6")));
        for alone in ["PMI_FD", "PMI_JOBID"] {
            assert!(!Traces::are_there(|name| (name == alone).then_some("6")), "{alone}");
        }
    }

    #[test]
    fn every_flaw_is_named() {
        for (pairs, word) in [
            (&[("PMI_FD", "x"), ("PMI_JOBID", "1"), ("PMI_RANK", "0")][..], "PMI_FD is `x`"),
            (&[("PMI_FD", "4294967295"), ("PMI_JOBID", "1"), ("PMI_RANK", "0")], "PMI_FD is 4294967295"),
            (&[("PMI_FD", "6"), ("PMI_JOBID", "1")], "PMI_RANK is not set"),
            (&[("PMI_FD", "6"), ("PMI_RANK", "1")], "PMI_JOBID is not set"),
            (&[("PMI_FD", "6"), ("PMI_JOBID", "1;rank=2"), ("PMI_RANK", "0")], "PMI_JOBID is `1;rank=2`"),
        ] {
            let sentence = decode(pairs).unwrap_err();
            assert!(sentence.contains(word) && sentence.contains(ADVICE), "{pairs:?}: {sentence}");
        }
        assert!(check_rank(4, 4, ADVICE).unwrap_err().contains("rank 4 of 4"));
        assert!(check_rank(0, u32::MAX, ADVICE).unwrap_err().contains("4294967295"));
    }
}
