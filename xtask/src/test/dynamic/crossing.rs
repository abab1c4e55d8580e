//! Two jobs whose threads meet and part at the same time.

use super::case::{JobCase, run};
use crate::test::{Session, Verdict};

/// The rest of `dynamic/…`.
pub fn cases(session: &mut Session) {
    for case in CASES {
        let verdict = |session: &mut Session| run(session, SOURCE, case).unwrap_or_else(Verdict::from);
        session.case(&format!("dynamic/{}", case.name), verdict);
    }
}

const SOURCE: &str = "tests/dynamic/crossing.c";

/// In the end the further job fails, which is none of the first one's business.
const CASES: &[JobCase] = &[
    crossing("crossing", &["-n", "1"], &["self", "200"]),
    crossing("crossing-of-two", &["-n", "2"], &["world", "200"]),
    crossing("crossing-tcp", &["-n", "1", "--mca", "btl", "self,tcp"], &["self", "200"]),
    crossing("crossing-of-two-tcp", &["-n", "2", "--mca", "btl", "self,sm,tcp"], &["world", "200"]),
];

const fn crossing(name: &'static str, options: &'static [&'static str], arguments: &'static [&'static str]) -> JobCase {
    JobCase { name, options, arguments, status: Some(3), says: &["ended with status 3", "nobody minded"] }
}
