//! What a procedure of Fortran costs more than the function of C that it calls, in instructions.

use super::wrapper::ABSENT;
use crate::bench::instructions::count_in;
use crate::failure::{Result, fail};
use crate::shell;
use crate::test::{Session, Verdict};

/// `fortran/instructions`.
pub fn instructions(session: &mut Session) -> Verdict {
    for (program, absent) in [("gfortran", ABSENT), ("valgrind", "valgrind is not installed: apt-get install valgrind")]
    {
        if shell::which(program).is_none() {
            return Verdict::Skipped(absent.to_owned());
        }
    }
    counted(session).unwrap_or_else(Verdict::from)
}

fn counted(session: &mut Session) -> Result<Verdict> {
    let dist = session.library().map_err(fail)?.dist;
    let source = session.tree.root.join("benches/fortran/instructions.f90");
    let folder = session.scratch().join("fortran/instructions");
    let counts = count_in(&dist, (&["mpifort", "-fno-inline"], &source), &["-n", "1"], &folder)?;
    let typical = |name: &str| {
        counts.get(name).map(|count| count.typical).ok_or_else(|| fail(format!("callgrind counted no call of {name}")))
    };
    let c = typical("c")?;
    let (mut text, mut wrong) = (format!("C {c}"), false);
    for (name, aim) in AIMS {
        let more = typical(name)? - c;
        text += &format!(", {name} {more} more");
        wrong |= more > *aim;
    }
    match wrong {
        true => Ok(Verdict::Failed(format!(
            "{text}; at most {AIMS:?} more: see callgrind's profile in {}",
            folder.display()
        ))),
        false => Ok(Verdict::Passed(text)),
    }
}

/// What a send may cost more than in C; and a reduction of sections with 4096 elements, for each of which a copy has no call.
const AIMS: &[(&str, f64)] = &[("mpi", 40.0), ("f08_scalar", 40.0), ("f08_array", 40.0), ("f08_copied", 100_000.0)];
