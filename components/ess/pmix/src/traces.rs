//! The variables that the manager leaves to a rank.

use alloc::format;
use alloc::string::{String, ToString};

/// What they say. libpmix reads where the manager is by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traces {
    /// `PMIX_NAMESPACE`: the job as the manager calls it.
    pub job: String,
    /// `PMIX_RANK`.
    pub rank: u32,
    /// `PMIX_VERSION`: that of the manager's PMIx.
    pub version: String,
}

impl Traces {
    /// Whether a manager left any.
    pub fn are_there<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> bool {
        variable(JOB).and(variable(RANK)).is_some()
    }

    /// Reads them; `Err` with a sentence.
    pub fn decode<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Result<Traces, String> {
        let text = |name: &str| variable(name).ok_or_else(|| format!("{name} is not set; {ADVICE}"));
        let rank = text(RANK)?;
        let rank = rank.parse().map_err(|_| format!("{RANK} is `{rank}`, which is not a number; {ADVICE}"))?;
        let version = variable("PMIX_VERSION").unwrap_or("a version that it does not name").to_string();
        Ok(Traces { job: text(JOB)?.to_string(), rank, version })
    }
}

const JOB: &str = "PMIX_NAMESPACE";
const RANK: &str = "PMIX_RANK";
/// What to do about a manager that cannot be used.
pub const ADVICE: &str = "start the program with the mpirun of this ompi-rs or with srun --mpi=pmi2, or unset PMIX_NAMESPACE and \
                          PMIX_RANK to run it alone";

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(pairs: &[(&str, &'static str)]) -> Result<Traces, String> {
        Traces::decode(|name| pairs.iter().find(|(other, _)| *other == name).map(|(_, value)| *value))
    }

    #[test]
    fn all_of_them() {
        let traces = decode(&[("PMIX_NAMESPACE", "slurm.pmix.2.0"), ("PMIX_RANK", "1"), ("PMIX_VERSION", "4.2.2")]);
        assert_eq!(traces, Ok(Traces { job: "slurm.pmix.2.0".into(), rank: 1, version: "4.2.2".into() }));
        assert!(Traces::are_there(|name| [JOB, RANK].contains(&name).then_some("6")));
        for alone in [JOB, RANK] {
            assert!(!Traces::are_there(|name| (name == alone).then_some("6")), "{alone}");
        }
    }

    #[test]
    fn every_flaw_is_named() {
        for (pairs, word) in [
            (&[("PMIX_NAMESPACE", "j"), ("PMIX_RANK", "x")][..], "PMIX_RANK is `x`"),
            (&[("PMIX_NAMESPACE", "j"), ("PMIX_RANK", "4294967296")], "PMIX_RANK is `4294967296`"),
            (&[("PMIX_NAMESPACE", "j")], "PMIX_RANK is not set"),
            (&[("PMIX_RANK", "0")], "PMIX_NAMESPACE is not set"),
        ] {
            let sentence = decode(pairs).unwrap_err();
            assert!(sentence.contains(word) && sentence.contains(ADVICE), "{pairs:?}: {sentence}");
        }
    }
}
