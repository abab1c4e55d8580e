//! memory/shheap: a library with it, and jobs whose malloc gives shareable memory, however the program was linked; what forks do;
//! and programs in which another malloc is called.

use super::{Session, Verdict, deadline, fftw, hpcc};
use crate::build::{self, Options};
use crate::failure::Result;
use crate::shell;
use crate::test::programs::own_choice;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `heap/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    let mut dist = None;
    for case in CASES {
        session.case(&format!("heap/{}", case.name), |session| match dist.get_or_insert_with(|| library(session)) {
            Ok(dist) => run(session, dist, case).unwrap_or_else(Verdict::from),
            Err(why) => Verdict::Failed(why.clone()),
        });
    }
    if session.options.all {
        for ranks in [2, 4] {
            for (name, run) in [("hpcc", hpcc as Program), ("fftw", fftw)] {
                session.case(&format!("heap/{name}@{ranks}"), |session| {
                    match dist.get_or_insert_with(|| library(session)) {
                        Ok(dist) => run(session, dist, ranks).unwrap_or_else(Verdict::from),
                        Err(why) => Verdict::Failed(why.clone()),
                    }
                });
            }
        }
    }
    Ok(())
}

/// A program that checks its own answers, on a library.
type Program = fn(&Session, &Path, u32) -> Result<Verdict>;

fn hpcc(session: &Session, dist: &Path, ranks: u32) -> Result<Verdict> {
    let place = session.tree.target.join("debian/hpcc-heap");
    let program = hpcc::compiled_with(&dist.join("bin/mpicc"), &place, &session.tree.target)?;
    hpcc::run(session, dist, &program, ranks)
}

fn fftw(session: &Session, dist: &Path, ranks: u32) -> Result<Verdict> {
    fftw::verified(session, dist, "heap", ranks)
}

/// One job of `tests/heap/heap.c` or of a program of `tests/c`.
struct Case {
    name: &'static str,
    source: &'static str,
    /// Words of mpicc.
    form: &'static [&'static str],
    /// Of the program.
    arguments: &'static [&'static str],
    ranks: usize,
    /// Of mpirun, without their `--mca`.
    parameters: &'static [[&'static str; 2]],
    says: Says,
}

/// What standard error must say.
enum Says {
    /// No word of a malloc that is not called.
    Nothing,
    /// Each rank reads its messages from memory of its peer's that it has mapped.
    Mapped,
    /// That, and no more than once for each rank, these words.
    Once(&'static str),
    /// These words.
    Words(&'static str),
}

const HEAP: &str = "tests/heap/heap.c";
const STATIC: &[&str] = &["-static-mpi"];
const SHARED: &[&str] = &["-shared-mpi"];
// Nothing else copies in one piece, and nothing goes in fragments where this does.
const MAPPED: &[[&str; 2]] = &[["pml_ob1_long_messages", "single"], ["smsc", "map"], ["smsc_base_verbose", "20"]];
const NOT_CALLED: &str = "memory/shheap: another malloc is called in this program";

const CASES: &[Case] = &[
    Case { name: "archive", arguments: &["messages"], parameters: MAPPED, says: Says::Mapped, ..BASE },
    Case {
        name: "shared-library",
        form: SHARED,
        arguments: &["messages"],
        parameters: MAPPED,
        says: Says::Mapped,
        ..BASE
    },
    // Programs that know nothing of it, whose buffers are malloc's.
    Case {
        name: "single-copy",
        source: "tests/c/pt2pt_single_copy.c",
        arguments: &["copied"],
        ranks: 2,
        parameters: MAPPED,
        says: Says::Mapped,
        ..BASE
    },
    Case { name: "forks", arguments: &["forks"], ..BASE },
    Case { name: "forks-shared-library", form: SHARED, arguments: &["forks"], ..BASE },
    Case { name: "forks-of-threads", arguments: &["threads"], ..BASE },
    Case {
        name: "children-with-nothing",
        arguments: &["nothing"],
        parameters: &[["memory_shheap_children", "nothing"]],
        ..BASE
    },
    Case {
        name: "fork-on-a-stack-of-malloc",
        arguments: &["stack"],
        says: Says::Words("fork is called on a stack that malloc gave"),
        ..BASE
    },
    Case { name: "turned-off", arguments: &["private"], parameters: &[["memory_shheap_threshold", "0"]], ..BASE },
    Case {
        name: "longer-ones-only",
        arguments: &["private"],
        parameters: &[["memory_shheap_threshold", "1m"]],
        ..BASE
    },
    Case {
        name: "the-programs-own-malloc-wins",
        form: &["-static-mpi", "-DOWN_MALLOC"],
        arguments: &["private"],
        says: Says::Once(NOT_CALLED),
        ..BASE
    },
    Case {
        name: "own-malloc-and-the-shared-library",
        form: &["-shared-mpi", "-DOWN_MALLOC"],
        arguments: &["private"],
        says: Says::Once(NOT_CALLED),
        ..BASE
    },
    Case { name: "static", form: &["-static"], arguments: &["private"], says: Says::Once(NOT_CALLED), ..BASE },
    Case {
        name: "a-wrong-value-is-said",
        arguments: &["private"],
        parameters: &[["memory_shheap_threshold", "0"], ["memory_shheap_children", "cows"]],
        says: Says::Words("memory_shheap_children"),
        ..BASE
    },
];

const BASE: Case =
    Case { name: "", source: HEAP, form: STATIC, arguments: &[], ranks: 3, parameters: &[], says: Says::Nothing };

fn run(session: &mut Session, dist: &Path, case: &Case) -> Result<Verdict> {
    let program = session.scratch().join("heap").join(case.name);
    let mut compile = Command::new(dist.join("bin/mpicc"));
    compile.args(case.form).args(["-O1", "-g", "-pthread", "-Wall", "-Werror", "-Wno-use-after-free"]);
    compile.arg("-I").arg(session.tree.root.join("tests/c")).arg(session.tree.root.join(case.source));
    shell::output(compile.arg("-o").arg(&program))?;
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.args(["-n", &case.ranks.to_string()]);
    case.parameters.iter().for_each(|pair| _ = command.arg("--mca").args(pair));
    command.arg(&program).args(case.arguments);
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &program.with_extension("log"))?;
    let said = |words: &str| ended.err.lines().filter(|line| line.contains(words)).count();
    let (ends_well, holds) = match case.says {
        Says::Nothing => (true, said("shheap") == 0),
        Says::Mapped => (true, said("shheap") == 0 && said("bytes read from a peer's memory") == case.ranks),
        Says::Once(words) => (true, said(words) == 1),
        Says::Words(words) => (!words.contains("children"), said(words) > 0),
    };
    Ok(match ended.ended_with(0) == ends_well && holds {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(ended.story()),
    })
}

fn library(session: &Session) -> std::result::Result<PathBuf, String> {
    let components = ["default", "memory/shheap"].map(str::to_owned).to_vec();
    let out = session.scratch().join("heap/dist");
    let options = Options { components, variant: true, out: Some(out), ..Options::default() };
    Ok(build::build(&options, session.progress).map_err(|failure| failure.text)?.dist)
}

/// Seconds, on a busy machine.
const LIMIT: Duration = Duration::from_secs(180);
