//! Checksums over transports with faults: a library with btl/faulty, smsc/faulty and fbtl/faulty, and jobs of two and three ranks.

use super::{Session, Verdict, deadline};
use crate::build::{self, Options};
use crate::failure::Result;
use crate::shell;
use crate::test::programs::own_choice;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `integrity/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    let mut dist = None;
    for case in CASES {
        session.case(&format!("integrity/{}", case.name), |session| {
            let dist = dist.get_or_insert_with(|| with_program(session));
            match dist {
                Ok(dist) => run(session, dist, case).unwrap_or_else(Verdict::from),
                Err(why) => Verdict::Failed(why.clone()),
            }
        });
    }
    session.case("integrity/not-all-have-checksums", |session| {
        match dist.get_or_insert_with(|| with_program(session)) {
            Ok(dist) => mixed(session, dist).unwrap_or_else(Verdict::from),
            Err(why) => Verdict::Failed(why.clone()),
        }
    });
    Ok(())
}

/// One job of `tests/integrity/integrity.c`.
struct Case {
    name: &'static str,
    /// What the program does.
    argument: &'static str,
    ranks: &'static str,
    /// Words of mpirun, without their `--mca`.
    parameters: &'static [&'static [&'static str]],
}

const SM: &[&[&str]] = &[&["btl", "^sm,xsm,tcp"], &["btl_faulty_wraps", "sm"]];
const TCP: &[&[&str]] = &[&["btl", "^sm,xsm,tcp"], &["btl_faulty_wraps", "tcp"]];
const CHECKED: &[&str] = &["pml_ob1_checksum", "1"];
const NO_COPIES: &[&str] = &["smsc", "^cma,faulty"];

const CASES: &[Case] = &[
    Case {
        name: "bits-shared-memory",
        argument: "bits",
        ranks: "2",
        parameters: &[SM[0], SM[1], CHECKED, NO_COPIES, &["btl_faulty_corrupt", "50000"]],
    },
    Case {
        name: "bits-sockets",
        argument: "bits",
        ranks: "3",
        parameters: &[TCP[0], TCP[1], CHECKED, NO_COPIES, &["btl_faulty_corrupt", "100000"]],
    },
    Case {
        name: "bits-spawned-job",
        argument: "spawned",
        ranks: "2",
        parameters: &[TCP[0], TCP[1], CHECKED, NO_COPIES, &["btl_faulty_corrupt", "50000"]],
    },
    Case {
        name: "single-copies",
        argument: "copies",
        ranks: "2",
        parameters: &[
            CHECKED,
            &["pml_ob1_long_messages", "single"],
            &["smsc", "faulty"],
            &["smsc_faulty_wraps", "cma"],
            &["smsc_faulty_corrupt", "300000"],
        ],
    },
    Case {
        name: "lost-doubled-overtaken",
        argument: "repaired",
        ranks: "3",
        parameters: &[
            SM[0],
            SM[1],
            CHECKED,
            NO_COPIES,
            &["btl_faulty_drop", "5000"],
            &["btl_faulty_duplicate", "20000"],
            &["btl_faulty_reorder", "20000"],
            &["btl_faulty_delay", "5000"],
            &["btl_faulty_refuse", "50000"],
        ],
    },
    // That the other cases can fail.
    Case {
        name: "unnoticed-without-checksums",
        argument: "unnoticed",
        ranks: "2",
        parameters: &[SM[0], SM[1], NO_COPIES, &["btl_faulty_corrupt", "1000"]],
    },
];

fn run(session: &mut Session, dist: &Path, case: &Case) -> Result<Verdict> {
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.args(["-n", case.ranks]);
    case.parameters.iter().for_each(|pair| _ = command.arg("--mca").args(*pair));
    command.arg(session.scratch().join("integrity/program")).arg(case.argument);
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join(format!("integrity/{}.log", case.name)))?;
    Ok(match (ended.ended_with(0), ended.ended_with(77)) {
        (true, _) => Verdict::Passed(ended.out.trim().to_owned()),
        (_, true) => {
            Verdict::Skipped("the system lets no process read another one's memory (ptrace, seccomp)".to_owned())
        }
        _ => Verdict::Failed(ended.story()),
    })
}

/// A job in which one rank sends with checksums and the other one without ends with a sentence.
fn mixed(session: &mut Session, dist: &Path) -> Result<Verdict> {
    let program = session.scratch().join("integrity/program");
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.args(["-n", "1", "env", "OMPI_MCA_pml_ob1_checksum=1"]).arg(&program).args(["repaired", ":", "-n", "1"]);
    command.arg(&program).arg("repaired");
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("integrity/mixed.log"))?;
    let is_said = ended.err.contains("sends messages with checksums (pml_ob1_checksum 1) and this one does not");
    Ok(match !ended.ended_with(0) && is_said {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("it should end with a sentence\n{}", ended.story())),
    })
}

/// The library, and the program compiled with it.
fn with_program(session: &Session) -> std::result::Result<PathBuf, String> {
    let dist = library(session)?;
    let mut compile = Command::new(dist.join("bin/mpicc"));
    compile.args(["-O1", "-g", "-Wall", "-Werror"]).arg(session.tree.root.join("tests/integrity/integrity.c"));
    compile.arg("-o").arg(session.scratch().join("integrity/program"));
    shell::output(&mut compile).map_err(|failure| failure.text)?;
    Ok(dist)
}

/// The library with all components that make faults.
pub fn library(session: &Session) -> std::result::Result<PathBuf, String> {
    let components = ["default", "btl/faulty", "fbtl/faulty", "smsc/faulty"].map(str::to_owned).to_vec();
    let out = session.scratch().join("integrity/dist");
    let options = Options { components, variant: true, out: Some(out), ..Options::default() };
    build::build(&options, session.progress).map(|built| built.dist).map_err(|failure| failure.text)
}

/// Seconds, each of which waits two for what is under way.
const LIMIT: Duration = Duration::from_secs(120);
