//! Processes of the own job that die, and a rank that goes on and only looks.

use super::case::{JobCase, run};
use crate::test::{Session, Verdict};

/// `dynamic/lost…`.
pub fn cases(session: &mut Session) {
    for case in CASES {
        let verdict = |session: &mut Session| run(session, SOURCE, case).unwrap_or_else(Verdict::from);
        session.case(&format!("dynamic/{}", case.name), verdict);
    }
}

const SOURCE: &str = "tests/dynamic/lost.c";

const CASES: &[JobCase] = &[
    lost("lost", &["-n", "4", "--disable-auto-cleanup"]),
    lost("lost-tcp", &["-n", "4", "--disable-auto-cleanup", "--mca", "btl", "self,tcp"]),
    lost("lost-checksums", &["-n", "4", "--disable-auto-cleanup", "--mca", "pml_ob1_checksum", "1"]),
];

const fn lost(name: &'static str, options: &'static [&'static str]) -> JobCase {
    JobCase { name, options, arguments: &[], status: Some(137), says: &["all is well"] }
}
